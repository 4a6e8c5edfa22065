"""Checks of the keys and certificates on this machine, and of encryption on the network."""

import datetime
import ipaddress
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509

from bonus.errors import UserError
from meters.floor.addresses import hosts_of
from meters.floor.facility import Service
from meters.floor.key_bundle import (
    AUTHORITY_FILE,
    EVENT_GROUP_FILE,
    LOG_SECRETS_FILE,
    SERVICES,
    read_secret,
    read_secrets,
)

WARN_DAYS: Final = 30
_OTHERS: Final = 0o077
_RENEW_ACT: Final = "`pitlink keys --renew` makes another"
_AUTHORITY_ACT: Final = (
    "no renewal makes another authority: `pitlink keys --out DIRECTORY` makes all keys in an empty"
    " directory"
)
_SHARED: Final = frozenset({EVENT_GROUP_FILE, LOG_SECRETS_FILE})


class KeyFinding(NamedTuple):
    """Result of one check of keys. If `warns` is true, a failure is only a warning."""

    what: str
    holds: bool
    seen: str
    warns: bool = False


def check_keys(keys: Path) -> Sequence[KeyFinding]:
    """Check every key and certificate in a directory. Return each problem, or that there is none.

    An expired certificate is a failure. One that expires soon is a warning, and so is a secret that
    other users of the machine can read.
    """
    certificates = sorted(path for path in keys.rglob("*.crt") if path.is_file())
    if not certificates:
        return [
            KeyFinding("keys", holds=False, seen=f"there are none in {keys}: see `pitlink keys`")
        ]
    now = datetime.datetime.now(datetime.UTC)
    found = [*_open_secrets(keys), *_event_groups(keys)]
    found += _log_secrets(keys)
    ends: list[datetime.datetime] = []
    for path in certificates:
        name = f"keys {path.relative_to(keys)}"
        try:
            until = x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
        except (OSError, ValueError):
            found.append(KeyFinding(name, holds=False, seen="is not a readable certificate"))
            continue
        ends.append(until)
        days = (until - now).days
        act = _AUTHORITY_ACT if path.name == AUTHORITY_FILE else _RENEW_ACT
        if until <= now:
            seen = f"expired on {until.date()}: {act}"
            found.append(KeyFinding(name, holds=False, seen=seen))
        elif days < WARN_DAYS:
            seen = f"expires on {until.date()}, in {days} days: {act}"
            found.append(KeyFinding(name, holds=False, seen=seen, warns=True))
    if not found:
        seen = f"{len(certificates)} certificates, the first expires on {min(ends).date()}"
        found = [KeyFinding("keys", holds=True, seen=seen)]
    return found


def check_transport(service: Service) -> Iterator[KeyFinding]:
    """Yield a warning if the broker or Redis is used over a network without TLS (duty D20)."""
    for key, url in (("broker", service.broker), ("redis", service.redis)):
        scheme, _, _ = url.partition("://")
        name, plus, kind = scheme.partition("+")
        far = [host for host in hosts_of(url) if not _is_here(host)]
        if name in {"mqtt", "redis"} and far:
            seen = (
                f"{', '.join(far)} is used without encryption: anybody on the network can read and"
                f" change it; use {name}s{plus}{kind}:// and `pitlink keys`"
            )
            yield KeyFinding(f"way to {key}", holds=False, seen=seen, warns=True)


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _open_secrets(keys: Path) -> Iterator[KeyFinding]:
    for path in sorted(keys.rglob("*")):
        secret = path.suffix == ".key" or path.name.endswith("password") or path.name in _SHARED
        if secret and path.is_file() and path.stat().st_mode & _OTHERS:
            seen = f"users other than its owner may read it: chmod 600 {path}"
            yield KeyFinding(f"keys {path.relative_to(keys)}", holds=False, seen=seen, warns=True)


def _event_groups(keys: Path) -> Iterator[KeyFinding]:
    """Yield a warning if services on this machine have different group names for table events."""
    found: set[tuple[str, ...]] = set()
    yield from _read_secrets(keys, EVENT_GROUP_FILE, lambda path: [read_secret(path)], found)
    if () in found:
        yield _services_warning(
            f"a service has no {EVENT_GROUP_FILE}: run `pitlink keys` and copy services/"
        )
    elif len(found) > 1:
        yield _services_warning(
            f"not all have the same {EVENT_GROUP_FILE}, so each event is processed more than"
            " once, and a sign-in at one service is not valid at another: copy the whole of"
            " services/ from where `pitlink keys` was run"
        )


def _log_secrets(keys: Path) -> Iterator[KeyFinding]:
    """Yield a warning if services on this machine have different secrets for the operators' log."""
    found: set[tuple[str, ...]] = set()
    yield from _read_secrets(keys, LOG_SECRETS_FILE, read_secrets, found)
    if () in found:
        yield _services_warning(
            f"a service has no {LOG_SECRETS_FILE}: anybody with Redis's password for users can add"
            " entries to the operators' log; run `pitlink keys`, copy the whole of services/, and"
            " restart the services"
        )
    elif len(found) > 1:
        yield _services_warning(
            f"not all have the same {LOG_SECRETS_FILE}, so nobody can sign in at a service with the"
            " earlier one: copy the whole of services/ from where `pitlink keys` was run"
        )


def _read_secrets(
    keys: Path, name: str, read: Callable[[Path], Sequence[str]], found: set[tuple[str, ...]]
) -> Iterator[KeyFinding]:
    """Add the secrets in the file `name` of each service to `found`; an empty item without a file.

    Yield a failure for each unreadable file.
    """
    for directory in sorted((keys / SERVICES).glob("*/")):
        path = directory / name
        try:
            found.add(tuple(read(path)) if path.exists() else ())
        except UserError as error:
            yield KeyFinding(f"keys {path.relative_to(keys)}", holds=False, seen=str(error))


def _services_warning(seen: str) -> KeyFinding:
    return KeyFinding("keys services", holds=False, seen=seen, warns=True)
