from collections.abc import Mapping
from typing import Final

from bonus.law.paytables import read_percent
from meters.claims.claim_rows import record_of
from meters.store.history import WinIndex
from meters.store.link_store import LinkStore

_WINS: Final = 25


class HighestAmounts:
    """The highest amount that each meter of a link had at one of the meter's latest wins.

    Between two wins, only a void or a correction makes a meter fall, so its highest amounts were
    immediately before its wins. Only the last 25 wins of a percentage of the meter are read.
    """

    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._wins = WinIndex(store)
        self._known: dict[str, tuple[int, int]] = {}

    async def of(self, meter: str, present_cents: int) -> int:
        """Return the highest known amount of a meter in cents, at least the present amount."""
        page = await self._wins.page(meter, None, _WINS, meter_awards=True)
        latest = page[0][0] if page else 0
        if self._known.get(meter, (-1, 0))[0] != latest:
            claims = await self._store.claims([claim for _, claim in page])
            self._known[meter] = latest, max((_before_cents(one) for one in claims), default=0)
        return max(present_cents, self._known[meter][1])


def _before_cents(fields: Mapping[str, str]) -> int:
    """Return the amount of a meter before a win, in cents; 0 if the win is archived."""
    percent = record_of(fields).percent if fields else None
    return int(fields["amount"]) * 100 // read_percent(percent) if percent else 0
