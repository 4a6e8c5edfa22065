"""Writing of a link's restored data into Redis.

During a restore, a separate Redis key stops every service from operating the link. The hash of the
meters is written last. So half-written data has no meters, and the next restore writes all data
from the start.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, TypeVar

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from meters.ledger.link_rows import LinkRows
from meters.ledger.redis_layout import LinkKeys
from meters.store import old_entries
from meters.store.stored_entries import Entry, make_block, pack_entries

_FIELDS_AT_ONCE: Final = 500
_PACKED_AT_ONCE: Final = 10
"""How many ledger entries one entry of the Redis stream can have."""
_COMMANDS_AT_ONCE: Final = 250
"""How many commands a Redis pipeline can have. The commands have at most a few megabytes, so they
need little memory in Redis and in this process.
"""

Entries = AsyncIterator[tuple[int, Mapping[str, bytes]]]
_One = TypeVar("_One")


class StoreWriter:
    """Writer of the restored data of one link. If Redis fails, methods raise `RedisError`."""

    def __init__(self, redis: Redis, keys: LinkKeys) -> None:
        self._redis = redis
        self._keys = keys

    async def begin(self, by: str, at: str) -> None:
        """Set the Redis key that stops every service from operating the link."""
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hset(self._keys.restoring, mapping={"by": by, "at": at})
            await pipe.execute()

    async def end(self) -> None:
        await self._redis.delete(self._keys.restoring)

    async def clear(self) -> None:
        """Remove the link's meters, ledger, lists, tables, checkpoint and approved configuration.

        The restore does not write an empty list over an old list, so old lists must be removed. The
        payout slips stay, because their numbers stay used.
        """
        keys = self._keys
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.delete(keys.meters, keys.ledger, keys.ledger_blocks)
            pipe.delete(keys.waiting, keys.wins, keys.acts, keys.proposals)
            pipe.delete(keys.asks, keys.dealt, keys.checkpoint, keys.approved)
            pipe.delete(keys.tables, keys.rounds, keys.replies, keys.repeated_claims)
            await pipe.execute()

    async def write_ledger(self, entries: Entries, last: int) -> AsyncIterator[int]:
        """Write the ledger entries in parts. Yield the number of the last entry of each part.

        Old entries are compressed in blocks, as by `pitlink archive`. `last` is the number of the
        last entry.
        """
        newest, some = last - old_entries.PLAIN_ENTRIES, list[Entry]()
        async for number, fields in entries:
            some.append((number, dict(fields)))
            # A block and a stream entry end with a gaming day, so that the day can be deleted.
            complete = fields["kind"] == b"reading" or len(some) >= old_entries.BLOCK_ENTRIES
            if not complete and number < last:
                continue
            pipe = self._pipeline()
            if complete and number <= newest:
                block = make_block(some)
                pipe.xadd(self._keys.ledger_blocks, dict(block.items()), id=f"{number}-0")
            else:
                for part in _parts(some, _PACKED_AT_ONCE):
                    packed = pack_entries([entry for _, entry in part])
                    pipe.xadd(self._keys.ledger, dict(packed.items()), id=f"{part[-1][0]}-0")
            await pipe.execute()
            some = []
            yield number

    async def write_rows(self, rows: LinkRows) -> None:
        """Write all Redis keys except the ledger. The hash of the meters is written last."""
        keys, pipe = self._keys, self._pipeline()
        for key, fields in rows:
            if key == keys.meters:
                continue
            pipe.delete(key)
            for some in _parts(fields.items(), _FIELDS_AT_ONCE):
                if key in keys.sorted_sets:
                    pipe.zadd(key, {member: int(score) for member, score in some})
                else:
                    pipe.hset(key, mapping=dict(some))
                if len(pipe) >= _COMMANDS_AT_ONCE:
                    await pipe.execute()
        await pipe.execute()
        pipe.hset(keys.meters, mapping=dict(rows.at(keys.meters).items()))
        await pipe.execute()

    def _pipeline(self) -> Pipeline:
        return self._redis.pipeline(transaction=False)


def _parts(all_of: Iterable[_One], size: int) -> Iterator[list[_One]]:
    rest = iter(all_of)
    while some := list(islice(rest, size)):
        yield some
