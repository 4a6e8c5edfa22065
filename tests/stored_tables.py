"""Tables of a link as Redis has them, changed directly in Redis, and in the earlier layout."""

from collections.abc import Mapping
from typing import Final, cast

import msgspec

from meters.books.kept_texts import keep_texts
from meters.books.script_steps import RoundContribution
from meters.books.store import LinkStore
from meters.books.stored_entries import StreamEntry, unpack_entry
from meters.books.stored_tables import (
    PACK,
    StoredTable,
    kept_text,
    reply_field,
    reply_fields,
)

Fields = dict[str, bytes]
"""The data of a table as the fields of its Redis hash up to schema version 3."""

_CONTRIBUTED: Final = msgspec.msgpack.Decoder(tuple[RoundContribution, ...])
_EARLIER: Final = 3


async def stored_table(store: LinkStore, table: str) -> StoredTable:
    _, (stored,) = await store.tables_at([table], replies=True)
    return stored


async def held_by(store: LinkStore, table: str) -> bytes:
    return (await stored_table(store, table)).state.held.encode()


async def set_table(store: LinkStore, table: str, **values: object) -> None:
    """Change values of a table's state, also to values that no state has."""
    state = (await stored_table(store, table)).state
    values = msgspec.structs.asdict(state) | values
    await store.redis.hset(store.keys.tables, table, PACK.encode([*values.values()]))


async def set_wagers(store: LinkStore, table: str, event: str | None) -> None:
    """Set the wagers event of a table's open round, or remove it.

    The table then no longer names the ledger entry with its wagers.
    """
    await set_table(store, table, entry=0)
    if event is None:
        await store.redis.hdel(store.keys.rounds, table)
    else:
        await store.redis.hset(store.keys.rounds, table, event)


async def set_reply(store: LinkStore, table: str, seq: int, stored: bytes | None) -> None:
    """Set the kept reply to an event, after the digest of the event, or remove it."""
    key, field = store.keys.replies, reply_field(table, seq)
    if stored is None:
        await store.redis.hdel(key, field)
    else:
        await store.redis.hset(key, field, kept_text(seq, stored))


async def delete_table(store: LinkStore, table: str) -> None:
    keys = store.keys
    for key in (keys.tables, keys.rounds, keys.repeated_claims):
        await store.redis.hdel(key, table)
    await store.redis.hdel(keys.replies, *reply_fields(table))


def earlier_fields(stored: StoredTable) -> Fields:
    """Return the fields of a table's Redis hash as schema version 3 had them."""
    if stored.packed_state is None:
        return {}
    state = stored.state
    texts = {"round": state.round, "over": state.over, "held": state.held}
    found = {"last": b"%d" % state.last}
    found |= {name: text.encode() for name, text in texts.items() if text}
    if stored.wagers is not None:
        found |= {
            "basis": b"%d" % state.basis,
            "wagers": stored.wagers,
            "draw": state.draw.encode(),
            "contributed": msgspec.msgpack.encode(state.contributed),
        }
    if state.over or stored.repeated:
        found["claims"] = stored.repeated or b""
    return found | {f"reply:{seq}": reply for seq, reply in stored.replies.items()}


async def make_earlier(store: LinkStore, version: int = _EARLIER) -> Mapping[str, Fields]:
    """Give the data of a link the layout of schema version 3 or 2, or of data without a version.

    Return the fields of each table.
    """
    redis, keys = store.redis, store.keys
    await keep_texts(store, await store.last_entry())
    names = (await store.table_fields(replies=False))[keys.tables]
    tables = {name: earlier_fields(await stored_table(store, name)) for name in sorted(names)}
    rows = cast("list[StreamEntry]", await redis.xrange(keys.ledger))
    await redis.delete(keys.tables, keys.rounds, keys.replies, keys.repeated_claims, keys.ledger)
    for row in rows:
        for number, fields in unpack_entry(row):
            await redis.xadd(keys.ledger, dict(fields.items()), id=f"{number}-0")
    for name, fields in tables.items():
        if version < _EARLIER:
            fields.pop("held", None)
        await redis.hset(keys.earlier_table(name), mapping=dict(fields.items()))
    if version > 1:
        await redis.hset(keys.meters, "schema", str(version))
    else:
        await redis.hdel(keys.meters, "schema")
    return tables
