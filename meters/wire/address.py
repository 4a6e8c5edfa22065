"""Where the broker is, read from its address as the floor file has it."""

import re
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from bonus.errors import UserError

_PORTS: Final = {"mqtt": 1883, "mqtts": 8883}
_FORM: Final = "give mqtt://host:port or mqtts://host:port"
_CREDENTIAL_BYTES_MAX: Final = 65_535
_HOST: Final = re.compile(r"[^\s\x00-\x20\x7f/]{1,253}")
BROKER_URL_FILE: Final = "broker.url"
"""Under the data directory: where the service writes the address of its embedded broker."""


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """A broker's host, port and credentials; `tls` where it is spoken to in secret."""

    host: str
    port: int
    username: str | None
    password: str | None
    tls: bool

    def tls_context(self) -> ssl.SSLContext | None:
        """The TLS settings: the system's authorities, the host's name checked."""
        return ssl.create_default_context() if self.tls else None


def parse_broker_url(url: str) -> BrokerAddress:
    """Read ``mqtt://user:password@host:port``, or ``mqtts://`` for TLS.

    Raises:
        UserError: it is no such address. Its password is not shown.

    >>> parse_broker_url("mqtt://pit:p%40ss@10.0.0.7").port
    1883
    """
    shown = _without_credentials(url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # its words may hold the password
        raise UserError(f"{shown} is no broker: {_FORM}") from None
    fits = parts.scheme in _PORTS and port != 0 and is_host(parts.hostname or "")
    if not fits or parts.path.strip("/") or parts.query:
        raise UserError(f"{shown} is no broker: {_FORM}")
    user, password = (
        None if part is None else unquote(part) for part in (parts.username, parts.password)
    )
    if max(len((part or "").encode()) for part in (user, password)) > _CREDENTIAL_BYTES_MAX:
        raise UserError(f"{shown}: MQTT takes no name or password of more than 65,535 bytes")
    return BrokerAddress(
        parts.hostname or "",
        port or _PORTS[parts.scheme],
        user,
        password,
        parts.scheme == "mqtts",
    )


def _without_credentials(url: str) -> str:
    """An address as it may be shown."""
    head, at, host = url.rpartition("@")
    return f"{head.partition('//')[0]}//…@{host}" if at else url


def is_host(name: str) -> bool:
    """Whether a name or an IP address can be asked for at all.

    >>> is_host("10.0.0.7"), is_host("broker..example")
    (True, False)
    """
    if _HOST.fullmatch(name) is None:
        return False
    try:
        name.encode("idna")
    except UnicodeError:
        return False
    return True


def embedded_broker_url(data: Path) -> str:
    """The address of the broker that `pitlink serve` started beside itself.

    Raises:
        UserError: there is none just now.
    """
    place = data / BROKER_URL_FILE
    try:
        return place.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise UserError(
            f"no embedded broker runs here: {place} is not there; start `pitlink serve` first"
        ) from None
