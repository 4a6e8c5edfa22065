"""The choice of the days, links, meters and tables that a report covers.

What the user typed wrongly is refused with a UserError in plain words.
"""

from calendar import monthrange
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, timedelta

from bonus.errors import UserError, nearest
from meters.floor.floor_file import Floor, Link
from meters.reports.ledger_scan import Choose, DayRange, LedgerScan, LinkScan

_USAGE = 2


def parse_day(text: str, name: str) -> date:
    """Parse a day that a user typed, in the form 2026-11-20."""
    try:
        if len(text) == len("2026-11-20"):
            return date.fromisoformat(text)
    except ValueError:
        pass
    message = f"{name} {text!r} is not a day: write it as 2026-11-20"
    raise UserError(message, exit_status=_USAGE)


def parse_month(text: str) -> date:
    """Parse a month that a user typed, in the form 2026-11. Return its first day."""
    try:
        if len(text) == len("2026-11"):
            return date.fromisoformat(f"{text}-01")
    except ValueError:
        pass
    raise UserError(f"{text!r} is not a month: write it as 2026-11", exit_status=_USAGE)


def one_day(day: date | None) -> Choose:
    """Return a function that chooses one gaming day, by default the last closed day."""

    def choose(open_day: date, today: date) -> DayRange:
        asked = open_day - timedelta(days=1) if day is None else day
        _refuse_future(asked, open_day, today)
        return DayRange(asked, asked)

    return choose


def one_month(first: date | None) -> Choose:
    """Return a function that chooses a month, by default the month of the last closed day.

    If the month is not over, the report ends with the open day.
    """

    def choose(open_day: date, today: date) -> DayRange:
        begins = (first or open_day - timedelta(days=1)).replace(day=1)
        _refuse_future(begins, open_day, today)
        ends = begins.replace(day=monthrange(begins.year, begins.month)[1])
        return DayRange(begins, min(ends, max(open_day, begins)))

    return choose


def from_to(first: date | None, last: date | None) -> Choose:
    """Return a function that chooses the days from `first` to `last`.

    Without `first`, they begin with the ledger; without `last`, they end with the open day.
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
    """Return the scan of the links with a table, in the floor file or the reported days."""
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
    """Return a list with the one meter that a report covers, or None for all meters."""
    _known("meter", meter, sorted({of.meter_id for one in links for of in one.meter}))
    return None if meter is None else [meter]


def _known(what: str, name: str | None, known: Collection[str]) -> None:
    if name is not None and name not in known:
        raise UserError(f"there is no {what} {name}{nearest(name, known)}")


def _refuse_future(day: date, open_day: date, today: date) -> None:
    if day > max(open_day, today):
        raise UserError(f"{day} is in the future: the gaming day that is open is {open_day}")
