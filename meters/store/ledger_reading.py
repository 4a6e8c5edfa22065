"""Reading of a link's ledger in Redis: new entries from the stream, old entries from blocks."""

import asyncio
from collections.abc import Sequence
from typing import Final, cast

from msgspec.structs import replace
from redis.asyncio import Redis

from meters.ledger.chain import ENTRY_FIELDS
from meters.ledger.redis_layout import LinkKeys
from meters.ledger.script_steps import ScriptAnswer, Status
from meters.store.stored_entries import (
    Entry,
    StreamEntry,
    unpack_block,
    unpack_entries,
    unpack_entry,
)

_AT_ONCE: Final = 20


class LedgerReader:
    """Reader of a link's ledger. If Redis fails, every method that waits raises a `RedisError`."""

    def __init__(self, redis: Redis, link: str) -> None:
        self.redis = redis
        self.keys = LinkKeys(link)

    async def entries(self, after: int, count: int) -> list[Entry]:
        """Read up to `count` ledger entries after entry `after`.

        If the ledger has any entry after `after`, at least one is returned, and no entry is
        skipped.
        """
        if found := await self._read_from_block(after, count):
            return found
        rows = await self._read(self.keys.ledger, f"({after}-0", f"{after + count}-0", count)
        # The stream's next entry can end with a number above `after + count`.
        rows = rows or await self._read(self.keys.ledger, f"({after}-0", "+", 1)
        first = unpack_entry(rows[0])[0][0] if rows else after + 2
        # Entries move from the stream into blocks, and never back. If they have moved since the
        # first read, they are in a block now.
        if first > after + 1 and (found := await self._read_from_block(after, count)):
            return found
        if not rows:
            return []
        begins_before = first <= after and len(unpack_entry(rows[0])) > 1
        if begins_before and not await self._read(self.keys.ledger, f"{first}-0", f"{after}-0", 1):
            # The entries up to `after` are in the same entry of the stream.
            return [one for one in unpack_entries(rows, first - 1) if one[0] > after][:count]
        return unpack_entries(rows, after)[:count]

    async def entries_at(self, numbers: Sequence[int]) -> list[Entry]:
        """Read the ledger entries with some numbers. Entries that Redis lacks are left out.

        Entries of one batch of events, or of one block, are in the same row of Redis. So the first
        read asks for one number, and takes all entries from its row. If each row has few of the
        numbers, later reads ask for more at a time. Blocks are unpacked outside the event loop.
        """
        found: dict[int, Entry] = {}
        # Redis fails for an id below 0, which somebody could write into the data of a table.
        left, at_once = sorted({one for one in numbers if one > 0}), 1
        while left:
            some, wanted, before = left[:at_once], {*left}, len(found)
            found |= await self._in_blocks(some, left)
            newer = await self._rows_at(self.keys.ledger, [one for one in some if one not in found])
            for row in newer:
                found |= {one[0]: one for one in unpack_entry(row) if one[0] in wanted}
            moved = [one for one in some if one not in found]
            found |= await self._in_blocks(moved, left)
            if len(found) - before <= len(some):
                at_once = min(4 * at_once, _AT_ONCE)
            left = [one for one in left if one not in found and one not in some]
        return [found[number] for number in numbers if number in found]

    async def add_replies(self, answers: Sequence[ScriptAnswer]) -> Sequence[ScriptAnswer]:
        """Complete a script's answers: read the replies to repeated events from the ledger.

        A script leaves a reply out if the ledger has it.
        """
        numbers = {
            one.entry for one in answers if one.status is Status.AGAIN and one.entry is not None
        }
        if not numbers:
            return answers
        replies = {
            number: fields["reply"].decode()
            for number, fields in await self.entries_at(sorted(numbers))
            if "reply" in fields  # a damaged entry has no reply
        }
        return [
            one
            if one.status is not Status.AGAIN or one.entry is None
            else replace(one, text=replies[one.entry], entry=None)
            if one.entry in replies
            # If the entry is missing, the event gets no reply, and the table repeats it.
            else replace(one, status=Status.MOVED)
            for one in answers
        ]

    async def first_number(self) -> int:
        """Return the number of the first ledger entry in Redis; 0 if there is none."""
        found = await self.entries(0, 1)
        return found[0][0] if found else 0

    async def first_end(self) -> int:
        """Return the number of the last ledger entry that the stream's first entry packs.

        One entry of the stream packs one or more ledger entries. Return 0 if the stream is empty.
        """
        rows = await self._read(self.keys.ledger, "-", "+", 1)
        return unpack_entry(rows[0])[-1][0] if rows else 0

    async def continuity_problem(self) -> str | None:
        """Return how the stream fails to continue the blocks; None if it continues them.

        If a block and the stream have an entry with the same number, readers take the one in the
        block. So without this check, nobody would see the entry in the stream.
        """
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.xrevrange(self.keys.ledger_blocks, count=1)
            pipe.xrange(self.keys.ledger, count=1)
            blocks, rows = cast("list[list[StreamEntry]]", await pipe.execute())
        if not blocks:
            return None
        last = int(blocks[0][0].partition(b"-")[0])
        begins = unpack_entries(rows, last)[0][0] if rows else 0
        if begins == last + 1:
            return None
        return f"the compressed entries end with entry {last}; the others begin with entry {begins}"

    async def _read_from_block(self, after: int, count: int) -> list[Entry]:
        found = await self.redis.xrange(self.keys.ledger_blocks, min=f"{after + 1}-0", count=1)
        rows = cast("list[StreamEntry]", found)
        return unpack_block(rows[0], after, count) if rows else []

    async def _in_blocks(self, asked: Sequence[int], numbers: Sequence[int]) -> dict[int, Entry]:
        """Read the blocks with the entries `asked`; return those of `numbers` that they have."""
        rows = await self._rows_at(self.keys.ledger_blocks, asked) if asked else []
        return await asyncio.to_thread(_unpacked, rows, numbers) if rows else {}

    async def _rows_at(self, key: str, numbers: Sequence[int]) -> list[StreamEntry]:
        async with self.redis.pipeline(transaction=False) as pipe:
            for number in numbers:
                pipe.xrange(key, min=f"{number}-0", count=1)
            found: list[list[StreamEntry]] = await pipe.execute()
        return [row for rows in found for row in rows]

    async def _read(self, key: str, begin: str, end: str, count: int) -> list[StreamEntry]:
        found = await self.redis.xrange(key, min=begin, max=end, count=count)
        return cast("list[StreamEntry]", found)


def _unpacked(rows: Sequence[StreamEntry], numbers: Sequence[int]) -> dict[int, Entry]:
    return {
        number: one
        for row in rows
        for number in numbers
        if number <= int(row[0].partition(b"-")[0])
        for one in unpack_block(row, number - 1, 1)
        if one[0] == number and (*one[1],) == ENTRY_FIELDS
    }
