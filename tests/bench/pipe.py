"""Limit of the machine: two C programs that write each event to a Redis, and promise nothing.

`mosquitto_sub` prints each message as an XADD command, and `redis-cli --pipe` sends the commands to
a Redis that syncs every write. Nothing is decoded, checked, counted or answered.
"""

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from redis.asyncio import Redis

from meters.wire.topics import EVERY_TABLE_OUT
from tests.bench.client import LoadClient
from tests.bench.events import EventWriter
from tests.bench.place import steady_redis
from tests.bench.traffic import NoAnswerError, Table, publish_wagers
from tests.mqtt_packets import text
from tests.servers import Mosquitto, eventually_async
from tests.waiting import dies_with_us

_STREAM: Final = "events"
_COMMAND: Final = (
    rf"*5\r\n$4\r\nXADD\r\n${len(_STREAM)}\r\n{_STREAM}\r\n$1\r\n*\r\n$1\r\ne\r\n$%l\r\n%p\r\n"
)
"""One event in the protocol of Redis; mosquitto_sub puts in its length and its bytes."""
_READY: Final = text("pitlink/v1/bench/table/ready/out")
"""Topic of the message that shows that the pipe is connected."""
_WITHIN_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.001


@dataclass(frozen=True, slots=True)
class Pipe:
    """A running pipe, with the processes by the names of their CPU time."""

    client: LoadClient
    redis: Redis
    writer: EventWriter
    pids: Mapping[str, int]

    async def window(self, tables: Sequence[Table]) -> tuple[int, float]:
        """Have all tables publish one `wagers` event each, without waiting between them.

        Returns:
            The number of events, and the seconds from the first publish until Redis had the last.
        """
        await self.redis.xtrim(_STREAM, maxlen=0, approximate=False)
        began = time.monotonic()
        await publish_wagers(self.client, self.writer, tables)
        while await self.redis.xlen(_STREAM) < len(tables):
            if time.monotonic() > began + _WITHIN_S:
                raise NoAnswerError("the pipe of C programs has not written all messages")
            await asyncio.sleep(_LOOK_EVERY_S)
        return len(tables), time.monotonic() - began


@asynccontextmanager
async def c_pipe(writer: EventWriter) -> AsyncIterator[Pipe]:
    """Run the pipe, with a broker and a Redis of its own."""
    with ExitStack() as stack:
        broker, server = stack.enter_context(Mosquitto()), stack.enter_context(steady_redis())
        subscriber, cli = stack.enter_context(_programs(broker.port, server.socket_path))
        client = await LoadClient.connect(
            broker.port, "bench-load", subscribe=["bench/nothing"], deliver=lambda _: None
        )
        stack.enter_context(closing(client))
        redis = Redis(unix_socket_path=str(server.socket_path))

        async def appears() -> int:
            # What is published before the subscription is lost.
            client.publish(_READY, b"ready")
            client.flush()
            return int(await redis.xlen(_STREAM))

        async with redis:
            await eventually_async(appears, what="the pipe of C programs")
            pids = {"pipe_mosquitto": broker.pid, "mosquitto_sub": subscriber}
            yield Pipe(client, redis, writer, pids | {"redis_cli": cli, "pipe_redis": server.pid})


@contextmanager
def _programs(port: int, socket: Path) -> Iterator[list[int]]:
    subscribe = ["mosquitto_sub", "-h", "127.0.0.1", "-p", str(port), "-q", "1"]
    subscribe += ["-t", EVERY_TABLE_OUT, "-N", "-F", _COMMAND]
    write = ["redis-cli", "-s", str(socket), "--pipe"]
    with (
        subprocess.Popen(
            dies_with_us(subscribe), stdout=subprocess.PIPE, cwd=socket.parent
        ) as subscriber,
        subprocess.Popen(
            dies_with_us(write), stdin=subscriber.stdout, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=socket.parent,
        ) as writer,
    ):  # fmt: skip
        try:
            yield [subscriber.pid, writer.pid]
        finally:
            subscriber.kill()
            writer.kill()
