"""Clients by hash tag: the keys of every link have their own tag, and so have the users' keys.

In a cluster, all keys of a tag are on the same primary. The users' keys have their own Redis user.
"""

from collections.abc import Callable, Iterable, Sequence

from redis.asyncio import Redis


class ShardedRedis:
    """Clients of the tags used so far."""

    def __init__(self, client_of: Callable[[str], Redis]) -> None:
        self._client_of = client_of
        self._clients: dict[str, Redis] = {}

    def of(self, tag: str) -> Redis:
        """Return the client for the keys of one tag."""
        if tag not in self._clients:
            self._clients[tag] = self._client_of(tag)
        return self._clients[tag]

    @property
    def asked_for(self) -> frozenset[str]:
        """The tags whose client was used."""
        return frozenset(self._clients)

    async def aclose(self) -> None:
        """Close every connection."""
        for client in self._clients.values():
            await client.connection_pool.disconnect()


AnyRedis = Redis | ShardedRedis
"""The store: one Redis with one user, or clients by tag."""


def redis_of(redis: AnyRedis, tag: str) -> Redis:
    """Return the client for the keys of one tag: a link's id, or the users' tag."""
    return redis.of(tag) if isinstance(redis, ShardedRedis) else redis


def every_redis(redis: AnyRedis, tags: Iterable[str]) -> Sequence[Redis]:
    """Return the clients for the keys of some tags, without repetition."""
    return list(dict.fromkeys(redis_of(redis, tag) for tag in tags))
