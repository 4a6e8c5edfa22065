"""Amounts of meters at which the house has no edge left, counted in another process."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from bonus.display import coin_money
from bonus.odds.odds_entries import OddsEntry
from meters.floor.floor_file import Floor, Link, Meter
from meters.process.other_process import in_other_process
from meters.process.owned_tasks import OwnedTasks
from meters.selfcheck.floor_offers import floor_offers
from meters.selfcheck.odds_counting import count_entries

_ENVY: Final = "Envy Bonuses are left out."
_MUST_HIT_BY: Final = "Must-hit-by wins are left out."
_AGAIN_AFTER_S: Final = 60.0
"""If a count failed, for example for lack of memory, it begins again after this time."""


@dataclass(frozen=True, slots=True)
class CountedBreakEven:
    """The lowest amount of a meter at which the house has no edge on a wager.

    The exact amount is rounded up to the cent. If the wager can have several amounts, it is the
    lowest of all. `notes` say for whom the amount is true, and what it leaves out.
    """

    meter: str
    game: str
    wager: str
    cents: int
    notes: str


class _Counting(NamedTuple):
    link: Link
    task: asyncio.Task[Sequence[CountedBreakEven]]
    begun_s: float

    @property
    def failed(self) -> bool:
        task = self.task
        return task.done() and (task.cancelled() or task.exception() is not None)


class BreakEvens:
    """The break-even amounts of each link, counted again when the link's parameters change."""

    def __init__(
        self, floor: Floor, tasks: OwnedTasks, again_after_s: float = _AGAIN_AFTER_S
    ) -> None:
        self._floor = floor
        self._tasks = tasks
        self._again_after_s = again_after_s
        self._counted: dict[str, _Counting] = {}

    async def of(self, link: Link, within_s: float) -> Sequence[CountedBreakEven]:
        """Return the break-even amounts of a link's meters; none while they are not counted."""
        known = self._counted.get(link.id)
        is_due = known and known.failed and time.monotonic() - known.begun_s >= self._again_after_s
        if known is None or known.link != link or is_due:
            task = self._tasks.start(self._count(link), f"break-even of {link.id}")
            known = self._counted[link.id] = _Counting(link, task, time.monotonic())
        await asyncio.wait({known.task}, timeout=within_s)
        return known.task.result() if known.task.done() and not known.failed else ()

    async def _count(self, link: Link) -> Sequence[CountedBreakEven]:
        offers = [
            offer
            for offer in floor_offers(msgspec.structs.replace(self._floor, link=(link,)))
            if offer.tables and offer.tables.fed
        ]
        entries = await in_other_process(count_entries, offers, "serve")
        return [one for meter in link.hand_meters for one in _of_meter(link, meter, entries)]


def _of_meter(link: Link, meter: Meter, entries: Sequence[OddsEntry]) -> Iterator[CountedBreakEven]:
    """Yield the break-even amount of each wager on a meter: the lowest at any of its tables."""
    feeding = {table.id for table in link.table if meter.meter_id in table.meters}
    found: dict[tuple[str, str], CountedBreakEven] = {}
    for entry in entries:
        if entry.wager not in meter.wagers or feeding.isdisjoint(entry.tables):
            continue
        tier = next((one for one in entry.tiers if one.meter == meter.kind), None)
        amounts = tier.break_even_meter if tier else entry.break_even_meter
        wager_cents = entry.smaller_wager or meter.wager
        cents = amounts.get(str(wager_cents))
        if cents is None:
            continue
        notes = f"{entry.note} {_ENVY}".strip() if entry.envy_return else entry.note
        if meter.smaller_wagers:
            notes = f"With a {coin_money(wager_cents)} wager. {notes}".strip()
        if any(entry.wager in one.wagers for one in link.meter if one.must_hit_by):
            notes = f"{notes} {_MUST_HIT_BY}".strip()
        one = CountedBreakEven(meter.meter_id, entry.game, entry.wager, cents, notes)
        key = entry.game, entry.wager
        if key not in found or cents < found[key].cents:
            found[key] = one
    yield from sorted(found.values(), key=lambda each: each.cents)
