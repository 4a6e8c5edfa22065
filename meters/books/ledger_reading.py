"""Reading of a link's ledger in Redis: the last entries from the stream, older ones from blocks."""

from collections.abc import Sequence
from typing import cast

from redis.asyncio import Redis

from meters.books.ledger_blocks import block_with, unpack_block
from meters.books.stored_entries import Entry, StreamEntry, unpack_entries, unpack_entry
from meters.redis_client.link_keys import LinkKeys


async def read_entries(redis: Redis, keys: LinkKeys, after: int, count: int) -> list[Entry]:
    """Read up to `count` ledger entries after entry `after`.

    If the ledger has an entry after `after`, at least one is returned, and none is left out.

    Raises:
        RedisError: Redis failed.
    """
    rows = await _read(redis, keys.ledger, f"({after}-0", f"{after + count}-0", count)
    if _is_gap(rows, after):
        if block := await block_with(redis, keys, after + 1):
            return [one for one in block if one[0] > after][:count]
        # The next entry of the stream ends after `after + count`, or there is none.
        rows = rows or await _read(redis, keys.ledger, f"({after}-0", "+", 1)
        # Entries only move from the stream into blocks. So if they moved between the first two
        # reads, they are in a block now.
        if _is_gap(rows, after) and (block := await block_with(redis, keys, after + 1)):
            return [one for one in block if one[0] > after][:count]
    if not rows:
        return []
    first = unpack_entry(rows[0])[0][0]
    if first <= after and not await _read(redis, keys.ledger, f"{first}-0", f"{after}-0", 1):
        # The entries up to `after` are in the same entry of the stream.
        return [one for one in unpack_entries(rows, first - 1) if one[0] > after][:count]
    return unpack_entries(rows, after)[:count]


def _is_gap(rows: Sequence[StreamEntry], after: int) -> bool:
    """Check whether entries of the stream lack the ledger entry that follows entry `after`."""
    return not rows or unpack_entry(rows[0])[0][0] > after + 1


async def read_entries_at(redis: Redis, keys: LinkKeys, numbers: Sequence[int]) -> list[Entry]:
    """Read the ledger entries with some numbers. Those that Redis lacks are left out.

    Raises:
        RedisError: Redis failed.
    """
    async with redis.pipeline(transaction=False) as pipe:
        for number in numbers:
            pipe.xrange(keys.ledger, min=f"{number}-0", count=1)
        found: list[list[StreamEntry]] = await pipe.execute()
    by_number = {one[0]: one for rows in found for row in rows for one in unpack_entry(row)}
    older = [number for number in numbers if number not in by_number]
    if older:
        async with redis.pipeline(transaction=False) as pipe:
            for number in older:
                pipe.xrange(keys.ledger_blocks, min=f"{number}-0", count=1)
            blocks: list[list[StreamEntry]] = await pipe.execute()
        by_number |= {one[0]: one for rows in blocks for row in rows for one in unpack_block(row)}
    return [by_number[number] for number in numbers if number in by_number]


async def first_end(redis: Redis, keys: LinkKeys) -> int:
    """Return the number with which the first entry of the stream ends; 0 without an entry.

    Raises:
        RedisError: Redis failed.
    """
    rows = await _read(redis, keys.ledger, "-", "+", 1)
    return unpack_entry(rows[0])[-1][0] if rows else 0


async def _read(redis: Redis, key: str, begin: str, end: str, count: int) -> list[StreamEntry]:
    found = await redis.xrange(key, min=begin, max=end, count=count)
    return cast("list[StreamEntry]", found)
