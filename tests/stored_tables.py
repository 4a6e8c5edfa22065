"""Tables of a link as Redis has them, and changed directly in Redis."""

import msgspec

from meters.ledger.redis_layout import PACK, StoredTable, kept_text, reply_field, reply_fields
from meters.store.link_store import LinkStore


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
