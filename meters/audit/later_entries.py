from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from meters.ledger.claim_evidence import CLAIM_ACTS, DECIDED, LedgerDecision
from meters.store.link_store import LinkStore

_PAGE: Final = 50
"""Count of entries that are read at once. It takes about a millisecond."""

LaterAct = tuple[LedgerDecision, str, int, Mapping[str, bytes]]
"""A decision on a claim, the person who made it, and the number and fields of its ledger entry."""


class LaterEntries:
    """The entries after the last replayed one, read once and only as far as they are needed.

    Data in Redis that differs from the replayed entries can have been changed by a later entry.
    While tables send events, there can be thousands of them.

    `acts` has, by claim, the acts on claims in the entries that were read, and `tables` the tables
    with an entry among them.
    """

    def __init__(self, store: LinkStore, after: int, pause: Callable[[], Awaitable[None]]) -> None:
        """Begin after the entry `after`. `pause` is awaited before each reading of some entries."""
        self.acts: dict[str, list[LaterAct]] = {}
        self.tables: set[str] = set()
        self._store = store
        self._read_to = after
        self._pause = pause

    async def read_to(self, last: int) -> None:
        """Read the entries up to `last` that were not read yet."""
        while self._read_to < last:
            await self._pause()
            count = min(_PAGE, last - self._read_to)
            page = await self._store.entries(self._read_to, count)
            if not page:
                return
            for number, fields in page:
                self._read_to = max(number, self._read_to + 1)
                self.tables.add(fields.get("table", b"").decode("utf-8", "replace"))
                if fields.get("kind") in CLAIM_ACTS:
                    decided, by = DECIDED.decode(fields["event"]), fields["by"].decode()
                    act = (decided, by, number, fields)
                    self.acts.setdefault(decided.claim, []).append(act)
