"""The `audit` command, which checks each link's ledger against the balances."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from rich.box import SIMPLE
from rich.table import Column, Table

from bonus.display import exact_money
from bonus.errors import UserError
from meters.archive.archive_days import ArchiveFiles
from meters.audit.archive_audit import audit_marked, last_day
from meters.audit.audit_files import AUDIT_NOTE, AuditNote, note_audit, read_note
from meters.audit.link_audit import Finding
from meters.floor.facility import Facility, GamingDays
from meters.floor.floor_file import ConfigOption, Floor, Link, read_own_floor
from meters.process.console import PlainConsole, begin_bar, progress_bar
from meters.process.printing import print_error, print_json, print_text
from meters.process.private_files import make_private_directory, write_private_file
from meters.selfcheck.opened_store import open_used_store
from meters.store.link_store import LinkStore
from meters.store.redis_connect import REDIS_TO_START
from meters.users.log_audit import LogAudit, LogCheckpointFile, LogFinding, LogMark
from meters.users.log_macs import LogSecrets

DAILY_AUDIT_NOTE: Final = "last-daily-audit"
"""File in the data directory, modified at the end of each `pitlink audit --daily`."""

_AHEAD: Final = timedelta(minutes=1)


def audit(
    config: ConfigOption,
    *,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            metavar="DAY",
            help="Begin with the archived opening balances of this gaming day: for a daily audit,"
            " if an audit of the whole archive takes hours.",
        ),
    ] = None,
    daily: Annotated[
        bool,
        typer.Option(
            "--daily",
            help="Do nothing if a daily audit has ended since the last gaming day closed: for a"
            " timer that runs every half hour, in any time zone of the machine.",
        ),
    ] = False,
    since_last: Annotated[
        bool,
        typer.Option(
            "--since-last",
            help="Begin with the last archived day that an audit found correct. Use this every"
            " night, and audit everything once a month.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
) -> None:
    """Replay every ledger, and check every balance to the micro.

    The audit reads the archive and the operators' log from their beginning. With --since or
    --since-last, it does not read the files of earlier days, and it continues the audit of the
    operators' log that a service has made. The command writes the result to the data directory for
    `pitlink check` and the alerts.

    Example: **pitlink audit --since-last --config floor.toml** each night, and without --since-last
    once a month.

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
    """Return whether a daily task was `done` after the last gaming day closed.

    A time in the future does not count, because the clock was wrong.
    """
    days = GamingDays.of_facility(facility)
    closed, _ = days.bounds(days.of(now))
    return done is not None and closed <= done <= now + _AHEAD


def audited_since_close(floor: Floor) -> bool:
    """Return whether a `pitlink audit --daily` has ended since the last gaming day closed."""
    try:
        modified_s = (Path(floor.service.data) / DAILY_AUDIT_NOTE).stat().st_mtime
    except OSError:
        return False
    ended = datetime.fromtimestamp(modified_s, UTC)
    return done_since_close(floor.facility, ended, datetime.now(UTC))


def note_daily_audit(floor: Floor) -> None:
    """Note that a `pitlink audit --daily` has ended, with or without problems."""
    data = Path(floor.service.data)
    make_private_directory(data)
    write_private_file(data / DAILY_AUDIT_NOTE).close()


_UNMARKED: Final = (
    "no mark of this ledger is in {place}, so a lost end of the ledger is not noticed. If a service"
    " keeps a mark elsewhere, name the data directory of this service in the floor file"
)
_COLUMNS: Final = {
    "Holds": "amount_micros",
    "Reserve": "reserve_micros",
    "Overflow": "overflow_micros",
}


LAST: Final = date.max
"""Instead of a day: begin with the last archived day that an audit found correct."""


class SealedLog(msgspec.Struct, frozen=True):
    """The operators' log: its last entry, and SHA-256 over all entries."""

    entries: int
    seal: str


class AuditResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an audit, as `pitlink audit --json` prints it.

    Attributes:
        balanced: true if there is no problem.
        entries: the number of audited ledger entries of all links.
        links: for each link, `meters` has the accounts of each meter, in ten-thousandths of a cent.
        since_entries: for each link, the number of the first entry that was audited.
        seals: for each link, the digest over all entries up to the last one.
        unmarked: links with ledger entries, but without a ledger mark in the data directory.
        totals: over all links, the counts of rounds, voids, wagers and wins, and the sums wagered,
            contributed and won. The name of each sum ends with its unit. Wagers of voided rounds do
            not count.
        variances: differences between a meter reading at the close of a gaming day and the ledger,
            and payout slips that paid two claims. Each begins with the id of its link.
        notes: facts that are no faults, but that a reader of the ledger must know.
        problems: the faults, in words.
    """

    balanced: bool
    entries: int
    links: Mapping[str, Mapping[str, Mapping[str, Mapping[str, int]]]]
    since_entries: Mapping[str, int]
    seals: Mapping[str, str]
    operators_log: SealedLog
    unmarked: Sequence[str]
    totals: Mapping[str, int]
    variances: Sequence[str]
    notes: Sequence[str]
    problems: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Audited:
    links: Sequence[Finding]
    operators: LogFinding
    unmarked: Sequence[str]

    @property
    def problems(self) -> list[str]:
        of_links = (f"{one.link}: {problem}" for one in self.links for problem in one.problems)
        return [*of_links, *self.operators.problems]


async def run_audit(floor: Floor, *, as_json: bool, since: date | None = None) -> bool:
    """Audit every link and the operators' log. Return True if all are correct.

    The result is printed. If the data directory exists, the result is also written there.
    """
    data, archive = Path(floor.service.data), Path(floor.archive.directory)
    through = dict[str, str]()
    findings, unmarked = list[Finding](), list[str]()
    try:
        before = read_note(data / AUDIT_NOTE, AuditNote)
        async with open_used_store(floor, only_reads=True) as redis:
            with progress_bar() as progress:
                for link in floor.link:
                    finding, seen = await audit_marked(
                        data,
                        archive,
                        LinkStore(redis, link),
                        begin_bar(progress, link.id),
                        since=_begin(since, before, link.id),
                    )
                    notes = (*finding.notes, *_entered_results(link))
                    findings.append(replace(finding, notes=notes))
                    if day := last_day(ArchiveFiles(archive, link.id)):
                        through[link.id] = day.isoformat()
                    if finding.entries and not seen.entries:
                        unmarked.append(link.id)
            log_mark = LogMark(data)
            seen = log_mark.seen
            checkpoint = LogCheckpointFile(log_mark.path).read(seen) if since else None
            operators = await LogAudit(redis, LogSecrets.of(floor.service), checkpoint).run(seen)
            if lost := log_mark.problem(operators.entries, seen.entries):
                operators = replace(operators, problems=(lost, *operators.problems))
    except RedisConnectionError as error:
        raise UserError(f"Redis cannot be reached: {error}{REDIS_TO_START}") from None
    except (RedisError, OSError, ValueError) as error:
        raise UserError(f"the data in Redis cannot be read: {error}") from None
    found = _Audited(findings, operators, unmarked)
    try:
        note_audit(data, tuple(found.problems), through, whole=since is None)
    except OSError as error:
        # The result of the audit is valid nevertheless.
        print_error(f"pitlink: the audit cannot be noted in {data}: {error.strerror or error}")
    if as_json:
        print_json(_json(found))
    else:
        _print(found, data)
    return not found.problems


def _entered_results(link: Link) -> Iterator[str]:
    """Yield a note for each game whose results the dealers enter: no cards support them."""
    tables: dict[str, list[str]] = {}
    for table in link.table:
        if table.chapter.result:
            tables.setdefault(table.game, []).append(table.id)
    for game, names in tables.items():
        yield f"{game}: the dealers of {', '.join(names)} declare its results, without cards"


def _begin(since: date | None, before: AuditNote | None, link: str) -> date | None:
    """Return the first day to audit; None for the whole ledger. `before` has the day for `LAST`."""
    if since != LAST:
        return since
    noted = before.through.get(link) if before else None
    return date.fromisoformat(noted) if noted else None


def _json(found: _Audited) -> bytes:
    links, operators = found.links, found.operators
    totals = [asdict(finding.totals) for finding in links]
    return msgspec.json.encode(
        AuditResult(
            balanced=not found.problems,
            entries=sum(finding.entries for finding in links),
            links={finding.link: {"meters": finding.meters} for finding in links},
            since_entries={finding.link: finding.first for finding in links},
            seals={finding.link: finding.seal for finding in links},
            operators_log=SealedLog(operators.entries, operators.seal),
            unmarked=found.unmarked,
            totals={name: sum(one[name] for one in totals) for name in totals[0]},
            variances=[f"{one.link}: {each}" for one in links for each in one.variances],
            notes=[f"{one.link}: {note}" for one in links for note in one.notes],
            problems=found.problems,
        )
    )


def _print(found: _Audited, data: Path) -> None:
    console = PlainConsole()
    for finding in found.links:
        columns = (Column(name, justify="right", overflow="fold") for name in _COLUMNS)
        table = Table(Column("Meter", overflow="fold"), *columns, box=SIMPLE)
        for meter, held in finding.meters.items():
            table.add_row(meter, *(exact_money(held[name]) for name in _COLUMNS.values()))
        verdict = "balances to the micro" if finding.balanced else "DOES NOT BALANCE"
        since = f", audited from entry {finding.first} on" if finding.first > 1 else ""
        console.print_line(f"{finding.link}: {finding.entries} ledger entries{since}, {verdict}")
        console.print_line(f"  sealed {finding.seal}")
        if finding.link in found.unmarked:
            console.print_line(f"  {_UNMARKED.format(place=data / 'marks')}")
        for text in (
            *finding.problems,
            *(f"variance {text}" for text in finding.variances),
            *(f"note {text}" for text in finding.notes),
        ):
            console.print_line(f"  {text}")
        console.print(table)
    operators = found.operators
    verdict = "DOES NOT HOLD" if operators.problems else "unaltered"
    since = f", audited from entry {operators.first} on" if operators.first > 1 else ""
    console.print_line(f"operators' log: {operators.entries} entries{since}, {verdict}")
    if operators.seal:
        console.print_line(f"  sealed {operators.seal}")
    for problem in operators.problems:
        console.print_line(f"  {problem}")
