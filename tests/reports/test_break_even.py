"""The break-even amounts of a link's meters, counted in a process of their own."""

import multiprocessing
import os
from concurrent.futures.process import BrokenProcessPool

import pytest

from meters.floor.floor_file import parse_floor
from meters.process.other_process import in_other_process
from meters.process.owned_tasks import OwnedTasks
from meters.selfcheck import break_even
from meters.selfcheck.break_even import BreakEvens
from tests.model.pit import FIVE_CARD, FLOOR, PROGRESSIVE
from tests.waiting import LONG_S, eventually_async

FLOOR_FILE = parse_floor(FLOOR)
(LINK,) = FLOOR_FILE.link


async def test_each_wager_of_a_meter_has_its_lowest_amount() -> None:
    async with OwnedTasks() as tasks:
        found = await BreakEvens(FLOOR_FILE, tasks).of(LINK, LONG_S)
    assert {PROGRESSIVE, FIVE_CARD} <= {one.meter for one in found}
    assert all(one.cents > 0 for one in found)


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
