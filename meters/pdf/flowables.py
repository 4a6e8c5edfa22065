"""Texts, tables and lines for PDF pages, made with the library ReportLab.

ReportLab has no type annotations, so its elements have the type `object` here.
"""

import functools
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal
from xml.sax.saxutils import escape

from reportlab.lib.enums import TA_CENTER, TA_LEFT, TA_RIGHT  # type: ignore[import-untyped]
from reportlab.lib.styles import ParagraphStyle  # type: ignore[import-untyped]
from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
from reportlab.pdfbase.ttfonts import TTFont  # type: ignore[import-untyped]
from reportlab.platypus import HRFlowable, Paragraph, Preformatted, Table  # type: ignore[import-untyped]

from bonus.printable import escape_unprintable

INK: Final = 0.0
HUSH: Final = 0.33
FAINT: Final = 0.75
LEADING: Final = 1.28
"""Height of a line of text, as a multiple of the font size."""

Align = Literal["left", "center", "right"]

_ALIGNMENTS: Final = {"left": TA_LEFT, "center": TA_CENTER, "right": TA_RIGHT}


def paragraph(
    words: str, size: float, *, bold: bool = False, gray: float = INK, align: Align = "left",
    before: float = 0.0,
) -> object:  # fmt: skip
    """Return text on as many lines as it needs. A word that is wider than a line is split.

    Args:
        words: the text. Each run of blanks and line ends becomes one blank.
        size: the font size, in points.
        bold: true for bold text.
        gray: the color, from 0 for black to 1 for white.
        align: the alignment of the lines.
        before: the free space above the text, in points. At the top of a page, there is no such
            space.
    """
    return Paragraph(escape(words), _style(face_of(words, bold=bold), size, gray, align, before))


def fitted(words: str, size: float, width: float, *, bold: bool = False) -> object:
    """Return a number on one line, aligned right. If it is too wide, its font is smaller."""
    needed = width_of(words, size, bold=bold)
    # With the exact size, rounding could split the line. So the font is slightly smaller.
    size = size if needed <= width else 0.999 * size * width / needed
    return paragraph(words, size, bold=bold, align="right")


def table(
    rows: Sequence[Sequence[object]], widths: Sequence[float], *, gap: float = 0.0,
    clear: float = 0.0, titles: int = 0, rules: Sequence[tuple[object, ...]] = (),
) -> object:  # fmt: skip
    """Return a table on as many pages as its rows need.

    Args:
        rows: the rows. A cell has one element, or several.
        widths: the widths of the columns in points, including the gaps between the columns.
        gap: the space between two columns, in points.
        clear: the space above each row, and also below each row, in points.
        titles: the number of title rows. They are the first rows, and are repeated on each page.
        rules: additional commands of ReportLab's table style.
    """
    return Table(
        rows,
        colWidths=widths,
        repeatRows=titles,
        style=[
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("LEFTPADDING", (0, 0), (-1, -1), 0),
            ("RIGHTPADDING", (0, 0), (-1, -1), 0),
            ("RIGHTPADDING", (0, 0), (-2, -1), gap),
            ("TOPPADDING", (0, 0), (-1, -1), clear),
            ("BOTTOMPADDING", (0, 0), (-1, -1), clear),
            *rules,
        ],
    )


def code_lines(text: str, size: float, width: float) -> Iterator[object]:
    """Yield the lines of a file in a font of fixed width, each as an element.

    A line that is too long continues in the next line, after four blanks. Characters that cannot be
    printed are escaped.

    Args:
        text: the text of the file.
        size: the font size, in points.
        width: the width of a line, in points.
    """
    face = _code_face(text)
    columns = int(width / pdfmetrics.stringWidth("0", face, size))
    for line in text.removesuffix("\n").split("\n"):
        shown = escape_unprintable(line.expandtabs(4))
        rest = f"    {shown[columns:]}" if len(shown) > columns else ""
        parts = [shown[:columns]]
        while rest:
            parts.append(rest[:columns])
            rest = f"    {rest[columns:]}" if len(rest) > columns else ""
        for part in parts:
            # An element without a character has no height, so an empty line has a blank.
            yield Preformatted(part or " ", _style(face, size, INK, "left", 0.0))


def rule(gray: float = FAINT, *, before: float = 6.0, after: float = 4.0) -> object:
    """Return a horizontal line over the whole width of the page's content."""
    return HRFlowable("100%", 0.7, color=(gray, gray, gray), spaceBefore=before, spaceAfter=after)


def signature_lines(words: Sequence[str], width: float, *, gap: float, apart: float) -> object:
    """Return signature lines, two in a row. Each line has a label from `words`.

    Rows are `apart` points apart. The two lines of a row are `gap` points apart.
    """
    texts = [paragraph(each, 8, gray=HUSH) for each in words]
    rows = [(left, "", right) for left, right in zip(texts[::2], texts[1::2], strict=True)]
    signed = (width - gap) / 2
    lines = [("LINEABOVE", (at, 0), (at, -1), 0.7, (INK, INK, INK)) for at in (0, 2)]
    space = ("BOTTOMPADDING", (0, 0), (-1, -2), apart - 8 * LEADING)
    return table(rows, (signed, gap, signed), rules=[*lines, space])


def width_of(words: str, size: float, *, bold: bool = False) -> float:
    """Return the width of words in points."""
    return float(pdfmetrics.stringWidth(words, face_of(words, bold=bold), size))


def _code_face(text: str) -> str:
    """Return a font of fixed width: Courier, or another font if Courier lacks a character."""
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        return _registered("DejaVuSansMono", "Courier")
    return "Courier"


def face_of(words: str, *, bold: bool) -> str:
    """Return the font for a text: Helvetica, or another font if Helvetica lacks a character."""
    try:
        words.encode("cp1252")
    except UnicodeEncodeError:
        return _wide_face(bold=bold)
    return "Helvetica-Bold" if bold else "Helvetica"


def _wide_face(*, bold: bool) -> str:
    """Return the font DejaVu Sans. It is loaded from the files of the library matplotlib.

    If matplotlib is not installed, return Helvetica.
    """
    if bold:
        return _registered("DejaVuSans-Bold", "Helvetica-Bold")
    return _registered("DejaVuSans", "Helvetica")


@functools.cache
def _registered(name: str, otherwise: str) -> str:
    """Load a font of the library matplotlib. Return its name; `otherwise` without the library."""
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        return otherwise
    fonts = Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf"
    pdfmetrics.registerFont(TTFont(name, str(fonts / f"{name}.ttf")))
    return name


@functools.lru_cache(maxsize=256)
def _style(face: str, size: float, gray: float, align: Align, before: float) -> object:
    return ParagraphStyle(
        "", fontName=face, fontSize=size, leading=size * LEADING, textColor=(gray, gray, gray),
        alignment=_ALIGNMENTS[align], spaceBefore=before,
    )  # fmt: skip
