"""The commands of `pitlink report`: of a gaming day, a month, the wins, and the tables."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final
from zoneinfo import ZoneInfo

import typer

from meters.floor.floor_file import ConfigOption, Floor, read_own_floor
from meters.reports.document import ReportDocument
from meters.reports.documents import (
    day_document,
    jackpots_document,
    month_document,
    tables_document,
)
from meters.reports.ledger_scan import Choose, LedgerScan, LinkScan
from meters.reports.output import OutputOptions, Report, give, scan_with_progress
from meters.reports.pdf import Format
from meters.reports.query import (
    from_to,
    having_table,
    links_of,
    meters_of,
    one_day,
    one_month,
    parse_day,
    parse_month,
)
from meters.reports.rows import Figure, day_figures, table_figures, win_figures
from meters.reports.spreadsheet import (
    FIGURE_SHEET,
    WIN_SHEET,
    SheetRow,
    ToSheet,
    figure_row,
    win_row,
)

_Link = Annotated[str | None, typer.Option("--link", metavar="LINK", help="Only this link.")]
_Meter = Annotated[str | None, typer.Option("--meter", metavar="METER", help="Only this meter.")]
_From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="DAY", help="The first gaming day; by default that of the ledger."
    ),
]
_To = Annotated[
    str | None,
    typer.Option("--to", metavar="DAY", help="The last gaming day; by default the open one."),
]
_Csv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write a spreadsheet; - prints it."),
]
_Pdf = Annotated[
    Path | None, typer.Option("--pdf", metavar="FILE", help="Write pages with signature lines.")
]
_Size = Annotated[Format, typer.Option("--paper", help="The PDF's paper.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object with the same rows.")]

report: Final = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Reports for accounting: a gaming day, a month, the wins, the tables.\n\nA gaming day"
    " begins at the floor file's `day_starts`, in the facility's time zone. A reading of the meters"
    " closes it. Each report audits the ledgers, archived and live, while it reads them, so its"
    " amounts are those of `pitlink audit`. If the audit finds a problem, the report begins with"
    " it, has no signature lines, and the exit status is 1."
    "\n\nAmounts of meters are in dollars, to the ten-thousandth of a cent. A CSV is for a"
    " spreadsheet: amounts are in dollars, and times are local and in UTC. In JSON an amount is"
    " `amount_cents`, plus `fraction_micros` in ten-thousandths of a cent.",
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
    """Report one gaming day: each meter's opening balance, its movements and its closing balance.

    The report has contributions by table, wins, adjustments, approvals and changes. It also has the
    times when a link was inoperable. At the close of the day, the service reads the meters. If this
    reading differs from the ledger, the report lists each difference (variance). A day that is
    still open is reported up to now.
    """
    _ReportKind(day_document, day_figures, FIGURE_SHEET, figure_row).give(
        _Scope(config, link, meter, lambda: one_day(parse_day(day, "DAY") if day else None)),
        OutputOptions(csv, pdf, paper, as_json),
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
    """Report the gaming days of a month: one row for each day, and the sums of the month."""
    _ReportKind(month_document, day_figures, FIGURE_SHEET, figure_row).give(
        _Scope(config, link, meter, lambda: one_month(parse_month(month) if month else None)),
        OutputOptions(csv, pdf, paper, as_json),
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
    """Report every hand that won, with the current state of its wins and Envy Bonuses.

    Wins that the table pays without a floorperson are not included. For each win, the report has
    date, time, table, asset number, position, hand and amount, and a number that shows the order of
    the wins. It also names the users who validated, rejected or paid the win, and the number of the
    payout slip. A win belongs to the gaming day on which it was won, even if it was decided later.
    """
    _ReportKind(jackpots_document, win_figures, WIN_SHEET, win_row).give(
        _Scope(config, link, meter, lambda: _between(first, last)),
        OutputOptions(csv, pdf, paper, as_json),
    )


@report.command()
def table(
    config: ConfigOption,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]", help="A table's id, to report it day by day.", show_default="all"
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
    """Report each table's contributions to each meter, its rounds, wins and void rounds."""
    _ReportKind(
        lambda floor, found, meters: tables_document(floor, found, meters, table),
        lambda links, meters: table_figures(links, meters, table),
        FIGURE_SHEET,
        figure_row,
    ).give(
        _Scope(config, link, meter, lambda: _between(first, last), table),
        OutputOptions(csv, pdf, paper, as_json),
    )


def _between(first: str | None, last: str | None) -> Choose:
    return from_to(
        parse_day(first, "--from") if first else None, parse_day(last, "--to") if last else None
    )


@dataclass(frozen=True, slots=True)
class _Scope:
    config: Path
    link: str | None
    meter: str | None
    choose: Callable[[], Choose]
    table: str | None = None


@dataclass(frozen=True, slots=True)
class _ReportKind:
    """A kind of report.

    `document` makes the report for people, `rows` its rows for other programs, and `to_sheet` turns
    one of these into a row of the spreadsheet.
    """

    document: Callable[[Floor, LedgerScan, Sequence[str] | None], ReportDocument]
    rows: Callable[[Sequence[LinkScan], Sequence[str] | None], Iterator[Figure]]
    columns: Sequence[str]
    to_sheet: ToSheet

    def give(self, scope: _Scope, options: OutputOptions) -> None:
        floor = read_own_floor(scope.config)
        links = links_of(floor, scope.link)
        meters = meters_of(links, scope.meter)
        found = having_table(scan_with_progress(floor, links, scope.choose()), scope.table)
        document = self.document(floor, found, meters)
        zone = ZoneInfo(floor.facility.timezone)

        def figures() -> Iterator[Figure]:
            return self.rows(found.links, meters)

        def sheet() -> Iterator[SheetRow]:
            return (self.to_sheet(figure, zone) for figure in figures())

        give(Report(document, figures, self.columns, sheet), options)
