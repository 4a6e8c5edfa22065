import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from meters.books.act_history import ActIndex
from meters.books.store import LinkStore

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
