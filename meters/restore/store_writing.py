"""Writing of a restored store. The hash that the service looks for is written last.

A separate key marks a store during a restore, and no service opens such a store. A half-written
store also has no meters, and the next restore begins it again from the start.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, TypeVar

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from meters.redis_client.link_keys import LinkKeys
from meters.restore.store_snapshot import StoreSnapshot

_FIELDS_AT_ONCE: Final = 500
_COMMANDS_AT_ONCE: Final = 250
"""Size of a pipeline: some hundred kilobytes, so neither Redis nor this program holds more."""

Entries = AsyncIterator[tuple[int, Mapping[str, bytes]]]
_One = TypeVar("_One")


class StoreWriter:
    """The writer of one link's store."""

    def __init__(self, redis: Redis, keys: LinkKeys) -> None:
        self._redis = redis
        self._keys = keys

    async def begin(self, by: str, at: str) -> None:
        """Mark the store as being restored. No service opens it until `end` removes the mark.

        Raises:
            RedisError: the store failed.
        """
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hset(self._keys.restoring, mapping={"by": by, "at": at})
            await pipe.execute()

    async def end(self) -> None:
        """Remove the mark of a restore.

        Raises:
            RedisError: the store failed.
        """
        await self._redis.delete(self._keys.restoring)

    async def clear(self) -> None:
        """Remove the meters, the ledger and the lists that remain of a store.

        An older store may have lists that are empty by now, of which nothing is written. The payout
        slips remain: their numbers stay used.

        Raises:
            RedisError: the store failed.
        """
        keys = self._keys
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.delete(keys.meters, keys.ledger)
            pipe.delete(keys.waiting, keys.wins, keys.acts, keys.proposals)
            pipe.delete(keys.asks, keys.dealt, keys.checkpoint, keys.approved)
            await pipe.execute()

    async def write_ledger(self, entries: Entries) -> AsyncIterator[int]:
        """Write the entries that the store keeps, and yield the last number of each written part.

        Raises:
            RedisError: the store failed.
        """
        pipe, last = self._pipeline(), 0
        async for number, fields in entries:
            pipe.xadd(self._keys.ledger, dict(fields.items()), id=f"{number}-0")
            last = number
            if len(pipe) >= _COMMANDS_AT_ONCE:
                await pipe.execute()
                yield last
        await pipe.execute()
        yield last

    async def write_keys(self, snapshot: StoreSnapshot) -> None:
        """Write all other keys. The last one is the key that makes it a store.

        Raises:
            RedisError: the store failed.
        """
        keys, pipe = self._keys, self._pipeline()
        for key, fields in snapshot:
            if key == keys.meters:
                continue
            pipe.delete(key)
            for some in _parts(fields.items(), _FIELDS_AT_ONCE):
                if key in snapshot.sorted_sets:
                    pipe.zadd(key, {member: int(score) for member, score in some})
                else:
                    pipe.hset(key, mapping=dict(some))
                if len(pipe) >= _COMMANDS_AT_ONCE:
                    await pipe.execute()
        await pipe.execute()
        pipe.hset(keys.meters, mapping=dict(snapshot.at(keys.meters).items()))
        await pipe.execute()

    def _pipeline(self) -> Pipeline:
        return self._redis.pipeline(transaction=False)


def _parts(all_of: Iterable[_One], size: int) -> Iterator[list[_One]]:
    rest = iter(all_of)
    while some := list(islice(rest, size)):
        yield some
