"""A sheet of Letter paper that is written from the top down: text that fits, rules and cards."""

import functools
import io
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
from reportlab.pdfbase.ttfonts import TTFont  # type: ignore[import-untyped]

from meters.web.slips.pdf_canvas import PdfCanvas, letter_page

WIDTH: Final = 612.0
HEIGHT: Final = 792.0
MARGIN: Final = 46.0
INNER: Final = WIDTH - 2 * MARGIN

INK: Final = 0.0
HUSH: Final = 0.33
FAINT: Final = 0.75

_RED: Final = (0.7, 0.07, 0.12)
Point = tuple[float, float]
_Curve = tuple[Point, Point, Point]

# The suits' outlines on a field of 100 by 100, y downward, as the pages' svg files have them.
_HEART: Final[tuple[Point, tuple[_Curve, ...]]] = (
    (50, 93),
    (
        ((34, 71), (8, 55), (8, 32)), ((8, 12), (40, 2), (50, 27)),
        ((60, 2), (92, 12), (92, 32)), ((92, 55), (66, 71), (50, 93)),
    ),
)  # fmt: skip
_DIAMOND: Final[tuple[Point, tuple[_Curve, ...]]] = (
    (50, 4),
    (
        ((59, 22), (70, 37), (84, 50)), ((70, 63), (59, 78), (50, 96)),
        ((41, 78), (30, 63), (16, 50)), ((30, 37), (41, 22), (50, 4)),
    ),
)  # fmt: skip
_SPADE: Final[tuple[Point, tuple[_Curve, ...]]] = (
    (50, 5),
    (
        ((62, 25), (90, 40), (90, 60)), ((90, 80), (64, 86), (54, 69)),
        ((55, 80), (59, 88), (67, 94)), ((56, 94), (44, 94), (33, 94)),
        ((41, 88), (45, 80), (46, 69)), ((36, 86), (10, 80), (10, 60)),
        ((10, 40), (38, 25), (50, 5)),
    ),
)  # fmt: skip
_STEM: Final[tuple[Point, tuple[_Curve, ...]]] = (
    (46, 62),
    (
        ((46, 80), (41, 89), (33, 94)), ((44, 94), (56, 94), (67, 94)),
        ((59, 89), (54, 80), (54, 62)), ((52, 58), (48, 58), (46, 62)),
    ),
)  # fmt: skip
_CLUB_LEAVES: Final[tuple[Point, ...]] = ((50, 27), (28, 60), (72, 60))
_CLUB_RADIUS: Final = 21.0


class SlipPage:
    """One page.

    Attributes:
        y: how far it is written, in points from the bottom.
        scale: by what all sizes are multiplied.
    """

    def __init__(self, title: str, author: str, scale: float) -> None:
        self._file = io.BytesIO()
        self._pen: PdfCanvas = letter_page(self._file, WIDTH, HEIGHT)
        self._pen.setTitle(title)
        self._pen.setAuthor(author)
        self.scale = scale
        self.y = HEIGHT - MARGIN

    def finished(self) -> bytes:
        """The page as a file."""
        self._pen.showPage()
        self._pen.save()
        return self._file.getvalue()

    def down(self, points: float) -> None:
        """Leave so much free, before scaling."""
        self.y -= points * self.scale

    def across(self, words: str) -> None:
        """Large pale words from corner to corner, under what is written over them."""
        self._pen.saveState()
        self._pen.translate(WIDTH / 2, HEIGHT / 2)
        self._pen.rotate(52)
        size = min(96.0, 96.0 * 780 / width_of(words, 96, bold=True))
        self._write(words, 0, -size / 3, size, bold=True, gray=0.89, align="center")
        self._pen.restoreState()

    def line(
        self, words: str, size: float, *, x: float = MARGIN, width: float = INNER,
        bold: bool = False, gray: float = INK, align: str = "left",
    ) -> None:  # fmt: skip
        """One line, made smaller where it would be too long."""
        size *= self.scale
        needed = width_of(words, size, bold=bold)
        fitted = size if needed <= width else size * width / needed
        self.y -= size * 1.22
        at = {"left": x, "center": x + width / 2, "right": x + width}[align]
        self._write(words, at, self.y, fitted, bold=bold, gray=gray, align=align)

    def text(
        self, words: str, size: float, *, x: float = MARGIN, width: float = INNER,
        bold: bool = False, gray: float = INK,
    ) -> None:  # fmt: skip
        """Text over as many lines as it needs."""
        size *= self.scale
        for part in wrapped(words, size, width, bold=bold):
            self.y -= size * 1.25
            self._write(part, x, self.y, size, bold=bold, gray=gray)

    def rule(self, gray: float = FAINT) -> None:
        """A rule over the whole width."""
        self.down(6)
        self._pen.setStrokeGray(gray)
        self._pen.setLineWidth(0.7)
        self._pen.line(MARGIN, self.y, WIDTH - MARGIN, self.y)
        self.down(4)

    def frame(self, top: float, x: float = MARGIN, width: float = INNER) -> None:
        """A frame from `top` down to where the page is written."""
        self._pen.setStrokeGray(INK)
        self._pen.setLineWidth(1.2)
        self._pen.roundRect(x, self.y, width, top - self.y, 4, stroke=1, fill=0)

    def signature(self, words: str, x: float, y: float, width: float) -> None:
        """A line to sign on, and who signs; unscaled, since hands are."""
        self._pen.setStrokeGray(INK)
        self._pen.setLineWidth(0.7)
        self._pen.line(x, y, x + width, y)
        self._write(words, x, y - 10, 8.5, gray=HUSH)

    def foot(self, words: str, y: float) -> None:
        """A small line at a place of its own."""
        size = min(7.5, 7.5 * INNER / max(width_of(words, 7.5), 1))
        self._write(words, MARGIN, y, size, gray=HUSH)

    def card(self, name: str, x: float, y: float, width: float) -> None:
        """A card, its lower left corner at a point; "Td" is the ten of diamonds."""
        height = 1.38 * width
        self._pen.setStrokeGray(0.25)
        self._pen.setFillGray(1)
        self._pen.setLineWidth(0.8)
        self._pen.roundRect(x, y, width, height, 0.1 * width, stroke=1, fill=1)
        rank = "10" if name[0] == "T" else name[0]
        red = _RED if name[1] in "dh" else (0.0, 0.0, 0.0)
        self._pen.setFillColorRGB(*red)
        size = 0.52 * width
        self._pen.setFont("Helvetica-Bold", size)
        self._pen.drawCentredString(x + width / 2, y + height - 1.08 * size, rank)
        self._suit(name[1], x + 0.27 * width, y + 0.12 * height, 0.46 * width)

    def _suit(self, suit: str, x: float, y: float, size: float) -> None:
        """A suit in a square, in the colour that is set: standard fonts have no glyphs for it."""
        if suit == "c":
            for across, below in _CLUB_LEAVES:
                at = self._place((across, below), x, y, size)
                self._pen.circle(*at, _CLUB_RADIUS * size / 100, stroke=0, fill=1)
        outline = {"h": _HEART, "d": _DIAMOND, "s": _SPADE, "c": _STEM}[suit]
        path = self._pen.beginPath()
        path.moveTo(*self._place(outline[0], x, y, size))
        for first, second, end in outline[1]:
            path.curveTo(
                *self._place(first, x, y, size),
                *self._place(second, x, y, size),
                *self._place(end, x, y, size),
            )
        self._pen.drawPath(path, stroke=0, fill=1)

    @staticmethod
    def _place(point: Point, x: float, y: float, size: float) -> Point:
        return x + point[0] * size / 100, y + (100 - point[1]) * size / 100

    def _write(
        self, words: str, x: float, y: float, size: float, *, bold: bool = False,
        gray: float = INK, align: str = "left",
    ) -> None:  # fmt: skip
        self._pen.setFont(face_of(words, bold=bold), size)
        self._pen.setFillGray(gray)
        if align == "center":
            self._pen.drawCentredString(x, y, words)
        elif align == "right":
            self._pen.drawRightString(x, y, words)
        else:
            self._pen.drawString(x, y, words)


def width_of(words: str, size: float, *, bold: bool = False) -> float:
    """How wide words are, in points."""
    return float(pdfmetrics.stringWidth(words, face_of(words, bold=bold), size))


def wrapped(words: str, size: float, width: float, *, bold: bool = False) -> list[str]:
    """Words in lines no wider than `width`; a word that is wider by itself is broken."""
    lines: list[str] = []
    line = ""
    for word in words.split():
        tried = f"{line} {word}".strip()
        if width_of(tried, size, bold=bold) <= width:
            line = tried
            continue
        if line:
            lines.append(line)
        line = word
        while width_of(line, size, bold=bold) > width and len(line) > 1:
            fits = max(
                (n for n in range(1, len(line)) if width_of(line[:n], size, bold=bold) <= width),
                default=1,
            )
            lines.append(line[:fits])
            line = line[fits:]
    return [*lines, line] if line or not lines else lines


def face_of(words: str, *, bold: bool) -> str:
    """Helvetica, or for letters that it has not, a font that has them."""
    try:
        words.encode("cp1252")
    except UnicodeEncodeError:
        return _wide_face(bold=bold)
    return "Helvetica-Bold" if bold else "Helvetica"


@functools.cache
def _wide_face(*, bold: bool) -> str:
    """DejaVu Sans, which comes along with the library that draws the plots of the odds."""
    name = "DejaVuSans-Bold" if bold else "DejaVuSans"
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        return "Helvetica-Bold" if bold else "Helvetica"
    fonts = Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf"
    pdfmetrics.registerFont(TTFont(name, str(fonts / f"{name}.ttf")))
    return name
