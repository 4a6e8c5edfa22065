"""Whether a Redis keeps what it is given: the settings without which no link operates."""

from collections.abc import Mapping, Sequence
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from meters.failover.replicated import ReplicatedRedis

_NEEDED: Final = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
_OF_REPLICAS: Final = ("min-replicas-to-write", "min-replicas-max-lag")
_LEAST_VERSION: Final = (6, 2)


async def redis_problem(redis: Redis) -> str | None:
    """Why no link may operate on this Redis now, or None (duty D10).

    It must append every write to its file at once, evict nothing, write without error, be a
    primary and be of version 6.2 at least. Where it has replicas, enough of them must be in touch
    with it, and it must take no writes by itself where they are not.
    """
    try:
        if isinstance(redis, ReplicatedRedis) and await redis.has_moved():
            return "another Redis has become the primary"
        # One name at a time: before 7.0 Redis takes no more.
        settings = {name: (await redis.config_get(name)).get(name) for name in _NEEDED}
        info: dict[str, object] = await redis.info("everything")
        replicas = await _replicas_problems(redis, info)
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
    return "; ".join([*problems, *replicas]) or None


async def _replicas_problems(redis: Redis, info: Mapping[str, object]) -> Sequence[str]:
    """What of a primary's replicas does not let a link operate; nothing where none are asked for.

    Raises:
        RedisError: it does not answer.
    """
    needed = redis.replicas if isinstance(redis, ReplicatedRedis) else 0
    if not needed:
        return []
    least, lag_s = [int(str((await redis.config_get(name))[name])) for name in _OF_REPLICAS]
    problems = []
    if least < needed:
        problems.append(f"Redis has {_OF_REPLICAS[0]} {least}; it must be {needed} at least")
    if not lag_s:
        problems.append(f"Redis has {_OF_REPLICAS[1]} 0; it must be 1 at least")
    # A Redis that demands no replicas says nothing of those that keep up.
    there = int(str(info.get("min_slaves_good_slaves", info.get("connected_slaves", 0))))
    if there < needed:
        problems.append(f"{there} of {needed} replicas are in touch with Redis")
    return problems
