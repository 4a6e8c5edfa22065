"""A floor with its own Redis, whose size is measured."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis

from meters.embedded.broker import LOOPBACK
from meters.floor.floor_file import Floor, read_floor
from meters.redis_client.connect import open_redis
from meters.redis_client.shards import redis_of
from meters.redis_client.user_keys import USERS_TAG
from tests.bench.floor import FloorParts
from tests.bench.parts import free_port
from tests.bench.stand import start_broker, start_redis


@dataclass(frozen=True, slots=True)
class Place:
    """The floor and its books."""

    home: Path
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
    def written_bytes(self) -> int:
        redis = self.home / "redis"
        files = [*(redis / "appendonlydir").glob("*"), *redis.glob("appendonly.aof")]
        return sum(file.stat().st_size for file in files)

    @property
    def archived_bytes(self) -> dict[str, int]:
        """Bytes of the archive's files by gaming day, the earliest first."""
        found: dict[str, int] = {}
        for file in sorted(self.home.glob("pitlink-archive/*/*"), key=lambda at: at.name):
            found[file.name] = found.get(file.name, 0) + file.stat().st_size
        return found

    def forget_services(self) -> None:
        """Delete the data directory, so that no service has run here before."""
        shutil.rmtree(self.parts.data, ignore_errors=True)

    def keep_live(self, days: int) -> None:
        """Write the floor file; a number of closed days then stays in Redis."""
        archive = f"\n[archive]\nlive_days = {days}\n"
        self.config.write_text(self.text(self.parts) + archive, encoding="utf-8")


@asynccontextmanager
async def a_place(
    text: Callable[[FloorParts], str], *, broker: bool = False
) -> AsyncIterator[Place]:
    """Yield a floor with its own Redis; on exit end it and delete its files."""
    async with AsyncExitStack() as stack:
        home = Path(tempfile.mkdtemp(prefix="pitlink-bench-"))
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        _, redis_url = await start_redis(home / "redis", stack)
        port = (await start_broker(home / "broker", stack))[1] if broker else free_port()
        parts = FloorParts(
            broker=f"mqtt://{LOOPBACK}:{port}",
            redis=redis_url,
            http=f"{LOOPBACK}:{free_port()}",
            data=str(home / "data"),
        )
        (home / "floor.toml").write_text(text(parts), encoding="utf-8")
        redis = await stack.enter_async_context(open_redis(read_floor(home / "floor.toml")))
        yield Place(home, redis_of(redis, USERS_TAG), parts, text)
