"""The reading of the ledgers for a report: audit each ledger, and collect the reported days."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final

from redis.exceptions import RedisError

from bonus.errors import UserError
from meters.archive.archive_audit import audit_link
from meters.archive.archive_days import ArchiveFiles
from meters.audit.ledger_mark import LedgerMark
from meters.audit.link_audit import Finding
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor, Link
from meters.reports.gaming_days import LinkDay, Win, joined
from meters.reports.ledger_watch import DayCollector
from meters.selfcheck.opened_store import open_used_store
from meters.store.link_store import LinkStore

_LOOKED_BACK: Final = timedelta(days=7)
"""The time before the reported days that the audit also replays.

Wins that were decided on a reported day can have been won in it.
"""


@dataclass(frozen=True, slots=True)
class DayRange:
    """The gaming days from `first` to `last`. If `first` is None, they begin with the ledger."""

    first: date | None
    last: date

    def has(self, day: date) -> bool:
        return day <= self.last and (self.first is None or day >= self.first)


@dataclass(frozen=True, slots=True)
class LinkScan:
    """The result of reading the ledger of one link for a report.

    `first_day` is the first gaming day of the ledger. `wins` are those of the reported days, in
    their state at the end of the audit.
    """

    link: Link
    days: Mapping[date, LinkDay]
    first_day: date
    open_day: date
    wins: Sequence[Win]
    finding: Finding

    @property
    def span(self) -> LinkDay:
        """All reported days of the link, joined into one; a ValueError if it has none."""
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
        """A text for each difference between a reading of the meters and the ledger."""
        return [
            f"variance at the close of {day.first_day}: {one.of} was read as {one.read}, the ledger"
            f" says {one.ledger}: {one.read - one.ledger:+d}"
            for day in self.days.values()
            for one in day.variances
        ]


@dataclass(frozen=True, slots=True)
class LedgerScan:
    span: DayRange
    links: Sequence[LinkScan]
    today: date
    at: datetime


Choose = Callable[[date, date], DayRange]
"""A function that returns the days to report, from the open gaming day and today's date."""

Advance = Callable[[str, int, int], None]


async def scan_ledgers(
    floor: Floor, links: Sequence[Link], choose: Choose, now: datetime, advance: Advance
) -> LedgerScan:
    """Audit the ledgers of links, and collect the days to report.

    `advance` gets the link, and the numbers of entries read and of all entries.

    Raises:
        UserError: Redis cannot be read, or no ledger has entries of the reported days.
    """
    days = GamingDays.of_facility(floor.facility)
    today = days.of(now)
    try:
        async with open_used_store(floor, only_reads=True) as redis:
            stores = [LinkStore(redis, link) for link in links]
            open_days = [await store.open_day() or today for store in stores]
            span = choose(max(open_days), today)
            found = [
                await _look(floor, store, open_day, span, advance)
                for store, open_day in zip(stores, open_days, strict=True)
            ]
    except (RedisError, OSError, ValueError) as error:
        raise UserError(f"the data in Redis cannot be read: {error}") from None
    if not any(each.days for each in found):
        first, open_day = (
            min(each.first_day for each in found), max(each.open_day for each in found),
        )  # fmt: skip
        why = f"{span.last} is before the first gaming day that there is, {first}"
        if span.last >= first:
            why = f"{span.last} has not begun: no service has run since"
        elif first == open_day:
            why = f"no gaming day is closed yet: {why}"
        raise UserError(
            f"{why}; the gaming day that is open is {open_day}: `pitlink report day {open_day}`"
            " reports it so far"
        )
    return LedgerScan(span, found, today, now)


async def _look(
    floor: Floor, store: LinkStore, open_day: date, span: DayRange, advance: Advance
) -> LinkScan:
    link = store.link
    watch = DayCollector(link, span.has)
    mark = LedgerMark(Path(floor.service.data), link.id)
    seen = mark.seen
    finding = await audit_link(
        store,
        ArchiveFiles(Path(floor.archive.directory), link.id),
        seen,
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
        finding=finding.also(mark.problem(finding.stored, seen.entries)),
    )
