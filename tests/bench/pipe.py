"""Limit of the machine: two C programs that write each event to a Redis, and promise nothing.

`mosquitto_sub` prints each message as an XADD command, and `redis-cli --pipe` sends the commands to
a Redis that syncs every write. Nothing is decoded, checked, counted or answered.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from typing import Final

from redis.asyncio import Redis

from meters.embedded.broker import LOOPBACK
from meters.wire.topics import EVERY_TABLE_OUT
from tests.bench.client import LoadClient
from tests.bench.events import EventWriter
from tests.bench.traffic import NoAnswerError, Table, publish_wagers
from tests.mqtt_packets import text

_STREAM: Final = "events"
_COMMAND: Final = (
    rf"*5\r\n$4\r\nXADD\r\n${len(_STREAM)}\r\n{_STREAM}\r\n$1\r\n*\r\n$1\r\ne\r\n$%l\r\n%p\r\n"
)
"""One event in the protocol of Redis; mosquitto_sub puts in its length and its bytes."""
_READY: Final = text("pitlink/v1/bench/table/ready/out")
"""Topic of the message that shows that the pipe is connected."""
_WITHIN_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.001


def subscribe_command(port: int) -> list[str]:
    """Return the command that prints each event as a command to Redis, without a line end."""
    return [
        *("mosquitto_sub", "-h", LOOPBACK, "-p", str(port), "-q", "1"),
        *("-t", EVERY_TABLE_OUT, "-N", "-F", _COMMAND),
    ]


def write_command(socket: str) -> list[str]:
    return ["redis-cli", "-s", socket, "--pipe"]


class PipeLoad:
    """Publishes windows of events, and waits until Redis has all of them."""

    def __init__(self, writer: EventWriter) -> None:
        self._writer = writer
        self._client: LoadClient | None = None
        self._redis: Redis | None = None

    @contextlib.asynccontextmanager
    async def connected(self, port: int, socket: str) -> AsyncIterator[None]:
        """Connect to the broker and the Redis of the pipe, once the pipe itself is connected."""
        client = await LoadClient.connect(
            port, "bench-load", subscribe=["bench/nothing"], deliver=lambda _: None
        )
        redis: Redis = Redis(unix_socket_path=socket)
        with contextlib.closing(client):
            async with redis:
                self._client, self._redis = client, redis
                await self._appear(client, redis)
                yield

    async def _appear(self, client: LoadClient, redis: Redis) -> None:
        """Publish until a message arrives. What was published before a subscription is lost."""
        try:
            async with asyncio.timeout(_WITHIN_S):
                while not await redis.xlen(_STREAM):
                    client.publish(_READY, b"ready")
                    client.flush()
                    await asyncio.sleep(_WITHIN_S / 1_000)
        except TimeoutError:
            raise NoAnswerError("the pipe of C programs does not listen") from None

    async def window(self, tables: Sequence[Table]) -> tuple[int, float]:
        """Have all tables publish one `wagers` event each, without waiting between them.

        Returns:
            The number of events, and the seconds from the first publish until Redis had the last.
        """
        client, redis = self._client, self._redis
        if client is None or redis is None:
            raise NoAnswerError("there is no connection to the broker of the pipe")
        await redis.xtrim(_STREAM, maxlen=0, approximate=False)
        began = time.monotonic()
        await publish_wagers(client, self._writer, tables)
        while await redis.xlen(_STREAM) < len(tables):
            if time.monotonic() > began + _WITHIN_S:
                raise NoAnswerError("the pipe of C programs has not written all messages")
            await asyncio.sleep(_LOOK_EVERY_S)
        return len(tables), time.monotonic() - began
