"""Packets of unknown clients to a broker: the first one and its answer, and far too long ones."""

import socket
import ssl
from typing import Final

from tests.mqtt_packets import remaining_length, text

WITHIN_S: Final = 30.0
_LET_IN: Final = b"\x20\x02\x00\x00"
HUGE: Final = 8_000_000
_CLEAN, _WILL_QOS1, _RETAINED, _WILL = 0x02, 0x08, 0x20, 0x04
_PASSWORD, _USER = 0x40, 0x80


def is_let_in(
    port: int,
    context: ssl.SSLContext | None,
    *,
    host: str = "localhost",
    username: str | None = None,
    password: str | None = None,
    will: str | None = None,
) -> bool:
    """Return whether a broker accepts a connection, which is then broken off.

    `will` is the topic of a last will, "gone" and retained, which is left behind. The broker is on
    this machine, whatever its host is called here.
    """
    flags, fields = _CLEAN, [text("stranger")]
    if will is not None:
        flags |= _WILL | _WILL_QOS1 | _RETAINED
        fields += [text(will), text("gone")]
    if username is not None:
        flags |= _USER
        fields.append(text(username))
    if password is not None:
        flags |= _PASSWORD
        fields.append(text(password))
    body = b"".join([text("MQTT"), bytes([4, flags, 0, 60]), *fields])
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S) as plain:
            if context is None:
                return _connects(plain, body)
            with context.wrap_socket(plain, server_hostname=host) as secret:
                return _connects(secret, body)
    except (OSError, EOFError):
        return False


def takes_huge_packet(connection: socket.socket, first: bytes) -> bool:
    """Send all but the last byte of a packet of 8 MB; return whether a broker takes it all."""
    connection.settimeout(WITHIN_S)
    try:
        connection.sendall(first + remaining_length(HUGE) + text("MQTT"))
        piece = bytes(50_000)
        for _ in range(HUGE // len(piece) - 1):
            connection.sendall(piece)
        connection.setblocking(False)  # noqa: FBT003
        return connection.recv(1) != b""
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except OSError:
        return False


def connect_packet(name: str) -> bytes:
    """Return a CONNECT packet of MQTT 3.1.1."""
    body = b"".join([text("MQTT"), bytes([4, _CLEAN, 0, 60]), text(name)])
    return b"\x10" + remaining_length(len(body)) + body


def _connects(connection: socket.socket, body: bytes) -> bool:
    connection.sendall(b"\x10" + remaining_length(len(body)) + body)
    return connection.recv(len(_LET_IN)) == _LET_IN
