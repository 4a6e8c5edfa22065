"""The break-even amounts of a link's meters, counted in a process of their own."""

import multiprocessing
import os
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from bonus.odds.enumerations import Enumerator
from bonus.odds.wager_odds import entry_of
from meters.floor.floor_file import parse_floor
from meters.process.other_process import in_other_process
from meters.process.owned_tasks import OwnedTasks
from meters.selfcheck import break_even
from meters.selfcheck.break_even import BreakEvens
from meters.selfcheck.floor_offers import floor_offers
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.model.pit import FIVE_CARD, FLOOR, PROGRESSIVE
from tests.waiting import LONG_S, eventually_async

FLOOR_FILE = parse_floor(FLOOR)
(LINK,) = FLOOR_FILE.link


async def test_each_wager_of_a_meter_has_its_lowest_amount() -> None:
    async with OwnedTasks() as tasks:
        found = await BreakEvens(FLOOR_FILE, tasks).of(LINK, LONG_S)
    assert {PROGRESSIVE, FIVE_CARD} <= {one.meter for one in found}
    assert all(one.cents > 0 for one in found)


async def test_a_fixed_sum_makes_a_smaller_wager_the_one_with_the_lowest_amount(
    tmp_path: Path,
) -> None:
    """The $20 beside the percentage are four times a $5 wager, and twenty times a $1 wager."""
    trips = (HOUSE / "keystone_trips.toml").read_text("utf-8")
    cell = 'straight_flush = "10% of meter'
    (tmp_path / "keystone_trips.toml").write_text(trips.replace(cell, f"{cell} + $20"), "utf-8")
    for smaller, said in ((100, "With a $1 wager. "), (None, "The house edge")):
        wagers = {"smaller_wagers": [smaller]} if smaller else {}
        floor = parse_floor(
            floor_text(
                link_text(
                    "pit",
                    meter_text("trips_jackpot", 500, **wagers),
                    table_text("T-1", "trips_jackpot", game="keystone_trips"),
                ),
                games=str(tmp_path),
            )
        )
        async with OwnedTasks() as tasks:
            (one,) = await BreakEvens(floor, tasks).of(floor.link[0], LONG_S)
        assert one.notes.startswith(said)
        (offer,) = (
            each for each in floor_offers(floor) if each.largest_cents == (500 if smaller else 0)
        )
        (tier,) = entry_of(offer, Enumerator()).tiers
        assert one.cents == tier.break_even_meter[str(smaller or 500)]


async def test_a_count_that_failed_begins_again_after_some_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with OwnedTasks() as tasks:
        patient, counted = BreakEvens(FLOOR_FILE, tasks), BreakEvens(FLOOR_FILE, tasks, 0)
        with monkeypatch.context() as patch:
            patch.setattr(break_even, "in_other_process", None)
            assert await patient.of(LINK, LONG_S) == await counted.of(LINK, LONG_S) == ()
        assert await patient.of(LINK, LONG_S) == ()
        assert await counted.of(LINK, LONG_S)


async def test_a_count_ends_with_the_service_that_no_longer_needs_it() -> None:
    async with OwnedTasks() as tasks:
        assert await BreakEvens(FLOOR_FILE, tasks).of(LINK, 0) == ()
        await eventually_async(lambda: bool(multiprocessing.active_children()))
    await eventually_async(lambda: not multiprocessing.active_children())


async def test_a_process_that_was_killed_is_an_error_and_nothing_waits_for_it() -> None:
    with pytest.raises(BrokenProcessPool):
        await in_other_process(os._exit, 9)
