"""A Redis for each worker of the tests, and a shop on it."""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.model.pit import FLOOR
from tests.reports.shop import NEW_YORK, Shop, clock_by_hand
from tests.servers import RedisServer

MakeShop = Callable[..., Shop]


@pytest.fixture(scope="session")
def report_server() -> Iterator[RedisServer]:
    """A redis-server in memory: nothing here is restarted."""
    with RedisServer(options={"appendonly": "no"}) as server:
        yield server


@pytest.fixture
async def report_redis(report_server: RedisServer) -> AsyncIterator[Redis]:
    """A connection to an empty Redis."""
    client = Redis.from_url(report_server.url)
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture
def make_shop(
    report_redis: Redis, report_server: RedisServer, tmp_path: Path
) -> Iterator[MakeShop]:
    """Makes a shop whose clock begins at a moment of the facility's, ``2026-11-20 12:00``."""
    with clock_by_hand(datetime.now(UTC)) as clock:

        def make(begins: str, *, day_starts: str = "06:00", floor_text: str = FLOOR) -> Shop:
            clock.at = datetime.fromisoformat(begins).replace(tzinfo=NEW_YORK).astimezone(UTC)
            return Shop(
                report_redis, report_server.url, clock, tmp_path, day_starts=day_starts,
                floor_text=floor_text,
            )  # fmt: skip

        yield make
