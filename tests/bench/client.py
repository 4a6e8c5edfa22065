"""The load's connection to a broker. It collects writes and sends acknowledgements with them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, cast

from meters.embedded.broker import LOOPBACK
from tests.bench.packets import PacketError, PacketReader, connect_packet, subscribe_packet
from tests.mqtt_packets import PACKET_IDS, publish_packet

Deliver = Callable[[Sequence[tuple[bytes, bytes]]], None]
"""Callback that receives the topics and payloads of one read of the socket."""

_ANSWER_WITHIN_S: Final = 10.0


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
