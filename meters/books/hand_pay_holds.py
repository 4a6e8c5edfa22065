"""The hand pays that hold tables, read from Redis. A table that is held accepts no wagers."""

from collections.abc import Sequence
from typing import Final

import msgspec

from meters.books.store import LinkStore
from meters.wire.holds import holds_table
from meters.wire.messages import ClaimOpened

_DONE: Final = frozenset({"paid", "rejected"})


class _Record(msgspec.Struct, frozen=True):
    """The fields of a claim's record that show if the claim holds its table."""

    claim: str
    table: str
    asset: str
    position: int
    item: str
    paid_from: str


_RECORD: Final = msgspec.json.Decoder(_Record)


class TableHold(msgspec.Struct, frozen=True):
    """A claim that holds its table. `asset` is the facility's asset number of the table."""

    table: str
    asset: str
    claim: ClaimOpened


async def holding_claims(store: LinkStore) -> Sequence[TableHold]:
    """Return the claims of a link that hold their tables, the oldest first.

    Raises:
        RedisError: Redis failed.
    """
    found = []
    for fields in await store.claims(await store.waiting()):
        if not fields or fields["state"] in _DONE:
            continue
        record = _RECORD.decode(fields["record"])
        if holds_table(record.paid_from):
            opened = ClaimOpened(
                claim=record.claim,
                position=record.position,
                item=record.item,
                amount=int(fields["amount"]),
            )
            found.append(TableHold(record.table, record.asset, opened))
    return found
