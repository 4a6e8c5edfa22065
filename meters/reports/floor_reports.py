"""The reports of `pitlink report` for the floor page.

A report audits the ledgers. The audit takes time and memory that the service needs for the tables,
so another process makes the report, one report at a time. The service keeps a report for half a
minute, because the page asks for the spreadsheet a moment later.
"""

import asyncio
import resource
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Final

import msgspec
from redis.exceptions import RedisError

from bonus.errors import UserError
from bonus.printable import escape_unprintable
from meters.acts.act_refusals import ActError, store_failure_as_inoperable
from meters.archive.archive_days import ArchiveFiles, day_of
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor
from meters.process.clock import now
from meters.process.other_process import in_other_process
from meters.process.owned_tasks import OwnedTasks
from meters.reports.accounting_reports import REPORTS
from meters.reports.ledger_scan import (
    Choose,
    LedgerScan,
    one_day,
    one_month,
    parse_day,
    parse_month,
    scan_ledgers,
)
from meters.reports.report_document import SIGNERS, ReportDocument, ReportSection
from meters.store.link_store import LinkStore
from meters.store.redis_connect import open_redis

_MADE_WITHIN_S: Final = 600.0
_KEPT_S: Final = 30.0
_MEMORY_BYTES_MAX: Final = 1 << 29
_SHEET_BYTES_MAX: Final = 16_000_000
_ROWS_MAX: Final = 500
"""The page shows at most this many rows of a list."""

_MONTH: Final = "2026-11"
_BUSY: Final = "this report or another one is being made: try again in a moment"
_TOO_LONG: Final = (
    "the report takes too much time or memory for a page: run `pitlink report` on a machine of the"
    " services"
)


class ReportDays(msgspec.Struct, frozen=True):
    """The gaming days that can be reported.

    Attributes:
        first: the earliest day that the archive or Redis has.
        open: the open gaming day, which is the last.
    """

    first: date
    open: date


class ReportPage(msgspec.Struct, frozen=True, kw_only=True):
    """A report as a page.

    Attributes:
        document: the texts and tables.
        problems: the problems and variances of all parts.
        closing: the text below all lists: what people sign, or why nobody can sign.
        signers: who signs; empty if nobody can sign.
        has_sheet: false if the spreadsheet is too long for a page.
    """

    document: ReportDocument
    problems: Sequence[str]
    closing: str
    signers: Sequence[str]
    has_sheet: bool


@dataclass(frozen=True, slots=True)
class MadeReport:
    """A `ReportPage` in JSON, and a spreadsheet. Its byte order mark makes Excel read UTF-8."""

    page: bytes
    sheet: bytes


class FloorReports:
    """Every method can raise an `ActError`; the code is ``link_inoperable`` if Redis fails."""

    def __init__(self, floor: Floor, stores: Sequence[LinkStore], tasks: OwnedTasks) -> None:
        self._floor = floor
        self._stores = stores
        self._tasks = tasks
        self._gaming_days = GamingDays.of_facility(floor.facility)
        self._last: tuple[tuple[str, str], asyncio.Task[MadeReport]] | None = None
        self._kept_until_s = 0.0

    async def days(self) -> ReportDays:
        """Return the first day in this machine's archive, or else in Redis, and the open day."""
        today = self._gaming_days.of(now())
        with store_failure_as_inoperable():
            opened = [await store.open_day() or today for store in self._stores]
            begun = [await self._first_day(store) for store in self._stores]
        return ReportDays(min([*filter(None, begun), *opened]), max(opened))

    async def _first_day(self, store: LinkStore) -> date | None:
        archive = ArchiveFiles(Path(self._floor.archive.directory), store.link.id)
        for path in (await asyncio.to_thread(archive.paths))[:1]:
            return date.fromisoformat(day_of(path))
        for _, fields in await store.entries(0, 1):
            return self._gaming_days.of(datetime.fromisoformat(fields["at"].decode()))
        return None

    async def report(self, name: str, days: str, within_s: float) -> MadeReport:
        """Return a report of a gaming day, or of a month such as 2026-11.

        Raises:
            ActError: ``busy`` if the report is not ready in time: it is kept for a later call.
                Other codes are ``unknown_report``, ``unknown_day``, ``bad_value`` and
                ``report_failed``.
        """
        _choice(name, days)
        await self._check_days(days)
        asked, loop = (name, days), asyncio.get_running_loop()
        try:
            async with asyncio.timeout(within_s):
                while True:
                    last, making = self._last or (None, None)
                    kept = last == asked and loop.time() < self._kept_until_s
                    if making is None or (making.done() and not kept):
                        making = self._tasks.start(self._make(*asked), f"report {name} {days}")
                        last = asked
                        self._last = asked, making
                    await asyncio.wait({making})
                    if last == asked:
                        return making.result()
        except TimeoutError:
            raise ActError("busy", _BUSY) from None

    async def _check_days(self, days: str) -> None:
        shown = await self.days()
        if days < f"{shown.first}"[: len(days)]:
            reason = f"{days} is before the first gaming day on record: {shown.first}"
            raise ActError("unknown_day", reason)
        if days > f"{shown.open}":
            raise ActError("unknown_day", f"{days} has not begun")

    async def sheet(self, name: str, days: str, within_s: float) -> bytes:
        """Return the spreadsheet of a report. The errors are those of `report`."""
        made = await self.report(name, days, within_s)
        if not made.sheet:
            raise ActError("report_failed", _TOO_LONG)
        return made.sheet

    async def _make(self, name: str, days: str) -> MadeReport:
        try:
            async with asyncio.timeout(_MADE_WITHIN_S):
                return await in_other_process(make_report, self._floor, name, days)
        except UserError as error:
            raise ActError("unknown_day", str(error)) from None
        except (TimeoutError, MemoryError, RuntimeError, BrokenProcessPool):
            raise ActError("report_failed", _TOO_LONG) from None
        except (RedisError, OSError, ValueError) as error:
            raise ActError("link_inoperable", f"the data cannot be read: {error}") from None
        finally:
            self._kept_until_s = asyncio.get_running_loop().time() + _KEPT_S


def _choice(name: str, days: str) -> Choose:
    if name not in REPORTS:
        known = ", ".join(REPORTS)
        raise ActError("unknown_report", f"there is no report {name}: the reports are {known}")
    of_month = name == "month" or (name != "day" and len(days) == len(_MONTH))
    try:
        return one_month(parse_month(days)) if of_month else one_day(parse_day(days, "DAY"))
    except UserError as error:
        raise ActError("bad_value", str(error)) from None


def make_report(floor: Floor, name: str, days: str) -> MadeReport:
    """Make a report. First limit the memory of this process, which makes only this report.

    Raises:
        UserError: no ledger has entries of these days.
        RedisError, OSError, ValueError, MemoryError: the ledgers cannot be read.
    """
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = _MEMORY_BYTES_MAX if most == resource.RLIM_INFINITY else min(most, _MEMORY_BYTES_MAX)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, most))
    report, found = REPORTS[name], asyncio.run(_scan(floor, _choice(name, days)))
    document, sheet = report.document_of(floor, found, None), report.csv(floor, found, None)
    return made_of(document, sheet)


async def _scan(floor: Floor, choose: Choose) -> LedgerScan:
    async with open_redis(floor, only_reads=True, starts=False) as redis:
        stores = [LinkStore(redis, link) for link in floor.link]
        return await scan_ledgers(floor, stores, choose, now(), lambda _link, _done, _of: None)


def made_of(document: ReportDocument, csv: str) -> MadeReport:
    """Return a report for the page. A list with too many rows is shortened."""
    parts = [replace(part, sections=[*map(_shortened, part.sections)]) for part in document.parts]
    sheet = csv.encode("utf-8-sig")
    page = ReportPage(
        document=replace(document, parts=parts, summary=[*map(_shortened, document.summary)]),
        problems=document.problems,
        closing=document.closing,
        signers=() if document.unsigned else SIGNERS,
        has_sheet=len(sheet) <= _SHEET_BYTES_MAX,
    )
    return MadeReport(msgspec.json.encode(page), sheet if page.has_sheet else b"")


def _shortened(section: ReportSection) -> ReportSection:
    rows, note, sums = section.rows, section.note, len(section.rows) - section.sums
    if sums > _ROWS_MAX:
        more = f"{sums - _ROWS_MAX:,} more rows are not on this page: `pitlink report` prints them."
        rows, note = [*rows[:_ROWS_MAX], *rows[sums:]], f"{more} {note}".strip()
    return replace(section, rows=[tuple(map(escape_unprintable, row)) for row in rows], note=note)
