"""A Redis for each worker of the tests, and a link on it."""

from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis

from tests.model.pit import Pit
from tests.servers import RedisServer


@pytest.fixture(scope="session")
def pit_server() -> Iterator[RedisServer]:
    """A redis-server in memory: nothing here is restarted."""
    with RedisServer(options={"appendonly": "no"}) as server:
        yield server


@pytest.fixture
async def pit_redis(pit_server: RedisServer) -> AsyncIterator[Redis]:
    """A connection to an empty Redis."""
    client = Redis.from_url(pit_server.url)
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture
async def pit(pit_redis: Redis) -> Pit:
    """A link whose meters have just been seeded."""
    pit = Pit(pit_redis)
    await pit.open()
    return pit
