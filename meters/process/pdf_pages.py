"""Texts, tables and pages of PDF files, made with the library ReportLab.

ReportLab has no type annotations, so its elements have the type `object` here. Each page has a
footer.
"""

import functools
import io
import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, final
from xml.sax.saxutils import escape

from reportlab.lib.enums import TA_CENTER, TA_LEFT, TA_RIGHT  # type: ignore[import-untyped]
from reportlab.lib.styles import ParagraphStyle  # type: ignore[import-untyped]
from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
from reportlab.pdfbase.ttfonts import TTFont  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]
from reportlab.platypus import (  # type: ignore[import-untyped]
    BaseDocTemplate,
    Frame,
    HRFlowable,
    PageTemplate,
    Paragraph,
    Preformatted,
    Spacer,
    Table,
)

from bonus.printable import escape_unprintable

INK: Final = 0.0
HUSH: Final = 0.33
FAINT: Final = 0.75
LEADING: Final = 1.28
"""Line height as a multiple of the font size."""

_FONTS: Final = Path(__file__).with_name("fonts")
_CJK: Final = ("DroidSansFallbackFull", "NanumGothicCoding")
"""The first font is for Chinese and Japanese, the second for Korean."""

_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})

Align = Literal["left", "center", "right"]

_ALIGNMENTS: Final = {"left": TA_LEFT, "center": TA_CENTER, "right": TA_RIGHT}


def paragraph(
    words: str,
    size: float,
    *,
    bold: bool = False,
    gray: float = INK,
    align: Align = "left",
    before: float = 0.0,
) -> object:
    """Return text on as many lines as needed. A word that is wider than a line is split.

    Blanks and line ends that follow each other become one blank. Sizes are in points; ``gray`` goes
    from 0 (black) to 1 (white).
    """
    parts = parts_of(words, bold=bold)
    base = parts[0][0] if parts else face_of("", bold=bold)
    marked = "".join(
        escape(part) if face == base else f'<font face="{face}">{escape(part)}</font>'
        for face, part in parts
    )
    return Paragraph(marked, _style(base, size, gray, align, before))


def fitted(words: str, size: float, width: float, *, bold: bool = False) -> object:
    """Return a number on one line, aligned right. If it is too wide, its font is smaller."""
    needed = width_of(words, size, bold=bold)
    # With the exact size, rounding could split the line, so the size is slightly smaller.
    size = size if needed <= width else 0.999 * size * width / needed
    return paragraph(words, size, bold=bold, align="right")


def table(
    rows: Sequence[Sequence[object]],
    widths: Sequence[float],
    *,
    gap: float = 0.0,
    clear: float = 0.0,
    titles: int = 0,
    rules: Sequence[tuple[object, ...]] = (),
) -> object:
    """Return a table on as many pages as needed. Lengths are in points.

    The width of a column includes the gap to the next one. ``clear`` is the space above and below
    each row. The first ``titles`` rows are repeated on each page. ``rules`` are additional commands
    of ReportLab's table style.
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
    """Yield the lines of a file, each as an element, in a font of fixed width.

    A line that is too long continues on the next one, after four blanks. Unprintable characters are
    escaped. Sizes are in points.
    """
    face = _face(text, "Courier", "DejaVuSansMono")
    style = _style(face, size, INK, "left", 0.0)
    columns = int(width / pdfmetrics.stringWidth("0", face, size))
    for line in text.removesuffix("\n").split("\n"):
        shown = _in_face(escape_unprintable(line.expandtabs(4)), face)
        rest = range(columns, len(shown), columns - 4)
        for part in (shown[:columns], *(f"    {shown[at : at + columns - 4]}" for at in rest)):
            # ReportLab would drop a blank line.
            yield Preformatted(part, style) if part.strip() else Spacer(0, size * LEADING)


def rule(gray: float = FAINT, *, before: float = 6.0, after: float = 4.0) -> object:
    return HRFlowable("100%", 0.7, color=(gray, gray, gray), spaceBefore=before, spaceAfter=after)


def signature_lines(words: Sequence[str], width: float, *, gap: float, apart: float) -> object:
    """Return labeled lines for signatures, two in each row.

    `gap` is the space between the two lines of a row, and `apart` the space between rows, in
    points.
    """
    texts = [paragraph(each, 8, gray=HUSH) for each in words]
    rows = [(left, "", right) for left, right in zip(texts[::2], texts[1::2], strict=True)]
    signed = (width - gap) / 2
    lines = [("LINEABOVE", (at, 0), (at, -1), 0.7, (INK, INK, INK)) for at in (0, 2)]
    space = ("BOTTOMPADDING", (0, 0), (-1, -2), apart - 8 * LEADING)
    return table(rows, (signed, gap, signed), rules=[*lines, space])


def width_of(words: str, size: float, *, bold: bool = False) -> float:
    parts = parts_of(words, bold=bold)
    return float(sum(pdfmetrics.stringWidth(part, face, size) for face, part in parts))


def parts_of(words: str, *, bold: bool) -> list[tuple[str, str]]:
    r"""Divide a text into parts, each with a font that has its characters.

    If no font has a character, or its script would be printed wrongly, the character becomes an
    escape such as ``\u0e2a``. So nothing is left out, and two names that differ only in such a
    character do not look alike.
    """
    words = unicodedata.normalize("NFC", words)
    base = face_of(words, bold=bold)
    if base.startswith("Helvetica"):
        return [(base, words)] if words else []
    parts: list[tuple[str, str]] = []
    for char in words:
        face = next((each for each in (base, *_CJK) if _has(each, char)), None)
        # A blank belongs to the part before it.
        last = parts[-1] if parts else None
        if last and (face == last[0] or (char == " " and _has(last[0], char))):
            parts[-1] = (last[0], last[1] + char)
        else:
            parts.append((face or base, char if face else _escaped(char)))
    return parts


def face_of(words: str, *, bold: bool) -> str:
    if bold:
        return _face(words, "Helvetica-Bold", "DejaVuSans-Bold")
    return _face(words, "Helvetica", "DejaVuSans")


def _face(words: str, usual: str, other: str) -> str:
    """Return the usual font, which every PDF reader has; another font if a character is missing."""
    try:
        words.encode("cp1252")
    except UnicodeEncodeError:
        _loaded(other)
        return other
    return usual


def _in_face(words: str, face: str) -> str:
    if face == "Courier":
        return words
    return "".join(char if _has(face, char) else _escaped(char) for char in words)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _has(face: str, char: str) -> bool:
    """Check that a font has a character and prints it as its script is written."""
    if unicodedata.bidirectional(char) in _RIGHT_TO_LEFT or unicodedata.combining(char):
        return False
    return ord(char) in _loaded(face).face.charToGlyph


@functools.cache
def _loaded(face: str) -> TTFont:  # type: ignore[no-any-unimported]
    folder = _FONTS if face in _CJK else _matplotlib_fonts()
    font = TTFont(face, str(folder / f"{face}.ttf"))
    pdfmetrics.registerFont(font)
    return font


def _matplotlib_fonts() -> Path:
    """Find the fonts without an import of matplotlib, which is slow."""
    found = find_spec("matplotlib")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("matplotlib is not installed", name="matplotlib")
    return Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"


@functools.lru_cache(maxsize=256)
def _style(face: str, size: float, gray: float, align: Align, before: float) -> object:
    return ParagraphStyle(
        "",
        fontName=face,
        fontSize=size,
        leading=size * LEADING,
        textColor=(gray, gray, gray),
        alignment=_ALIGNMENTS[align],
        spaceBefore=before,
    )


_FOOT: Final = 7.0


@dataclass(frozen=True, slots=True)
class PageLayout:
    """The layout of all pages of a PDF file. Lengths are in points.

    Attributes:
        margin: space at the left and right of the footer. A footer that is too long shrinks.
        foot_y: the height of the footer above the lower edge of the page.
        frames: the areas that are filled one after another, each as left edge, lower edge,
            width and height.
        mark: large pale text across the page, behind its contents; empty for none.
        numbered: true if the footer has the page number and the number of pages.
    """

    title: str
    author: str
    width: float
    height: float
    margin: float
    foot: str
    foot_y: float
    frames: Sequence[tuple[float, float, float, float]]
    mark: str = ""
    numbered: bool = False

    @property
    def inner(self) -> float:
        return self.width - 2 * self.margin


def pdf_file(layout: PageLayout, contents: list[object]) -> bytes:
    """Return a PDF file with the contents on as many pages as needed.

    The file has no date and no random values, so equal contents make identical files.
    """
    file = io.BytesIO()
    document = BaseDocTemplate(
        file,
        pagesize=(layout.width, layout.height),
        title=layout.title,
        author=layout.author,
        invariant=1,
    )
    frames = [
        Frame(*box, leftPadding=0, bottomPadding=0, rightPadding=0, topPadding=0)
        for box in layout.frames
    ]
    document.addPageTemplates(
        PageTemplate(frames=frames, onPage=lambda canvas, _: canvas.begin_page())
    )
    document.build(contents, canvasmaker=functools.partial(_CountedPages, layout))
    return file.getvalue()


@final
class _CountedPages(Canvas):  # type: ignore[misc, no-any-unimported]
    """A canvas that keeps all pages until the number of pages is known."""

    def __init__(self, layout: PageLayout, *args: object, **settings: object) -> None:
        super().__init__(*args, **settings)
        self._kept: list[dict[str, object]] = []
        self._layout = layout

    def begin_page(self) -> None:
        layout = self._layout
        if layout.mark:
            self._draw_across(layout.mark)
        room = layout.inner - (60 if layout.numbered else 0)
        size = min(_FOOT, _FOOT * room / max(1.0, width_of(layout.foot, _FOOT)))
        self.setFillGray(HUSH)
        x = layout.margin
        for face, part in parts_of(layout.foot, bold=False):
            self.setFont(face, size)
            self.drawString(x, layout.foot_y, part)
            x += self.stringWidth(part, face, size)

    def showPage(self) -> None:  # noqa: N802
        self._kept.append(dict(self.__dict__))
        self._startPage()

    def save(self) -> None:
        layout = self._layout
        for number, page in enumerate(self._kept, start=1):
            self.__dict__.update(page)
            if layout.numbered:
                self.setFont(face_of("", bold=False), _FOOT)
                self.setFillGray(HUSH)
                words = f"Page {number} of {len(self._kept)}"
                self.drawRightString(layout.width - layout.margin, layout.foot_y, words)
            super().showPage()
        super().save()

    def _draw_across(self, words: str) -> None:
        width, height = self._layout.width, self._layout.height
        self.saveState()
        self.translate(width / 2, height / 2)
        self.rotate(math.degrees(math.atan2(height, width)))
        room = 0.75 * math.hypot(width, height)
        size = min(96.0, 96.0 * room / width_of(words, 96, bold=True))
        self.setFont(face_of(words, bold=True), size)
        self.setFillGray(0.91)
        self.drawCentredString(0, -size / 3, words)
        self.restoreState()
