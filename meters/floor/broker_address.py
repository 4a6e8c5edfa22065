import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from bonus.errors import UserError
from meters.floor.key_bundle import TlsFiles

_PORTS: Final = {"mqtt": 1883, "mqtts": 8883}
_CREDENTIAL_BYTES_MAX: Final = 65_535
_HOST: Final = re.compile(r"[^\s\x00-\x20\x7f/]{1,253}")
BROKER_URL_FILE: Final = "broker.url"
"""In the data directory: the service writes the address of its embedded broker there."""


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """Host, port and credentials of a broker.

    `files` are the TLS files of a key bundle; without them, the client trusts the system's
    authorities. Each event of a table goes to only one of the services with the secret name
    `event_group`, if the bundle has one. `client_name` is the name that the broker assigns to a
    client with this bundle. `mqtt5` is false if the broker is known to support only MQTT 3.1.1.
    """

    host: str
    port: int
    username: str | None
    password: str | None = field(repr=False)
    tls: bool
    files: TlsFiles | None = None
    event_group: str | None = field(default=None, repr=False)
    client_name: str | None = None
    mqtt5: bool = True

    def tls_context(self) -> ssl.SSLContext | None:
        """Return the client's TLS settings; None if connections are not encrypted.

        The files are read at each call. The client checks the host's name.

        Raises:
            UserError: a file of the bundle cannot be used.
        """
        if not self.tls:
            return None
        return self.files.context() if self.files else ssl.create_default_context()


def parse_broker_url(url: str) -> BrokerAddress:
    """Parse a broker's address: ``mqtt://user:password@host:port``, or ``mqtts://`` for TLS.

    Raises:
        UserError: the text is not the address of a broker. The message does not show the password.

    >>> parse_broker_url("mqtt://pit:p%40ss@10.0.0.7").port
    1883
    """
    # The error message repeats no part of an invalid address, because any part can belong to a
    # password.
    wrong = UserError(
        "this is not a broker's address: use mqtt://host:port or mqtts://host:port, and write"
        " / ? # @ of a password as %2F %3F %23 %40"
    )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise wrong from None
    fits = parts.scheme in _PORTS and port != 0 and is_host(parts.hostname or "")
    if not fits or parts.path.strip("/") or parts.query or parts.fragment:
        raise wrong
    user, password = (
        None if part is None else unquote(part) for part in (parts.username, parts.password)
    )
    if max(len((part or "").encode()) for part in (user, password)) > _CREDENTIAL_BYTES_MAX:
        raise UserError("MQTT allows no name or password of more than 65,535 bytes")
    return BrokerAddress(
        parts.hostname or "",
        port or _PORTS[parts.scheme],
        user,
        password,
        parts.scheme == "mqtts",
    )


def is_host(name: str) -> bool:
    """Check if a text can be a host name or an IP address.

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
    """Return the address of the embedded broker, which `pitlink serve` has started.

    Raises:
        UserError: no embedded broker runs now.
    """
    path = data / BROKER_URL_FILE
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise UserError(
            f"no embedded broker runs here: {path} is not there; start `pitlink serve` first"
        ) from None
