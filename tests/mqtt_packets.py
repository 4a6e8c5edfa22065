"""The only MQTT 3.1.1 packets that pitlink builds itself: PUBLISH with QoS 1 or QoS 0."""

from typing import Final

PACKET_IDS: Final = 65_535

_PUBLISH_QOS0: Final = b"\x30"
_PUBLISH_QOS1: Final = b"\x32"
_PUBLISH_QOS1_RETAIN: Final = b"\x33"


def publish_packet(topic: bytes, packet_id: int, payload: bytes, *, retain: bool = False) -> bytes:
    """Build a PUBLISH packet with QoS 1. The function `text` returns the topic in the right form.

    >>> publish_packet(text("a/b"), 7, b"{}").hex(" ")
    '32 09 00 03 61 2f 62 00 07 7b 7d'
    """
    head = _PUBLISH_QOS1_RETAIN if retain else _PUBLISH_QOS1
    size = remaining_length(len(topic) + 2 + len(payload))
    return b"".join((head, size, topic, packet_id.to_bytes(2, "big"), payload))


def unacknowledged_packet(topic: bytes, payload: bytes) -> bytes:
    """Build a PUBLISH packet with QoS 0, which the broker does not acknowledge.

    >>> unacknowledged_packet(text("a/b"), b"{}").hex(" ")
    '30 07 00 03 61 2f 62 7b 7d'
    """
    size = remaining_length(len(topic) + len(payload))
    return b"".join((_PUBLISH_QOS0, size, topic, payload))


def text(value: str) -> bytes:
    """Return a string as MQTT encodes it: its length, then its UTF-8 bytes."""
    data = value.encode()
    return len(data).to_bytes(2, "big") + data


def remaining_length(length: int) -> bytes:
    """Encode the remaining length of a packet for MQTT: seven bits a byte, low bits first."""
    if length < 0x80:
        return bytes((length,))
    return bytes((length & 0x7F | 0x80,)) + remaining_length(length >> 7)
