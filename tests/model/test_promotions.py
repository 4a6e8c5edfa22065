"""Promotions on a real Redis: once for each start, whatever happens, and audited."""

import asyncio
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from meters.acts.links import Links
from meters.ledger.entry_messages import PROMOTION_ADDED, PromotionAdded
from meters.store.floor_file_approval import Configuration
from tests.approving import approve
from tests.floor_text import promotion_text, section_text
from tests.model.pit import CENT, FIVE_CARD, FLOOR, PROGRESSIVE, RAGS, Pit, not_approved
from tests.model.running import Running, operating, running
from tests.model.tampering import Fields, change_transfer, ledger, rewrite
from tests.reports.shop import NEW_YORK, Clock, clock_by_hand
from tests.restore.pit import KeptPit
from tests.restore.stores import Copy
from tests.servers import eventually_async

pytestmark = pytest.mark.duty("D15")

ADDS: Final = 500_00
SEED: Final = 100_000
FRIDAY: Final = section_text(
    "[[link.promotion]]",
    id="friday",
    name="Friday Boost",
    meter=PROGRESSIVE,
    adds=ADDS,
    days=["friday", "saturday"],
    **{"from": "18:00", "to": "23:00"},
)
PROMOTED: Final = FLOOR + FRIDAY
ALL_DAY: Final = FLOOR + promotion_text("always", PROGRESSIVE, ADDS)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=NEW_YORK).astimezone(UTC)


@pytest.fixture
def clock() -> Iterator[Clock]:
    """Yield the clock of all services. December 4, 2026, is a Friday."""
    with clock_by_hand(at("2026-12-04 12:00")) as clock:
        yield clock


@pytest.fixture
async def pit(clock: Clock, redis: Redis) -> Pit:
    return await Pit.opened(redis, PROMOTED, workers=2)


async def look(pit: Pit) -> int:
    """Have all services look together; return how often one of them added something."""
    return sum(await asyncio.gather(*(each.add() for each in pit.promotions)))


async def added(pit: Pit) -> list[PromotionAdded]:
    return [
        PROMOTION_ADDED.decode(entry["event"])
        for entry in await pit.entries()
        if entry["kind"] == "promotion"
    ]


async def days(pit: Pit) -> list[int]:
    """Return the day of the month of each start in the ledger."""
    return [one.day.day for one in await added(pit)]


async def test_services_add_it_once_for_each_start(pit: Pit, clock: Clock) -> None:
    for hours in range(24 * 9):
        clock.at = at("2026-12-04 12:00") + timedelta(hours=hours)
        local = clock.at.astimezone(NEW_YORK)
        assert await look(pit) == ((local.weekday(), local.hour) in {(4, 18), (5, 18)})
        if hours % 5 == 0:
            pit.restart(hours % 2)
    assert await days(pit) == [4, 5, 11, 12]
    assert await pit.meter(PROGRESSIVE) == (SEED + 4 * ADDS) * CENT
    assert {(one.meter, one.amount, one.name) for one in await added(pit)} == {
        (PROGRESSIVE, ADDS, "Friday Boost")
    }
    await pit.check_sound()


@pytest.mark.parametrize(
    ("moment", "times"),
    [
        ("2026-12-04 17:59:59.999", 0), ("2026-12-04 18:00:00", 1),
        ("2026-12-04 22:59:59.999", 1), ("2026-12-04 23:00:00", 0), ("2026-12-06 18:00:00", 0),
    ],
)  # fmt: skip
async def test_a_late_service_adds_it_only_before_the_end(
    pit: Pit, clock: Clock, moment: str, times: int
) -> None:
    clock.at = at(moment)
    assert await look(pit) == times
    assert len(await days(pit)) == times
    await pit.check_sound()


async def test_a_clock_that_was_set_back_adds_nothing(pit: Pit, clock: Clock) -> None:
    clock.at = at("2026-12-05 18:00")
    assert await look(pit) == 1
    for moment in ("2026-12-04 19:00", "2026-12-05 17:59", "2026-12-05 18:00"):
        clock.at = at(moment)
        pit.restart(0)
        assert await look(pit) == 0
    clock.at = at("2026-12-11 18:00")
    assert await look(pit) == 1
    assert await days(pit) == [5, 11]
    await pit.check_sound()


async def test_the_evening_on_which_the_clock_goes_back_has_one_start(
    clock: Clock, redis: Redis
) -> None:
    """The promotion is on from 01:15 to 01:45. The clock shows these times twice."""
    clock.at = at("2026-11-01 00:00")
    hours = {"begins": "01:15", "ends": "01:45"}
    pit = await Pit.opened(redis, FLOOR + promotion_text("night", PROGRESSIVE, 100, **hours))
    found = [await _minute(pit, clock) for _ in range(5 * 60)]
    assert found.count(1) == 1
    assert found.index(1) == 75
    await pit.check_sound()


async def _minute(pit: Pit, clock: Clock) -> int:
    count = await look(pit)
    clock.at += timedelta(minutes=1)
    return count


async def test_a_closed_link_gets_it_when_it_opens_or_never(pit: Pit, clock: Clock) -> None:
    await pit.link_acts.close("pit", "sue", "shift change")
    clock.at = at("2026-12-04 18:00")
    assert await look(pit) == 0
    clock.at = at("2026-12-04 22:00")
    await pit.link_acts.open("pit", "sue")
    assert await look(pit) == 1
    await pit.link_acts.close("pit", "sue", "shift change")
    clock.at = at("2026-12-05 19:00")
    assert await look(pit) == 0
    clock.at = at("2026-12-05 23:00")
    await pit.link_acts.open("pit", "sue")
    assert await look(pit) == 0
    await pit.check_sound()


@pytest.mark.duty("D12")
async def test_only_the_approved_floor_file_adds_money(
    pit: Pit, clock: Clock, redis: Redis
) -> None:
    """A service with an earlier file adds nothing more, and a removed promotion leaves no trace."""
    clock.at = at("2026-12-04 18:00")
    assert await look(pit) == 1
    later = Pit(redis, PROMOTED.replace("adds = 50000", "adds = 70000"))
    clock.at = at("2026-12-05 18:00")
    assert await look(later) == 0, "not approved yet"
    assert (await not_approved(Configuration(later.floor, later.store))).changed == (
        "promotion friday adds: $500.00 → $700.00",
    )
    await approve(Configuration(later.floor, later.store))
    assert await look(pit) == 0
    assert await look(later) == 1
    assert [one.amount for one in await added(pit)] == [50_000, 70_000]
    await later.check_sound()
    without = Pit(redis, FLOOR)
    await approve(Configuration(without.floor, without.store))
    clock.at = at("2026-12-11 18:00")
    assert [await look(one) for one in (pit, later, without)] == [0, 0, 0]
    await without.check_sound()
    again = Pit(redis, PROMOTED)
    await approve(Configuration(again.floor, again.store))
    clock.at = at("2026-12-05 18:00")
    assert await look(again) == 0, "the start on the 5th was added before"
    await again.check_sound()


def not_added(logged: Sequence[MutableMapping[str, Any]]) -> list[tuple[str, str, bool]]:
    """Return day and reason of each logged start without money, and whether it had ended."""
    return [
        (one["day"], one["reason"], one["ended"])
        for one in logged
        if one["event"] == "promotion not added"
    ]


async def test_a_start_before_the_last_one_in_the_ledger_is_logged(pit: Pit, clock: Clock) -> None:
    """The clock was ahead by a week. Until it comes there again, nothing is added."""
    clock.at = at("2026-12-11 18:00")
    assert await look(pit) == 1
    clock.at = at("2026-12-04 18:00")
    with capture_logs() as logged:
        assert [await pit.promotions[0].add() for _ in range(3)] == [False] * 3
        clock.at = at("2026-12-04 23:00")
        await pit.promotions[0].report_ended()
    assert not_added(logged) == [("2026-12-04", "later_day", False)]


async def test_the_end_of_a_start_without_money_is_logged_once(pit: Pit, clock: Clock) -> None:
    one, other = pit.promotions
    clock.at = at("2026-12-04 19:00")
    one.hold_back("Redis does not answer")
    await pit.link_acts.close("pit", "sue", "shift change")
    assert not await one.add()
    clock.at = at("2026-12-04 22:59:59")
    with capture_logs() as logged:
        await one.report_ended()
        assert not_added(logged) == [], "it is still on"
        clock.at = at("2026-12-04 23:00")
        for _ in range(3):
            await one.report_ended()
        assert not_added(logged) == [("2026-12-04", "closed", True)]
        await other.report_ended()
    assert len(not_added(logged)) == 1


async def test_a_start_that_another_service_added_is_not_logged(pit: Pit, clock: Clock) -> None:
    one, other = pit.promotions
    clock.at = at("2026-12-04 19:00")
    one.hold_back("the clock is wrong")
    assert await other.add()
    clock.at = at("2026-12-05 12:00")
    with capture_logs() as logged:
        await one.report_ended()
    assert not_added(logged) == []


async def test_people_read_it_in_words(pit: Pit, clock: Clock) -> None:
    clock.at = at("2026-12-04 18:00")
    await look(pit)
    (row, *_) = await pit.link_acts.acts("pit", None, 5)
    assert (row.what, row.by, row.of) == ("promotion", "service", "meter")
    assert row.told == "Friday Boost: $500.00 from the house to Progressive, for 2026-12-04"


# A part of each wager.

HAPPY: Final = FLOOR + promotion_text(
    "happy", PROGRESSIVE, None, name="Happy Hours", raises="2.5%", begins="18:00", ends="20:00"
)


async def play(pit: Pit, clock: Clock, moment: str, rounds: int) -> None:
    """Play rounds with a wager of $1 each at a time."""
    clock.at = at(moment)
    for number in range(rounds):
        round_id = f"{clock.at:%d%H%M%S}-{number}"
        await pit.round({1: PROGRESSIVE}, {1: RAGS}, table="T-1", round_id=round_id)


@pytest.fixture
async def happy(clock: Clock, redis: Redis) -> Pit:
    return await Pit.opened(redis, HAPPY, workers=2)


async def parts(pit: Pit) -> list[tuple[str | None, int, int]]:
    """Return count, amount and the wagers since the count began, of each entry."""
    return [(one.count, one.amount, one.wagered) for one in await added(pit)]


@pytest.mark.duty("D3")
async def test_a_part_of_each_wager_is_added_every_few_minutes(happy: Pit, clock: Clock) -> None:
    """Of three wagers of $1, 2.5% are 7.5 cents: the half cent waits for the next wagers."""
    await play(happy, clock, "2026-12-04 17:59", 3)
    assert await look(happy) == 0
    clock.at = at("2026-12-04 18:00")
    assert await look(happy) == 1
    await play(happy, clock, "2026-12-04 18:01", 3)
    assert await look(happy) == 0, "only every five minutes"
    clock.at = at("2026-12-04 18:05")
    assert await look(happy) == 1
    await play(happy, clock, "2026-12-04 18:06", 3)
    happy.restart(0)
    assert await look(happy) == 0, "another service neither"
    clock.at = at("2026-12-04 19:00")
    assert await look(happy) == 1
    await play(happy, clock, "2026-12-04 19:59:59", 6)
    clock.at = at("2026-12-04 20:00")
    assert await look(happy) == 1, "the wagers before the end"
    await play(happy, clock, "2026-12-04 20:00:01", 3)
    for minutes in range(0, 22 * 60 + 1, 5):
        clock.at = at("2026-12-04 20:00:01") + timedelta(minutes=minutes)
        assert await look(happy) == (clock.at == at("2026-12-05 18:00:01"))
    assert await parts(happy) == [
        ("begins", 0, 0), ("goes_on", 7, 300), ("goes_on", 8, 600), ("ends", 15, 1_200),
        ("begins", 0, 0),
    ]  # fmt: skip
    assert [one.wagered_before for one in await added(happy)] == [300] * 4 + [1_800]
    wagers = 6 * 3 * 100 * happy.link.meter[0].terms.primary_bps
    assert await happy.meter(PROGRESSIVE) == (SEED + 30) * CENT + wagers
    await play(happy, clock, "2026-12-05 18:34", 3)
    clock.at = at("2026-12-05 18:35")
    assert await look(happy) == 1
    assert (await parts(happy))[5:] == [("goes_on", 7, 300)]
    (row, *_) = await happy.link_acts.acts("pit", None, 5)
    assert row.told == (
        "Happy Hours: $0.07 more from the house to Progressive, so $0.07 for $3.00 wagered, for"
        " 2026-12-05"
    )
    await happy.check_sound()


async def test_wagers_of_void_rounds_do_not_count(happy: Pit, clock: Clock) -> None:
    """What was added for a round that is void later is taken from the next parts."""
    clock.at = at("2026-12-04 18:00")
    await look(happy)
    await happy.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, table="T-1", round_id="R1")
    clock.at = at("2026-12-04 18:05")
    assert await look(happy) == 1
    await happy.void(table="T-1", round_id="R1")
    await play(happy, clock, "2026-12-04 18:06", 2)
    clock.at = at("2026-12-04 18:10")
    assert await look(happy) == 0
    await play(happy, clock, "2026-12-04 18:11", 1)
    clock.at = at("2026-12-04 18:15")
    assert await look(happy) == 1
    assert [one.amount for one in await added(happy)] == [0, 5, 2]
    await happy.check_sound()


async def test_a_day_that_ends_when_the_next_begins_loses_no_wager(
    clock: Clock, redis: Redis
) -> None:
    clock.at = at("2026-12-04 23:54")
    every = promotion_text("always", PROGRESSIVE, None, raises="2.5%")
    pit = await Pit.opened(redis, FLOOR + every, workers=2)
    assert await look(pit) == 1
    await play(pit, clock, "2026-12-04 23:58", 4)
    clock.at = at("2026-12-05 00:00")
    assert await look(pit), "one service or both"
    await play(pit, clock, "2026-12-05 00:01", 4)
    clock.at = at("2026-12-05 00:06")
    assert await look(pit) == 1
    assert await parts(pit) == [
        ("begins", 0, 0), ("ends", 10, 400), ("begins", 0, 0), ("goes_on", 10, 400),
    ]  # fmt: skip
    assert await days(pit) == [4, 4, 5, 5]
    await pit.check_sound()


@pytest.mark.duty("D12")
async def test_wagers_before_an_approval_do_not_count(
    happy: Pit, clock: Clock, redis: Redis
) -> None:
    """The count begins again: with other hours, another part, and after it was removed."""
    clock.at = at("2026-12-04 18:00")
    assert await look(happy) == 1
    now = happy
    for minute, text in (
        (10, HAPPY.replace("18:00", "17:00").replace("20:00", "19:30")),
        (20, HAPPY.replace("2.5%", "10%")),
        (30, FLOOR),
        (40, HAPPY),
    ):
        await play(happy, clock, f"2026-12-04 18:{minute}", 4)
        now = Pit(redis, text)
        await approve(Configuration(now.floor, now.store))
        assert await look(now) == ("happy" in text)
        await play(happy, clock, f"2026-12-04 18:{minute + 1}", 4)
        clock.at = at(f"2026-12-04 18:{minute + 6}")
        assert await look(now) == ("happy" in text)
    assert await parts(now) == [
        ("begins", 0, 0),
        ("begins", 0, 0), ("goes_on", 10, 400),
        ("begins", 0, 0), ("goes_on", 40, 400),
        ("begins", 0, 0), ("goes_on", 10, 400),
    ]  # fmt: skip
    await now.check_sound()


@pytest.mark.parametrize("fast", ["2026-12-04 20:00:10", "2026-12-05 18:30"])
async def test_after_a_fast_clock_the_count_begins_again(
    clock: Clock, redis: Redis, fast: str
) -> None:
    pit = await Pit.opened(redis, HAPPY, workers=2)
    begins = fast.startswith("2026-12-05")
    if not begins:
        clock.at = at("2026-12-04 18:00")
        assert await look(pit) == 1
    clock.at = at(fast)
    await look(pit)
    await play(pit, clock, "2026-12-04 12:00", 40)
    clock.at = at("2026-12-05 18:00" if begins else "2026-12-04 19:00")
    assert await look(pit) == 1
    await play(pit, clock, f"{clock.at.astimezone(NEW_YORK):%Y-%m-%d %H}:01", 4)
    clock.at += timedelta(minutes=5)
    assert await look(pit) == 1
    assert (await parts(pit))[-2:] == [("begins", 0, 0), ("goes_on", 10, 400)]
    await pit.check_sound()


async def test_the_last_part_waits_until_people_open_the_link(happy: Pit, clock: Clock) -> None:
    clock.at = at("2026-12-04 18:00")
    await look(happy)
    await play(happy, clock, "2026-12-04 19:55", 4)
    await happy.link_acts.close("pit", "sue", "the evening is over")
    with capture_logs() as logged:
        for moment in ("2026-12-04 20:00", "2026-12-04 20:01", "2026-12-05 07:59"):
            clock.at = at(moment)
            assert await look(happy) == 0
            await happy.promotions[0].report_ended()
        await happy.link_acts.open("pit", "sue")
        assert await look(happy) == 1
        assert (await parts(happy))[-1] == ("ends", 10, 400)
        clock.at = at("2026-12-05 08:00")
        await happy.promotions[0].report_ended()
    assert not_added(logged) == []
    await happy.check_sound()


async def test_a_last_part_that_is_lost_is_logged_once(happy: Pit, clock: Clock) -> None:
    clock.at = at("2026-12-04 18:00")
    await look(happy)
    await play(happy, clock, "2026-12-04 19:55", 4)
    await happy.link_acts.close("pit", "sue", "renovation")
    with capture_logs() as logged:
        for hour in range(24):
            clock.at = at("2026-12-04 19:56") + timedelta(hours=hour)
            assert not await happy.promotions[0].add()
            await happy.promotions[0].report_ended()
    assert not_added(logged)[:1] == [("2026-12-04", "closed", True)]
    assert len([one for one in not_added(logged) if one[0] == "2026-12-04"]) == 1
    await happy.check_sound()


@pytest.mark.duty("D19")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"amount": 8}, "added $0.08 to progressive, and must add $0.07 to progressive"),
        ({"wagered": 400}, "counts (0, 400, 7) cents as wagered before, since and added, not (0, "),
        ({"wagered_before": 100}, "counts (100, 300, 7) cents as wagered before, since and added"),
        ({"added": 8}, "counts (0, 300, 8) cents as wagered before, since and added, not (0, 300"),
        ({"meter": FIVE_CARD}, "promotion happy goes on, but must begin to count the wagers"),
        ({"count": "begins"}, "was added for 2026-12-04 after it was added for 2026-12-04"),
        ({"day": "2026-12-05"}, "promotion happy goes on, but must begin to count the wagers"),
    ],
)  # fmt: skip
async def test_an_audit_finds_a_wrong_part_of_the_wagers(
    happy: Pit, clock: Clock, change: dict[str, object], said: str
) -> None:
    clock.at = at("2026-12-04 18:00")
    await look(happy)
    await play(happy, clock, "2026-12-04 18:01", 3)
    clock.at = at("2026-12-04 18:05")
    await look(happy)
    await happy.check_sound()
    assert said in await found_after(happy, with_event(**change), place=1)


# A running service.


async def balance(link: Running) -> int:
    return await link.pit.meter(PROGRESSIVE) // CENT


async def test_a_service_adds_it_while_the_link_operates(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    pit = Pit(keeping_redis, ALL_DAY)
    async with running(pit, tmp_path, unfit="the software was changed") as link:
        await link.goes_down("the software was changed")
        await link.looks_again()
        assert await days(pit) == []
        link.unfit = None
        await link.comes_up()
        await eventually_async(
            lambda: link.meter(PROGRESSIVE).amount == SEED + ADDS, what="the raised meter"
        )
        await link.looks_again()
        links = Links({"pit": link.service}, {"pit": ()})
        await links.close("pit", "sue", "shift change")
        await links.open("pit", "sue")
        await link.looks_again()
    async with operating(pit, tmp_path) as link:
        await link.looks_again()
        assert await balance(link) == SEED + ADDS
        assert len(await days(pit)) == 1


async def test_a_service_does_not_add_it_to_a_closed_link(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    pit = Pit(keeping_redis, ALL_DAY)
    await approve(Configuration(pit.floor, pit.store))
    await pit.store.open("service")
    await pit.link_acts.close("pit", "sue", "renovation")
    async with running(pit, tmp_path) as link:
        await eventually_async(lambda: link.service.problem is None, what="a checked link")
        await link.looks_again()
        assert await days(pit) == []
        await Links({"pit": link.service}, {"pit": ()}).open("pit", "sue")
        await eventually_async(
            lambda: link.meter(PROGRESSIVE).amount == SEED + ADDS, what="the raised meter"
        )


@pytest.mark.parametrize("unfit", [None, "the software was changed"])
async def test_a_service_logs_what_it_did_not_add(
    clock: Clock, keeping_redis: Redis, tmp_path: Path, unfit: str | None
) -> None:
    pit = await Pit.opened(keeping_redis, PROMOTED)
    if unfit is None:
        await pit.link_acts.close("pit", "sue", "renovation")
    clock.at = at("2026-12-04 19:00")
    with capture_logs() as logged:
        async with running(pit, tmp_path, unfit=unfit) as link:
            await eventually_async(lambda: link.service.problem == unfit, what="a checked link")
            await link.looks_again()
            clock.at = at("2026-12-04 23:00")
            await eventually_async(lambda: bool(not_added(logged)), what="the log of the end")
            await link.looks_again()
    assert not_added(logged) == [("2026-12-04", unfit or "closed", True)]


# The audit.


async def found_after(pit: Pit, change: Callable[[Fields], Fields], place: int = 0) -> str:
    """Return what an audit finds after a change of a promotion's entry."""
    rows = await ledger(pit)
    number = [at for at, (_, one) in enumerate(rows, 1) if one[b"kind"] == b"promotion"][place]
    await rewrite(pit, lambda entry, fields: change(fields) if entry == number else fields)
    return "\n".join((await pit.audit()).problems)


def with_event(**changed: object) -> Callable[[Fields], Fields]:
    def change(fields: Fields) -> Fields:
        event = msgspec.json.decode(fields[b"event"], type=dict[str, object])
        return fields | {b"event": msgspec.json.encode(event | changed)}

    return change


def at_time(text: str) -> Callable[[Fields], Fields]:
    moment = at(text).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return lambda fields: fields | {b"at": moment.encode()}


@pytest.fixture
async def played(pit: Pit, clock: Clock) -> Pit:
    """Return a link to which a promotion was added on a Friday and on the Saturday after it."""
    for moment in ("2026-12-04 18:00", "2026-12-05 18:00"):
        clock.at = at(moment)
        assert await look(pit) == 1
    await pit.check_sound()
    return pit


@pytest.mark.duty("D19")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            with_event(amount=ADDS + 1),
            "promotion friday added $500.01 to progressive, and must add $500.00 to progressive",
        ),
        (
            with_event(meter=FIVE_CARD),
            (
                "promotion friday added $500.00 to five_card_progressive, and must add $500.00 to"
                " progressive"
            ),
        ),
        (with_event(promotion="sunday"), "the approved floor file has no promotion sunday"),
        (with_event(day="2026-12-06"), "promotion friday does not start on 2026-12-06"),
        (
            with_event(day="2026-12-04"),
            "promotion friday was added for 2026-12-04 after it was added for 2026-12-04",
        ),
        (with_event(day="2026-12-12"), "friday was added outside its hours of 2026-12-12"),
        (at_time("2026-12-05 16:59"), "friday was added outside its hours of 2026-12-05"),
        (at_time("2026-12-06 00:00"), "friday was added outside its hours of 2026-12-05"),
        (with_event(day="9999-12-31"), "cannot be read: "),
        (with_event(day="0001-01-01"), "cannot be read: "),
        (lambda one: one | {b"at": one[b"at"].removesuffix(b"Z")}, "cannot be read: the time of"),
        (lambda one: one | {b"by": b"sue"}, "sue added promotion friday, which only the service"),
        (lambda one: one | {b"by": b"table:T-1"}, "table:T-1 added promotion friday, which only"),
        (lambda one: one | {b"table": b"T-1"}, "friday names a table, a round or an event"),
        (lambda one: one | {b"round": b"R1"}, "friday names a table, a round or an event"),
        (lambda one: one | {b"seq": b"1"}, "friday names a table, a round or an event"),
        (lambda one: change_transfer(one, 0, 1), "moves 500000001 from house to meter:progressive"),
        (
            lambda one: one | {b"transfers": b'[["house","reserve:progressive",500000000,1]]'},
            "must move 500000000 from house to meter:progressive",
        ),
    ],
)  # fmt: skip
async def test_an_audit_finds_each_wrong_entry(
    played: Pit, change: Callable[[Fields], Fields], said: str
) -> None:
    assert said in await found_after(played, change, place=1)


@pytest.mark.parametrize("moment", ["2026-12-05 17:00", "2026-12-05 23:59"])
async def test_new_rules_of_the_time_zone_stop_no_link(played: Pit, moment: str) -> None:
    """A machine with the old rules added it an hour too early or too late."""
    assert await found_after(played, at_time(moment), place=1) == ""


async def test_an_audit_finds_an_entry_in_a_closed_link(pit: Pit, clock: Clock) -> None:
    await pit.link_acts.close("pit", "sue", "shift change")
    await pit.link_acts.open("pit", "sue")
    clock.at = at("2026-12-04 18:00")
    await look(pit)
    opened, promoted = (fields for _, fields in (await ledger(pit))[-2:])
    last = len(await ledger(pit))
    swapped = {last - 1: promoted, last: opened}

    def swap(entry: int, fields: Fields) -> Fields:
        return swapped.get(entry, fields)

    await rewrite(pit, swap)
    problems = (await pit.audit()).problems
    said = f"entry {last - 1}: promotion friday was added while the link was closed"
    assert said in problems


@pytest.mark.duty("D17")
@pytest.mark.parametrize("day", ["2026-12-04", "2026-12-12", "9999-12-31", None])
async def test_an_audit_finds_another_last_day_in_redis(played: Pit, day: str | None) -> None:
    """With a later day, no service would add the promotion; with an earlier one, twice."""
    meters = played.store.keys.meters
    if day is None:
        await played.redis.hdel(meters, "promotion:friday")
    else:
        await played.redis.hset(meters, "promotion:friday", day)
    (problem,) = (await played.audit()).problems
    assert problem.startswith("promotion friday: its last start is ")
    assert problem.endswith("the ledger says '2026-12-05'")


async def test_an_audit_finds_a_last_day_without_an_entry(pit: Pit) -> None:
    await pit.redis.hset(pit.store.keys.meters, "promotion:friday", "9999-12-31")
    (problem,) = (await pit.audit()).problems
    assert problem.startswith("promotion friday: its last start is '9999-12-31'")


# A restore.


@pytest.mark.duty("D11")
@pytest.mark.parametrize("moment", ["2026-12-04 22:00", "2026-12-04 23:00"])
@pytest.mark.parametrize("archived", [True, False])
async def test_a_restore_loses_no_entry_that_is_archived(
    clock: Clock, redis: Redis, tmp_path: Path, moment: str, *, archived: bool
) -> None:
    """Without its entry, a start is added again while it is on. Afterwards, it is lost."""
    pit = KeptPit(redis, tmp_path, PROMOTED)
    await pit.open()
    for number, table in enumerate(("T-1", "T-2")):
        await pit.round({1: PROGRESSIVE}, {1: RAGS}, table=table, round_id=f"R{number}")
    clock.at = at("2026-12-04 18:00")
    copies: Sequence[Copy] = [await Copy.of(pit.store)]
    assert await look(pit) == 1
    copies = [*copies, await Copy.of(pit.store)]
    clock.at = at(moment)
    restored = await pit.lost_and_restored(copies[archived])
    assert restored.replayed.differing == []
    await pit.goes_on()
    is_on = moment.endswith("22:00")
    assert await look(pit) == (is_on and not archived)
    assert len(await days(pit)) == (archived or is_on)
    assert (await pit.audit()).balanced
