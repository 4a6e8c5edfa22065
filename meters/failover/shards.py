"""A cluster: every link's keys, and the people's, lie whole on some primary, each with its tag."""

from collections.abc import Callable, Iterable, Sequence

from redis.asyncio import Redis


class ShardedRedis:
    """The clients of a cluster, one for each tag that was asked for.

    Args:
        client_of: makes the client of a tag.
    """

    def __init__(self, client_of: Callable[[str], Redis]) -> None:
        self._client_of = client_of
        self._clients: dict[str, Redis] = {}

    def of(self, tag: str) -> Redis:
        """The client for the keys of one tag."""
        if tag not in self._clients:
            self._clients[tag] = self._client_of(tag)
        return self._clients[tag]

    async def aclose(self) -> None:
        """End every connection."""
        for client in self._clients.values():
            await client.connection_pool.disconnect()


AnyRedis = Redis | ShardedRedis
"""Where the books are: one Redis, or a cluster of them."""


def redis_of(redis: AnyRedis, tag: str) -> Redis:
    """The client for the keys of one tag: a link's id, or the people's."""
    return redis.of(tag) if isinstance(redis, ShardedRedis) else redis


def every_redis(redis: AnyRedis, tags: Iterable[str]) -> Sequence[Redis]:
    """The clients for the keys of some tags, each once."""
    return list(dict.fromkeys(redis_of(redis, tag) for tag in tags))
