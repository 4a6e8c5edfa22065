"""Where a report goes: the terminal, a CSV, a PDF, or one JSON object."""

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
from meters.reports.document import ReportDocument
from meters.reports.ledger_scan import Choose, LedgerScan, scan_ledgers
from meters.reports.pdf import Format, report_pdf
from meters.reports.rows import Cell, Figure
from meters.reports.terminal import print_document
from meters.terminal.printing import print_error, print_json, print_text
from meters.terminal.progress import progress_bar
from meters.wire.clock import now

_STDOUT: Final = "-"
_FORMULAS: Final = frozenset("=+-@\N{MINUS SIGN}")
"""With these a spreadsheet begins a formula, in every width that Unicode has of them."""


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Where a report is to go; a table is printed where nothing else is asked for.

    `csv` may be `-` for standard output.
    """

    csv: Path | None = None
    pdf: Path | None = None
    size: Format = "letter"
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A report as it is read by people, and as rows for programs."""

    document: ReportDocument
    columns: Sequence[str]
    figures: Callable[[], Iterator[Figure]]


def scan_with_progress(floor: Floor, links: Sequence[Link], choose: Choose) -> LedgerScan:
    """Read the ledgers, with a bar of progress in a terminal.

    Raises:
        UserError: the store cannot be read, or there is nothing of those days.
    """
    with progress_bar() as progress:
        tasks = {link.id: progress.add_task(link.id, total=None) for link in links}

        def advance(link: str, done: int, of: int) -> None:
            progress.update(tasks[link], completed=done, total=of)

        return asyncio.run(scan_ledgers(floor, links, choose, now(), advance))


def give(report: Report, wanted: OutputOptions) -> None:
    """Print a report or write it, and end with status 1 where it does not tie.

    Raises:
        UserError: a file cannot be written.
        typer.Exit: something does not hold; it was said.
    """
    if wanted.csv:
        _write(wanted.csv, _csv(report.columns, report.figures()).encode())
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


def _write(path: Path, content: bytes) -> None:
    if str(path) == _STDOUT:
        print_text(content.decode().removesuffix("\n"))
        return
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


def _csv(columns: Sequence[str], figures: Iterator[Figure]) -> str:
    """Rows as CSV, with a line of the columns' names first, every cell quoted."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows({name: _plain(cell) for name, cell in one.items()} for one in figures)
    return text.getvalue()


def _plain(cell: Cell) -> Cell:
    r"""A cell that no spreadsheet takes for a formula: names and reasons are what people typed.

    A number is ours, and stays one below zero. A text has its control characters escaped, and an
    apostrophe where a formula would begin, also after blanks. So it has after each semicolon: where
    that separates cells, as in many countries, Excel heeds the quotes of the first cell alone, and
    drops a pair of them that begins another.

    >>> _plain(-250), _plain(" =cmd"), _plain("x\r=cmd"), _plain("x; =cmd"), _plain('x;"=cmd')
    (-250, "' =cmd", 'x\\r=cmd', "x;' =cmd", 'x;\'"=cmd')
    """
    if isinstance(cell, int):
        return cell
    parts = escape_unprintable(cell).split(";")
    return ";".join(f"'{part}" if _begins_formula(part) else part for part in parts)


def _begins_formula(text: str) -> bool:
    """Whether a spreadsheet may take the text for a formula.

    Leading spaces, marks and quotes are passed over: a spreadsheet may drop them. The character
    after them is normalized alone, without the marks that follow it.
    """
    shown = (char for char in text if unicodedata.category(char)[0] not in "ZCM")
    first = next((char for char in shown if char != '"'), "")
    return unicodedata.normalize("NFKC", first)[:1] in _FORMULAS
