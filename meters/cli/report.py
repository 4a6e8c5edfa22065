"""The commands of `pitlink report`, about a gaming day, a month, the wins, or the tables."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from bonus.errors import UserError
from bonus.printable import escape_unprintable
from meters.floor.floor_file import ConfigOption, Floor, Link, read_own_floor
from meters.process.clock import now
from meters.process.console import PlainConsole, begin_bar, progress_bar
from meters.process.printing import print_error, print_json, print_text
from meters.reports.accounting_reports import REPORTS, AccountingReport, table_report
from meters.reports.accounting_rows import Figure
from meters.reports.ledger_scan import (
    Choose,
    LedgerScan,
    from_to,
    having_table,
    links_of,
    meters_of,
    one_day,
    one_month,
    parse_day,
    parse_month,
    scan_ledgers,
)
from meters.reports.report_document import (
    NONE,
    Fact,
    Format,
    ReportDocument,
    ReportSection,
    report_pdf,
)
from meters.selfcheck.opened_store import open_used_store
from meters.store.link_store import LinkStore
from meters.store.redis_connect import REDIS_TO_START

_STDOUT: Final = "-"
_Link = Annotated[str | None, typer.Option("--link", metavar="LINK", help="Only this link.")]
_Meter = Annotated[str | None, typer.Option("--meter", metavar="METER", help="Only this meter.")]
_From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="DAY", help="The first gaming day; by default the ledger's first day."
    ),
]
_To = Annotated[
    str | None,
    typer.Option("--to", metavar="DAY", help="The last gaming day; by default the open day."),
]
_Csv = Annotated[
    Path | None, typer.Option("--csv", metavar="FILE", help="Write a spreadsheet; - prints it.")
]
_Pdf = Annotated[
    Path | None,
    typer.Option(
        "--pdf",
        metavar="FILE",
        help="Write pages, with signature lines if the report can be signed.",
    ),
]
_Size = Annotated[Format, typer.Option("--paper", help="The PDF's paper.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object with the same rows.")]

report: Final = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Report a gaming day, a month, the wins or the tables.\n\nA gaming day"
    " begins at the floor file's `day_starts`, in the facility's time zone. A meter reading"
    " closes the gaming day. Each report audits the ledgers, archived and live, while it reads"
    " them, so its amounts are those of `pitlink audit`. If the audit finds a problem, the report"
    " begins with the problem and has no signature lines, and the exit status is 1."
    "\n\nAmounts of meters are in dollars. A column with fractions of a cent has six decimals. A"
    " CSV is for a spreadsheet: times are local and in UTC. In JSON an"
    " amount is `amount_cents`, plus `fraction_micros` in ten-thousandths of a cent.",
)


@report.command()
def day(
    config: ConfigOption,
    day: Annotated[
        str | None,
        typer.Argument(
            metavar="[DAY]",
            help="A gaming day, such as 2026-11-20.",
            show_default="the last closed one",
        ),
    ] = None,
    *,
    link: _Link = None,
    meter: _Meter = None,
    csv: _Csv = None,
    pdf: _Pdf = None,
    paper: _Size = "letter",
    as_json: _Json = False,
) -> None:
    """Report one gaming day: each meter's opening balance, movements and closing balance.

    The report has contributions by table, wins, adjustments, approvals and changes, and the times
    when a link was inoperable. If the meter reading at the close of the day differs from the
    ledger, the report lists each difference (variance). A day that is still open is reported up to
    now.

    Example: **pitlink report day 2026-11-20 --pdf 2026-11-20.pdf --config floor.toml**
    """
    _Asked(config, link, meter, csv, pdf, paper, as_json).report(
        lambda: one_day(parse_day(day, "DAY") if day else None), REPORTS["day"]
    )


@report.command()
def month(
    config: ConfigOption,
    month: Annotated[
        str | None,
        typer.Argument(
            metavar="[MONTH]",
            help="A month, such as 2026-11.",
            show_default="that of the last closed day",
        ),
    ] = None,
    *,
    link: _Link = None,
    meter: _Meter = None,
    csv: _Csv = None,
    pdf: _Pdf = None,
    paper: _Size = "letter",
    as_json: _Json = False,
) -> None:
    """Report the gaming days of a month: one row for each day, and the sums of the month.

    Example: **pitlink report month 2026-11 --csv november.csv --config floor.toml**
    """
    _Asked(config, link, meter, csv, pdf, paper, as_json).report(
        lambda: one_month(parse_month(month) if month else None), REPORTS["month"]
    )


@report.command()
def jackpots(
    config: ConfigOption,
    *,
    first: _From = None,
    last: _To = None,
    link: _Link = None,
    meter: _Meter = None,
    csv: _Csv = None,
    pdf: _Pdf = None,
    paper: _Size = "letter",
    as_json: _Json = False,
) -> None:
    """Report the hands that won, with the current state of their wins and Envy Bonuses.

    The report leaves out wins that the table pays without a floorperson. For each win, it has date,
    time, table, asset number, position, hand and amount, and the win's place in the order of wins.
    It also names the users who validated, rejected or paid the win, and the number of the payout
    slip. A win belongs to the gaming day on which it was won, even if it was decided later.

    Example: **pitlink report jackpots --from 2026-11-01 --to 2026-11-30 --config floor.toml**
    """
    _Asked(config, link, meter, csv, pdf, paper, as_json).report(
        lambda: _between(first, last), REPORTS["jackpots"]
    )


@report.command()
def table(
    config: ConfigOption,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]",
            help="Report only this table, by its id, with a row for each day.",
            show_default="all",
        ),
    ] = None,
    *,
    first: _From = None,
    last: _To = None,
    link: _Link = None,
    meter: _Meter = None,
    csv: _Csv = None,
    pdf: _Pdf = None,
    paper: _Size = "letter",
    as_json: _Json = False,
) -> None:
    """Report each table's contributions to each meter, its rounds, wins and void rounds.

    Example: **pitlink report table TCP-01 --from 2026-11-01 --config floor.toml**
    """
    _Asked(config, link, meter, csv, pdf, paper, as_json).report(
        lambda: _between(first, last), table_report(table), table=table
    )


def _between(first: str | None, last: str | None) -> Choose:
    return from_to(
        parse_day(first, "--from") if first else None, parse_day(last, "--to") if last else None
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """Options of a report. Without `csv`, `pdf` and `as_json`, the report is printed as text.

    `csv` is a path, or `-` for standard output.
    """

    config: Path
    link: str | None
    meter: str | None
    csv: Path | None
    pdf: Path | None
    paper: Format
    as_json: bool

    def report(
        self, choose: Callable[[], Choose], report: AccountingReport, *, table: str | None = None
    ) -> None:
        floor = read_own_floor(self.config)
        links = links_of(floor, self.link)
        meters = meters_of(links, self.meter)
        found = having_table(asyncio.run(_scan(floor, links, choose())), table)
        document = report.document_of(floor, found, meters)
        if self.csv:
            _write_csv(self.csv, report.csv(floor, found, meters))
        if self.pdf:
            _write(self.pdf, report_pdf(document, self.paper))
        if self.as_json:
            print_json(_json(document, report.rows_of(found.links, meters)))
        as_text = not (self.csv or self.pdf or self.as_json)
        if as_text:
            _print_document(document)
        if not as_text or self.paper != "letter":
            for problem in document.problems:
                print_error(f"pitlink: {problem}")
        if document.problems:
            raise typer.Exit(1)


async def _scan(floor: Floor, links: Sequence[Link], choose: Choose) -> LedgerScan:
    try:
        with progress_bar() as progress:
            bars = {link.id: begin_bar(progress, link.id) for link in links}
            async with open_used_store(floor, only_reads=True) as redis:
                stores = [LinkStore(redis, link) for link in links]
                return await scan_ledgers(
                    floor, stores, choose, now(), lambda link, *read: bars[link](*read)
                )
    except RedisConnectionError as error:
        raise UserError(f"Redis cannot be reached: {error}{REDIS_TO_START}") from None
    except (RedisError, OSError, ValueError) as error:
        raise UserError(f"the data in Redis cannot be read: {error}") from None


_WIDE: Final = 180
"""Width of lists if the output is not a terminal: then no number is split over two lines."""


def _print_document(document: ReportDocument) -> None:
    console = PlainConsole(width=_WIDE)
    mark = f" — {document.unsigned}" if document.unsigned else ""
    console.print_line(f"{document.facility}: {document.title.lower()}{mark}", style="bold")
    for problem in document.problems:
        console.print_line(f"  {problem}", style="bold red")
    _print_facts(console, document.facts)
    for section in document.summary:
        _print_section(console, section)
    for part in document.parts:
        console.print()
        console.print_line(part.title, style="bold")
        _print_facts(console, part.facts)
        for section in part.sections:
            _print_section(console, section)


def _print_facts(console: PlainConsole, facts: Sequence[Fact]) -> None:
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        console.print_line(f"  {name:<{width}}  {value}")


def _print_section(console: PlainConsole, section: ReportSection) -> None:
    if section.title:
        console.print()
        console.print(f"  {section.title}", style="bold")
    if not section.rows and not section.note:
        console.print(f"    {NONE}")
    elif section.rows:
        table = Table(box=SIMPLE, pad_edge=True)
        for column in section.columns:
            table.add_column(
                column.title, justify="right" if column.right else "left", overflow="fold"
            )
        first_sum = len(section.rows) - section.sums
        for number, row in enumerate(section.rows):
            table.add_row(
                *(Text(escape_unprintable(cell)) for cell in row),
                style="bold" if number >= first_sum else "",
            )
        console.print(table)
    if section.note:
        console.print(f"    {section.note}")


def _write_csv(path: Path, text: str) -> None:
    """Print a CSV, or write it to a file with a byte order mark, which makes Excel read UTF-8."""
    if str(path) == _STDOUT:
        print_text(text.removesuffix("\n"))
    else:
        _write(path, text.encode("utf-8-sig"))


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
    print_error(f"{path} is written")


class ReportRows(msgspec.Struct, frozen=True, kw_only=True):
    """A report as the commands of `pitlink report` print it with `--json`.

    Attributes:
        report: the title of the report.
        facts: the facts at the top of the report, by name.
        links: for each link, the facts at the top of its part, by name.
        holds: true if there is no problem.
        problems: the problems and variances, in words.
        rows: the rows of the report: figures, or wins for `jackpots`.
    """

    report: str
    facility: str
    facts: Mapping[str, str]
    links: Mapping[str, Mapping[str, str]]
    holds: bool
    problems: Sequence[str]
    rows: Sequence[Figure]


def _json(document: ReportDocument, figures: Iterator[Figure]) -> bytes:
    return msgspec.json.encode(
        ReportRows(
            report=document.title,
            facility=document.facility,
            facts=dict(document.facts),
            links={part.link: dict(part.facts) for part in document.parts},
            holds=not document.problems,
            problems=document.problems,
            rows=list(figures),
        )
    )
