"""Promotions: at certain times, the house adds money to a meter, as the floor file has it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from bonus.display import money
from bonus.law.chapter_file import Day
from bonus.law.paytables import ChapterError, read_rate_bps
from meters.floor.facility import Config, Problem
from meters.wire.topics import IDENTIFIER

ADDS_CENTS_MAX: Final = 10**10
"""The most that a promotion can add at once: a hundred million dollars."""

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
YEAR_MAX: Final = 2999
"""The last year in which a promotion can start."""
WEEKDAYS: Final[tuple[Weekday, ...]] = (
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
)  # fmt: skip

_ClockTime = Annotated[
    str,
    msgspec.Meta(
        pattern=r"\A([01][0-9]|2[0-3]):[0-5][0-9]\Z", description='time of day, such as `"18:00"`'
    ),
]
_PromotionIdentifier = Annotated[
    str,
    msgspec.Meta(pattern=rf"\A{IDENTIFIER}\Z", description="1 to 32 letters, digits and hyphens"),
]
_DAY: Final = timedelta(days=1)
RAISES_WITHIN: Final = timedelta(hours=12)
"""How long after the end of a promotion its last part of the wagers can be added: then a service
runs again, or people open the link again."""
_WEEK_AND_A_DAY: Final = 8


class Occurrence(NamedTuple):
    """A time in which a promotion is on: from `starts` until before `ends`, both in UTC.

    `day` is the day of the start, by the facility's clock.
    """

    day: date
    starts: datetime
    ends: datetime


class PromotionTerms(Config, frozen=True, kw_only=True):
    """When a promotion is on, and what it adds: the settings that people approve."""

    meter: str
    adds: Annotated[int, msgspec.Meta(ge=1, le=ADDS_CENTS_MAX)] | None = None
    raises: str | None = None
    days: Annotated[tuple[Weekday, ...], msgspec.Meta(min_length=1)] = WEEKDAYS
    starts: _ClockTime = msgspec.field(name="from")
    ends: _ClockTime = msgspec.field(name="to")
    first: Day | None = None
    last: Day | None = None

    def occurrence(self, day: date, zone: ZoneInfo) -> Occurrence | None:
        """Return the occurrence that starts on a day, or None.

        If summer time begins and the clock skips a time, this time is the usual number of hours
        after midnight: 02:30 is then 03:30. If summer time ends and the clock shows a time twice,
        the first one counts. If the promotion would end before its start because of this, it lasts
        as long as on other days.

        >>> friday = PromotionTerms(meter="m", adds=1, starts="18:00", ends="02:00")
        >>> [moment.isoformat() for moment in
        ...     friday.occurrence(date(2026, 12, 4), ZoneInfo("America/New_York"))[1:]]
        ['2026-12-04T23:00:00+00:00', '2026-12-05T07:00:00+00:00']
        """
        if WEEKDAYS[day.weekday()] not in self.days or not self._is_in_period(day):
            return None
        begin, end = time.fromisoformat(self.starts), time.fromisoformat(self.ends)
        from_clock = datetime.combine(day, begin)
        to_clock = datetime.combine(day if end > begin else day + _DAY, end)
        starts, ends = (
            each.replace(tzinfo=zone).astimezone(UTC) for each in (from_clock, to_clock)
        )
        return Occurrence(day, starts, ends if ends > starts else starts + (to_clock - from_clock))

    def occurrence_at(self, moment: datetime, zone: ZoneInfo) -> Occurrence | None:
        """Return the occurrence that is on at a time, or None."""
        today = moment.astimezone(zone).date()
        for day in (today, today - _DAY):
            found = self.occurrence(day, zone)
            if found and found.starts <= moment < found.ends:
                return found
        return None

    def ended_at(self, moment: datetime, zone: ZoneInfo) -> Occurrence | None:
        """Return the last occurrence that is over at a time, while its last part can be added."""
        today = moment.astimezone(zone).date()
        for day in (today, today - _DAY, today - 2 * _DAY):
            found = self.occurrence(day, zone)
            if found and found.ends <= moment < found.ends + self.late:
                return found
        return None

    def next_after(self, moment: datetime, zone: ZoneInfo) -> Occurrence | None:
        """Return the first occurrence that starts after a time, or None."""
        day = moment.astimezone(zone).date()
        if self.first:
            day = max(day, date.fromisoformat(self.first))
        for ahead in range(_WEEK_AND_A_DAY):
            found = self.occurrence(day + ahead * _DAY, zone)
            if found and found.starts > moment:
                return found
        return None

    @property
    def raises_bps(self) -> int:
        """The part of each wager that the house adds, in basis points; 0 if it adds a sum."""
        return 0 if self.raises is None else read_rate_bps(self.raises)

    @property
    def late(self) -> timedelta:
        """How long after the end money can still be added."""
        return timedelta() if self.raises is None else RAISES_WITHIN

    @property
    def added_in_words(self) -> str:
        """What the house adds, such as ``5% of each wager to progressive``."""
        if self.raises is not None:
            return f"{self.raises} of each wager to {self.meter}"
        return f"{money(self.adds or 0)} to {self.meter} at each start"

    @property
    def days_in_words(self) -> str:
        return days_in_words(self.days_of_week)

    @property
    def days_of_week(self) -> tuple[Weekday, ...]:
        """The days in the order of the week."""
        return tuple(day for day in WEEKDAYS if day in self.days)

    @property
    def period_in_words(self) -> str:
        """The first and the last day in words; empty if the promotion has neither."""
        parts = (self.first and f"first on {self.first}", self.last and f"last on {self.last}")
        return ", ".join(filter(None, parts))

    def _is_in_period(self, day: date) -> bool:
        # Days as texts such as 2026-12-01 are in the order of the calendar.
        written = day.isoformat()
        return (self.first or written) <= written <= (self.last or written)


class PromotionSettings(PromotionTerms, frozen=True, kw_only=True):
    """A promotion: the house adds money to a meter, and the ledger names it.

    It adds a sum at each start, or a part of each wager from the start to the end: write `adds` or
    `raises`. If no service runs at the start, the sum is added later, but only before the end.
    While the link is closed or inoperable, nothing is added.

    Attributes:
        id: the name of the promotion in the ledger. A promotion with this id starts at most once on
            a day.
        name: the name that people read, such as ``"Friday Boost"``.
        meter: the id of a meter of the link that hands win. A must-hit-by meter cannot have
            promotions: they could take it to the hidden value without a wager.
        adds: what the house adds at each start, in cents. What would take the meter above its
            payout limit waits in the meter's overflow.
        raises: the part of each wager on the meter that the house adds, such as ``"5%"``. Wagers
            that were taken back and those of void rounds do not count.
        days: the days of the week on which the promotion starts.
        from: when it starts, by the facility's clock.
        to: when it ends; on the next day if this is not after `from`.
        first: the first day on which it starts.
        last: the last day on which it starts.
    """

    id: _PromotionIdentifier
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]


def days_in_words(days: Sequence[str]) -> str:
    """Return days of the week in words.

    >>> days_in_words(["friday", "sunday"]), days_in_words(WEEKDAYS)
    ('Friday, Sunday', 'every day')
    """
    if len(days) == len(WEEKDAYS):
        return "every day"
    return ", ".join(day.capitalize() for day in days)


def promotion_problems(promotion: PromotionSettings) -> Iterator[Problem]:
    """Yield the errors in a promotion, each with its place in the section."""
    yield from _added_problems(promotion)
    for at, day in enumerate(promotion.days):
        if day in promotion.days[:at]:
            yield ("days", at), f"{day} is listed twice"
    for key, written in (("first", promotion.first), ("last", promotion.last)):
        try:
            year = date.fromisoformat(written or "2026-12-01").year
        except ValueError:
            year = 0
        if not 0 < year <= YEAR_MAX:
            yield (key,), f"{key} is {written}, which is no day of the calendar until {YEAR_MAX}"
    if promotion.first and promotion.last:
        if promotion.last < promotion.first:
            yield ("last",), f"the last day is before the first day, {promotion.first}"
        first, last = date.fromisoformat(promotion.first), date.fromisoformat(promotion.last)
        count = min(len(WEEKDAYS), (last - first).days + 1)
        between = (first + ahead * _DAY for ahead in range(count))
        if not any(WEEKDAYS[day.weekday()] in promotion.days for day in between):
            yield ("days",), "none of these days is between the first and the last day"


def _added_problems(promotion: PromotionSettings) -> Iterator[Problem]:
    if (promotion.adds is None) == (promotion.raises is None):
        yield (), "a promotion has either adds, a sum in cents, or raises, a part of each wager"
    try:
        if promotion.raises is not None and not promotion.raises_bps:
            yield ("raises",), "the part of each wager must be above 0%"
    except ChapterError as error:
        yield ("raises",), str(error)
