"""Users on real Redis servers: the system's, and the oldest that the service supports."""

import pytest
from redis.asyncio import Redis

from meters.users.users import UserDirectory
from tests.redis_versions import both_servers as memory_server
from tests.users.staff import Register, fast_pins

__all__ = ["memory_server"]


@pytest.fixture
async def register(redis: Redis) -> Register:
    return Register(redis, UserDirectory(redis, 5, fast_pins()))
