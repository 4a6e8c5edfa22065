"""Clients by tag: every link's keys, and the people's, have a tag of their own.

In a cluster the keys of a tag lie whole on some primary. The people's keys have a Redis user of
their own.
"""

from collections.abc import Callable, Iterable, Sequence

from redis.asyncio import Redis


class ShardedRedis:
    """The clients of the tags that were asked for."""

    def __init__(self, client_of: Callable[[str], Redis]) -> None:
        self._client_of = client_of
        self._clients: dict[str, Redis] = {}

    def of(self, tag: str) -> Redis:
        """The client for the keys of one tag."""
        if tag not in self._clients:
            self._clients[tag] = self._client_of(tag)
        return self._clients[tag]

    @property
    def asked_for(self) -> frozenset[str]:
        """The tags whose client was asked for."""
        return frozenset(self._clients)

    async def aclose(self) -> None:
        """End every connection."""
        for client in self._clients.values():
            await client.connection_pool.disconnect()


AnyRedis = Redis | ShardedRedis
"""Where the books are: one Redis by one user, or clients by tag."""


def redis_of(redis: AnyRedis, tag: str) -> Redis:
    """The client for the keys of one tag: a link's id, or the people's."""
    return redis.of(tag) if isinstance(redis, ShardedRedis) else redis


def every_redis(redis: AnyRedis, tags: Iterable[str]) -> Sequence[Redis]:
    """The clients for the keys of some tags, each once."""
    return list(dict.fromkeys(redis_of(redis, tag) for tag in tags))
