"""Identities of programs at the broker, and the key bundle of each program.

`pitlink keys` makes the bundles, and people copy each bundle to its program's machine. If a file
cannot be read or is wrong, the functions raise `UserError`.
"""

import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bonus.errors import UserError

AUTHORITY_FILE: Final = "ca.crt"
PASSWORD_FILE: Final = "password"  # noqa: S105  (the name of a file)
REDIS_PASSWORD_FILE: Final = "redis-password"  # noqa: S105
REDIS_AUDIT_PASSWORD_FILE: Final = "redis-audit-password"  # noqa: S105
"""File in a service's bundle: the password of the Redis user of its auditor."""
REDIS_USERS_PASSWORD_FILE: Final = "redis-people-password"  # noqa: S105
"""File in a service's bundle: the password of the Redis user for pitlink's users and log."""
EVENT_GROUP_FILE: Final = "event-group"
"""File in a service's bundle: the secret group name with which services share tables' events."""
LOG_SECRETS_FILE: Final = "log-secrets"
"""File in a service's bundle: the secrets for the MACs in the operators' log.

Each line has one secret, the newest first. All services have the same file.
"""
HIDDEN_VALUE_SECRETS_FILE: Final = "hidden-value-secrets"
"""File in a service's bundle: the secrets that seal the hidden values of must-hit-by meters.

Each line has one secret, the newest first. All services have the same file.
"""
SERVICES: Final = "services"
"""Directory with a bundle for each service, named by the number of the service."""
SENTINELS: Final = "sentinels"
"""Directory with one file, `password`: the password of services and commands at a sentinel."""

_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{32,128}")
"""A secret: nobody can guess it, and none of its characters has a meaning in MQTT topics."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A program that has its own key bundle.

    Attributes:
        username: the name at the broker, and the common name of the certificate. Ids of links and
            tables have no dot, so two identities never have the same name.
        place: the directory of the key bundle, relative to the directory of keys.
        stem: the name of the certificate and key files, without ``.crt`` and ``.key``.
    """

    username: str
    place: str
    stem: str


CHECK: Final = Identity("check", "check", "check")
"""`pitlink check`. It may connect to the broker, but not read or send."""

ARCHIVE: Final = Identity("archive", "archive", "archive")
"""`pitlink archive`. Only this identity may delete the oldest entries of a ledger."""

DISPLAY: Final = Identity("display", "display", "display")
"""Displays and dashboards. They may read public topics."""


def service_identity(number: int) -> Identity:
    """Return the identity of a service. The first service has the number 1."""
    return Identity(f"service.{number}", f"{SERVICES}/{number}", "service")


def table_identity(link: str, table: str) -> Identity:
    return Identity(f"table.{table}", f"tables/{link}.{table}", "table")


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Files for TLS: the trusted authority, and the program's certificate and key, if any."""

    authority: Path
    certificate: Path | None
    key: Path | None

    def context(self) -> ssl.SSLContext:
        """Return TLS settings for a client that trusts only the floor's own authority.

        The client also checks the name of the host.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_verify_locations(cafile=self.authority)
        except OSError as error:
            raise UserError(f"{self.authority}: {_reason(error)}") from None
        if self.certificate is not None:
            try:
                # pitlink's keys have no passphrase. With the empty password, OpenSSL does not ask
                # for one at a terminal.
                context.load_cert_chain(self.certificate, self.key, password="")
            except OSError as error:
                raise UserError(f"{self.certificate} or {self.key}: {_reason(error)}") from None
        return context


@dataclass(frozen=True, slots=True)
class KeyBundle:
    """The key files of one program. Only the authority's certificate must exist."""

    party: Identity
    directory: Path

    @classmethod
    def of(cls, keys: Path, identity: Identity) -> "KeyBundle":
        directory = keys / identity.place
        if not (directory / AUTHORITY_FILE).is_file():
            raise UserError(
                f"there are no keys in {directory}: make keys with `pitlink keys`, and copy"
                f" the directory {identity.place} to this machine"
            )
        return cls(identity, directory)

    def tls_files(self) -> TlsFiles:
        """Return the files for TLS.

        Raises:
            UserError: the bundle has a certificate without a key, or a key without a certificate.
        """
        authority = self.directory / AUTHORITY_FILE
        certificate = self.directory / f"{self.party.stem}.crt"
        key = certificate.with_suffix(".key")
        if not certificate.exists() and not key.exists():
            return TlsFiles(authority, None, None)
        for path, other in ((certificate, key), (key, certificate)):
            if not path.is_file():
                raise UserError(f"{path} is missing, but there is {other}: copy both files again")
        return TlsFiles(authority, certificate, key)

    def password(self) -> str | None:
        return self._secret(PASSWORD_FILE)

    def redis_password(self) -> str | None:
        return self._secret(REDIS_PASSWORD_FILE)

    def redis_audit_password(self) -> str | None:
        return self._secret(REDIS_AUDIT_PASSWORD_FILE)

    def redis_users_password(self) -> str | None:
        return self._secret(REDIS_USERS_PASSWORD_FILE)

    def event_group(self) -> str | None:
        found = self._secret(EVENT_GROUP_FILE)
        if found is not None and _SECRET.fullmatch(found) is None:
            raise UserError(
                f"{self.directory / EVENT_GROUP_FILE} does not contain a group name of at"
                " least 32 letters, digits, - and _: `pitlink keys` makes one"
            )
        return found

    def log_secrets(self) -> Sequence[str]:
        path = self.directory / LOG_SECRETS_FILE
        return read_secrets(path) if path.is_file() else ()

    def hidden_value_secrets(self) -> Sequence[str]:
        path = self.directory / HIDDEN_VALUE_SECRETS_FILE
        return read_secrets(path) if path.is_file() else ()

    def _secret(self, name: str) -> str | None:
        path = self.directory / name
        return read_secret(path) if path.is_file() else None


def read_secret(path: Path) -> str:
    """Return a password, the only line of a file. No message shows the password."""
    text = _read(path)
    if not text or not text.isprintable():
        raise UserError(f"{path} must contain exactly one line, the password")
    return text


def read_secrets(path: Path) -> Sequence[str]:
    """Return the secrets in a file, one from each line. No message shows a secret."""
    lines = _read(path).splitlines()
    if not lines or not all(_SECRET.fullmatch(line) for line in lines):
        raise UserError(
            f"{path} must contain only lines of at least 32 letters, digits, - and _: `pitlink"
            " keys` makes them"
        )
    return lines


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        reason = error.reason or "unreadable"
        return f"is not a PEM file of the expected kind ({reason}): copy it to this machine again"
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror}"
    return "is not UTF-8 text: copy it to this machine again"
