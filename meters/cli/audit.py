"""The `audit` command, which checks each link's ledger against the balances."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer
from redis.exceptions import RedisError
from rich.box import SIMPLE
from rich.table import Table

from bonus.display import exact_money
from bonus.errors import UserError
from meters.archive.archive_audit import audit_link, last_day
from meters.archive.archive_days import ArchiveFiles
from meters.audit.audit_files import AUDIT_NOTE, AuditNote, note_audit, read_note
from meters.audit.ledger_mark import LedgerMark
from meters.audit.link_audit import Finding
from meters.floor.facility import Facility, GamingDays
from meters.floor.floor_file import ConfigOption, Floor, read_own_floor
from meters.ledger.accounts import Totals
from meters.process.console import PlainConsole, progress_bar
from meters.process.printing import print_error, print_json, print_text
from meters.process.private_files import make_private_directory, write_private_file
from meters.selfcheck.opened_store import open_used_store
from meters.store.link_store import LinkStore
from meters.users.log_audit import LogAudit, LogCheckpointFile, LogFinding, LogMark
from meters.users.log_macs import LogSecrets

DAILY_AUDIT_NOTE: Final = "last-daily-audit"
"""In the data directory; its last change is the end of the last `pitlink audit --daily`."""

_AHEAD: Final = timedelta(minutes=1)


def audit(
    config: ConfigOption,
    *,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            metavar="DAY",
            help="Begin with the archived opening balances of this gaming day: for a daily audit if"
            " the whole archive needs hours.",
        ),
    ] = None,
    daily: Annotated[
        bool,
        typer.Option(
            "--daily",
            help="Do nothing if such an audit has ended since the last gaming day closed: for a"
            " timer that runs every half hour, in any time zone of the machine.",
        ),
    ] = False,
    since_last: Annotated[
        bool,
        typer.Option(
            "--since-last",
            help="Begin with the last archived day that an audit found correct: for every night."
            " Audit everything once a month.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
) -> None:
    """Replay every link's ledger, and check every balance exactly, to the micro.

    The audit reads the archive and the operators' log from their beginning. With --since or
    --since-last, it does not read the files of the days before, and it continues the audit of the
    operators' log that a service has made. The command writes the result to the data directory, for
    `pitlink check` and the alerts.

    The exit status is 1 if there is any problem. The output names the problem and the amount of
    each difference.
    """
    if since and since_last:
        raise typer.BadParameter("--since and --since-last are two ways to begin: give one")
    floor = read_own_floor(config)
    if daily and audited_since_close(floor):
        print_text("audited since the last gaming day closed: nothing to do")
        return
    begin = LAST if since_last else since.date() if since else None
    balanced = asyncio.run(run_audit(floor, as_json=as_json, since=begin))
    if daily:
        note_daily_audit(floor)
    if not balanced:
        raise typer.Exit(1)


def done_since_close(facility: Facility, done: datetime | None, now: datetime) -> bool:
    """Check if `done`, the time of a daily task, is later than the close of the last gaming day.

    A time in the future does not count: the clock was wrong when the task was done.
    """
    days = GamingDays.of_facility(facility)
    closed, _ = days.bounds(days.of(now))
    return done is not None and closed <= done <= now + _AHEAD


def audited_since_close(floor: Floor) -> bool:
    """Check if a `pitlink audit --daily` has ended since the last gaming day closed."""
    try:
        modified_s = (Path(floor.service.data) / DAILY_AUDIT_NOTE).stat().st_mtime
    except OSError:
        return False
    return done_since_close(
        floor.facility, datetime.fromtimestamp(modified_s, UTC), datetime.now(UTC)
    )


def note_daily_audit(floor: Floor) -> None:
    """Note the end of a `pitlink audit --daily`, with or without problems; may raise `OSError`."""
    data = Path(floor.service.data)
    make_private_directory(data)
    write_private_file(data / DAILY_AUDIT_NOTE).close()


_UNMARKED: Final = (
    "no mark of them is in {place}, so they cannot be compared with one. If a service keeps a mark,"
    " the floor file names another directory than the service's"
)
_COLUMNS: Final = ("amount_micros", "reserve_micros", "overflow_micros")


LAST: Final = date.max
"""The last archived day up to which an earlier audit found a link correct."""


async def run_audit(floor: Floor, *, as_json: bool, since: date | None = None) -> bool:
    """Audit every link and the operators' log, and return True if all of them are correct.

    The result is printed and, if the data directory exists, also written there.

    Raises:
        UserError: Redis cannot be read.
    """
    try:
        data, through = Path(floor.service.data), dict[str, str]()
        before = read_note(data / AUDIT_NOTE, AuditNote)
        async with open_used_store(floor, only_reads=True) as redis:
            findings, unmarked = [], list[str]()
            with progress_bar() as progress:
                for link in floor.link:
                    task = progress.add_task(link.id, total=None)
                    archive = ArchiveFiles(Path(floor.archive.directory), link.id)
                    mark = LedgerMark(Path(floor.service.data), link.id)
                    seen = mark.seen
                    finding = await audit_link(
                        LinkStore(redis, link),
                        archive,
                        seen,
                        lambda done, of, task=task: progress.update(  # type: ignore[misc]
                            task, completed=done, total=of
                        ),
                        since=_begin(since, before, link.id),
                    )
                    if day := last_day(archive):
                        through[link.id] = day.isoformat()
                    findings.append(finding.also(mark.problem(finding.stored, seen.entries)))
                    if finding.entries and not seen.entries:
                        unmarked.append(link.id)
            log_mark = LogMark(Path(floor.service.data))
            seen = log_mark.seen
            checkpoint = LogCheckpointFile(log_mark.path).read(seen) if since else None
            operators = await LogAudit(redis, LogSecrets.of(floor.service), checkpoint).run(seen)
            if lost := log_mark.problem(operators.entries, seen.entries):
                operators = replace(operators, problems=(lost, *operators.problems))
    except (RedisError, OSError, ValueError) as error:
        raise UserError(f"the data in Redis cannot be read: {error}") from None
    _note(data, findings, operators, through, whole=since is None)
    if as_json:
        print_json(_json(findings, operators, unmarked))
    else:
        _print(findings, operators, data, unmarked)
    return _holds(findings, operators)


def _begin(since: date | None, before: AuditNote | None, link: str) -> date | None:
    """Return the first day to audit, or None for the whole ledger.

    `LAST` stands for the last archived day up to which the audit of the note `before` found this
    link correct, if there is one.
    """
    if since != LAST:
        return since
    noted = before.through.get(link) if before else None
    return date.fromisoformat(noted) if noted else None


def _note(
    data: Path,
    findings: Sequence[Finding],
    operators: LogFinding,
    through: Mapping[str, str],
    *,
    whole: bool,
) -> None:
    """Write the result to the data directory, or print that it cannot be written.

    It is valid nevertheless.
    """
    try:
        note_audit(data, tuple(_problems(findings, operators)), through, whole=whole)
    except OSError as error:
        print_error(f"pitlink: the audit cannot be noted in {data}: {error.strerror or error}")


def _problems(findings: Sequence[Finding], operators: LogFinding) -> list[str]:
    return [
        *(f"{one.link}: {problem}" for one in findings for problem in one.problems),
        *operators.problems,
    ]


def _holds(findings: Sequence[Finding], operators: LogFinding) -> bool:
    return all(finding.balanced for finding in findings) and not operators.problems


def _json(findings: Sequence[Finding], operators: LogFinding, unmarked: Sequence[str]) -> bytes:
    totals = Totals()
    for finding in findings:
        for name, value in asdict(finding.totals).items():
            setattr(totals, name, getattr(totals, name) + value)
    return msgspec.json.encode(
        {
            "balanced": _holds(findings, operators),
            "entries": sum(finding.entries for finding in findings),
            "links": {finding.link: {"meters": finding.meters} for finding in findings},
            "since_entries": {finding.link: finding.first for finding in findings},
            "seals": {finding.link: finding.seal for finding in findings},
            "operators_log": {"entries": operators.entries, "seal": operators.seal},
            "unmarked": unmarked,
            "totals": totals,
            "variances": [f"{one.link}: {found}" for one in findings for found in one.variances],
            "notes": [f"{one.link}: {note}" for one in findings for note in one.notes],
            "problems": _problems(findings, operators),
        }
    )


def _print(
    findings: Sequence[Finding], operators: LogFinding, data: Path, unmarked: Sequence[str]
) -> None:
    console = PlainConsole()
    for finding in findings:
        table = Table("Meter", "Holds", "Reserve", "Overflow", box=SIMPLE)
        for meter, held in finding.meters.items():
            table.add_row(meter, *(exact_money(held[name]) for name in _COLUMNS))
        for column in table.columns[1:]:
            column.justify = "right"
        for column in table.columns:
            column.overflow = "fold"
        verdict = "balances to the micro" if finding.balanced else "DOES NOT BALANCE"
        since = f", audited from {finding.first} on" if finding.first > 1 else ""
        console.print_line(f"{finding.link}: {finding.entries} ledger entries{since}, {verdict}")
        console.print_line(f"  sealed {finding.seal}")
        if finding.link in unmarked:
            console.print_line(f"  {_UNMARKED.format(place=data / 'marks')}")
        for kind, texts in (
            ("", finding.problems), ("variance ", finding.variances), ("note ", finding.notes),
        ):  # fmt: skip
            for text in texts:
                console.print_line(f"  {kind}{text}")
        console.print(table)
    verdict = "DOES NOT HOLD" if operators.problems else "unaltered"
    since = f", audited from {operators.first} on" if operators.first > 1 else ""
    console.print_line(f"operators' log: {operators.entries} entries{since}, {verdict}")
    if operators.seal:
        console.print_line(f"  sealed {operators.seal}")
    for problem in operators.problems:
        console.print_line(f"  {problem}")
