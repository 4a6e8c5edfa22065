"""Whether a Redis keeps what it is given: the settings without which no link operates."""

from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

_NEEDED: Final = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
_LEAST_VERSION: Final = (6, 2)


async def redis_problem(redis: Redis) -> str | None:
    """Why no link may operate on this Redis now, or None (duty D10).

    It must append every write to its file at once, evict nothing, write without error, be a
    primary and be of version 6.2 at least.
    """
    try:
        # One name at a time: before 7.0 Redis takes no more.
        settings = {name: (await redis.config_get(name)).get(name) for name in _NEEDED}
        info: dict[str, object] = await redis.info("everything")
    except (RedisError, OSError) as error:
        return f"Redis does not answer: {error}"
    version = tuple(int(part) for part in str(info.get("redis_version", "0")).split(".")[:2])
    problems = [
        f"Redis has {name} {settings.get(name)}; it must be {needed}"
        for name, needed in _NEEDED.items()
        if settings.get(name) != needed
    ]
    if info.get("aof_last_write_status") != "ok":
        problems.append("Redis cannot write its append-only file")
    if info.get("loading"):
        problems.append("Redis is loading its data")
    if info.get("role") != "master":
        problems.append(f"Redis is a {info.get('role')}, not the primary")
    if version < _LEAST_VERSION:
        problems.append(f"Redis is version {info.get('redis_version')}; 6.2 is the least")
    return "; ".join(problems) or None
