"""What `pitlink archive` does with old ledger entries in Redis.

Old entries, which are seldom read, are compressed into blocks (`stored_entries.py`), and later
deleted. The data of a table names two kinds of entry: the wagers event of its open round, and the
entries with its kept replies. Before such an entry is deleted, its text is copied to the data of
the table.
"""

from collections.abc import Mapping
from itertools import chain
from typing import Final, NamedTuple, cast

from meters.ledger.chain import ENTRY_FIELDS
from meters.ledger.redis_layout import DIGEST, StoredTable, entry_of, kept_text, reply_field
from meters.store.link_store import LinkStore
from meters.store.stored_entries import Entry, StreamEntry, make_block, unpack_entries

PLAIN_ENTRIES: Final = 2_000
"""Number of the last ledger entries, which are often read and never compressed."""
BLOCK_ENTRIES: Final = 1_000
"""Smallest number of entries in a block, unless a gaming day ends earlier."""

_ROWS_AT_ONCE: Final = 50
_TABLES_AT_ONCE: Final = 10
"""Number of tables that one script call changes."""


async def compress_entries(store: LinkStore) -> int:
    """Compress old entries, block by block. Return the number of compressed entries.

    If the stream lacks a ledger entry at its place, the entries after the gap are not compressed.
    An audit reports the reason.

    Raises:
        RedisError: Redis failed. The blocks that were already written remain.
    """
    compressed = 0
    while (block := await _next_block(store)).entries:
        entries = block.entries
        number, last = entries[0][0], entries[-1][0]
        packed = make_block(entries)[b"entries"]
        status, *_ = await store.call(
            "compress_ledger", number, block.first_id, last, packed, keys=[store.keys.ledger_blocks]
        )
        if status != "done":
            break
        compressed += len(entries)
    return compressed


class _Block(NamedTuple):
    first_id: bytes
    entries: list[Entry]


_NO_BLOCK: Final = _Block(b"", [])


async def _next_block(store: LinkStore) -> _Block:
    if await store.continuity_problem():
        return _NO_BLOCK
    last = int(await store.redis.hget(store.keys.meters, "entries") or 0)
    newest = max(0, last - PLAIN_ENTRIES)
    found, first_id, begin = list[Entry](), b"", "-"
    while len(found) < BLOCK_ENTRIES:
        rows = cast(
            "list[StreamEntry]",
            await store.redis.xrange(
                store.keys.ledger, min=begin, max=f"{newest}-0", count=_ROWS_AT_ONCE
            ),
        )
        for row in rows:
            first_id = first_id or row[0]
            entries = unpack_entries([row], found[-1][0] if found else 0)
            follow = not found or entries[0][0] == found[-1][0] + 1
            if not follow or any((*fields,) != ENTRY_FIELDS for _, fields in entries):
                return _NO_BLOCK
            found += entries
            if entries[-1][1]["kind"] == b"reading":
                return _Block(first_id, found)
            if len(found) >= BLOCK_ENTRIES:
                break
        if len(rows) < _ROWS_AT_ONCE:
            break
        begin = f"({rows[-1][0].decode()}"
    return _Block(first_id, found) if len(found) >= BLOCK_ENTRIES else _NO_BLOCK


async def keep_texts(store: LinkStore, last: int) -> None:
    """Copy the texts that tables need from the ledger entries up to entry `last`.

    If the ledger lacks an entry, its text is left out. An audit reports this.

    Raises:
        ValueError: the data of a table, or a ledger entry that it needs, is damaged in Redis.
        RedisError: Redis failed. Texts that were already copied remain.
    """
    keys = store.keys
    tables = sorted((await store.table_fields(replies=False))[keys.tables])
    for begin in range(0, len(tables), _TABLES_AT_ONCE):
        some = tables[begin : begin + _TABLES_AT_ONCE]
        _, rows = await store.tables_at(some, replies=True)
        found = dict(zip(some, rows, strict=True))
        named = {table: _named_by(row, last) for table, row in found.items()}
        opened = {
            table: row.state.entry for table, row in found.items() if 0 < row.state.entry <= last
        }
        numbers = {entry for replies in named.values() for _, _, entry in replies}
        entries = dict(await store.entries_at(sorted(numbers | {*opened.values()})))
        kept: list[tuple[str | int | bytes, ...]] = [
            (
                reply_field(table, seq),
                kept_text(seq, stored),
                kept_text(seq, stored[:DIGEST] + _text_of(entries, entry, "reply")),
            )
            for table, replies in named.items()
            for seq, stored, entry in replies
            if entry in entries
        ]
        rounds: list[tuple[str | int | bytes, ...]] = [
            (table, entry, _text_of(entries, entry, "event"))
            for table, entry in opened.items()
            if entry in entries
        ]
        if kept or rounds:
            await store.call(
                "keep_texts",
                len(kept),
                *chain.from_iterable([*kept, *rounds]),
                keys=[keys.tables, keys.rounds, keys.replies],
            )


def _text_of(entries: Mapping[int, Mapping[str, bytes]], number: int, name: str) -> bytes:
    if name not in entries[number]:
        raise ValueError(f"ledger entry {number} cannot be read")
    return entries[number][name]


def _named_by(row: StoredTable, last: int) -> list[tuple[int, bytes, int]]:
    """Return a table's kept replies in entries up to `last`: seq, the stored reply, the entry."""
    return [
        (seq, stored, entry)
        for seq, stored in row.replies.items()
        if (entry := entry_of(stored)) is not None and entry <= last
    ]
