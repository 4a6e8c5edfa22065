"""Redis clients by hash tag. Each link has a hash tag. All users together have another one.

In a Redis Cluster, all keys with one tag are on the same primary. For the keys of users and of the
operators' log, there can be a separate Redis user.
"""

from collections.abc import Callable, Iterable, Mapping

from redis.asyncio import Redis


class ShardedRedis:
    def __init__(self, client_of: Callable[[str], Redis]) -> None:
        self._client_of = client_of
        self._clients: dict[str, Redis] = {}

    def of(self, tag: str) -> Redis:
        if tag not in self._clients:
            self._clients[tag] = self._client_of(tag)
        return self._clients[tag]

    @property
    def asked_for(self) -> frozenset[str]:
        return frozenset(self._clients)

    async def aclose(self) -> None:
        for client in self._clients.values():
            await client.connection_pool.disconnect()


AnyRedis = Redis | ShardedRedis
"""Access to Redis: one client for all keys, or one client for each hash tag."""


def redis_of(redis: AnyRedis, tag: str) -> Redis:
    """Return the client for the keys with a hash tag: a link's id or the users' tag."""
    return redis.of(tag) if isinstance(redis, ShardedRedis) else redis


def every_redis(redis: AnyRedis, tags: Iterable[str]) -> Mapping[Redis, str]:
    """Return each client for the given hash tags, with the last of its tags."""
    return {redis_of(redis, tag): tag for tag in tags}


def probe_key(tag: str) -> str:
    """Return the Redis key, with a hash tag, of the small writes that prove that Redis writes."""
    return f"pitlink:{{{tag}}}:probe"
