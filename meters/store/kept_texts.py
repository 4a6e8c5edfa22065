"""Copies of the events and replies that tables still need from old ledger entries.

The ledger has the wagers event of each open round, and the replies to accepted events, so the data
of a table only names these entries. Before they are deleted from Redis, their texts are copied to
the data of the tables that have not played since.
"""

from collections.abc import Mapping
from itertools import chain
from typing import Final

from meters.ledger.stored_tables import DIGEST, StoredTable, entry_of, kept_text, reply_field
from meters.store.link_store import LinkStore

_AT_ONCE: Final = 10
"""Count of tables that one script call changes."""


async def keep_texts(store: LinkStore, last: int) -> None:
    """Copy to the tables what they need from the ledger entries up to entry `last`.

    A text that the ledger no longer has is left out. An audit reports it.

    Raises:
        ValueError: the data of a table, or a ledger entry that it needs, is damaged in Redis.
        RedisError: Redis failed. Texts that were already copied remain.
    """
    keys = store.keys
    tables = sorted((await store.table_fields(replies=False))[keys.tables])
    for begin in range(0, len(tables), _AT_ONCE):
        some = tables[begin : begin + _AT_ONCE]
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
                "keep_texts", len(kept), *chain.from_iterable([*kept, *rounds]),
                keys=[keys.tables, keys.rounds, keys.replies],
            )  # fmt: skip


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
