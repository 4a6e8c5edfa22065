"""The validated wins of a link's open gaming day, for the bar at the foot of the signage.

Redis has all these wins. The index of wins has each meter's wins in the order of their ledger
entries, and the entry of the last close says where the day begins. So all services show the same
wins, even after a restart. Validated wins are never rejected, so only other wins are read again:
wins that wait, and rejected wins, which can be reopened.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bonus.display import hand_words
from meters.floor.floor_file import Link
from meters.floor.paytable_text import ranks_of
from meters.ledger.claim_records import record_of
from meters.store.link_store import LinkStore
from meters.web.display_state import VerifiedWin, WinsRow

COUNTED_MAX: Final = 500
"""If `read` finds this many new wins of a meter, the bar shows no number and no sum for the day."""

LISTED: Final = 8
_PAGE: Final = 25
"""Wins of a meter that one read returns. Redis keeps this many wins, however old they are."""

_GOOD: Final = frozenset({"validated", "paid"})
_WHOLE: Final = 100


@dataclass(frozen=True, slots=True)
class _Win:
    order: int
    shown: VerifiedWin
    good: bool


class WonToday:
    def __init__(
        self, store: LinkStore, *, page: int = _PAGE, counted_max: int = COUNTED_MAX
    ) -> None:
        self._store = store
        self._page, self._counted_max = page, counted_max
        self._wins: dict[str, _Win] = {}
        self._uncounted: set[str] = set()
        self._day_began = -1

    async def read(self, link: Link, day: str) -> WinsRow:
        """Return what the displays show of the open gaming day `day`.

        Raises:
            ValueError: a claim in Redis is damaged.
        """
        store = self._store
        began = int(await store.redis.hget(store.keys.meters, "reading") or 0)
        if began != self._day_began:
            self._day_began, self._wins, self._uncounted = began, {}, set()
        unread: dict[str, int] = {}
        for meter in link.meter:
            unread |= await self._unread(meter.meter_id, began)
        unread |= {claim: win.order for claim, win in self._wins.items() if not win.good}
        for fields in await store.claims(sorted(unread)):
            if fields:
                claim, win = _read(fields)
                self._wins[claim] = win
        return self._row(link, day, began)

    async def _unread(self, meter: str, began: int) -> dict[str, int]:
        """Return the wins of the day that were never read, and a few earlier wins.

        For each claim, the value is the win's place in the order of wins.
        """
        found: dict[str, int] = {}
        before = None
        while True:
            page = await self._store.wins(meter, before, self._page, meter_awards=True)
            new = {claim: order for order, claim in page if claim not in self._wins}
            found |= new
            if len(new) < self._page or (before := page[-1][0]) <= began:
                return found
            if len(found) >= self._counted_max:
                self._uncounted.add(meter)
                return found

    def _row(self, link: Link, day: str, began: int) -> WinsRow:
        good = sorted((win for win in self._wins.values() if win.good), key=lambda win: -win.order)
        today = [win.shown for win in good if win.order > began]
        counted = not self._uncounted
        top = next(iter(ranks_of(link.meter)), "")
        of_top = [win.shown for win in good if win.shown.meter == top]
        whole = (win for win in of_top if win.percent == _WHOLE)
        return WinsRow(
            link=link.id,
            day=day,
            count=len(today) if counted else None,
            amount=sum(win.amount for win in today) if counted else None,
            latest=tuple(today[:LISTED]),
            last=next(whole, of_top[0] if of_top else None),
        )


def _read(fields: Mapping[str, str]) -> tuple[str, _Win]:
    record = record_of(fields)
    shown = VerifiedWin(
        meter=record.meter,
        table=record.table,
        hand_name="" if record.is_must_hit_by else hand_words(record.hand),
        amount=int(fields["amount"]),
        percent=record.shown_percent,
        at=fields["at"],
    )
    return record.claim, _Win(int(fields["entry"]), shown, fields["state"] in _GOOD)
