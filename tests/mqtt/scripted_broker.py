"""A broker of MQTT 5 that answers as a test says, and records every packet."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

import mqtt5

from meters.floor.server_addresses import BrokerAddress
from tests.waiting import eventually_async

Heard = TypeVar("Heard")

ACCEPTED = mqtt5.ConnAckPacket().write()


def answer_all(packet: mqtt5.Packet) -> bytes:
    """Answer as a broker that accepts everything and delivers nothing."""
    match packet:
        case mqtt5.ConnectPacket():
            return ACCEPTED
        case mqtt5.SubscribePacket():
            codes = [mqtt5.SubAckReasonCode.GRANTED_QOS_AT_LEAST_ONCE] * len(packet.topic_filters)
            return mqtt5.SubAckPacket(packet.packet_id, codes).write()
        case mqtt5.UnsubscribePacket():
            return mqtt5.UnsubAckPacket(
                packet.packet_id, [mqtt5.UnsubAckReasonCode.SUCCESS]
            ).write()
        case mqtt5.PublishPacket(packet_id=int(packet_id)):
            return mqtt5.PubAckPacket(packet_id).write()
        case mqtt5.PingReqPacket():
            return mqtt5.PingRespPacket().write()
    return b""


class ScriptedBroker:
    """A broker with one client at a time."""

    def __init__(self, answer: Callable[[mqtt5.Packet], bytes] = answer_all) -> None:
        self._answer = answer
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.heard: list[mqtt5.Packet] = []
        self.port = 0

    @property
    def address(self) -> BrokerAddress:
        return BrokerAddress("127.0.0.1", self.port, None, None, tls=False)

    def send(self, data: bytes) -> None:
        self._writers[-1].write(data)

    def all_of(self, kind: type[Heard]) -> list[Heard]:
        return [packet for packet in self.heard if isinstance(packet, kind)]

    async def until(self, kind: type[Heard], count: int = 1) -> list[Heard]:
        await eventually_async(lambda: len(self.all_of(kind)) >= count)
        return self.all_of(kind)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["ScriptedBroker"]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for writer in self._writers:
                writer.close()
            await asyncio.gather(*self._tasks)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.append(task)
        self._writers.append(writer)
        waiting = b""
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                waiting += data
                while True:
                    try:
                        packet, size = mqtt5.read(memoryview(waiting))
                    except IndexError:
                        break
                    waiting = waiting[size:]
                    self.heard.append(packet)
                    writer.write(self._answer(packet))
        writer.close()
