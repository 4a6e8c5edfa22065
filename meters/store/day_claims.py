"""Claims of the open gaming day that acts name, and claims that hold their tables."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from meters.ledger.claim_records import ClaimRecord, record_of
from meters.store.link_store import LinkStore
from meters.wire.messages import holds_table


class _Act(msgspec.Struct, frozen=True):
    claim: str


_ACT: Final = msgspec.json.Decoder(_Act)


class DayClaims:
    """The claims of one link that acts of one kind name, since the last close of a gaming day."""

    def __init__(self, store: LinkStore, kind: str) -> None:
        self._store = store
        self._kind = kind
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
        after, latest = max(self._seen, last_reading), self._seen
        async for entry, fields in self._store.every_act():
            if entry <= after:
                break
            latest = max(latest, entry)
            if fields.get("kind") == self._kind:
                claim = _ACT.decode(fields["event"]).claim
                self._entries[claim] = max(entry, self._entries.get(claim, 0))
        self._seen = latest


async def holding_claims(store: LinkStore) -> Sequence[ClaimRecord]:
    """Return the records of a link's claims that hold their tables, the oldest first."""
    waiting = await store.claims(await store.waiting())
    return _hand_pays(one for one in waiting if one and one["state"] not in {"paid", "rejected"})


async def reopenable_holds(rejected: DayClaims) -> Sequence[ClaimRecord]:
    """Return the records of the hand pays among rejected claims that can be reopened.

    If such a hand pay is reopened, it holds its table again. One that was already reopened is
    included until it is paid.
    """
    return _hand_pays(one for one in await rejected.claims() if one["state"] != "paid")


def _hand_pays(claims: Iterable[Mapping[str, str]]) -> Sequence[ClaimRecord]:
    return [one for one in map(record_of, claims) if holds_table(one.paid_from)]
