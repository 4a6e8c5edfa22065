"""The only MQTT 3.1.1 packets that pitlink builds itself: PUBLISH with QoS 1."""


def publish_packet(topic: bytes, packet_id: int, payload: bytes) -> bytes:
    """Build a PUBLISH packet with QoS 1. The function `text` returns the topic in the right form.

    >>> publish_packet(text("a/b"), 7, b"{}").hex(" ")
    '32 09 00 03 61 2f 62 00 07 7b 7d'
    """
    return packet(b"\x32", topic, packet_id.to_bytes(2, "big"), payload)


def packet(head: bytes, *parts: bytes) -> bytes:
    """Return a packet of MQTT: its head, its remaining length, and its body."""
    return b"".join((head, remaining_length(sum(map(len, parts))), *parts))


def text(value: str) -> bytes:
    """Return a string as MQTT encodes it: its length, then its UTF-8 bytes."""
    data = value.encode()
    return len(data).to_bytes(2, "big") + data


def remaining_length(length: int) -> bytes:
    """Encode the remaining length of a packet for MQTT: seven bits a byte, low bits first."""
    if length < 0x80:
        return bytes((length,))
    return bytes((length & 0x7F | 0x80,)) + remaining_length(length >> 7)
