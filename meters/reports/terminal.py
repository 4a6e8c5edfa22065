from collections.abc import Sequence
from typing import Final

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from bonus.printable import escape_unprintable
from meters.process.console import PlainConsole
from meters.reports.document import NONE, Fact, ReportDocument, ReportSection

_WIDE: Final = 180
"""Width of lists if the output is not a terminal: no number is split over two lines."""


def print_document(document: ReportDocument) -> None:
    console = PlainConsole(width=_WIDE)
    mark = f" — {document.unsigned}" if document.unsigned else ""
    console.print_line(f"{document.facility}: {document.title.lower()}{mark}", style="bold")
    for problem in document.problems:
        console.print_line(f"  {problem}", style="bold red")
    _print_facts(console, document.facts)
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
                column.title,
                justify="right" if column.right else "left",
                overflow="fold",
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
