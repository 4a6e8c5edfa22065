"""The output of a report: to the terminal, to a CSV or PDF file, or as one JSON object."""

import asyncio
import csv
import io
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import typer

from bonus.errors import UserError
from bonus.printable import escape_unprintable
from meters.floor.floor_file import Floor, Link
from meters.process.console import progress_bar
from meters.process.printing import print_error, print_json, print_text
from meters.reports.document import ReportDocument
from meters.reports.ledger_scan import Choose, LedgerScan, scan_ledgers
from meters.reports.pdf import Format, report_pdf
from meters.reports.rows import Figure
from meters.reports.spreadsheet import SheetCell, SheetRow
from meters.reports.terminal import print_document
from meters.wire.clock import now

_STDOUT: Final = "-"
_FORMULAS: Final = frozenset("=+-@\N{MINUS SIGN}")
"""Characters with which a spreadsheet formula begins.

Unicode has a wide form of some of them, which is converted before the comparison.
"""


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The requested forms of a report; if there is none, it is printed as text.

    `csv` is a path, or `-` for standard output.
    """

    csv: Path | None = None
    pdf: Path | None = None
    size: Format = "letter"
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A report as a document for people, rows for programs, and a spreadsheet."""

    document: ReportDocument
    figures: Callable[[], Iterator[Figure]]
    columns: Sequence[str]
    sheet: Callable[[], Iterator[SheetRow]]


def scan_with_progress(floor: Floor, links: Sequence[Link], choose: Choose) -> LedgerScan:
    """Read the ledgers for a report, with a progress bar in a terminal.

    Raises:
        UserError: Redis cannot be read, or no ledger has entries of the reported days.
    """
    with progress_bar() as progress:
        tasks = {link.id: progress.add_task(link.id, total=None) for link in links}

        def advance(link: str, done: int, of: int) -> None:
            progress.update(tasks[link], completed=done, total=of)

        return asyncio.run(scan_ledgers(floor, links, choose, now(), advance))


def give(report: Report, wanted: OutputOptions) -> None:
    """Print or write a report. If the report has a problem or a variance, exit with status 1.

    Raises:
        UserError: a file cannot be written.
        typer.Exit: the report has a problem or a variance. The problem is already printed.
    """
    if wanted.csv:
        _write_csv(wanted.csv, _csv(report.columns, report.sheet()))
    if wanted.pdf:
        _write(wanted.pdf, report_pdf(report.document, wanted.size))
    if wanted.as_json:
        print_json(_json(report))
    if not (wanted.csv or wanted.pdf or wanted.as_json):
        print_document(report.document)
    problems = report.document.problems
    if wanted != OutputOptions():
        for problem in problems:
            print_error(f"pitlink: {problem}")
    if problems:
        raise typer.Exit(1)


def _write_csv(path: Path, text: str) -> None:
    """Write a CSV to a file or print it. In a file, a byte order mark makes Excel read UTF-8."""
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


def _json(report: Report) -> bytes:
    document = report.document
    return msgspec.json.encode(
        {
            "report": document.title,
            "facility": document.facility,
            "facts": dict(document.facts),
            "links": {part.link: dict(part.facts) for part in document.parts},
            "holds": not document.problems,
            "problems": document.problems,
            "rows": list(report.figures()),
        }
    )


def _csv(columns: Sequence[str], rows: Iterator[SheetRow]) -> str:
    """Return rows as CSV, with a line of names, and all cells quoted."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows({name: _plain(cell) for name, cell in one.items()} for one in rows)
    return text.getvalue()


def _plain(cell: SheetCell) -> SheetCell:
    r"""Return a cell that no spreadsheet reads as a formula, which a person can type as a name.

    A number, even a negative one, is not changed, because no person typed it. In a text, control
    characters are escaped, and an apostrophe is put before a formula, also after blanks or a
    semicolon: in many countries, semicolons separate cells, and there, Excel respects only the
    quotes of the first cell.

    >>> _plain(-250), _plain(" =cmd"), _plain("x\r=cmd"), _plain("x; =cmd")
    (-250, "' =cmd", 'x\\r=cmd', "x;' =cmd")
    """
    if not isinstance(cell, str):
        return cell
    parts = escape_unprintable(cell).split(";")
    return ";".join(f"'{part}" if _begins_formula(part) else part for part in parts)


def _begins_formula(text: str) -> bool:
    """Check whether a spreadsheet could read the text as a formula.

    Leading spaces, invisible characters, combining marks and quotes are skipped, because a
    spreadsheet can drop them. The first other character decides, in its normal form, without the
    combining marks that follow it.
    """
    shown = (char for char in text if unicodedata.category(char)[0] not in "ZCM")
    first = next((char for char in shown if char != '"'), "")
    return unicodedata.normalize("NFKC", first)[:1] in _FORMULAS
