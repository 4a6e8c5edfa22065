"""Upgrade of a link's data in Redis to the schema version of this release, with ledger entries."""

import contextlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Final

import msgspec
from redis.exceptions import NoPermissionError

from meters.books.accounts import table_account
from meters.books.hand_pay_holds import holding_claims
from meters.books.schema import SCHEMA
from meters.books.script_loader import load_script
from meters.books.script_steps import EarlierTable
from meters.books.store import FIXED_KEYS, LinkStore, texts
from meters.books.stored_tables import REPLIES_KEPT
from meters.wire.clock import now_text


class Upgrade(msgspec.Struct, frozen=True):
    """An upgrade in the ledger: the schema versions before and after, and the release."""

    before: int
    after: int
    release: str


UPGRADE: Final = msgspec.json.Decoder(Upgrade)


async def upgrade_link(store: LinkStore, by: str) -> None:
    """Upgrade a link's data to the schema version of this release, one version after the other.

    Nothing changes if the data already has this version. Each upgrade by one version is atomic, and
    is done only once, even if several processes start it.

    Raises:
        RedisError: Redis failed. The upgrades that were already done remain.
        ValueError: the data in Redis is damaged. The upgrades that were already done remain.
    """
    keys, script = store.keys, store.redis.register_script(load_script("upgrade_link"))
    had = await store.schema()
    while had is not None and had < SCHEMA:
        step = Upgrade(had, had + 1, version("pitlink"))
        # The last entry is read before the tables. If the ledger gets a new entry after this read,
        # the script refuses, and everything is read again.
        last = (await store.snapshot()).last_entry
        tables = await _earlier_tables(store, had)
        answer = await script(
            keys=[
                *store.fixed_keys, keys.tables, keys.rounds, keys.replies, keys.repeated_claims,
                *map(keys.earlier_table, tables),
            ],
            args=[
                now_text(),
                step.before,
                step.after,
                by,
                msgspec.json.encode(step),
                last,
                msgspec.msgpack.encode(
                    [
                        EarlierTable(key, table, wins)
                        for key, (table, wins) in enumerate(tables.items(), start=_FIRST_TABLE)
                    ]
                ),
                REPLIES_KEPT,
            ],
        )  # fmt: skip
        status, *detail = texts(answer)
        if status == "damaged":
            raise ValueError(f"the data of table {detail[0]} of link {store.link.id}")
        had = step.after if status == "done" else await store.schema()


_FIRST_TABLE: Final = FIXED_KEYS + 5
"""The place of the first table's earlier key among the keys of the script call."""

_BEFORE_HOLDS: Final = 2
"""The last schema version in which a table's data does not name the claims that hold the table."""

_BEFORE_PACKED: Final = 3
"""The last schema version in which each table has a Redis hash of its own."""


async def _earlier_tables(store: LinkStore, version_before: int) -> Mapping[str, str]:
    """Return the tables that an upgrade changes, each with the claims that hold it."""
    if version_before == _BEFORE_HOLDS:
        return await _held(store)
    return dict.fromkeys(await _every_table(store), "") if version_before == _BEFORE_PACKED else {}


async def _every_table(store: LinkStore) -> Sequence[str]:
    """Return all tables that can have a Redis hash of their own.

    A table that has left the floor file has a balance if the service ever accepted its wagers. If
    not, only a search of the keys finds it. Some Redis ACLs do not allow this search.
    """
    found = {table.id for table in store.link.table}
    prefix = table_account("")
    accounts = (await store.snapshot()).accounts
    found |= {name.removeprefix(prefix) for name in accounts if name.startswith(prefix)}
    key_prefix = store.keys.earlier_table("")
    with contextlib.suppress(NoPermissionError):
        async for key in store.redis.scan_iter(match=f"{key_prefix}*", count=1_000):
            found.add(key.decode().removeprefix(key_prefix))
    return sorted(found)


async def _held(store: LinkStore) -> Mapping[str, str]:
    """Return, for each held table, the claims that hold it: one on each line, the oldest first."""
    held: dict[str, str] = {}
    for holding in await holding_claims(store):
        line = msgspec.json.encode(holding.claim).decode()
        held[holding.table] = "\n".join(filter(None, (held.get(holding.table), line)))
    return held
