"""The history of meters and of the floor, in cents, for the pictures on the floor page."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from statistics import median
from typing import Final, NamedTuple, Protocol

from bonus.display import hand_words
from bonus.rounds import WrittenPercent
from bonus.wagers import MICROS_PER_CENT
from meters.acts.claim_types import FloorRow
from meters.acts.ledger_days import DaySpan
from meters.floor.facility import GamingDays
from meters.ledger.day_summary import STEP_S, DaySummary, Hit
from meters.process.clock import text_of

HITS_MAX: Final = 400
"""The greatest number of wins that a picture on a page shows: the latest wins."""

SPARK_S: Final = 1_800
SPARK_MINUTES: Final = 5
MONTH_S: Final = 3_600
FEW_DAYS: Final = 2
LATE_S: Final = 180
"""Seconds after which the floor page marks a win that still waits."""

_HOUR_S: Final = 3_600
_SHIFTS: Final = 3


class HitRow(FloorRow, frozen=True, kw_only=True):
    """A win of a percentage of a meter.

    Attributes:
        at_s: the time in seconds since 1970.
        before: the meter immediately before the win, in cents.
        after: the meter immediately after the win, in cents.
    """

    at: str
    at_s: int
    entry: int
    claim: str
    table: str
    round: str
    position: int
    hand_name: str
    percent: WrittenPercent
    amount: int
    before: int
    after: int


class AddedBar(FloorRow, frozen=True, kw_only=True):
    """The amount that wagers added to a meter in an hour, or on a gaming day.

    Attributes:
        added: the amount in cents, less what voids and corrections of wagers took off.
    """

    begins_s: int
    ends_s: int
    added: int


class MissingDays(FloorRow, frozen=True, kw_only=True):
    """Consecutive gaming days that neither Redis nor the service's archive has.

    Attributes:
        first: the earliest of these days.
        last: the latest of these days.
    """

    first: date
    last: date


class MeterPicture(FloorRow, frozen=True, kw_only=True):
    """The amounts of a meter over time, as a line through points; times are in seconds since 1970.

    Attributes:
        times_s: the time of each point.
        amounts: the amount of the meter at each of these times, in cents.
        bars: for each hour, or for each gaming day, the amount that was added to the meter.
        hits: the wins of a percentage of the meter that wait or were validated, latest first, at
            most 400.
        hit_count: the number of all these wins, also beyond 400.
        won: the sum of all these wins, in cents.
        added: the sum of all bars, in cents.
        unread: the number of gaming days that the service is still reading: ask again later.
        missing: the gaming days that the service cannot read.
    """

    begins_s: int
    ends_s: int
    times_s: tuple[int, ...]
    amounts: tuple[int, ...]
    bars: tuple[AddedBar, ...] = ()
    hits: tuple[HitRow, ...] = ()
    hit_count: int = 0
    won: int = 0
    added: int = 0
    unread: int = 0
    missing: tuple[MissingDays, ...] = ()


class BreakEven(Protocol):
    """The lowest amount of a meter at which a wager has no house edge."""

    @property
    def meter(self) -> str: ...
    @property
    def game(self) -> str: ...
    @property
    def wager(self) -> str: ...
    @property
    def cents(self) -> int: ...
    @property
    def notes(self) -> str: ...


class BreakEvenRow(FloorRow, frozen=True, kw_only=True):
    """The lowest meter at which a wager has no house edge.

    Attributes:
        wager: the name of the wager.
        wager_name: the name of the wager for people.
        notes: what the figure leaves out.
    """

    game: str
    wager: str
    wager_name: str
    amount: int
    notes: str


class MeterHistory(FloorRow, frozen=True, kw_only=True):
    """The history of a meter: 24 hours, and 30 gaming days.

    Attributes:
        day: the gaming day that was asked for; null for the last 24 hours.
        wager: the amount of each wager on the meter, in cents; 0 for a must-hit-by meter.
        closing: the meter at the close of `day`, in cents; null if this day is not closed,
            or not read.
        hour: the amount that wagers added in the last 60 minutes, in cents; null for a past day.
        last_day: the last 24 hours, or the gaming day that was asked for.
        month: 30 gaming days.
        break_even: the lowest amounts without a house edge, the lowest first; empty while the
            service counts them.
        threshold: the amount of the meter in cents from which wagers add `primary_above_bps` to it;
            null if the rates do not change.
    """

    link: str
    link_name: str
    meter: str
    name: str
    wager: int
    primary_bps: int
    seed: int
    reseed: int
    day: date | None
    closing: int | None
    hour: int | None
    last_day: MeterPicture
    month: MeterPicture
    break_even: tuple[BreakEvenRow, ...]
    threshold: int | None = None
    primary_above_bps: int = 0


class MeterSpark(FloorRow, frozen=True, kw_only=True):
    """A meter's last 24 hours in a few points, and its last win of a percentage.

    Attributes:
        times_s: the time of each point, in seconds since 1970.
        amounts: the amount of the meter at each of these times, in cents.
        hour: the amount that wagers added in the last 60 minutes, in cents.
        last_hit_at: the time, in UTC, of the last win of a percentage, without rejected wins; null
            if there was none.
        last_hit_percent: the percentage of this win.
    """

    link: str
    meter: str
    begins_s: int
    ends_s: int
    times_s: tuple[int, ...]
    amounts: tuple[int, ...]
    hour: int
    last_hit_at: str | None
    last_hit_percent: WrittenPercent | None
    unread: int


class ShiftRow(FloorRow, frozen=True, kw_only=True):
    """The wins of a third of a gaming day that wait for a floorperson, or were validated.

    Attributes:
        begins: the beginning, in UTC.
        ends: the end, in UTC.
        wins: the number of these wins.
        won: the sum of these wins, in cents.
    """

    begins: str
    ends: str
    wins: int
    won: int


class FloorDay(FloorRow, frozen=True, kw_only=True):
    """The activity of the floor on a gaming day.

    Attributes:
        wagers_s: the length of each interval of `wagers`, in seconds: 60 for the last hour, 600 for
            a past day. The first interval begins at `begins_s`.
        wagers: the number of wagers in each interval.
        wagers_in_all: the number of wagers on the day.
        validated: the number of wins that somebody validated or rejected on the day.
        late: how many of these wins had waited for more than three minutes.
        wait_s: the median of the waits of these wins, in seconds.
        shifts: the wins of each third of the gaming day.
        paid: the payments of the day, in cents. If a link could not close an earlier gaming day,
            only its payments since the beginning of `day` count.
    """

    day: date | None
    begins_s: int
    wagers_s: int
    wagers: tuple[int, ...]
    wagers_in_all: int
    validated: int
    late: int
    wait_s: int | None
    shifts: tuple[ShiftRow, ...]
    paid: int
    unread: int
    missing: tuple[MissingDays, ...]


def _cents(micros: int) -> int:
    return micros // MICROS_PER_CENT


def _points(
    days: Sequence[tuple[date, DaySummary]], meter: str, every_s: int, ends_s: int
) -> Iterator[tuple[int, int]]:
    """Yield times and amounts of the line, with the amounts before and after each win."""
    before: tuple[int, int] | None = None
    for _, summary in days:
        if (of := summary.meters.get(meter)) is None:
            continue
        if before is None and summary.steps and of.opening:  # the line begins at the first seed
            before = summary.steps[0], _cents(of.opening)
            yield before
        hits = iter(of.hits)
        hit = next(hits, None)
        last = len(summary.steps) - 1
        for at, step_s in enumerate(summary.steps):
            if step_s >= ends_s:
                continue
            if before and step_s - before[0] > STEP_S:
                yield step_s, before[1]
            while hit and hit.entry <= summary.entries[at]:
                yield from ((hit.at_s, hit.before_cents), (hit.at_s, hit.after_cents))
                hit = next(hits, None)
            ended = min(step_s + STEP_S, ends_s)
            before = ended, _cents(of.amounts[at])
            if at == last or summary.steps[at + 1] // every_s != step_s // every_s:
                yield before


def _finer(
    points: Iterator[tuple[int, int]], minutes: Sequence[tuple[int, int]], hits: Sequence[Hit]
) -> Iterator[tuple[int, int]]:
    """Yield the points of a line; for the last minutes, one point for each minute."""
    if not minutes:
        yield from points
        return
    first_s = minutes[0][0]
    yield from (point for point in points if point[0] < first_s)
    fine = [(minute_s + 60, _cents(micros)) for minute_s, micros in minutes]
    for hit in hits:
        if hit.at_s >= first_s:
            fine += [(hit.at_s, hit.before_cents), (hit.at_s, hit.after_cents)]
    yield from sorted(fine, key=lambda point: point[0])


def _line(points: Iterator[tuple[int, int]], begins_s: int, ends_s: int) -> list[tuple[int, int]]:
    """Return the points of a line between two times, with a point at each of these times."""
    line: list[tuple[int, int]] = []
    before: int | None = None
    for at_s, cents in points:
        if at_s < begins_s:
            before = cents
            continue
        if not line and before is not None:
            line.append((begins_s, before))
        # The present minute has not ended, so its point is moved to `ends_s`. If a clock was set
        # back, the line does not go backwards.
        line.append((max(min(at_s, ends_s), line[-1][0] if line else 0), cents))
    if not line and before is not None:
        line.append((begins_s, before))
    if line and line[-1][0] < ends_s:
        line.append((ends_s, line[-1][1]))
    return line


def _missing(span: DaySpan) -> tuple[MissingDays, ...]:
    return tuple(MissingDays(first=first, last=last) for first, last in span.missing)


def hit_row(hit: Hit) -> HitRow:
    return HitRow(
        at=text_of(datetime.fromtimestamp(hit.at_s, UTC)),
        at_s=hit.at_s,
        entry=hit.entry,
        claim=hit.claim,
        table=hit.table,
        round=hit.round,
        position=hit.position,
        hand_name=hand_words(hit.hand),
        percent=hit.percent,
        amount=hit.amount_cents,
        before=hit.before_cents,
        after=hit.after_cents,
    )


def picture(
    span: DaySpan,
    meter: str,
    begins_s: int,
    ends_s: int,
    *,
    every_s: int,
    bars: Sequence[AddedBar],
    minutes: Sequence[tuple[int, int]] = (),
    hits_max: int | None = HITS_MAX,
) -> MeterPicture:
    all_hits = _hits(span, meter, begins_s, ends_s)
    points = _points(span.days, meter, every_s, ends_s)
    line = _line(_finer(points, minutes, all_hits), begins_s, ends_s)
    hits = [hit for hit in all_hits if hit.claim not in span.rejected]
    return MeterPicture(
        begins_s=begins_s,
        ends_s=ends_s,
        times_s=tuple(at_s for at_s, _ in line),
        amounts=tuple(cents for _, cents in line),
        bars=tuple(bars),
        hits=tuple(hit_row(hit) for hit in hits[::-1][:hits_max]),
        hit_count=len(hits),
        won=sum(hit.amount_cents for hit in hits),
        added=sum(bar.added for bar in bars),
        unread=span.unread,
        missing=_missing(span),
    )


def _hits(span: DaySpan, meter: str, begins_s: int, ends_s: int) -> list[Hit]:
    return [
        hit
        for _, summary in span.days
        if meter in summary.meters
        for hit in summary.meters[meter].hits
        if begins_s <= hit.at_s <= ends_s
    ]


def _added(days: Sequence[tuple[date, DaySummary]], meter: str) -> Iterator[tuple[int, int]]:
    for _, summary in days:
        if meter in summary.meters:
            yield from zip(summary.steps, summary.meters[meter].added, strict=True)


def hourly_picture(
    span: DaySpan,
    meter: str,
    begins_s: int,
    ends_s: int,
    minutes: Sequence[tuple[int, int]] = (),
    *,
    hits_max: int | None = HITS_MAX,
) -> MeterPicture:
    """Return the picture of a meter for some hours, with a bar for each hour.

    `minutes` has, of the last hour, each minute in which the meter changed: its beginning in
    seconds since 1970, and the meter's micros at its end. If the picture does not end now,
    `minutes` is empty.
    """
    first_s = begins_s // _HOUR_S * _HOUR_S
    hours = dict.fromkeys(range(first_s, ends_s, _HOUR_S), 0)
    for step_s, micros in _added(span.days, meter):
        if step_s >= begins_s - STEP_S and (hour := step_s // _HOUR_S * _HOUR_S) in hours:
            hours[hour] += micros
    bars = [
        AddedBar(
            begins_s=max(hour, begins_s), ends_s=min(hour + _HOUR_S, ends_s), added=_cents(all_)
        )
        for hour, all_ in hours.items()
    ]
    return picture(
        span, meter, begins_s, ends_s, every_s=STEP_S, bars=bars, minutes=minutes, hits_max=hits_max
    )


def month_picture(
    span: DaySpan,
    meter: str,
    last: date,
    days: GamingDays,
    now_s: int,
    *,
    minutes: Sequence[tuple[int, int]] = (),
    hits_max: int | None = HITS_MAX,
) -> MeterPicture:
    """Return the picture of a meter for 30 gaming days, with a bar for each day.

    The line has one point an hour. If the meter has figures for at most two days, the line has all
    steps of ten minutes, and the `minutes` (see `hourly_picture`).
    """
    sums = {
        day: sum(summary.meters[meter].added)
        for day, summary in span.days
        if meter in summary.meters
    }
    bars = []
    for ordinal in range(month_before(last).toordinal(), last.toordinal() + 1):
        day = date.fromordinal(ordinal)
        begins, ends = (int(moment.timestamp()) for moment in days.bounds(day))
        bars.append(AddedBar(begins_s=begins, ends_s=ends, added=_cents(sums.get(day, 0))))
    ends_s = min(bars[-1].ends_s, now_s)
    every_s, fine = (MONTH_S, ()) if len(sums) > FEW_DAYS else (STEP_S, minutes)
    return picture(
        span,
        meter,
        bars[0].begins_s,
        ends_s,
        every_s=every_s,
        bars=bars,
        minutes=fine,
        hits_max=hits_max,
    )


def spark(
    span: DaySpan, meter: str, begins_s: int, ends_s: int, minutes: Sequence[tuple[int, int]]
) -> Sequence[tuple[int, int]]:
    hits = _hits(span, meter, begins_s, ends_s)
    points = _points(span.days, meter, SPARK_S, ends_s)
    some = [*minutes[:1], *minutes[:0:-SPARK_MINUTES][::-1]]  # with the first and the last one
    return _line(_finer(points, some, hits), begins_s, ends_s)


def last_hour(minutes: Mapping[int, Mapping[str, int]], name: str, now_s: int) -> int:
    """Return the micros that wagers added to the meter `name` in the last 60 minutes."""
    return sum(one.get(name, 0) for minute, one in minutes.items() if minute > now_s - _HOUR_S)


def closing_of(span: DaySpan, meter: str, day: date) -> int | None:
    """Return the meter at the close of a closed gaming day; None if its summary is missing."""
    of = dict(span.days).get(day)
    return _cents(of.meters[meter].closing) if of and meter in of.meters else None


class _Step(NamedTuple):
    at_s: int
    wagers: int
    wins: int
    won: int
    paid_micros: int


def _steps(spans: Sequence[DaySpan], day: date, days: GamingDays) -> Iterator[_Step]:
    """Yield the steps of each link's gaming day.

    If a link could not close an earlier gaming day, this also yields the steps of that day within
    the times of `day`.
    """
    begins_s, ends_s = (moment.timestamp() for moment in days.bounds(day))
    for span in spans:
        for own, summary in span.days:
            wins, won = [*summary.wins], [*summary.won_cents]
            for entry, cents in span.rejected.values():
                if summary.after < entry <= summary.last:
                    at = bisect_left(summary.entries, entry)
                    wins[at] -= 1
                    won[at] -= cents
            columns = summary.steps, summary.wagers, wins, won, summary.paid_micros
            for step in map(_Step._make, zip(*columns, strict=True)):
                if own == day or begins_s <= step.at_s < ends_s:
                    yield step


def _shifts(steps: Sequence[_Step], day: date, days: GamingDays) -> tuple[ShiftRow, ...]:
    begins, ends = days.bounds(day)
    length = (ends - begins) / _SHIFTS
    counts = [[0, 0] for _ in range(_SHIFTS)]
    for step in steps:
        at = int((datetime.fromtimestamp(step.at_s, UTC) - begins) / length)
        shift = counts[min(max(at, 0), _SHIFTS - 1)]
        shift[0] += step.wins
        shift[1] += step.won
    return tuple(
        ShiftRow(
            begins=text_of(begins + at * length),
            ends=text_of(begins + (at + 1) * length),
            wins=wins,
            won=cents,
        )
        for at, (wins, cents) in enumerate(counts)
    )


def floor_day(
    spans: Sequence[DaySpan],
    day: date,
    days: GamingDays,
    wagers: tuple[int, int, Sequence[int]] | None,
) -> FloorDay:
    """Return the activity of all links on a gaming day.

    Each span has a gaming day of a link: `day`, or an earlier day that is still open. `wagers` has
    the beginning of the last minutes, the length of each interval in seconds, and the numbers of
    wagers; it is None for a past day.
    """
    steps = [*_steps(spans, day, days)]
    waits = sorted(
        chain.from_iterable(summary.waits_s for span in spans for _, summary in span.days)
    )
    begins_s, every_s, counts = wagers or _wagers_of_day(steps, day, days)
    return FloorDay(
        day=day,
        begins_s=begins_s,
        wagers_s=every_s,
        wagers=tuple(counts),
        wagers_in_all=sum(step.wagers for step in steps),
        validated=len(waits),
        late=sum(wait > LATE_S for wait in waits),
        wait_s=int(median(waits)) if waits else None,
        shifts=_shifts(steps, day, days),
        paid=_cents(sum(step.paid_micros for step in steps)),
        unread=sum(span.unread for span in spans),
        missing=tuple(chain.from_iterable(map(_missing, spans))),
    )


def _wagers_of_day(
    steps: Sequence[_Step], day: date, days: GamingDays
) -> tuple[int, int, Sequence[int]]:
    begins, ends = (int(moment.timestamp()) for moment in days.bounds(day))
    counts = [0] * ((ends - begins) // STEP_S)
    for step in steps:
        if 0 <= (at := (step.at_s - begins) // STEP_S) < len(counts):
            counts[at] += step.wagers
    return begins, STEP_S, counts


def month_before(day: date, days: int = 30) -> date:
    """Return the first of `days` gaming days, of which `day` is the last."""
    return day - timedelta(days=days - 1)
