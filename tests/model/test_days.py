"""Gaming days: each closes with a reading of the store's own meters (duty D19)."""

import time as clocks
from datetime import date, timedelta

import pytest
from redis.asyncio import Redis

from tests.model.days import Days
from tests.model.pit import CENT, PROGRESSIVE, Pit
from tests.model.tampering import move_balance, play_a_while


@pytest.fixture
async def days(pit: Pit) -> Days:
    days = Days(pit)
    await days.open()
    return days


@pytest.mark.duty("D19", proof=True)
async def test_a_day_closes_once_with_what_the_store_holds(days: Days) -> None:
    """Two services reach the hour at the same time. One of them takes the reading."""
    assert (await days.open_day(), await days.readings()) == ("2126-11-20", [])
    await play_a_while(days.pit)
    await days.keep(timedelta(hours=9, minutes=59))
    assert await days.readings() == []
    held = await days.pit.store.snapshot()
    await days.keep(timedelta(minutes=1), timedelta(seconds=1))
    ((number, reading),) = await days.readings()
    assert reading.day == date(2126, 11, 20)
    assert (reading.accounts, reading.tallies) == (held.accounts, held.tallies)
    assert (await days.pit.store.state()).head.entry == number, "the day's last entry"
    assert await days.open_day() == "2126-11-21"
    finding = await days.pit.audit()
    assert (finding.problems, finding.variances) == ((), ())


async def test_days_on_which_no_service_ran_have_no_reading(days: Days) -> None:
    await days.keep(timedelta(days=4))
    assert [reading.day.isoformat() for _, reading in await days.readings()] == ["2126-11-20"]
    assert await days.open_day() == "2126-11-24"


@pytest.mark.duty("D19")
@pytest.mark.parametrize("off", [timedelta(days=10), -timedelta(days=10)])
async def test_of_two_services_the_one_whose_clock_is_wrong_closes_no_day(
    pit: Pit, off: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would close each day that the other opens, up to the date of its own clock."""
    days, wrong, real_s = Days(pit), Days(pit), clocks.time
    await days.open()
    right = days.clock.now
    for _ in range(3):
        wrong.clock.now = right + off
        with monkeypatch.context() as patch:
            patch.setattr(clocks, "time", lambda: real_s() + off.total_seconds())
            await wrong.keep()
        await days.keep()
    assert (await days.open_day(), await days.readings()) == ("2126-11-20", [])
    await days.keep(timedelta(days=1))
    assert [reading.day.isoformat() for _, reading in await days.readings()] == ["2126-11-20"]


@pytest.mark.duty("D19")
async def test_a_clock_set_ahead_and_right_again_repeats_no_day(days: Days) -> None:
    """A day that was closed too early stays closed. The rest counts toward the day after."""
    await days.keep(timedelta(days=365), -timedelta(days=365))
    assert await days.open_day() == "2126-11-21"
    await days.keep(timedelta(hours=12), timedelta(days=1))
    closed = [reading.day.isoformat() for _, reading in await days.readings()]
    assert closed == ["2126-11-20", "2126-11-21"]


@pytest.mark.duty("D19", "D20")
async def test_a_day_that_was_closed_is_not_opened_again_by_what_somebody_writes(
    days: Days,
) -> None:
    """Such a day could never be archived, because the file of that day exists already."""
    keys = days.pit.store.keys
    await days.keep(timedelta(hours=11), timedelta(days=1))
    await days.pit.redis.hset(keys.meters, "day", "2126-11-20")
    await days.keep(timedelta(seconds=1), timedelta(days=1))
    assert [str(reading.day) for _, reading in await days.readings()] == [
        "2126-11-20", "2126-11-21", "2126-11-22",
    ]  # fmt: skip
    await days.pit.redis.hset(keys.meters, "day_closed", "2126-11-10")
    (problem,) = (await days.pit.audit()).problems
    assert (
        problem == "the link's last closed gaming day is '2126-11-10', the ledger says '2126-11-22'"
    )


@pytest.mark.duty("D19", proof=True)
async def test_a_variance_at_the_close_is_reported_from_then_on(days: Days, redis: Redis) -> None:
    """This holds even if the balance is later corrected to match the ledger."""
    await play_a_while(days.pit)
    await move_balance(days.pit, f"meter:{PROGRESSIVE}", CENT)
    await days.keep(timedelta(days=1))
    await move_balance(days.pit, f"meter:{PROGRESSIVE}", -CENT)
    finding = await days.pit.audit()
    assert finding.balanced
    assert len(finding.variances) == 2
    assert all("at the close of 2126-11-20: " in one for one in finding.variances)
    assert any(f"meter:{PROGRESSIVE} " in one and "+10000" in one for one in finding.variances)
