import hmac
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from meters.floor.facility import Service
from meters.floor.key_bundle import (
    ARCHIVE,
    PASSWORD_FILE,
    SENTINELS,
    KeyBundle,
    read_secret,
    service_identity,
)
from meters.floor.own_credentials import (
    REDIS_PASSWORD,
    REDIS_USERS_PASSWORD,
    SENTINEL_PASSWORD,
    keys_directory,
    only_one,
    secret_of,
    service_numbers,
)
from meters.floor.server_addresses import with_one_host

REDIS_USER: Final = "pitlink"
USERS_REDIS_USER: Final = "pitlink-people"
AUDIT_USER: Final = "pitlink-audit"
ARCHIVE_USER: Final = "pitlink-archive"
REPLICA_USER: Final = "pitlink-replica"
SENTINEL_USER: Final = "pitlink-sentinel"

_SESSIONS: Final = b"pitlink sessions"
"""Label with which the session key is derived from a secret."""


def redis_access(service: Service, *, archives: bool = False) -> dict[str, object]:
    """Return the settings of the Redis client that the address in the floor file lacks.

    If the address has a user, this user signs in instead of pitlink's own Redis user. A password in
    the environment or the address replaces the password in the key bundle. A bundle is used only if
    the address has TLS or begins with ``unix://``. With TLS, the client checks the host's name,
    trusts the bundle's authority, and sends the bundle's certificate.

    Raises:
        UserError: the key bundle is missing or cannot be used, or the password is given twice.
    """
    parts = urlsplit(with_one_host(service.redis))
    in_address = unquote(parts.password) if parts.password else None
    password = only_one(REDIS_PASSWORD, in_address, "redis")
    usual = ARCHIVE_USER if archives else REDIS_USER
    bundle = _bundle_for(service, archives=archives)
    username = unquote(parts.username) if parts.username else None
    if bundle is not None and username is None and in_address is None:
        username = usual
    if bundle is not None and username == usual:
        password = password or bundle.redis_password()
    found: dict[str, object] = {}
    if password is not None:
        found = {"username": username, "password": password}
    return found | _tls_access(service, bundle)


def users_access(service: Service) -> dict[str, object] | None:
    """Return the settings of the Redis user for pitlink's users and the operators' log.

    Return None if this user has no password, for example because the floor has no key bundles. The
    other Redis user then has access to everything, not only to the links' data (meters, ledgers,
    claims). If the address has a Redis user of the facility, the password can come only from the
    environment.

    Raises:
        UserError: for the same reasons as in `redis_access`.
    """
    parts = urlsplit(with_one_host(service.redis))
    bundle = _bundle_for(service, archives=False)
    password = secret_of(REDIS_USERS_PASSWORD)
    ours = parts.username == REDIS_USER or not (parts.username or parts.password)
    if password is None and bundle is not None and ours:
        password = bundle.redis_users_password()
    if password is None:
        return None
    credential: dict[str, object] = {"username": USERS_REDIS_USER, "password": password}
    return credential | _tls_access(service, bundle)


def audit_access(service: Service) -> dict[str, object]:
    """Return the settings of the Redis user of a service's auditor, who can only read.

    Without key bundles, or with a Redis user of the facility, return the settings of the service.

    Raises:
        UserError: for the same reasons as in `redis_access`.
    """
    parts = urlsplit(with_one_host(service.redis))
    bundle = _bundle_for(service, archives=False)
    ours = parts.username == REDIS_USER or not (parts.username or parts.password)
    password = bundle.redis_audit_password() if bundle is not None and ours else None
    if password is None:
        return redis_access(service)
    credential: dict[str, object] = {"username": AUDIT_USER, "password": password}
    return credential | _tls_access(service, bundle)


def session_secret(service: Service) -> bytes:
    """Return the secret with which all services sign sessions; empty if they share no secret.

    The secret is derived from the event group, a secret name in the key bundles that no Redis user
    knows.

    Raises:
        UserError: the key bundle is missing, or the secret cannot be used.
    """
    bundle = _bundle_for(service, archives=False)
    group = bundle.event_group() if bundle else None
    return hmac.digest(group.encode(), _SESSIONS, "sha256") if group else b""


def log_secrets(service: Service) -> Sequence[str]:
    """Return the secrets for the MACs of the operators' log, newest first; none without a bundle.

    Raises:
        UserError: the key bundle is missing, or the secrets cannot be used.
    """
    bundle = _bundle_for(service, archives=False)
    return bundle.log_secrets() if bundle else ()


def hidden_value_secrets(service: Service) -> Sequence[str] | None:
    """Return the secrets that seal hidden values, newest first; None without a bundle.

    Raises:
        UserError: the key bundle is missing, or the secrets cannot be used.
    """
    bundle = _bundle_for(service, archives=False)
    return bundle.hidden_value_secrets() if bundle else None


def sentinel_access(service: Service, *, archives: bool = False) -> dict[str, object]:
    """Return a sentinel client's settings: the sentinels' password, and Redis's certificates.

    The password is in the environment, or in `sentinels/password` of the directory of keys. With
    `archives`, the certificates are those of `pitlink archive`, whose machine possibly has no other
    key bundle.

    Raises:
        UserError: for the same reasons as in `redis_access`.
    """
    password, keys = secret_of(SENTINEL_PASSWORD), keys_directory(service)
    file = keys / SENTINELS / PASSWORD_FILE if keys else None
    if password is None and file is not None and file.exists():
        password = read_secret(file)
    found: dict[str, object] = {} if password is None else {"password": password}
    bundle = _bundle(keys, archives=archives) if keys and _has_tls(service) else None
    return found | _tls_access(service, bundle)


def _has_tls(service: Service) -> bool:
    return service.redis.partition("://")[0] in {"rediss", "rediss+sentinel", "rediss+cluster"}


def _tls_access(service: Service, bundle: KeyBundle | None) -> dict[str, object]:
    if not _has_tls(service):
        return {}
    checked: dict[str, object] = {"ssl_check_hostname": True, "ssl_cert_reqs": "required"}
    if bundle is None:
        return checked
    files = bundle.tls_files()
    # This call checks the files, so that an error message names the wrong file.
    files.context()
    checked["ssl_ca_certs"] = str(files.authority)
    if files.certificate is not None:
        checked |= {"ssl_certfile": str(files.certificate), "ssl_keyfile": str(files.key)}
    return checked


def _bundle_for(service: Service, *, archives: bool) -> KeyBundle | None:
    keys = keys_directory(service)
    if keys and (_has_tls(service) or service.redis.partition("://")[0] == "unix"):
        return _bundle(keys, archives=archives)
    return None


def _bundle(keys: Path, *, archives: bool) -> KeyBundle:
    """Return the bundle of `pitlink archive`, or of a service: all services have one Redis user."""
    if archives:
        return KeyBundle.of(keys, ARCHIVE)
    return KeyBundle.of(keys, service_identity(min(service_numbers(keys), default=1)))
