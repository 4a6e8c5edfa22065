"""Requests to reopen rejected wins. Each request waits for a second person."""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from meters.books.act_history import ActIndex
from meters.books.store import LinkStore
from meters.claims.claim_rows import DecisionRecord

_PAGE: Final = 200
_REQUEST: Final = msgspec.json.Decoder(DecisionRecord)


class ReopeningRequests:
    """The rejected wins of one link that somebody has requested to reopen."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._acts = ActIndex(store)
        self._seen = 0
        self._claims: set[str] = set()
        self._turn = asyncio.Lock()

    async def claims(self) -> Sequence[dict[str, str]]:
        """Return the fields of each claim with such a request, the oldest win first.

        Only the acts since the last call are read.

        Raises:
            RedisError: Redis failed.
        """
        store = self._store
        async with self._turn:
            last_reading = int(await store.redis.hget(store.keys.meters, "reading") or 0)
            await self._read_acts(last_reading)
            found = await store.claims(sorted(self._claims))
            waiting = {
                claim: fields
                for claim, fields in zip(sorted(self._claims), found, strict=True)
                if fields.get("state") == "rejected"
                and int(fields.get("request_entry", 0)) > last_reading
            }
            self._claims = {*waiting}
        return sorted(waiting.values(), key=lambda fields: int(fields["entry"]))

    async def _read_acts(self, last_reading: int) -> None:
        """Note the claims with a request that was made after the last call of this method.

        The first call reads the requests of the open gaming day.
        """
        after, before, latest = max(self._seen, last_reading), None, self._seen
        while True:
            page = [one for one in await self._acts.page(before, _PAGE) if one[0] > after]
            for entry, fields in page:
                latest = max(latest, entry)
                if fields["kind"] == "request_reopen":
                    self._claims.add(_REQUEST.decode(fields["event"]).claim)
            if len(page) < _PAGE:
                break
            before = page[-1][0]
        self._seen = latest
