"""A report on paper, for an accountant to sign."""

from collections.abc import Sequence
from typing import Final

from meters.reports.document import (
    NONE,
    Column,
    Fact,
    ReportDocument,
    ReportPart,
    ReportSection,
    Row,
)
from meters.reports.pdf_pages import Format, PdfPages
from meters.web.slips.sheet import HUSH, INK, width_of, wrapped

_CELL: Final = 7.4
_GAP: Final = 5.0
_LABEL: Final = 96.0
_SIGNERS: Final = ("Prepared by", "Reviewed by")
_SIGNING: Final = 74.0
_UNSIGNED: Final = {
    "SO FAR": "The gaming day is not closed: this is how it stands so far. It is not to be signed.",
    "DOES NOT TIE": "Something does not hold, as is said above. This is not to be signed.",
}


def report_pdf(document: ReportDocument, size: Format = "letter") -> bytes:
    """A report as a PDF of as many pages as it needs; equal reports are equal files.

    Every page tells the facility, the report and its number of how many; the last has the lines to
    sign on, or says why there are none.
    """
    counted = _Writer(document, size, 0)
    counted.write()
    writer = _Writer(document, size, counted.pages.page)
    writer.write()
    return writer.pages.finished()


class _Writer:
    """Writes a report on pages."""

    def __init__(self, document: ReportDocument, size: Format, pages: int) -> None:
        self._document = document
        days = next((told for name, told in document.facts if name.startswith("Gaming day")), "")
        title = f"{document.title} · {days}"
        self.pages = PdfPages(
            size, title, document.facility, document.unsigned, pages, wide=document.wide
        )

    def write(self) -> None:
        """Write all of it."""
        pages, document = self.pages, self._document
        pages.line(document.facility, 16, bold=True)
        pages.line(document.title, 11, gray=HUSH)
        pages.down(4)
        self._facts(document.facts)
        for part in document.parts:
            self._part(part)
        self._sign()

    def _facts(self, facts: Sequence[Fact]) -> None:
        pages = self.pages
        for name, told in facts:
            lines = wrapped(told, 8, pages.inner - _LABEL)
            pages.need(pages.height(len(lines), 8))
            pages.cell([name], 0, _LABEL, 8, gray=HUSH)
            pages.cell(lines, _LABEL, pages.inner - _LABEL, 8)
            pages.down(pages.height(len(lines), 8))

    def _part(self, part: ReportPart) -> None:
        pages = self.pages
        pages.need(150)
        pages.down(10)
        pages.rule(INK)
        pages.down(3)
        pages.line(part.title, 12, bold=True)
        pages.down(2)
        for told in (*part.problems, *part.variances):
            pages.line(told, 8.5, bold=True)
        self._facts(part.facts)
        for section in part.sections:
            self._section(section)

    def _section(self, section: ReportSection) -> None:
        """A list; its title and first rows stay together."""
        pages = self.pages
        pages.need(64)
        if section.title:
            pages.down(9)
            pages.line(section.title, 9.5, bold=True)
        pages.down(2)
        if section.rows:
            self._rows(section)
        elif not section.note:
            pages.line(NONE, 8, gray=HUSH)
        if section.note:
            pages.down(2)
            pages.line(section.note, 7.4, gray=HUSH)

    def _rows(self, section: ReportSection) -> None:
        places = _places(section.columns, self.pages.inner)
        self._titles(section.columns, places)
        first_sum = len(section.rows) - section.sums
        for number, row in enumerate(section.rows):
            if number == first_sum:
                self._rule()
            if not self.pages.has_room(_height(section.columns, places, row)):
                self.pages.turn()
                self._titles(section.columns, places)
            self._row(section.columns, places, row, bold=number >= first_sum)

    def _titles(
        self, columns: Sequence[Column], places: Sequence[tuple[float, float]]
    ) -> None:  # fmt: skip
        titles = tuple(column.title for column in columns)
        self._row(columns, places, titles, gray=HUSH)
        self._rule()

    def _rule(self) -> None:
        """A rule that stands clear of the letters above it."""
        self.pages.down(1)
        self.pages.rule()
        self.pages.down(0.5)

    def _row(
        self, columns: Sequence[Column], places: Sequence[tuple[float, float]], row: Row, *,
        bold: bool = False, gray: float = INK,
    ) -> None:  # fmt: skip
        pages = self.pages
        for column, (x, width), words in zip(columns, places, row, strict=True):
            lines, size = _fitted(column, words, width, bold=bold)
            pages.cell(lines, x, width, size, bold=bold, right=column.right, gray=gray)
        pages.down(_height(columns, places, row, bold=bold))

    def _sign(self) -> None:
        pages = self.pages
        if self._document.unsigned:
            pages.down(12)
            pages.line(_UNSIGNED[self._document.unsigned], 9, bold=True)
            return
        pages.need(_SIGNING)
        pages.down(16)
        words = "The figures above are those of the ledger up to the entry named."
        if any(part.variances for part in self._document.parts):
            words = f"{words} The variances are explained beside this report."
        pages.line(words, 8.5)
        pages.down(36)
        width = (pages.inner - 24) / len(_SIGNERS)
        for number, who in enumerate(_SIGNERS):
            words = f"{who}: name, signature, date"
            pages.signature(words, number * (width + 24), width)
        pages.down(12)


def _places(columns: Sequence[Column], inner: float) -> list[tuple[float, float]]:
    """Where each column begins, and how wide it is, in points."""
    weights = sum(column.weight for column in columns)
    room = inner - _GAP * (len(columns) - 1)
    places, x = [], 0.0
    for column in columns:
        width = room * column.weight / weights
        places.append((x, width))
        x += width + _GAP
    return places


def _fitted(
    column: Column, words: str, width: float, *, bold: bool
) -> tuple[list[str], float]:  # fmt: skip
    """A cell's lines and the size of their letters: figures are made smaller, and never broken."""
    if column.right and words != column.title:
        needed = width_of(words, _CELL, bold=bold)
        return [words], _CELL if needed <= width else _CELL * width / needed
    return wrapped(words, _CELL, width, bold=bold), _CELL


def _height(
    columns: Sequence[Column], places: Sequence[tuple[float, float]], row: Row, *,
    bold: bool = False,
) -> float:  # fmt: skip
    lines = max(
        len(_fitted(column, words, width, bold=bold)[0])
        for column, (_, width), words in zip(columns, places, row, strict=True)
    )
    return PdfPages.height(lines, _CELL) + 1.5
