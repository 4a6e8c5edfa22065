"""The load's connection to a broker, with the packets of MQTT 3.1.1 that it needs, and no others.

A load generator must cost less than what it measures, because both share the same cores. So one
loop decodes everything that a read of the socket returned. General clients spend ten times as much
on a message, and the codecs on PyPI either support only MQTT 5 or are no longer maintained.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from meters.embedded.broker import LOOPBACK
from tests.mqtt_packets import PACKET_IDS, publish_packet, remaining_length, text

Deliver = Callable[[Sequence[tuple[bytes, bytes]]], None]
"""Callback that receives the topics and payloads of one read of the socket."""

_ANSWER_WITHIN_S: Final = 10.0
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


class LoadClient(asyncio.Protocol):
    """One MQTT connection that carries the events of many tables."""

    def __init__(self, deliver: Deliver) -> None:
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._deliver = deliver
        self._reader = PacketReader()
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[None] | None = None
        self._out: list[bytes] = []
        self._packet_id = 0

    @classmethod
    async def connect(
        cls, port: int, client_id: str, *, subscribe: Sequence[str], deliver: Deliver
    ) -> "LoadClient":
        """Connect to a broker on a loopback port and subscribe."""
        loop = asyncio.get_running_loop()
        _, client = await loop.create_connection(lambda: cls(deliver), LOOPBACK, port)
        try:
            async with asyncio.timeout(_ANSWER_WITHIN_S):
                await client.ask(connect_packet(client_id))
                await client.ask(subscribe_packet(PACKET_IDS, *subscribe))
        except BaseException:
            client.close()
            raise
        return client

    async def ask(self, packet: bytes) -> None:
        """Send a packet that the broker answers, and wait for the answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self.write(packet)
        await self._answer

    def publish(self, topic: bytes, payload: bytes) -> None:
        """Queue a payload that the next `flush` publishes with QoS 1."""
        self._packet_id = self._packet_id % PACKET_IDS + 1
        self._out.append(publish_packet(topic, self._packet_id, payload))

    def flush(self) -> None:
        if self._out:
            out, self._out = self._out, []
            self.write(b"".join(out))

    def write(self, data: bytes) -> None:
        """Send these bytes. Do nothing once the connection is lost."""
        if self._transport is not None:
            self._transport.write(data)

    @property
    def unsent_bytes(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lose(str(exc or "no reason given"))

    def _lose(self, reason: str) -> None:
        if not self.lost.done():
            self.lost.set_result(reason)
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(PacketError(f"the broker closed the connection: {reason}"))

    def data_received(self, data: bytes) -> None:
        """Read what arrived; send its acknowledgements together with the writes it caused."""
        try:
            received = self._reader.feed(data)
        except PacketError as error:
            self._lose(str(error))
            self.close()
            return
        self._out += received.acks
        if received.answered and self._answer is not None and not self._answer.done():
            self._answer.set_result(None)
        if received.messages:
            self._deliver(received.messages)
        self.flush()
