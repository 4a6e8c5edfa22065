"""Checks of the keys and certificates on this machine, and of encryption on the network."""

import datetime
import ipaddress
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from cryptography import x509

from bonus.errors import UserError
from meters.floor.facility import Service
from meters.floor.key_bundle import (
    AUTHORITY_FILE,
    EVENT_GROUP_FILE,
    HIDDEN_VALUE_SECRETS_FILE,
    LOG_SECRETS_FILE,
    SERVICES,
    read_secret,
    read_secrets,
)
from meters.floor.server_addresses import hosts_of
from meters.selfcheck.check_result import Check, failure, passed, warning

WARN_DAYS: Final = 30
_OTHERS: Final = 0o077
_RENEW_ACT: Final = "`pitlink keys --renew` makes a new certificate"
_AUTHORITY_ACT: Final = (
    "no renewal makes a new authority: `pitlink keys --out DIRECTORY` makes all keys anew in an"
    " empty directory"
)
_PAGES_ACT: Final = "put a new certificate in its place, then restart services and agents"
_SHARED: Final = frozenset({EVENT_GROUP_FILE, LOG_SECRETS_FILE, HIDDEN_VALUE_SECRETS_FILE})


def check_keys(keys: Path) -> Sequence[Check]:
    """Return the problems of the keys and certificates in a directory.

    If there is no problem, return one check that says so. An expired certificate is a failure. A
    certificate that expires soon is a warning; so is a secret that other users of the machine can
    read.
    """
    certificates = sorted(path for path in keys.rglob("*.crt") if path.is_file())
    if not certificates:
        return [failure("keys", f"{keys} has no certificates: `pitlink keys` makes them")]
    found = [
        *_open_secrets(keys),
        *_shared_secrets(
            keys,
            EVENT_GROUP_FILE,
            lambda path: [read_secret(path)],
            lacking="run `pitlink keys` and copy services/",
            differing="each event is processed more than once, and a sign-in at one service is not"
            " valid at another",
        ),
        *_shared_secrets(
            keys,
            LOG_SECRETS_FILE,
            read_secrets,
            lacking="anybody with Redis's password for users can add entries to the operators'"
            " log; run `pitlink keys`, copy the whole of services/, and restart the services",
            differing="nobody can sign in at a service that has the earlier file",
        ),
        *_shared_secrets(
            keys,
            HIDDEN_VALUE_SECRETS_FILE,
            read_secrets,
            lacking="it cannot serve a link with a must-hit-by meter; run `pitlink keys`, copy the"
            " whole of services/, and restart the services",
            differing="a service cannot read a hidden value that another service drew",
        ),
    ]
    ends = [
        _certificate_check(
            path,
            f"keys {path.relative_to(keys)}",
            _AUTHORITY_ACT if path.name == AUTHORITY_FILE else _RENEW_ACT,
        )
        for path in certificates
    ]
    found += [check for check in ends if not check.holds]
    if not found:
        first = min(check.seen for check in ends)
        found = [passed("keys", f"{len(certificates)} certificates, the first {first}")]
    return found


def check_page_certificate(service: Service) -> Iterator[Check]:
    """Yield the check of the file `certificate` in the floor file, if the floor file names one."""
    if service.certificate is not None:
        yield _certificate_check(Path(service.certificate), "certificate", _PAGES_ACT)


def check_transport(service: Service) -> Iterator[Check]:
    """Yield a warning if the broker or Redis is used over the network without TLS (duty D20)."""
    for key, url in (("broker", service.broker), ("redis", service.redis)):
        scheme, _, _ = url.partition("://")
        name, plus, kind = scheme.partition("+")
        far = [host for host in hosts_of(url) if not is_here(host)]
        if name in {"mqtt", "redis"} and far:
            seen = (
                f"{', '.join(far)} is used without encryption, so anybody on the network can read"
                f" and change the data: use {name}s{plus}{kind}:// and `pitlink keys`"
            )
            yield warning(f"way to {key}", seen)


def is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _certificate_check(path: Path, name: str, act: str) -> Check:
    try:
        until = x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
    except (OSError, ValueError):
        return failure(name, f"{path} is not a readable certificate")
    now = datetime.datetime.now(datetime.UTC)
    days = (until - now).days
    if until <= now:
        return failure(name, f"expired on {until.date()}: {act}")
    if days < WARN_DAYS:
        return warning(name, f"expires on {until.date()}, in {days} days: {act}")
    return passed(name, f"expires on {until.date()}")


def _open_secrets(keys: Path) -> Iterator[Check]:
    for path in sorted(keys.rglob("*")):
        secret = path.suffix == ".key" or path.name.endswith("password") or path.name in _SHARED
        if secret and path.is_file() and path.stat().st_mode & _OTHERS:
            seen = f"users other than its owner can read it: chmod 600 {path}"
            yield warning(f"keys {path.relative_to(keys)}", seen)


def _shared_secrets(
    keys: Path, name: str, read: Callable[[Path], Sequence[str]], *, lacking: str, differing: str
) -> Iterator[Check]:
    found: set[tuple[str, ...]] = set()
    for directory in sorted((keys / SERVICES).glob("*/")):
        path = directory / name
        try:
            found.add(tuple(read(path)) if path.exists() else ())
        except UserError as error:
            yield failure(f"keys {path.relative_to(keys)}", str(error))
    if () in found:
        yield warning("keys services", f"a service has no {name}: {lacking}")
    elif len(found) > 1:
        seen = (
            f"not all services have the same {name}, so {differing}: copy the whole of services/"
            " from where `pitlink keys` was run"
        )
        yield warning("keys services", seen)
