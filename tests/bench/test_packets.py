"""The load's MQTT codec: whole streams, partial reads, and what it refuses."""

import pytest

from tests.bench.packets import PacketError, PacketReader, connect_packet, subscribe_packet
from tests.mqtt_packets import publish_packet, text

CONNACK = b"\x20\x02\x00\x00"
SUBACK = b"\x90\x03\x00\x01\x01"
PUBACK = b"\x40\x02\x00\x07"


def test_connect_and_subscribe_are_as_the_standard_has_them() -> None:
    """MQTT 3.1.1, sections 3.1 and 3.8."""
    assert connect_packet("ab") == b"\x10\x0e\x00\x04MQTT\x04\x02\x00\x00\x00\x02ab"
    assert subscribe_packet(10, "a/+", "c") == b"\x82\x0c\x00\x0a\x00\x03a/+\x01\x00\x01c\x01"


@pytest.mark.parametrize("size", [0, 1, 120, 121, 122, 16_000, 16_500, 300_000])
def test_publish_is_decoded_at_every_length(size: int) -> None:
    """Remaining lengths have one to three bytes. A broker would send the same packet."""
    payload = b"x" * size
    received = PacketReader().feed(publish_packet(text("a/b"), 258, payload))
    assert received.messages == [(b"a/b", payload)]
    assert received.acks == [b"\x40\x02\x01\x02"]


def test_stream_is_decoded_wherever_it_is_cut() -> None:
    """A read of the socket could end at any of these places."""
    stream = b"".join(
        (
            CONNACK,
            SUBACK,
            PUBACK,
            publish_packet(text("t/1"), 1, b"one"),
            b"\x30\x06\x00\x03t/2" + b"2",
            publish_packet(text("t/3"), 2, b"3" * 200),
        )
    )
    expected = [(b"t/1", b"one"), (b"t/2", b"2"), (b"t/3", b"3" * 200)]
    for cut in range(len(stream) + 1):
        reader = PacketReader()
        parts = [reader.feed(stream[:cut]), reader.feed(stream[cut:])]
        assert [one for part in parts for one in part.messages] == expected
        assert [one for part in parts for one in part.acks] == [
            b"\x40\x02\x00\x01",
            b"\x40\x02\x00\x02",
        ]
        assert any(part.answered for part in parts)


@pytest.mark.parametrize(
    "refusal",
    [
        b"\x20\x02\x00\x05",
        b"\x90\x04\x00\x01\x01\x80",
        b"\xe0\x00",
        b"\x30\xff\xff\xff\xff\x01",
    ],
    ids=["connection", "subscription", "unknown packet", "endless length"],
)
def test_refusal_of_the_broker_is_an_error(refusal: bytes) -> None:
    with pytest.raises(PacketError):
        PacketReader().feed(refusal)
