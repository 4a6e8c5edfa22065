"""The packets of MQTT 3.1.1 that a load generator needs, and no others.

A load generator must cost less than what it measures, because both share the same cores. So one
loop decodes everything that a read of the socket returned. General clients spend ten times as much
on a message, and the codecs on PyPI either support only MQTT 5 or are no longer maintained.
"""

from dataclasses import dataclass, field
from typing import Final

from tests.mqtt_packets import remaining_length, text

_CONNECT: Final = 0x10
_CONNACK: Final = 2
_PUBLISH: Final = 3
_PUBACK: Final = 4
_SUBACK: Final = 9
_SUBSCRIBE: Final = 0x82
_PUBACK_HEAD: Final = b"\x40\x02"
_CLEAN_SESSION: Final = 0x02
_ACCEPTED: Final = 0
_QOS1: Final = b"\x01"
_FAILURE: Final = 0x80


class PacketError(Exception):
    """The broker refused this client, or sent something that the client cannot use."""


def connect_packet(client_id: str) -> bytes:
    """Return a CONNECT with a clean session and without a keep-alive."""
    body = b"\x00\x04MQTT\x04" + bytes([_CLEAN_SESSION]) + b"\x00\x00" + text(client_id)
    return bytes([_CONNECT]) + remaining_length(len(body)) + body


def subscribe_packet(packet_id: int, *patterns: str) -> bytes:
    body = packet_id.to_bytes(2, "big") + b"".join(text(one) + _QOS1 for one in patterns)
    return bytes([_SUBSCRIBE]) + remaining_length(len(body)) + body


@dataclass(slots=True)
class Received:
    """Contents of one read of the socket."""

    messages: list[tuple[bytes, bytes]] = field(default_factory=list)
    acks: list[bytes] = field(default_factory=list)
    answered: bool = False


class PacketReader:
    """Decoder of a byte stream. It keeps an incomplete packet until the rest arrives."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Received:
        """Return the packets that are complete now."""
        if self._rest:
            data = self._rest + data
        received = Received()
        at, end = 0, len(data)
        while end - at >= 2:
            length, body = data[at + 1], at + 2
            if length >= 0x80:
                length, body = _read_length(data, at + 1)
            after = body + length
            if not body or after > end:
                break
            _take(data[at], data, body, after, received)
            at = after
        self._rest = data[at:]
        return received


def _read_length(data: bytes, at: int) -> tuple[int, int]:
    """Return a remaining length and the position after it; position 0 if it is incomplete."""
    length = 0
    for count in range(4):
        if at + count >= len(data):
            return 0, 0
        byte = data[at + count]
        length |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return length, at + count + 1
    raise PacketError("a remaining length of more than four bytes")


def _take(head: int, data: bytes, body: int, after: int, received: Received) -> None:
    kind = head >> 4
    if kind == _PUBLISH:
        topic_ends = body + 2 + (data[body] << 8 | data[body + 1])
        payload = topic_ends
        if head & 0x06:
            payload += 2
            received.acks.append(_PUBACK_HEAD + data[topic_ends:payload])
        received.messages.append((data[body + 2 : topic_ends], data[payload:after]))
    elif kind == _CONNACK:
        if data[body + 1] != _ACCEPTED:
            raise PacketError(f"the broker refused the connection: code {data[body + 1]}")
        received.answered = True
    elif kind == _SUBACK:
        if _FAILURE in data[body + 2 : after]:
            raise PacketError("the broker refused a subscription")
        received.answered = True
    elif kind != _PUBACK:
        # The load keeps no published event until its acknowledgement: the reply says more.
        raise PacketError(f"the broker sent a packet of kind {kind}")
