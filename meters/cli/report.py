"""The commands of `pitlink report`: a gaming day, a month, the wins, the tables."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from meters.floor.config_option import ConfigOption
from meters.floor.floor_file import Floor, read_floor
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
from meters.reports.rows import (
    FIGURE_COLUMNS,
    WIN_COLUMNS,
    Figure,
    day_figures,
    table_figures,
    win_figures,
)

_Link = Annotated[str | None, typer.Option("--link", metavar="LINK", help="This link alone.")]
_Meter = Annotated[str | None, typer.Option("--meter", metavar="METER", help="This meter alone.")]
_From = Annotated[
    str | None,
    typer.Option("--from", metavar="DAY", help="The first gaming day; the ledger's unless given."),
]
_To = Annotated[
    str | None,
    typer.Option("--to", metavar="DAY", help="The last gaming day; the open one unless given."),
]
_Csv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write rows for other programs; - to print them."),
]
_Pdf = Annotated[
    Path | None, typer.Option("--pdf", metavar="FILE", help="Write pages that are signed.")
]
_Size = Annotated[Format, typer.Option("--paper", help="The PDF's paper.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object with the same rows.")]

report: Final = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="What accounting reads: a gaming day, a month, the wins, the tables.\n\nA gaming day"
    " begins at the floor file's `day_starts`, in the facility's time zone, and is closed by a"
    " reading of the meters. Each report audits the ledgers as it goes, archive and live, so that"
    " its figures are those of `pitlink audit`. Where anything does not hold it says so first, has"
    " no lines to sign on, and ends with status 1."
    "\n\nAmounts are in dollars to the ten-thousandth of a cent where a meter holds them. In a CSV"
    " an amount is `amount_cents` and `fraction_micros`, the ten-thousandths of a cent beyond.",
)


@report.command()
def day(
    config: ConfigOption,
    day: Annotated[
        str | None,
        typer.Argument(
            metavar="[DAY]", help="A gaming day, as 2026-11-20.", show_default="the last closed one"
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
    """One gaming day: what each meter held, what moved it, and what it holds.

    With contributions by table, wins, adjustments, what was approved or changed, when a link was
    inoperable, and any variance between the meters as they were read at the close and the ledger.
    The day that is open can be told so far.
    """
    _ReportKind(day_document, FIGURE_COLUMNS, day_figures).give(
        _Scope(config, link, meter, lambda: one_day(parse_day(day, "DAY") if day else None)),
        OutputOptions(csv, pdf, paper, as_json),
    )


@report.command()
def month(
    config: ConfigOption,
    month: Annotated[
        str | None,
        typer.Argument(
            metavar="[MONTH]", help="As 2026-11.", show_default="that of the last closed day"
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
    """The gaming days of a month, a row each, and what they sum to."""
    _ReportKind(month_document, FIGURE_COLUMNS, day_figures).give(
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
    """Every win that a floorperson validates, as it stands now.

    With date, time, table, asset number, position, hand, amount and order, who validated or
    rejected it, who paid it, and the payout slip's number. Days are those in which it was won.
    """
    _ReportKind(jackpots_document, WIN_COLUMNS, win_figures).give(
        _Scope(config, link, meter, lambda: _between(first, last)),
        OutputOptions(csv, pdf, paper, as_json),
    )


@report.command()
def table(
    config: ConfigOption,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]", help="A table's id: it is told day by day.", show_default="all"
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
    """What each table contributed to each meter, its rounds, wins and voided rounds."""
    _ReportKind(
        lambda floor, found, meters: tables_document(floor, found, meters, table),
        FIGURE_COLUMNS,
        lambda links, meters: table_figures(links, meters, table),
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
    """Links, meters and gaming days that a report is about, as they were typed."""

    config: Path
    link: str | None
    meter: str | None
    choose: Callable[[], Choose]
    table: str | None = None


@dataclass(frozen=True, slots=True)
class _ReportKind:
    """A kind of report: how its document is made, and its rows for other programs."""

    document: Callable[[Floor, LedgerScan, Sequence[str] | None], ReportDocument]
    columns: Sequence[str]
    rows: Callable[[Sequence[LinkScan], Sequence[str] | None], Iterator[Figure]]

    def give(self, scope: _Scope, options: OutputOptions) -> None:
        """Read the ledgers and give the report as it is asked for."""
        floor = read_floor(scope.config)
        links = links_of(floor, scope.link)
        meters = meters_of(links, scope.meter)
        found = having_table(scan_with_progress(floor, links, scope.choose()), scope.table)
        document = self.document(floor, found, meters)
        give(Report(document, self.columns, lambda: self.rows(found.links, meters)), options)
