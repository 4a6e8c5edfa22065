"""The validated wins of the open gaming day, as displays list them (duty D8)."""

from datetime import timedelta

import msgspec

from meters.service.won_today import WonToday
from meters.web.display_state import WinsRow
from tests.model.days import Days
from tests.model.pit import PROGRESSIVE, Pit

ROYAL = "As Ks Qs"


async def read(pit: Pit, wins: WonToday | None = None) -> WinsRow:
    of_top = [meter for meter in pit.link.meter if meter.meter_id == PROGRESSIVE]
    link = msgspec.structs.replace(pit.link, meter=(*of_top,))
    return await (wins or WonToday(pit.store)).read(link, "2126-11-20")


async def win(pit: Pit, number: int) -> str:
    await pit.round({3: PROGRESSIVE}, {3: ROYAL}, round_id=f"R{number}")
    return (await pit.claims.waiting())[-1].claim


async def test_a_win_counts_once_it_is_validated_whatever_restarts(pit: Pit) -> None:
    """A win that waits can still be rejected, and a display shows it at its meter."""
    wins = WonToday(pit.store)
    assert await read(pit, wins) == WinsRow(link="pit", day="2126-11-20")
    claim = await win(pit, 1)
    assert (await read(pit, wins)).count == 0
    await pit.decide(claim, "validate", by="amy")
    row = await read(pit, wins)
    (one,) = row.latest
    assert (row.count, row.amount, row.last) == (1, 100_014, one)
    assert (one.table, one.hand_name, one.percent) == ("T-1", "Mini-royal of spades", 100)
    await pit.decide(claim, "pay", by="ben")
    assert await read(pit, wins) == await read(pit) == row


async def test_a_rejected_win_never_counts_and_one_that_was_reopened_does(pit: Pit) -> None:
    wins = WonToday(pit.store)
    claim = await win(pit, 1)
    await pit.decide(claim, "reject", by="amy")
    assert await read(pit, wins) == await read(pit) == WinsRow(link="pit", day="2126-11-20")
    asked = await pit.claims.request_reopening(claim, "amy", reason="the camera shows the hand")
    assert asked.request is not None
    await pit.claims.confirm(claim, "ben", asked.request.entry)
    await pit.decide(claim, "validate", by="amy")
    row = await read(pit, wins)
    assert (row.count, row == await read(pit)) == (1, True)


async def test_the_day_begins_anew_at_its_close_and_the_last_win_stays(pit: Pit) -> None:
    days, wins = Days(pit), WonToday(pit.store)
    await days.open()
    claim = await win(pit, 1)
    await pit.decide(claim, "validate", by="amy")
    before = await read(pit, wins)
    await days.keep(timedelta(days=1))
    for each in (wins, WonToday(pit.store)):
        row = await read(pit, each)
        assert (row.count, row.amount, row.latest, row.last) == (0, 0, (), before.last)


async def test_more_wins_than_the_bound_are_listed_and_not_counted(pit: Pit) -> None:
    for number in range(4):
        claim = await win(pit, number)
        await pit.decide(claim, "validate", by="amy")
        await pit.decide(claim, "pay", by="ben")
    bounded = WonToday(pit.store, page=2, counted_max=3)
    row = await read(pit, bounded)
    assert (row.count, row.amount) == (None, None)
    assert row.latest[0] == row.last
    assert (await read(pit)).count == 4
