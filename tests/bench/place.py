"""A floor with its own broker and Redis, and the service and commands that are measured on it."""

import resource
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import httpx
import msgspec
from redis.asyncio import Redis

from bonus.errors import UserError
from meters.floor.floor_file import Floor, read_floor
from meters.store.redis_clients import redis_of
from meters.store.redis_connect import open_redis
from meters.store.user_keys import USERS_TAG
from tests.approving import approve_before_serve
from tests.bench.floor import FloorParts
from tests.bench.machine import cpu_seconds
from tests.processes import Pitlink, run_pitlink
from tests.servers import Mosquitto, RedisServer, free_port

# A rewrite would begin at a random moment, and distort the measurement.
steady_redis: Final = partial(RedisServer, options={"auto-aof-rewrite-percentage": "0"})
"""A Redis that syncs every write, and does not rewrite its append-only file by itself."""

_STARTED_WITHIN_S: Final = 240.0
_COMMAND_WITHIN_S: Final = 1_200.0


class Seconds(msgspec.Struct, frozen=True):
    elapsed_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Place:
    home: Path
    broker: Mosquitto
    server: RedisServer
    redis: Redis
    parts: FloorParts
    text: Callable[[FloorParts], str]

    @property
    def config(self) -> Path:
        return self.home / "floor.toml"

    @property
    def floor(self) -> Floor:
        return read_floor(self.config)

    @property
    def archive(self) -> Path:
        return self.home / "pitlink-archive"

    @property
    def written_bytes(self) -> int:
        return sum(file.stat().st_size for file in self.server.home.glob("appendonlydir/*"))

    def write_floor(self, more: str = "") -> None:
        self.config.write_text(self.text(self.parts) + more, encoding="utf-8")

    def forget_services(self) -> None:
        """Delete the data directory, so that no service has run here before."""
        shutil.rmtree(self.parts.data, ignore_errors=True)

    @contextmanager
    def service(self, http: str = "") -> Iterator[tuple[Pitlink, Seconds]]:
        """Run `pitlink serve` until every link operates; yield it with the time that this took.

        A second service needs another address of its pages, `http`.
        """
        http = http or self.parts.http
        arguments = ("serve", "--config", str(self.config), "--http", http)
        approve_before_serve(arguments, None, filled=True)
        began = time.monotonic()
        with (
            httpx.Client() as client,
            Pitlink(*arguments, cwd=self.home, approved=False) as serving,
        ):
            serving.until(
                lambda: client.get(f"http://{http}/readyz").is_success,
                within_s=_STARTED_WITHIN_S,
                what="every link in operation",
            )
            elapsed_s = time.monotonic() - began
            yield serving, Seconds(elapsed_s, cpu_seconds({"": serving.process.pid})[""])
            serving.stop()

    def run(self, *words: str, stdin: bytes = b"") -> str:
        command = (*words, "--config", str(self.config))
        done = run_pitlink(*command, stdin=stdin, cwd=self.home, timeout_s=_COMMAND_WITHIN_S)
        if done.returncode:
            raise UserError(f"pitlink {words[0]} failed:\n{done.stderr[-1_000:]}")
        return done.stdout

    def timed(self, *words: str, stdin: bytes = b"") -> Seconds:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        self.run(*words, stdin=stdin)
        elapsed_s, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Seconds(elapsed_s, cpu_s)


@asynccontextmanager
async def a_place(text: Callable[[FloorParts], str]) -> AsyncIterator[Place]:
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pitlink-bench-")))
        broker = stack.enter_context(Mosquitto())
        server = stack.enter_context(steady_redis())
        parts = FloorParts(
            broker=broker.url,
            redis=server.url,
            http=f"127.0.0.1:{free_port()}",
            data=str(home / "data"),
        )
        (home / "floor.toml").write_text(text(parts), encoding="utf-8")
        async with open_redis(read_floor(home / "floor.toml")) as redis:
            yield Place(home, broker, server, redis_of(redis, USERS_TAG), parts, text)
