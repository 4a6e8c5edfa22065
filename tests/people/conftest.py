"""People on real Redis servers: the system's, and the oldest that the service runs on."""

from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis

from meters.users.directory import UserDirectory
from meters.users.pins import PinHashing
from tests.lua.conftest import OldestRedis
from tests.people.staff import Register
from tests.servers import RedisServer

_IN_MEMORY = {"appendonly": "no"}


@pytest.fixture(scope="session", params=["system", "6.2"])
def people_server(request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    """A redis-server for these tests alone."""
    with OldestRedis() if request.param == "6.2" else RedisServer(options=_IN_MEMORY) as server:
        yield server


@pytest.fixture
async def redis(people_server: RedisServer) -> AsyncIterator[Redis]:
    """A connection to an empty Redis."""
    client = Redis.from_url(people_server.url)
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture
async def register(redis: Redis) -> Register:
    """The people of a facility, of whom there are none yet."""
    pins = PinHashing(time_cost=1, memory_kib=8)
    return Register(redis, UserDirectory.of(redis, 5, pins))
