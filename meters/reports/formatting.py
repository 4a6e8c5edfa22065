from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bonus.display import exact_money
from meters.floor.facility import GamingDays
from meters.reports.flows import Flow

NOTHING: Final = "—"

FLOW_WORDS: Final[Mapping[Flow, str]] = {
    Flow.CONTRIBUTIONS: "Contributions of wagers",
    Flow.VOIDED: "Taken off for void rounds and wagers taken back",
    Flow.VOIDED_BY_HOUSE: "Void rounds and wagers taken back, paid by the house",
    Flow.SEEDS: "Seeds",
    Flow.RESEEDS: "Reseeds",
    Flow.FROM_RESERVE: "Reseeds from the reserve",
    Flow.FROM_OVERFLOW: "From the overflow",
    Flow.PERCENTAGES: "Won, percentages of the meter",
    Flow.ODDS: "Won at odds, with Envy Bonuses",
    Flow.PAID: "Paid",
    Flow.REJECTED: "Wins rejected",
    Flow.ENVY_BACK: "Envy Bonuses found not to be due",
    Flow.REOPENED: "Wins reopened after their rejection",
    Flow.ENVY_REOPENED: "Envy Bonuses reopened with their win",
    Flow.ADJUSTED_UP: "Adjustments, added",
    Flow.ADJUSTED_DOWN: "Adjustments, taken off",
    Flow.OTHER: "Without a known reason",
}
"""The text of each flow, in the order in which reports list them."""


def moved_money(micros: int) -> str:
    return exact_money(micros) if micros else NOTHING


def count(number: int) -> str:
    """Return a count as text.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{number:,}"


def day_words(day: date) -> str:
    """Return the text of a gaming day's date.

    >>> day_words(date(2026, 3, 8))
    'Sunday, March 8, 2026'
    """
    return f"{day:%A, %B} {day.day}, {day.year}"


def moment(at: str | datetime, zone: ZoneInfo) -> str:
    """Return the text of a time, given in RFC 3339 if as text, in the facility's zone.

    >>> moment("2026-03-08T10:00:00.000Z", ZoneInfo("America/New_York"))
    '2026-03-08 06:00:00 EDT (UTC-04:00)'
    """
    local = _moment(at).astimezone(zone)
    offset = f"{local:%z}"
    return f"{local:%Y-%m-%d %H:%M:%S %Z} (UTC{offset[:3]}:{offset[3:5]})"


def short_moment(at: str, zone: ZoneInfo) -> str:
    """Return the text of a time without the UTC offset, which a report shows above its lists.

    >>> short_moment("2026-11-01T05:30:00.000Z", ZoneInfo("America/New_York"))
    '2026-11-01 01:30:00 EDT'
    """
    return f"{_moment(at).astimezone(zone):%Y-%m-%d %H:%M:%S %Z}" if at else ""


def bounds_words(days: GamingDays, first: date, last: date) -> tuple[str, str, str]:
    """Return when the first gaming day begins and the last one ends, and the hours between.

    The two times are in the facility's time zone.
    """
    start, end = days.bounds(first)[0], days.bounds(last)[1]
    hours = (end - start) // timedelta(hours=1)
    return moment(start, days.zone), moment(end, days.zone), f"{hours} hours"


def lasted(since: str, until: str) -> str:
    """Return the text of the duration between two times.

    >>> lasted("2026-11-20T02:00:00Z", "2026-11-20T04:02:05Z")
    '2:02:05'
    """
    seconds = max(0, round((_moment(until) - _moment(since)).total_seconds()))
    return str(timedelta(seconds=seconds))


def _moment(at: str | datetime) -> datetime:
    return datetime.fromisoformat(at) if isinstance(at, str) else at
