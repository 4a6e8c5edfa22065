"""Reading of the ledgers for a report: the choice of days, the audit, and the days found."""

from calendar import monthrange
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final

from bonus.errors import UserError, nearest
from meters.audit.archive_audit import audit_marked
from meters.audit.link_audit import Finding
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor, Link
from meters.reports.day_collector import DayCollector
from meters.reports.day_figures import LinkDay, joined
from meters.reports.win_book import Win
from meters.store.link_store import LinkStore

_LOOKED_BACK: Final = timedelta(days=7)
"""How long before the reported days the audit begins, to find wins decided on these days."""


@dataclass(frozen=True, slots=True)
class DayRange:
    """The gaming days from `first` to `last`. If `first` is None, they begin with the ledger."""

    first: date | None
    last: date

    def has(self, day: date) -> bool:
        return day <= self.last and (self.first is None or day >= self.first)


@dataclass(frozen=True, slots=True)
class LinkScan:
    """The reported days of a link. `wins` are the wins of these days, in their present state."""

    link: Link
    days: Mapping[date, LinkDay]
    first_day: date
    open_day: date
    wins: Sequence[Win]
    finding: Finding

    @property
    def span(self) -> LinkDay:
        """All reported days of the link, joined into one; raises `ValueError` if there are none."""
        return joined(list(self.days.values()))

    @property
    def problems(self) -> list[str]:
        """A text for each problem in the ledger or in the reported figures."""
        found = list(self.finding.problems)
        for day in self.days.values():
            found += [f"{day.first_day}: {fault}" for fault in day.faults]
        return found

    @property
    def variances(self) -> list[str]:
        """A text for each difference between a meter reading and the ledger."""
        return [
            f"variance at the close of {day.first_day}: {one.of} was read as {one.read}, but the"
            f" ledger has {one.ledger}, a difference of {one.read - one.ledger:+d}"
            for day in self.days.values()
            for one in day.variances
        ]


@dataclass(frozen=True, slots=True)
class LedgerScan:
    span: DayRange
    links: Sequence[LinkScan]
    at: datetime


Choose = Callable[[date, date], DayRange]
"""Returns the days to report, for the open gaming day and today's date."""

Advance = Callable[[str, int, int], None]


async def scan_ledgers(
    floor: Floor, stores: Sequence[LinkStore], choose: Choose, now: datetime, advance: Advance
) -> LedgerScan:
    """Audit the ledgers of links, and collect the days to report.

    `advance` gets the link, the number of read entries, and the number of all entries.

    Raises:
        UserError: no ledger has entries of the reported days.
        RedisError, OSError, ValueError: Redis cannot be read, or its data is damaged.
    """
    days = GamingDays.of_facility(floor.facility)
    today = days.of(now)
    open_days = [await store.open_day() or today for store in stores]
    span = choose(max(open_days), today)
    found = [
        await _look(floor, store, open_day, span, advance)
        for store, open_day in zip(stores, open_days, strict=True)
    ]
    if not any(each.days for each in found):
        first = min(each.first_day for each in found)
        open_day = max(each.open_day for each in found)
        why = f"{span.last} is before the first gaming day on record, {first}"
        if span.last >= first:
            why = f"{span.last} has not begun: no service has run since"
        elif first == open_day:
            why = f"no gaming day is closed yet: {why}"
        raise UserError(
            f"{why}; the open gaming day is {open_day}: `pitlink report day {open_day}` reports it"
            " so far"
        )
    return LedgerScan(span, found, now)


async def _look(
    floor: Floor, store: LinkStore, open_day: date, span: DayRange, advance: Advance
) -> LinkScan:
    link = store.link
    watch = DayCollector(link, span.has)
    finding, _ = await audit_marked(
        Path(floor.service.data),
        Path(floor.archive.directory),
        store,
        lambda done, of: advance(link.id, done, of),
        watch,
        since=span.first and span.first - _LOOKED_BACK,
        until=span.last,
    )
    open_day = watch.finish(open_day)
    return LinkScan(
        link=link,
        days=watch.days,
        first_day=watch.first_day or open_day,
        open_day=open_day,
        wins=watch.wins,
        finding=finding,
    )


_EARLIEST: Final = date(1970, 1, 1)
"""No gaming day is earlier. So the start of an audit, some days before, stays a valid date."""
_USAGE = 2


def parse_day(text: str, name: str) -> date:
    if day := _parsed(text, len("2026-11-20")):
        return day
    message = f"{name} {text!r} is not a day: write it as 2026-11-20"
    raise UserError(message, exit_status=_USAGE)


def parse_month(text: str) -> date:
    if first := _parsed(f"{text}-01", len("2026-11-01")):
        return first
    raise UserError(f"{text!r} is not a month: write it as 2026-11", exit_status=_USAGE)


def _parsed(text: str, length: int) -> date | None:
    try:
        day = date.fromisoformat(text) if len(text) == length else None
    except ValueError:
        return None
    return day if day and day.isoformat() == text and day >= _EARLIEST else None


def one_day(day: date | None) -> Choose:
    """Return a function that chooses the gaming day `day`; the last closed day if `day` is None."""

    def choose(open_day: date, today: date) -> DayRange:
        asked = open_day - timedelta(days=1) if day is None else day
        _refuse_future(asked, open_day, today)
        return DayRange(asked, asked)

    return choose


def one_month(first: date | None) -> Choose:
    """Return a function that chooses the month of `first`.

    If `first` is None, the month is that of the last closed day. If the month is not over, the
    report ends with the open day.
    """

    def choose(open_day: date, today: date) -> DayRange:
        begins = (first or open_day - timedelta(days=1)).replace(day=1)
        _refuse_future(begins, open_day, today)
        ends = begins.replace(day=monthrange(begins.year, begins.month)[1])
        return DayRange(begins, min(ends, max(open_day, begins)))

    return choose


def from_to(first: date | None, last: date | None) -> Choose:
    """Return a function that chooses the days from `first` to `last`.

    If `first` is None, the days begin with the ledger. If `last` is None, they end with the open
    day.
    """
    if first and last and first > last:
        raise UserError(f"--from {first} is after --to {last}", exit_status=_USAGE)

    def choose(open_day: date, today: date) -> DayRange:
        for day in (first, last):
            if day:
                _refuse_future(day, open_day, today)
        return DayRange(first, last or open_day)

    return choose


def links_of(floor: Floor, link: str | None) -> Sequence[Link]:
    _known("link", link, [one.id for one in floor.link])
    return [one for one in floor.link if link in {None, one.id}]


def having_table(found: LedgerScan, table: str | None) -> LedgerScan:
    """Keep the links that have `table` in the floor file or the reported days; None keeps all."""
    if table is None:
        return found
    links = [each for each in found.links if table in _tables_of(each)]
    _known("table", table, [name for each in found.links for name in _tables_of(each)])
    return replace(found, links=links)


def _tables_of(each: LinkScan) -> list[str]:
    of_floor = [table.id for table in each.link.table]
    return of_floor + sorted(
        {table for day in each.days.values() for table in day.rounds} - set(of_floor)
    )


def meters_of(links: Sequence[Link], meter: str | None) -> Sequence[str] | None:
    """Return a list with the one meter of a report, or None for all meters."""
    _known("meter", meter, sorted({of.meter_id for one in links for of in one.meter}))
    return None if meter is None else [meter]


def _known(what: str, name: str | None, known: Collection[str]) -> None:
    if name is not None and name not in known:
        raise UserError(f"there is no {what} {name}{nearest(name, known)}")


def _refuse_future(day: date, open_day: date, today: date) -> None:
    if day > max(open_day, today):
        raise UserError(f"{day} is in the future: the open gaming day is {open_day}")
