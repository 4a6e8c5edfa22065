"""The contents of a report in any form, and its PDF, which an accountant signs."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final, Literal

from reportlab.platypus import CondPageBreak, KeepTogether, PageBreak, Spacer  # type: ignore[import-untyped]

from meters.process import pdf_pages as pdf
from meters.process.pdf_pages import HUSH, PageLayout, paragraph

Fact = tuple[str, str]
Row = tuple[str, ...]

NONE: Final = "none"
_NOTHING: Final = frozenset({"", NONE, "0%", "0.00%"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a list.

    Attributes:
        title: the heading.
        weight: the width, relative to the other columns.
        right: true if the column is aligned to the right, as numbers are.
    """

    title: str
    weight: float
    right: bool


def columns(header: str) -> tuple[Column, ...]:
    """Return the columns of a header. Each column has a title and a weight.

    The title of a column of numbers begins with ``>``.

    >>> columns("Meter 2 | >Seed 1.4")[1]
    Column(title='Seed', weight=1.4, right=True)
    """
    parts = (part.strip().rpartition(" ") for part in header.split("|"))
    return tuple(
        Column(title.removeprefix(">"), float(weight), title.startswith(">"))
        for title, _, weight in parts
    )


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A list of a report.

    Attributes:
        title: the heading.
        columns: the heads and widths of the columns, from the left.
        rows: the cells of each row, as they are printed.
        sums: how many of the last rows are sums, which are highlighted.
        note: what is printed below the list.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    sums: int = 0
    note: str = ""

    @property
    def only_used(self) -> "ReportSection":
        """The list without columns whose cells are all empty, none or 0%."""
        kept = [
            at
            for at in range(len(self.columns))
            if not self.rows or any(row[at] not in _NOTHING for row in self.rows)
        ]
        return replace(
            self,
            columns=[self.columns[at] for at in kept],
            rows=[tuple(row[at] for at in kept) for row in self.rows],
        )


_SIX_PLACES: Final = re.compile(r"-?\$[\d,]+\.\d{6}")
_NO_FRACTION: Final = "0000"


def in_cents(section: ReportSection) -> ReportSection:
    """Return a list in which a column without fractions of a cent shows whole cents.

    >>> in_cents(ReportSection("", columns(">In 1 | >Out 1"), [("$1.500000", "$0.000001")])).rows
    [('$1.50', '$0.000001')]
    """
    rows = [list(row) for row in section.rows]
    for at in range(len(section.columns)):
        cells = [row[at] for row in rows if _SIX_PLACES.fullmatch(row[at])]
        if all(cell.endswith(_NO_FRACTION) for cell in cells):
            for row in rows:
                if _SIX_PLACES.fullmatch(row[at]):
                    row[at] = row[at].removesuffix(_NO_FRACTION)
    return replace(section, rows=[tuple(row) for row in rows])


@dataclass(frozen=True, slots=True)
class ReportPart:
    """One link's part of a report.

    Attributes:
        title: the heading.
        facts: names and texts of facts.
        sections: the lists of the part.
        problems: what makes the figures of this part wrong; printed first.
        variances: differences between the meters and the ledger. The person who signs the report
            must explain each.
    """

    link: str
    title: str
    facts: Sequence[Fact]
    sections: Sequence[ReportSection]
    problems: Sequence[str] = ()
    variances: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """A whole report.

    Attributes:
        title: the heading.
        facility: the name of the facility.
        facts: names and texts of facts, at the top.
        parts: a part for each link.
        unsigned: why nobody can sign the report; empty if it can be signed.
        wide: true for pages in landscape format.
        summary: lists that are printed first, on a page of their own.
    """

    title: str
    facility: str
    facts: Sequence[Fact]
    parts: Sequence[ReportPart]
    unsigned: str = ""
    wide: bool = False
    summary: Sequence[ReportSection] = ()

    @property
    def problems(self) -> list[str]:
        return [
            f"{part.link}: {fault}"
            for part in self.parts
            for fault in (*part.problems, *part.variances)
        ]

    @property
    def closing(self) -> str:
        """The text below all lists: what people sign, or why nobody can sign."""
        if self.unsigned:
            return _UNSIGNED[self.unsigned]
        words = "The figures above are those of the ledger up to the last entry that is named."
        if any(part.variances for part in self.parts):
            words = f"{words} The variances are explained in a separate document."
        return words


Format = Literal["letter", "a4"]

_POINTS: Final = {"letter": (612.0, 792.0), "a4": (595.28, 841.89)}
_MARGIN: Final = 42.0
_FOOT: Final = 24.0
_CELL: Final = 7.4
_CELL_MAX: Final = 400
"""How many characters a cell can have: even in a narrow column, this many fit on one page."""
_FACT_MAX: Final = 2_000
"""How many characters one row of facts can have. A longer fact has several rows."""
_GAP: Final = 5.0
_LABEL: Final = 96.0
SIGNERS: Final = ("Prepared by: name, signature, date", "Reviewed by: name, signature, date")
_UNSIGNED: Final = {
    "SO FAR": "The gaming day is not closed. These are the figures so far: do not sign them.",
    "DOES NOT TIE": "This report has problems, which are listed above. Do not sign it.",
}


def report_pdf(document: ReportDocument, size: Format = "letter") -> bytes:
    """Make a PDF of a report. Two equal reports make two identical files.

    The last page has lines for signatures, or says why nobody can sign the report.
    """
    days = next((value for name, value in document.facts if name.startswith("Gaming day")), "")
    title = f"{document.title} · {days}"
    layout = page_layout(document.facility, title, size, wide=document.wide, mark=document.unsigned)
    contents = [
        *head_elements(document, layout.inner),
        *_summary(document, layout.inner),
        *(element for part in document.parts for element in part_elements(part, layout.inner)),
        _signing(document, layout.inner),
    ]
    return pdf.pdf_file(layout, contents)


def page_layout(
    facility: str, title: str, size: Format, *, wide: bool = False, mark: str = ""
) -> PageLayout:
    """Return the layout of numbered pages. Their footer has the facility and the title.

    `title` distinguishes the document from others. `wide` pages are in landscape format. `mark` is
    large pale text across each page.
    """
    short, long = _POINTS[size]
    width, height = (long, short) if wide else (short, long)
    return PageLayout(
        title=f"{facility}: {title}",
        author=facility,
        width=width,
        height=height,
        margin=_MARGIN,
        foot=f"{facility} · {title}",
        foot_y=_FOOT,
        frames=[(_MARGIN, _MARGIN + _FOOT, width - 2 * _MARGIN, height - 2 * _MARGIN - _FOOT)],
        mark=mark,
        numbered=True,
    )


def head_elements(document: ReportDocument, inner: float) -> Iterator[object]:
    yield paragraph(document.facility, 16, bold=True)
    yield paragraph(document.title, 11, gray=HUSH)
    yield Spacer(0, 4)
    yield _facts(document.facts, inner)


def _summary(document: ReportDocument, inner: float) -> Iterator[object]:
    for section in document.summary:
        yield from _section(section, inner)
    if document.summary:
        yield PageBreak()


def _facts(facts: Sequence[Fact], inner: float) -> object:
    rows = [
        (paragraph(name if at == 0 else "", 8, gray=HUSH), paragraph(part, 8))
        for name, value in facts
        for at, part in enumerate(textwrap.wrap(value, _FACT_MAX) or [""])
    ]
    return pdf.table(rows, (_LABEL, inner - _LABEL))


def part_heading(title: str) -> Iterator[object]:
    yield CondPageBreak(150)
    yield pdf.rule(pdf.INK, before=10, after=0)
    yield paragraph(title, 12, bold=True, before=3)


def part_elements(part: ReportPart, inner: float) -> Iterator[object]:
    yield from part_heading(part.title)
    yield Spacer(0, 2)
    for fault in (*part.problems, *part.variances):
        yield paragraph(fault, 8.5, bold=True)
    if part.facts:
        yield _facts(part.facts, inner)
    for section in part.sections:
        yield from _section(section, inner)


def _section(section: ReportSection, inner: float) -> Iterator[object]:
    yield CondPageBreak(90)
    if section.title:
        yield paragraph(section.title, 9.5, bold=True, before=9)
    yield Spacer(0, 2)
    if section.rows:
        yield _rows(section, inner)
    elif not section.note:
        yield paragraph(NONE, 8, gray=HUSH)
    if section.note:
        yield paragraph(section.note, _CELL, gray=HUSH, before=2)


def _rows(section: ReportSection, inner: float) -> object:
    columns = section.columns
    room = inner - _GAP * (len(columns) - 1)
    weights = sum(column.weight for column in columns)
    widths = [room * column.weight / weights for column in columns]
    titles = [
        paragraph(each.title, _CELL, gray=HUSH, align="right" if each.right else "left")
        for each in columns
    ]
    first_sum = len(section.rows) - section.sums
    listed = [part for row in section.rows[:first_sum] for part in _parts(row)]
    cells = [_cells(columns, widths, row) for row in listed]
    cells += [_cells(columns, widths, row, bold=True) for row in section.rows[first_sum:]]
    ruled = (0, len(listed)) if section.sums else (0,)
    faint = (pdf.FAINT, pdf.FAINT, pdf.FAINT)
    return pdf.table(
        [titles, *cells],
        [*(width + _GAP for width in widths[:-1]), widths[-1]],
        gap=_GAP,
        clear=1,
        titles=1,
        rules=[("LINEBELOW", (0, row), (-1, row), 0.6, faint) for row in ruled],
    )


def _parts(row: Row) -> Iterator[Row]:
    return zip_longest(*(textwrap.wrap(words, _CELL_MAX) or [""] for words in row), fillvalue="")


def _cells(
    columns: Sequence[Column], widths: Sequence[float], row: Row, *, bold: bool = False
) -> list[object]:
    return [
        pdf.fitted(words, _CELL, width, bold=bold)
        if column.right
        else paragraph(words, _CELL, bold=bold)
        for column, width, words in zip(columns, widths, row, strict=True)
    ]


def _signing(document: ReportDocument, inner: float) -> object:
    if document.unsigned:
        return paragraph(document.closing, 9, bold=True, before=12)
    return signing(SIGNERS, inner, paragraph(document.closing, 8.5, before=16), Spacer(0, 36))


def signing(signers: Sequence[str], inner: float, *above: object) -> object:
    """Return lines for signatures. They stay on one page with the elements `above`."""
    return KeepTogether([*above, pdf.signature_lines(signers, inner, gap=24, apart=48)])
