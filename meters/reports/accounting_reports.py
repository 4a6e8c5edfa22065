"""The reports of accounting by name. Each is a document for people, and rows for programs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from meters.floor.floor_file import Floor
from meters.process.csv_text import csv_text
from meters.reports.accounting_documents import (
    day_document,
    jackpots_document,
    month_document,
    tables_document,
)
from meters.reports.accounting_rows import (
    FIGURE_SHEET,
    WIN_SHEET,
    Figure,
    day_figures,
    figure_row,
    table_figures,
    win_figures,
    win_row,
)
from meters.reports.ledger_scan import LedgerScan, LinkScan
from meters.reports.report_document import ReportDocument


@dataclass(frozen=True, slots=True)
class AccountingReport:
    """The rows are wins if `of_wins`, and figures otherwise. `meters` is None for all meters."""

    document_of: Callable[[Floor, LedgerScan, Sequence[str] | None], ReportDocument]
    rows_of: Callable[[Sequence[LinkScan], Sequence[str] | None], Iterator[Figure]]
    of_wins: bool = False

    def csv(self, floor: Floor, found: LedgerScan, meters: Sequence[str] | None) -> str:
        zone = ZoneInfo(floor.facility.timezone)
        columns, to_sheet = (WIN_SHEET, win_row) if self.of_wins else (FIGURE_SHEET, figure_row)
        return csv_text(columns, (to_sheet(row, zone) for row in self.rows_of(found.links, meters)))


def table_report(table: str | None) -> AccountingReport:
    """Return the report of a table day by day, or the report of all tables if `table` is None."""
    return AccountingReport(
        lambda floor, found, meters: tables_document(floor, found, meters, table),
        lambda links, meters: table_figures(links, meters, table),
    )


REPORTS: Final[Mapping[str, AccountingReport]] = {
    "day": AccountingReport(day_document, day_figures),
    "month": AccountingReport(month_document, day_figures),
    "jackpots": AccountingReport(jackpots_document, win_figures, of_wins=True),
    "table": table_report(None),
}
