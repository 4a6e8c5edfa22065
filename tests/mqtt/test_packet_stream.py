"""Bytes of a broker that become packets: in any pieces, of any length, or not MQTT at all."""

import asyncio
import contextlib
import socket
from collections.abc import Callable

import mqtt5
import pytest
import uvloop
from hypothesis import example, given, settings
from hypothesis import strategies as st

from meters.mqtt.connection import BrokerError
from meters.mqtt.packet_stream import PACKET_BYTES_MAX, PacketError, PacketStream
from tests.waiting import LONG_S

Loop = Callable[[], asyncio.AbstractEventLoop]

PANICS = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""The codec reports a string that is not UTF-8 in this way before it panics."""
LOOPS = pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])


class Wire(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = self.aborted = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        """Ignore it: the test decides when something arrives."""

    def resume_reading(self) -> None:
        """Ignore it."""

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = self.aborted = True


class Peer:
    def __init__(self) -> None:
        self.heard: list[mqtt5.Packet] = []
        self.ended: list[BrokerError] = []
        self.wire = Wire()
        self.stream = PacketStream(self.heard.append, self.ended.append)
        self.stream.connection_made(self.wire)

    def receive(self, data: bytes) -> None:
        """Let bytes arrive, in as many pieces as the stream's buffer needs."""
        while data:
            room = self.stream.get_buffer(-1)
            assert len(room) > 0
            size = min(len(room), len(data))
            room[:size] = data[:size]
            data = data[size:]
            self.stream.buffer_updated(size)


def in_loop(act: Callable[[], None]) -> None:

    async def run() -> None:
        act()

    asyncio.run(run())


TOPICS = st.text(st.characters(codec="utf-8", exclude_characters="+#\0"), min_size=1, max_size=30)
PUBLICATIONS = st.builds(
    mqtt5.PublishPacket,
    TOPICS,
    st.one_of(st.binary(max_size=200), st.integers(0, 100_000).map(bytes)),
    qos=st.just(mqtt5.QoS.AT_LEAST_ONCE),
    packet_id=st.integers(1, 65_535),
    retain=st.booleans(),
    content_type=st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
)
PACKETS = st.one_of(
    PUBLICATIONS,
    st.builds(mqtt5.PubAckPacket, st.integers(1, 65_535)),
    st.builds(mqtt5.PingRespPacket),
)


@pytest.mark.slow
@given(st.lists(PACKETS, max_size=8), st.lists(st.integers(1, 70_000), max_size=20))
@settings(deadline=None)
def test_packets_arrive_whole_and_in_order_in_whatever_pieces(
    packets: list[mqtt5.Packet], sizes: list[int]
) -> None:
    data = b"".join(packet.write() for packet in packets)

    def check() -> None:
        peer, left = Peer(), data
        for size in sizes:
            peer.receive(left[:size])
            left = left[size:]
        peer.receive(left)
        assert [packet.write() for packet in peer.heard] == [packet.write() for packet in packets]
        assert peer.ended == []

    in_loop(check)


@PANICS
@given(st.binary(max_size=400))
@example(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")
@example(b"\x30\x05\x00\x02\xff\xfe\x00")
@settings(deadline=None)
def test_any_other_bytes_end_the_connection_or_wait_for_more(junk: bytes) -> None:
    def check() -> None:
        peer = Peer()
        peer.receive(mqtt5.PingRespPacket().write() + junk)
        assert isinstance(peer.heard[0], mqtt5.PingRespPacket)
        assert len(peer.ended) <= 1
        if peer.ended:
            assert isinstance(peer.ended[0], PacketError)
            last, _ = mqtt5.read(memoryview(peer.wire.written[-1]))
            assert isinstance(last, mqtt5.DisconnectPacket)
            assert peer.wire.closed

    in_loop(check)


@PANICS
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x30\x05\x00\x02\xff\xfe\x00", "not MQTT 5"),  # a topic that is not UTF-8
        (b"\x00\x00", "not MQTT 5"),
        (b"\x30\xff\xff\xff\xff\x01", "not MQTT 5"),
        (b"\x30\xff\xff\xff\x7f".ljust(40_000), "a packet of 268,435,460 bytes"),
    ],
)
async def test_what_a_broker_must_not_send_is_named(data: bytes, words: str) -> None:
    peer = Peer()
    peer.receive(data[:32_768])
    assert [words in str(error) for error in peer.ended] == [True]


async def test_the_longest_packet_is_taken_and_its_buffer_is_released() -> None:
    peer = Peer()
    packet = mqtt5.PublishPacket("t", bytes(PACKET_BYTES_MAX - 9)).write()
    assert len(packet) <= PACKET_BYTES_MAX
    peer.receive(packet)
    assert [one.write() == packet for one in peer.heard] == [True]
    assert len(peer.stream.get_buffer(-1)) < 100_000


async def test_what_is_written_in_one_turn_is_sent_in_one_piece() -> None:
    peer = Peer()
    for number in range(3):
        peer.stream.write(mqtt5.PubAckPacket(number + 1).write())
    assert peer.wire.written == []
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert peer.wire.written == [b"".join(mqtt5.PubAckPacket(n).write() for n in (1, 2, 3))]


async def test_a_broker_that_takes_nothing_is_left() -> None:
    peer = Peer()
    taken = sum(peer.stream.write(bytes(1_000_000)) for _ in range(200))
    assert 60 < taken < 70
    assert [str(error) for error in peer.ended] == ["the broker accepts no more data"]
    assert peer.wire.aborted
    assert peer.stream.unsent_bytes == 0


@LOOPS
def test_a_flood_leaves_the_loop_its_turns(new_loop: Loop) -> None:
    """Both event loops can read as long as there is data. A flood must not keep them reading."""
    packet = mqtt5.PublishPacket("flood", bytes(1_000)).write()
    count = 4_000

    async def count_by_turn() -> list[int]:
        loop = asyncio.get_running_loop()
        heard: list[mqtt5.Packet] = []
        ours, theirs = socket.socketpair()
        with contextlib.closing(theirs):
            theirs.settimeout(0)
            stream = PacketStream(heard.append, lambda _: None)
            await loop.create_connection(lambda: stream, sock=ours)
            sending = asyncio.create_task(loop.sock_sendall(theirs, packet * count))
            turns = []
            async with asyncio.timeout(LONG_S):
                while len(heard) < count:
                    before = len(heard)
                    await asyncio.sleep(0)
                    turns.append(len(heard) - before)
                await sending
            await stream.close(b"", LONG_S)
        return turns

    with asyncio.Runner(loop_factory=new_loop) as runner:
        turns = runner.run(count_by_turn())
    assert max(turns) <= 2 * 32_768 // len(packet)
