"""The load's own books, the slopes and the comparison, in which errors could hide."""

import msgspec
import pytest

from bonus.law.meter_terms import meter_terms
from bonus.rounds import Line, Outcome
from meters.wire import topics
from meters.wire.messages import MeterValue, Reply
from tests.bench.audit_lag import Lag, LagSample, lag_of
from tests.bench.events import EventWriter
from tests.bench.floor import table_address
from tests.bench.latency import LatencyWatch
from tests.bench.load import Load, Measured, compare_books, nothing_lost, percentile_ms
from tests.bench.sizing import slope, slopes
from tests.bench.speed import sustain
from tests.bench.traffic import Tally, Traffic


def reply(*lines: Line) -> bytes:
    return msgspec.json.encode(Reply(seq=2, status="accepted", lines=lines, claims=()))


def won(item: str, position: int, percent: int, paid_cents: int) -> Line:
    return Line(
        position=position,
        item=item,
        outcome=Outcome.PAID,
        wagered=100,
        paid=paid_cents,
        returned=0,
        percent=percent,
        rule="649a.12(e)(1)",
    )


@pytest.mark.section("649a.12(e)(3)")
def test_books_add_what_the_law_has_wagers_add() -> None:
    """Seven wagers of 100 cents add the rate of the terms. Voided ones are subtracted again."""
    tally = Tally(wagers=5, voids=2)
    for meter, paytable in (("progressive", "A"), ("five_card_progressive", None)):
        terms = meter_terms(meter, 100, paytable)
        expected = terms.seed_cents * 10_000 + 3 * 7 * 100 * terms.primary_bps
        assert tally.meter_micros(meter) == expected
    assert tally.counted[0] == 3 * 14


@pytest.mark.reading("T15")
@pytest.mark.reading("T17")
def test_books_take_percentages_off_and_reseed_once() -> None:
    """Two shares of a whole meter are both paid, and the meter is reseeded one time."""
    tally = Tally()
    seeded = tally.meter_micros("five_card_progressive")
    reseed = meter_terms("five_card_progressive", 100).reseed_cents * 10_000
    five = "five_card_progressive"
    assert tally.note_result(reply(won(five, 7, 100, 2_000), won(five, 2, 100, 2_000)), 2)
    after = seeded - 4_000 * 10_000 + reseed
    assert tally.meter_micros("five_card_progressive") == after
    assert tally.note_result(reply(won(five, 7, 10, 300)), 1)
    assert tally.meter_micros("five_card_progressive") == after - 300 * 10_000
    assert not tally.note_result(reply(), 0)
    assert (tally.rounds, tally.claims) == (3, 3)


async def test_meter_is_seen_when_a_value_covers_the_wagers() -> None:
    """A value from before the wagers does not count. The first one that covers them does."""
    traffic = Traffic(2, EventWriter(1), lambda *_: None)
    watch = LatencyWatch(traffic)
    sent: list[str] = []
    traffic.send_result = lambda table: sent.append("result")  # type: ignore[method-assign]
    table = traffic.tables[0]
    topic = topics.meter(table_address(0).link, "progressive")
    before = value_of(table.tally)
    table.sent_s = 10.0
    table.tally.wagers += 1
    after = value_of(table.tally)
    assert after > before
    watch.see(topic, meter_value(before), 10.02)
    watch.note_answer(table, "wagers", 10.03)
    watch.see(topic, meter_value(before), 10.04)
    watch.see(topic, meter_value(after), 10.05)
    watch.see(topic, meter_value(after + 1), 10.06)
    table.sent_s = 11.0
    table.tally.wagers += 1
    # This value arrives before the reply.
    watch.see(topic, meter_value(value_of(table.tally)), 11.01)
    watch.note_answer(table, "wagers", 11.02)
    assert sent == ["result", "result"]
    assert len(watch.times_s["wagers_to_reply"]) == 2
    seen_s = watch.times_s["wagers_to_meter_seen"]
    assert (percentile_ms(seen_s, 50), percentile_ms(seen_s, 99)) == (10.0, 50.0)


def value_of(tally: Tally) -> int:
    return tally.meter_micros("progressive") // 10_000


def meter_value(amount_cents: int) -> bytes:
    return msgspec.json.encode(
        MeterValue(
            meter="progressive",
            amount=amount_cents,
            version=1,
            cycle=1,
            state="open",
            at="2026-11-20T02:14:07.250Z",
        )
    )


def test_any_loss_is_reported() -> None:
    """One lost event, micro, wager or round, or a wrong balance, is enough to show."""
    tally = Tally(wagers=1, rounds=1)
    meters = {name: {"amount_micros": held} for name, held in tally.meters_micros.items()}
    audit = {
        "balanced": True,
        "links": {"bench-a": {"meters": meters}},
        "totals": {"wagers": 14, "rounds": 1},
    }
    counts = {"events_sent": 9, "events_accepted": 8, "events_held": 1}

    def lost(*, events_sent: int = 9, **differs: object) -> bool:
        books = compare_books({"bench-a": tally}, [audit | differs]) | counts
        return not nothing_lost(books | {"events_sent": events_sent})

    assert not lost()
    assert lost(events_sent=10)
    assert lost(balanced=False)
    assert lost(totals={"wagers": 28, "rounds": 1})
    assert lost(totals={"wagers": 14, "rounds": 0})
    other = meters | {"progressive": {"amount_micros": tally.meter_micros("progressive") - 1}}
    assert lost(links={"bench-a": {"meters": other}})


def test_one_disturbed_size_moves_no_figure_far() -> None:
    """The slope is the median of all pairs, not a line through both ends."""
    assert slope([(1, 10), (2, 20), (3, 30), (4, 900)]) <= 437
    assert slope([(1, 10), (2, 20), (3, 30), (4, 40), (5, 900)]) == 10


def test_figures_are_slopes_on_which_what_is_there_once_has_no_effect() -> None:
    points = [{"wagers": 14 * n, "rounds": n, "bytes": 5_000_000 + 700 * n} for n in (1, 3, 6)]
    assert slopes(points, wagers=1_000_000, rounds=1_000) == {
        "per 1,000,000 wagers": {"rounds": 71_428.6, "bytes": 50_000_000},
        "per 1,000 rounds": {"wagers": 14_000, "bytes": 700_000},
    }


def lag_at(written_per_s: int, read_per_s: int, seconds: int) -> Lag:
    """Return the lag of an auditor that pauses for five seconds after it has read everything.

    Between the runs, it reads the rest. An entry has 500 bytes.
    """
    samples, read, pause, entries = [LagSample(0.0, 7, 7, 1_000)], 0, 5, 0
    for at_s in range(1, seconds + 1):
        entries += written_per_s
        pause -= 1
        if pause < 0:
            read = min(entries, read + read_per_s)
            pause = 5 if read == entries else 0
        samples.append(LagSample(at_s, 7 + entries, 7, 1_000 + 500 * read))
    return lag_of(samples, LagSample(2 * seconds, 7 + entries, 7, 1_000 + 500 * entries))


@pytest.mark.parametrize("seconds", [60, 120, 600])
def test_lag_of_an_audit_that_keeps_up_is_bounded(seconds: int) -> None:
    lag = lag_at(1_000, 2_000, seconds)
    assert lag.bounded
    assert 4_000 <= lag.unread_second_half <= 10_000
    assert lag.unsealed == 1_000 * seconds


@pytest.mark.parametrize("seconds", [20, 60, 120, 600])
def test_lag_of_an_audit_that_is_too_slow_grows(seconds: int) -> None:
    lag = lag_at(1_000, 500, seconds)
    assert not lag.bounded
    assert lag.unread_second_half > 1.5 * lag.unread_first_half
    assert lag.unread_s == pytest.approx(lag.unread_second_half / 1_000)


class LoadWithSlowAudit(Load):
    """A load that is answered 8,000 events a second, of which the audit reads 5,200."""

    def __init__(self) -> None:
        self.paces: list[float | None] = []

    async def sustain(self, seconds: float, rounds_per_s: float | None) -> tuple[Measured, Lag]:
        self.paces.append(rounds_per_s)
        rate = min(8_000, 2 * rounds_per_s if rounds_per_s else 8_000)
        measured = Measured(round(rate * seconds), seconds, {})
        return measured, lag_at(round(rate), 5_200, round(seconds))


async def test_the_highest_rate_at_which_the_audit_keeps_up_is_found_by_pacing() -> None:
    load, steps = LoadWithSlowAudit(), list[str]()
    found = await sustain(load, 120, steps.append)
    assert found.unpaced.rate == 8_000
    assert not found.lag.bounded
    assert found.highest is not None
    assert found.highest.rate == 5_000
    assert load.paces == [None, 2_000, 3_000, 2_500]
    assert len(steps) == 4
