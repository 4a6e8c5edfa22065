"""Gaming days compared with figures that were calculated manually."""

from datetime import date, time, timedelta
from decimal import Decimal

import pytest

from bonus.errors import UserError
from meters.floor.facility import DEMONSTRATION_MARK, GamingDays
from meters.reports.accounting_documents import day_document
from meters.reports.day_figures import LinkDay, joined
from meters.reports.flows import CLAIMS, TABLES, Flow
from meters.reports.ledger_scan import DayRange, from_to, one_day, one_month
from meters.store.floor_file_approval import Configuration
from meters.store.link_store import LinkStore
from tests.approving import approve
from tests.floor_text import link_text
from tests.model.pit import CENT, FLOOR
from tests.reports.conftest import MakeShop
from tests.reports.shop import BONUS, NEW_YORK, PROGRESSIVE, ROYAL, STRAIGHT, SUITED, Shop

ENVY_CENTS = 10_000
"""Envy Bonus for another position from a mini-royal of spades, of a $1 wager."""

DOLLAR = 100 * CENT
DEMONSTRATION = 'timezone = "America/New_York"\ndemonstration = true\n'
LIMITED = FLOOR.replace('paytable = "A"\n', 'paytable = "A"\nlimit = 100010\n', 1)


def _meter(day: LinkDay, meter: str = PROGRESSIVE) -> dict[str, int]:
    """Return a meter's day in micros: opening balance, movements, closing balance."""
    pot, _, _ = day.meter_pots(meter)
    moved = {flow.value: micros for flow, micros in pot.flows.items()}
    return {"opening": pot.opening_micros} | moved | {"closing": pot.closing_micros}


async def _check_first_page(shop: Shop, day: date) -> None:
    """Check that an accountant who adds a row of the first table gets its closing."""
    meters, *_ = day_document(shop.floor, await shop.survey(one_day(day)), None).summary
    assert meters.note == "The opening and the movements give the closing."
    for _, _, *cells in meters.rows:
        *added, closing = (
            Decimal(one.replace("$", "").replace(",", "")) for one in cells if one != "—"
        )
        assert sum(added) == closing


@pytest.mark.duty("D19", "D2")
async def test_a_day_by_hand(shop: Shop) -> None:
    """Seven wagers on the progressive add 14 cents each, one is voided, and the meter is won."""
    await shop.round(positions=3)
    await shop.void()
    await shop.round(bets=f"{PROGRESSIVE} {BONUS}", table="T-2", positions=2)
    (claim,) = await shop.round(ROYAL)
    await shop.pit.decide(claim, "validate", by="Flo")
    await shop.pit.decide(claim, "pay", by="Finn")
    await shop.adjust(PROGRESSIVE, -25)
    await shop.at("2026-11-21 06:00")
    day = await shop.day("2026-11-20")
    assert _meter(day) == {
        "opening": 0,
        "seeds": 1_000 * DOLLAR,
        "contributions": 98 * CENT,
        "voided_rounds": -14 * CENT,
        "percentages_won": -(1_000 * DOLLAR + 84 * CENT),
        "reseeds": 1_000 * DOLLAR,
        "adjusted_down": -25 * CENT,
        "closing": 1_000 * DOLLAR - 25 * CENT,
    }
    _, reserve, overflow = day.meter_pots(BONUS)
    assert (reserve.closing_micros, overflow.closing_micros) == (16 * CENT, 0)
    rose = {
        name: day.rose(name, PROGRESSIVE)
        for name in ("wagers", "wagered_cents", "voided_wagers", "wins", "hits", "won_cents",
                     "hand_paid_cents", "table_paid_cents", "rejected")
    }  # fmt: skip
    assert rose == {
        "wagers": 7, "wagered_cents": 700, "voided_wagers": 1, "wins": 1, "hits": 1,
        "won_cents": 100_084, "hand_paid_cents": 100_084, "table_paid_cents": 0, "rejected": 0,
    }  # fmt: skip
    one, two = day.tables["T-1", PROGRESSIVE], day.tables["T-2", PROGRESSIVE]
    assert (one.wagers, one.voided_wagers, one.wins, one.won_cents) == (5, 1, 1, 100_084)
    assert (two.contributed_micros, day.tables["T-2", BONUS].contributed_micros) == (
        28 * CENT, 2 * 29 * CENT,
    )  # fmt: skip
    rounds = day.rounds["T-1"]
    assert (rounds.rounds, rounds.rounds_voided, day.rounds["T-2"].rounds) == (2, 1, 1)
    (win,) = day.wins
    assert (win.table, win.asset, win.position, win.hand, win.amount_cents, win.percent) == (
        "T-1", "104211", 1, "mini_royal_spades", 100_084, 100,
    )  # fmt: skip
    assert (win.state, win.validated_by, win.paid_by) == ("paid", "Flo", "Finn")
    assert [(act.what, act.by) for act in day.acts if act.what != "seed"] == [
        ("propose", "Sue"), ("adjust", "Sam"),
    ]  # fmt: skip
    assert (day.waiting, day.variances, day.open) == ({}, (), False)
    assert sum(pot.closing_micros for pot in day.pots.values()) == 0
    await _check_first_page(shop, date(2026, 11, 20))


@pytest.mark.duty("D16")
async def test_a_win_before_the_hour_that_is_decided_after_it(make_shop: MakeShop) -> None:
    """Won in one day, it is pending at its close. Rejected in the next, it returns to the meter."""
    shop = make_shop("2026-11-20 22:00")
    await shop.open()
    (odds,) = await shop.round(SUITED)
    await shop.at("2026-11-21 05:59")
    (whole,) = await shop.round(ROYAL, table="T-2", positions=2)
    await shop.at("2026-11-21 06:00")
    await shop.pit.claims.decide(
        whole, "reject", "Flo", reason="a card too many", envy_not_due=True
    )
    await shop.pit.decide(odds, "validate", by="Flo")
    await shop.at("2026-11-22 06:00")
    first, second = await shop.day("2026-11-20"), await shop.day("2026-11-21")
    assert [win.state for win in first.wins] == ["pending", "pending", "pending"]
    *won, envy = first.wins
    assert (envy.claim, envy.wager, envy.envy_of) == (whole, "progressive_envy", 1)
    assert first.waiting[PROGRESSIVE].wins == 2
    cents = sum(win.amount_cents for win in won)
    assert first.waiting[PROGRESSIVE].cents == cents
    assert first.pot(CLAIMS).closing_micros == cents * CENT
    assert second.wins == ()
    assert [(win.claim, win.state, win.day) for win in second.decided] == [
        (whole, "rejected", date(2026, 11, 20)),
        (whole, "rejected", date(2026, 11, 20)),
        (odds, "validated", date(2026, 11, 20)),
    ]
    lost = next(win for win in second.decided if win.envy_of is None)
    assert lost.reason == "a card too many"
    assert second.waiting == {}
    meter = _meter(second)
    assert meter["rejected_wins"] == won[1].amount_cents * CENT
    for day in (20, 21):
        await _check_first_page(shop, date(2026, 11, day))
    assert meter["closing"] == meter["opening"] + meter["rejected_wins"]
    assert second.tables["T-2", PROGRESSIVE].rejected_cents == won[1].amount_cents
    assert lost.envy_taken_back_cents == ENVY_CENTS
    assert second.rose("envy_taken_back_cents", PROGRESSIVE) == ENVY_CENTS
    latest = (await shop.read(from_to(None, date(2026, 11, 20)))).wins
    assert [win.state for win in latest] == ["validated", "rejected", "rejected"], "as of now"
    assert (await shop.read(from_to(date(2026, 11, 21), None))).wins == ()


@pytest.mark.duty("D3")
async def test_overflow_of_one_day_is_on_the_meter_of_the_next(make_shop: MakeShop) -> None:
    """The limit leaves room for ten cents. The rest of two wagers waits in the overflow."""
    shop = make_shop("2026-11-20 12:00", floor_text=LIMITED)
    await shop.open()
    await shop.round(positions=2)
    await shop.at("2026-11-21 06:00")
    await shop.round(ROYAL)
    await shop.at("2026-11-22 06:00")
    first, second = await shop.day("2026-11-20"), await shop.day("2026-11-21")
    meter, _, overflow = first.meter_pots(PROGRESSIVE)
    assert (meter.flows[Flow.CONTRIBUTIONS], overflow.flows) == (
        10 * CENT, {Flow.CONTRIBUTIONS: 18 * CENT},
    )  # fmt: skip
    assert first.tables["T-1", PROGRESSIVE].contributed_micros == 28 * CENT
    meter, _, overflow = second.meter_pots(PROGRESSIVE)
    assert (meter.flows[Flow.FROM_OVERFLOW], overflow.flows[Flow.FROM_OVERFLOW]) == (
        10 * CENT, -10 * CENT,
    )  # fmt: skip
    assert (overflow.opening_micros, overflow.closing_micros) == (18 * CENT, 22 * CENT)


async def test_a_meter_with_a_reserve_reseeds_from_it(shop: Shop) -> None:
    await shop.round(ROYAL, BONUS, community="Js Ts")
    await shop.at("2026-11-21 06:00")
    meter, reserve, _ = (await shop.day("2026-11-20")).meter_pots(BONUS)
    assert reserve.flows[Flow.FROM_RESERVE] == -8 * CENT
    assert (meter.flows[Flow.FROM_RESERVE], reserve.closing_micros) == (8 * CENT, 0)


async def test_a_round_in_hand_at_the_hour_is_of_the_day_that_its_entries_are_of(
    shop: Shop,
) -> None:
    """Wagers come before the hour, a void after it. Each counts at its place in the ledger."""
    await shop.pit.wagers({1: PROGRESSIVE}, round_id="R-over")
    await shop.at("2026-11-21 06:00")
    await shop.pit.void(round_id="R-over")
    first, second = await shop.all_days()
    assert first.tables["T-1", PROGRESSIVE].contributed_micros == 14 * CENT
    assert second.tables["T-1", PROGRESSIVE].voided_micros == 14 * CENT
    assert (first.rounds, second.rounds["T-1"].rounds_voided) == ({}, 1)
    both = joined([first, second])
    assert both.pot(TABLES).closing_micros == 0


@pytest.mark.duty("D19")
@pytest.mark.parametrize("starts", ["00:00", "01:00", "01:30", "02:00", "02:30", "03:00", "06:00"])
@pytest.mark.parametrize(("changed_on", "hours"), [("2026-03-08", 23), ("2026-11-01", 25)])
def test_every_moment_is_of_exactly_one_gaming_day(
    starts: str, changed_on: str, hours: int
) -> None:
    """Both nights of the clock change: the days follow each other without a gap, and one is odd."""
    days = GamingDays(NEW_YORK, time.fromisoformat(starts))
    changed = date.fromisoformat(changed_on)
    around = [changed + timedelta(days=off) for off in range(-3, 4)]
    bounds = {day: days.bounds(day) for day in around}
    assert [bounds[day][1] for day in around[:-1]] == [bounds[day][0] for day in around[1:]]
    lasted = [(end - start) // timedelta(hours=1) for start, end in bounds.values()]
    assert sorted(lasted) == sorted([24] * (len(around) - 1) + [hours])
    moment, last = bounds[around[0]][0], bounds[around[-1]][1]
    while moment < last:
        (within,) = [day for day, (start, end) in bounds.items() if start <= moment < end]
        assert days.of(moment) == days.of(moment.astimezone(NEW_YORK)) == within
        moment += timedelta(minutes=5)


@pytest.mark.duty("D17")
async def test_days_without_a_service_hold_what_the_one_before_held(shop: Shop) -> None:
    """Nothing happened in them. The outage is reported in the day in which it ended."""
    await shop.round()
    await shop.at("2026-11-24 09:00")
    await shop.was_out("2026-11-20T18:00:00Z", "Redis is gone")
    await shop.round()
    days = await shop.all_days()
    assert [(str(day.first_day), day.quiet, day.open) for day in days] == [
        ("2026-11-20", False, False), ("2026-11-21", True, False), ("2026-11-22", True, False),
        ("2026-11-23", True, False), ("2026-11-24", False, True),
    ]  # fmt: skip
    held = days[0].meter_pots(PROGRESSIVE)[0].closing_micros
    for quiet in days[1:4]:
        assert _meter(quiet) == {"opening": held, "closing": held}
        assert (quiet.entries, quiet.chain) == (0, days[0].chain)
    (outage,) = days[4].outages
    assert outage.outage.reasons == ("Redis is gone",)
    assert [day.entries for day in days] == [7, 0, 0, 0, 3]


async def test_days_that_there_are_not(shop: Shop) -> None:
    today = date(2026, 12, 3)
    await shop.round()
    with pytest.raises(
        UserError, match=r"2026-11-22 is in the future: .*open gaming day is 2026-11-20"
    ):
        await shop.survey(one_day(date(2026, 11, 22)))
    with pytest.raises(UserError, match=r"2026-11-19 is before the first gaming day .*2026-11-20"):
        await shop.survey(one_day(None))
    with pytest.raises(UserError, match="is before the first"):
        await shop.survey(one_month(date(2026, 10, 1)))
    shop.clock.at += timedelta(days=3)
    with pytest.raises(UserError, match="2026-11-22 has not begun: no service has run since"):
        await shop.survey(one_day(date(2026, 11, 22)))
    for month, last in ((date(2026, 11, 1), date(2026, 11, 30)), (date(2026, 12, 1), today)):
        assert one_month(month)(today, today) == DayRange(month, last)
    with pytest.raises(UserError, match="--from 2026-11-22 is after --to 2026-11-21"):
        from_to(date(2026, 11, 22), date(2026, 11, 21))


async def test_a_table_that_left_the_floor_keeps_its_figures_and_asset_number(
    make_shop: MakeShop,
) -> None:
    """They are those approved at the time. The present floor file does not name the table."""
    shop = make_shop("2026-11-20 12:00")
    await shop.open()
    await approve(Configuration(shop.floor, shop.pit.store))
    (claim,) = await shop.round(STRAIGHT, table="T-2")
    await shop.at("2026-11-21 06:00")
    left = make_shop("2026-11-21 12:00", floor_text=FLOOR[: FLOOR.rindex("[[link.table]]")])
    day = await left.day("2026-11-20")
    assert [(win.claim, win.table, win.asset) for win in day.wins] == [(claim, "T-2", "104212")]
    assert day.tables["T-2", PROGRESSIVE].wagers == 1


async def test_a_link_that_has_none_of_the_days_is_named_with_why(make_shop: MakeShop) -> None:
    """Another link has them. This one began later, or no service has run for it since."""
    second = link_text("late", name="Late Pit")
    demonstration = FLOOR.replace('timezone = "America/New_York"\n', DEMONSTRATION)
    shop = make_shop("2026-11-20 12:00", floor_text=demonstration + second)
    await shop.open()
    await shop.at("2026-11-21 06:00")
    found = await shop.survey(one_day(None))
    paper = day_document(shop.floor, found, None)
    assert [part.link for part in paper.parts] == ["pit"]
    assert ("Not in it", "Late Pit: its first gaming day is 2026-11-21") in paper.facts
    assert ("Note", DEMONSTRATION_MARK) in paper.facts
    late = LinkStore(shop.pit.redis, shop.floor.link[1])
    await shop.pit.redis.hset(late.keys.meters, "day", "2026-11-18")
    paper = day_document(shop.floor, await shop.survey(one_day(None)), None)
    note = "Late Pit: its open gaming day is 2026-11-18, because no service has run since"
    assert ("Not in it", note) in paper.facts
