"""The hand pays that hold tables, or can hold them again, read from Redis.

A table that is held accepts no wagers.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from meters.books.day_claims import DayClaims
from meters.books.store import LinkStore
from meters.wire.messages import ClaimOpened, holds_table

_DONE: Final = frozenset({"paid", "rejected"})


class _Record(msgspec.Struct, frozen=True):
    claim: str
    table: str
    asset: str
    position: int
    item: str
    paid_from: str


_RECORD: Final = msgspec.json.Decoder(_Record)


class TableHold(msgspec.Struct, frozen=True):
    table: str
    asset: str
    claim: ClaimOpened


async def holding_claims(store: LinkStore) -> Sequence[TableHold]:
    """Return the claims of a link that hold their tables, the oldest first."""
    waiting = await store.claims(await store.waiting())
    return _holds(one for one in waiting if one and one["state"] not in _DONE)


class ReopenableHolds:
    """The hand pays of one link that were rejected on the open gaming day, and can be reopened.

    If such a hand pay is reopened, it holds its table again.
    """

    def __init__(self, store: LinkStore) -> None:
        self._rejected = DayClaims(store, "reject")

    async def claims(self) -> Sequence[TableHold]:
        """Return these claims, the oldest first.

        One that was already reopened is included until it is paid.
        """
        rejected = await self._rejected.claims()
        return _holds(one for one in rejected if one["state"] != "paid")


def _holds(claims: Iterable[Mapping[str, str]]) -> Sequence[TableHold]:
    """Return the claims that are hand pays, from the fields of claims."""
    found = []
    for fields in claims:
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
