"""The scripts on real Redis servers: the system's, and the oldest that the service supports."""

import pytest
from redis.asyncio import Redis

from tests.lua.books import Books
from tests.redis_versions import both_servers as memory_server

__all__ = ["memory_server"]


@pytest.fixture
async def books(redis: Redis) -> Books:
    books = Books(redis)
    await books.store.open("service")
    return books
