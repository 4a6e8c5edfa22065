"""The amounts of meters from which the house has no edge, counted in another process."""

import asyncio
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Final

import msgspec

from bonus.odds.odds_entries import OddsEntry
from meters.floor.floor_file import Floor, Link, Meter
from meters.process.signals import begin_worker_process
from meters.selfcheck.floor_offers import floor_offers
from meters.selfcheck.odds_counting import count_entries

_ENVY: Final = "Envy Bonuses are left out."


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The lowest amount of a meter at which a wager has no house edge.

    It is counted exactly, with the meter's wager, and rounded up to the cent. `notes` say for whom
    it is true, and what it leaves out.
    """

    meter: str
    game: str
    wager: str
    cents: int
    notes: str


class BreakEvens:
    """The break-even amounts of each link, counted again if its parameters change."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._counted: dict[str, tuple[Link, asyncio.Task[Sequence[BreakEven]]]] = {}

    async def of(self, link: Link, within_s: float) -> Sequence[BreakEven]:
        """Return the break-even amounts of a link's meters; none while they are being counted."""
        known = self._counted.get(link.id)
        if known is None or known[0] != link:
            counting = asyncio.create_task(self._count(link), name="break-even")
            known = self._counted[link.id] = link, counting
        await asyncio.wait({known[1]}, timeout=within_s)
        return known[1].result() if known[1].done() else ()

    async def _count(self, link: Link) -> Sequence[BreakEven]:
        offers = [
            offer
            for offer in floor_offers(msgspec.structs.replace(self._floor, link=(link,)))
            if offer.tables and offer.tables.fed
        ]
        # The count takes seconds, for which it would stop the service.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, context, begin_worker_process) as pool:
            loop = asyncio.get_running_loop()
            entries = await loop.run_in_executor(pool, count_entries, offers, "serve")
        return [one for meter in link.meter for one in _of_meter(link, meter, entries)]


def _of_meter(link: Link, meter: Meter, entries: Sequence[OddsEntry]) -> Iterator[BreakEven]:
    """Yield the lowest amount of each wager that feeds a meter, once for tables that agree."""
    feeding = {table.id for table in link.table if meter.meter_id in table.meters}
    found: dict[tuple[str, str], BreakEven] = {}
    for entry in entries:
        if entry.wager not in meter.wagers or feeding.isdisjoint(entry.tables):
            continue
        tier = next((one for one in entry.tiers if one.meter == meter.kind), None)
        amounts = tier.break_even_meter if tier else entry.break_even_meter
        cents = amounts.get(str(meter.wager))
        if cents is None:
            continue
        notes = f"{entry.note} {_ENVY}".strip() if entry.envy_return else entry.note
        one = BreakEven(meter.meter_id, entry.game, entry.wager, cents, notes)
        key = entry.game, entry.wager
        if key not in found or cents < found[key].cents:
            found[key] = one
    yield from sorted(found.values(), key=lambda each: each.cents)
