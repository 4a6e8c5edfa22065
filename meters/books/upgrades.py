"""Upgrade of a link's data in Redis to the schema version of this release, with ledger entries."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Final

import msgspec

from meters.books.hand_pay_holds import holding_claims
from meters.books.schema import SCHEMA
from meters.books.script_loader import load_script
from meters.books.script_steps import HeldTable
from meters.books.store import FIXED_KEYS, LinkStore, texts
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
    """
    script = store.redis.register_script(load_script("upgrade_link"))
    had = await store.schema()
    while had is not None and had < SCHEMA:
        step = Upgrade(had, had + 1, version("pitlink"))
        # The last entry is read before the claims. If the ledger gets a new entry after this read,
        # the script refuses, and everything is read again.
        last = (await store.snapshot()).last_entry
        held = await _held(store) if had == _BEFORE_HOLDS else {}
        keys = [store.keys.table(table) for table in held]
        answer = await script(
            keys=[*store.fixed_keys, *keys],
            args=[
                now_text(),
                step.before,
                step.after,
                by,
                msgspec.json.encode(step),
                last,
                msgspec.msgpack.encode(
                    [HeldTable(*one) for one in enumerate(held.values(), start=FIXED_KEYS + 1)]
                ),
            ],
        )
        status, *_ = texts(answer)
        had = step.after if status == "done" else await store.schema()


_BEFORE_HOLDS: Final = 2
"""The last schema version in which a table's data does not name the claims that hold the table."""


async def _held(store: LinkStore) -> Mapping[str, str]:
    """Return, for each held table, the claims that hold it: one on each line, the oldest first."""
    held: dict[str, str] = {}
    for holding in await holding_claims(store):
        line = msgspec.json.encode(holding.claim).decode()
        held[holding.table] = "\n".join(filter(None, (held.get(holding.table), line)))
    return held
