"""Pages of a link's acts and wins, and the claims of the open gaming day (duties D16, D17).

An act is a decision of a person, such as to close the link, or an entry that the service itself
writes, such as the reading of the meters.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

import msgspec

from meters.ledger.link_keys import ANY_WIN, METER_AWARD
from meters.store.link_store import LinkStore
from meters.wire.messages import ClaimOpened, holds_table


class ActIndex:
    """The index of acts: entries that no table made, and tables' corrections of entered cards."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def page(self, before: int | None, count: int) -> Sequence[tuple[int, dict[str, str]]]:
        """Return up to `count` acts before entry `before`, with their numbers, the latest first."""
        redis, keys = self._store.redis, self._store.keys
        most = "+inf" if before is None else f"({before}"
        rows = cast(
            "list[bytes]",
            await redis.zrevrangebyscore(keys.acts, most, "-inf", start=0, num=count),
        )
        return [
            (number, {name: value.decode("utf-8", "replace") for name, value in fields.items()})
            for number, fields in await self._store.entries_at([int(row) for row in rows])
        ]


_ORDER_DIGITS: Final = 16


class WinIndex:
    """The index of those wins of one link that wait for a floorperson, or have waited for one."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def page(
        self, meter: str, before: int | None, count: int, *, meter_awards: bool
    ) -> Sequence[tuple[int, str]]:
        """Return up to `count` wins of a meter, each with its place, the latest first.

        The place of a win is the number of its ledger entry. All are lower than `before`, if it is
        given. With `meter_awards`, only wins of a percentage of the meter are returned.
        """
        prefix = f"{meter}{METER_AWARD if meter_awards else ANY_WIN}"
        # Members with the same score are sorted by their bytes, and "~" is after every digit.
        most = f"{prefix}~" if before is None else f"{prefix}{before:0{_ORDER_DIGITS}d}"
        rows = cast(
            "list[bytes]",
            await self._store.redis.zrevrangebylex(
                self._store.keys.wins, f"({most}", f"[{prefix}", start=0, num=count
            ),
        )
        return [_parsed(row.decode().removeprefix(prefix)) for row in rows]


def _parsed(member: str) -> tuple[int, str]:
    order, _, claim = member.partition(":")
    return int(order), claim


_PAGE: Final = 200


class _Act(msgspec.Struct, frozen=True):
    claim: str


_ACT: Final = msgspec.json.Decoder(_Act)


class DayClaims:
    """The claims of one link that acts of one kind name, since the last close of a gaming day."""

    def __init__(self, store: LinkStore, kind: str) -> None:
        self._store = store
        self._kind = kind
        self._acts = ActIndex(store)
        self._seen = 0
        self._entries: dict[str, int] = {}
        self._turn = asyncio.Lock()

    async def claims(self) -> Sequence[dict[str, str]]:
        """Return the fields of each claim, the oldest win first.

        Only the acts since the last call are read.
        """
        store = self._store
        async with self._turn:
            last_reading = int(await store.redis.hget(store.keys.meters, "reading") or 0)
            await self._read_acts(last_reading)
            self._entries = {
                claim: entry for claim, entry in self._entries.items() if entry > last_reading
            }
            found = await store.claims(sorted(self._entries))
        return sorted(filter(None, found), key=lambda fields: int(fields["entry"]))

    async def _read_acts(self, last_reading: int) -> None:
        """Note the claims of acts since the last call; in the first one, of the open gaming day."""
        after, before, latest = max(self._seen, last_reading), None, self._seen
        while True:
            page = [one for one in await self._acts.page(before, _PAGE) if one[0] > after]
            for entry, fields in page:
                latest = max(latest, entry)
                if fields.get("kind") == self._kind:
                    claim = _ACT.decode(fields["event"]).claim
                    self._entries[claim] = max(entry, self._entries.get(claim, 0))
            if len(page) < _PAGE:
                break
            before = page[-1][0]
        self._seen = latest


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
