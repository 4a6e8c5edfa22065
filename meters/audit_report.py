"""What `pitlink audit` prints."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Final

import msgspec
from redis.exceptions import RedisError
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from bonus.errors import UserError
from meters.archive.audit import audit_link
from meters.archive.days import Archive
from meters.books.audit import Finding
from meters.books.mark import LedgerMark
from meters.books.store import LinkStore
from meters.books.totals import Totals
from meters.people.log_chain import LogFinding, check_log
from meters.progress import progress_bar
from meters.redis_connection import open_redis
from meters.reports.words import exact_money
from meters.wire.floor import Floor

_COLUMNS: Final = ("amount_micros", "reserve_micros", "overflow_micros")


async def run_audit(floor: Floor, *, as_json: bool, since: date | None = None) -> bool:
    """Audit every link and the operators' log, and print what was found; whether all holds.

    Raises:
        UserError: the store cannot be read.
    """
    try:
        async with open_redis(floor, only_reads=True) as redis:
            findings = []
            with progress_bar() as progress:
                for link in floor.link:
                    task = progress.add_task(link.id, total=None)
                    archive = Archive(Path(floor.archive.directory), link.id)
                    mark = LedgerMark(Path(floor.service.data), link.id)
                    seen = mark.seen
                    finding = await audit_link(
                        LinkStore(redis, link),
                        archive,
                        seen,
                        lambda done, of, task=task: progress.update(  # type: ignore[misc]
                            task, completed=done, total=of
                        ),
                        since=since,
                    )
                    findings.append(finding.also(mark.problem(finding.entries, seen.entries)))
            operators = await check_log(redis)
    except (RedisError, OSError, ValueError) as error:
        raise UserError(f"the store cannot be read: {error}") from None
    if as_json:
        sys.stdout.write(_json(findings, operators) + "\n")
    else:
        _print(findings, operators)
    return _holds(findings, operators)


def _holds(findings: Sequence[Finding], operators: LogFinding) -> bool:
    return all(finding.balanced for finding in findings) and not operators.problems


def _json(findings: Sequence[Finding], operators: LogFinding) -> str:
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
            "totals": totals,
            "variances": [f"{one.link}: {found}" for one in findings for found in one.variances],
            "problems": [
                *(f"{one.link}: {problem}" for one in findings for problem in one.problems),
                *operators.problems,
            ],
        }
    ).decode()


def _print(findings: Sequence[Finding], operators: LogFinding) -> None:
    console = Console(highlight=False)
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
        console.print(f"{finding.link}: {finding.entries} ledger entries{since}, {verdict}")
        console.print(f"  sealed {finding.seal}", markup=False)
        for problem in finding.problems:
            console.print(f"  {problem}", markup=False)
        for variance in finding.variances:
            console.print(f"  variance {variance}", markup=False)
        console.print(table)
    verdict = "DOES NOT HOLD" if operators.problems else "unaltered"
    console.print(f"operators' log: {operators.entries} entries, {verdict}")
    for problem in operators.problems:
        console.print(f"  {problem}", markup=False)
