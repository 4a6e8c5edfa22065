"""What other programs do with the same events: a pipe of C programs, and a bare subscriber.

Each has a broker of its own, to which the load publishes. None of them decodes, checks or answers
an event.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from redis.asyncio import Redis

from meters.embedded.broker import LOOPBACK
from meters.wire.topics import EVERY_TABLE_OUT
from tests.bench.client import LoadClient
from tests.bench.place import steady_redis
from tests.bench.traffic import SLICE, NoAnswerError
from tests.servers import Mosquitto, eventually_async
from tests.waiting import dies_with_us, require

Write = Callable[[], bytes]
"""Function that makes an event."""

_STREAM: Final = "events"
_COMMAND: Final = (
    rf"*5\r\n$4\r\nXADD\r\n${len(_STREAM)}\r\n{_STREAM}\r\n$1\r\n*\r\n$1\r\ne\r\n$%l\r\n%p\r\n"
)
"""One event in the protocol of Redis; mosquitto_sub puts in its length and its bytes."""
_READY: Final = "pitlink/v1/bench/table/ready/out"
"""Topic of a message that the pipe writes once it is subscribed."""
_COUNT: Final = "bench/count"
"""Topic on which the bare subscriber publishes how many messages it has received."""
_BARE: Final = f"""
import aiomqtt, sys, uvloop

async def receive(port, window):
    async with aiomqtt.Client("{LOOPBACK}", port, identifier="bench-bare") as client:
        await client.subscribe("{EVERY_TABLE_OUT}", qos=1)
        await client.publish("{_COUNT}", "0", retain=True)
        count = 0
        async for _ in client.messages:
            count += 1
            if count % window == 0:
                await client.publish("{_COUNT}", str(count))

uvloop.run(receive(int(sys.argv[1]), int(sys.argv[2])))
"""
_WITHIN_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.001


@dataclass(frozen=True, slots=True)
class Baseline:
    """Running programs, with their process ids by name.

    `received` counts the events that the programs have received since the last `forget`.
    """

    pids: Mapping[str, int]
    client: LoadClient
    received: Callable[[], Awaitable[int]]
    forget: Callable[[], Awaitable[object]]

    async def window(self, topics: Sequence[str], write: Write) -> float:
        """Publish an event on each topic; return the seconds until the programs have them all."""
        await self.forget()
        began = time.monotonic()
        for begin in range(0, len(topics), SLICE):
            for topic in topics[begin : begin + SLICE]:
                self.client.post(topic, write())
            await asyncio.sleep(0)
        while await self.received() < len(topics):
            if time.monotonic() > began + _WITHIN_S:
                raise NoAnswerError("a program of the comparison has not received all events")
            await asyncio.sleep(_LOOK_EVERY_S)
        return time.monotonic() - began


@asynccontextmanager
async def c_pipe() -> AsyncIterator[Baseline]:
    """Run `mosquitto_sub` into `redis-cli --pipe`, which writes each event to a synced Redis."""
    async with AsyncExitStack() as stack:
        broker, server = stack.enter_context(Mosquitto()), stack.enter_context(steady_redis())
        listen = [require("mosquitto_sub"), "-h", LOOPBACK, "-p", str(broker.port), "-q", "1"]
        listen += ["-t", EVERY_TABLE_OUT, "-N", "-F", _COMMAND]
        write = [require("redis-cli"), "-s", str(server.socket_path), "--pipe"]
        subscriber = stack.enter_context(_program(listen, broker.home))
        writer = stack.enter_context(_program(write, broker.home, subscriber.stdout))
        redis = await stack.enter_async_context(Redis(unix_socket_path=str(server.socket_path)))
        client = await stack.enter_async_context(LoadClient(broker.port, "bench-load"))

        async def received() -> int:
            return int(await redis.xlen(_STREAM))

        async def is_subscribed() -> int:
            client.post(_READY, b"ready")
            return await received()

        await eventually_async(is_subscribed, what="the pipe of C programs")
        pids = {
            "mosquitto": broker.pid,
            "mosquitto_sub": subscriber.pid,
            "redis-cli": writer.pid,
            "redis": server.pid,
        }
        yield Baseline(pids, client, received, lambda: redis.unlink(_STREAM))


@asynccontextmanager
async def bare_subscriber(window: int) -> AsyncIterator[Baseline]:
    """Run an aiomqtt subscriber that does nothing; it can tell when it has whole windows."""
    total, forgotten = -1, 0

    def hear(_topic: str, payload: bytes) -> None:
        nonlocal total
        total = int(payload)

    async def received() -> int:
        return total - forgotten

    async def forget() -> None:
        nonlocal forgotten
        forgotten = total

    with Mosquitto() as broker:
        command = [sys.executable, "-c", _BARE, str(broker.port), str(window)]
        with _program(command, broker.home) as subscriber:
            async with LoadClient(broker.port, "bench-load", hear) as client:
                await client.subscribe(_COUNT)

                async def is_subscribed() -> bool:
                    return total == 0

                await eventually_async(is_subscribed, what="the bare subscriber")
                pids = {"mosquitto": broker.pid, "subscriber": subscriber.pid}
                yield Baseline(pids, client, received, forget)


@contextmanager
def _program(
    command: Sequence[str], cwd: Path, stdin: IO[bytes] | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(
        dies_with_us(command),
        stdin=stdin or subprocess.DEVNULL,
        stdout=subprocess.PIPE if stdin is None else subprocess.DEVNULL,
        cwd=cwd,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
