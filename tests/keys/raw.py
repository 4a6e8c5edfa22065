"""Packets of unknown clients to a broker: the first one and its answer, and far too long ones."""

import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Final

from tests.mqtt_packets import packet, remaining_length, text

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
    asking = packet(b"\x10", text("MQTT"), bytes([4, flags, 0, 60]), *fields)
    with contextlib.suppress(OSError, EOFError), connected(port, context, asking, host=host):
        return True
    return False


@contextlib.contextmanager
def connected(
    port: int, context: ssl.SSLContext | None, packet: bytes, *, host: str = "localhost"
) -> Iterator[socket.socket]:
    with (
        socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S) as plain,
        context.wrap_socket(plain, server_hostname=host) if context else plain as connection,
    ):
        connection.sendall(packet)
        if connection.recv(len(_LET_IN)) != _LET_IN:
            raise ConnectionRefusedError("the broker did not accept the client")
        yield connection


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


def connect_packet(name: str, *, flags: int = _CLEAN) -> bytes:
    return packet(b"\x10", text("MQTT"), bytes([4, flags, 0, 60]), text(name))
