"""A stranger's first packet to a broker, put together by hand, and what he is told."""

import socket
import ssl
from typing import Final

from meters.mqtt.packets import remaining_length, text

WITHIN_S: Final = 30.0
_LET_IN: Final = b"\x20\x02\x00\x00"
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
    """Whether a broker takes a connection, which is broken off at once.

    Args:
        port: the broker's.
        context: how TLS is spoken; None for a connection in the clear.
        host: by what name the broker, on this machine, is asked for.
        username: given with the connection, as is the password.
        password: see there.
        will: the topic of a last will, "gone" and retained, which is left behind.
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
                return _told(plain, body)
            with context.wrap_socket(plain, server_hostname=host) as secret:
                return _told(secret, body)
    except (OSError, EOFError):
        return False


def _told(connection: socket.socket, body: bytes) -> bool:
    connection.sendall(b"\x10" + remaining_length(len(body)) + body)
    return connection.recv(len(_LET_IN)) == _LET_IN
