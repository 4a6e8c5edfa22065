"""Pages of a report that are written from the top down, one after the other."""

from io import BytesIO
from typing import Final, Literal

from meters.web.slips.pdf_canvas import PdfCanvas, letter_page
from meters.web.slips.sheet import FAINT, HUSH, INK, face_of, width_of, wrapped

Format = Literal["letter", "a4"]

_POINTS: Final = {"letter": (612.0, 792.0), "a4": (595.28, 841.89)}
_MARGIN: Final = 42.0
_FOOT: Final = 24.0
_LEADING: Final = 1.28
_SMALL: Final = 7.0


class PdfPages:
    """The pages of one file.

    Args:
        size: of the paper.
        title: the file's, which stands at the foot of each page as well.
        author: whose it is.
        mark: large pale words across every page, or none.
        pages: how many there will be, 0 while that is not known.
        wide: the long side lies across.

    Attributes:
        page: the number of the page at hand.
        inner: how wide it can be written on, in points.
        y: how far it is written, in points from the bottom.
    """

    def __init__(
        self, size: Format, title: str, author: str, mark: str, pages: int, *, wide: bool
    ) -> None:  # fmt: skip
        short, long = _POINTS[size]
        self._width, self._height = (long, short) if wide else (short, long)
        self.inner = self._width - 2 * _MARGIN
        self._title, self._author, self._mark, self._pages = title, author, mark, pages
        self._file = BytesIO()
        self._pen: PdfCanvas = letter_page(self._file, self._width, self._height)
        self._pen.setTitle(f"{author}: {title}")
        self._pen.setAuthor(author)
        self.page = 0
        self.y = 0.0
        self._begin()

    def finished(self) -> bytes:
        """All pages as a file."""
        self._pen.showPage()
        self._pen.save()
        return self._file.getvalue()

    def turn(self) -> None:
        """Go on to a new page."""
        self._pen.showPage()
        self._begin()

    def has_room(self, points: float) -> bool:
        """Whether so much is free on the page."""
        return self.y - points >= _MARGIN + _FOOT

    def need(self, points: float) -> None:
        """Go on to a new page unless so much is free."""
        if not self.has_room(points):
            self.turn()

    def down(self, points: float) -> None:
        """Leave so much free."""
        self.y -= points

    def line(self, words: str, size: float, *, bold: bool = False, gray: float = INK) -> None:
        """Words over as many lines as they need."""
        for part in wrapped(words, size, self.inner, bold=bold):
            self.need(size * _LEADING)
            self.y -= size * _LEADING
            self._write(part, _MARGIN, self.y, size, bold=bold, gray=gray)

    def rule(self, gray: float = FAINT) -> None:
        """A rule over the whole width."""
        self._pen.setStrokeGray(gray)
        self._pen.setLineWidth(0.6)
        self._pen.line(_MARGIN, self.y, _MARGIN + self.inner, self.y)

    def cell(
        self, lines: list[str], x: float, width: float, size: float, *,
        bold: bool = False, right: bool = False, gray: float = INK,
    ) -> None:  # fmt: skip
        """The lines of a cell from where the page is written down, `x` from its margin."""
        at = _MARGIN + x + (width if right else 0)
        for number, words in enumerate(lines, start=1):
            self._write(
                words, at, self.y - number * size * _LEADING, size, bold=bold, gray=gray,
                right=right,
            )  # fmt: skip

    @staticmethod
    def height(lines: int, size: float) -> float:
        """How high so many lines are, in points."""
        return lines * size * _LEADING

    def signature(self, words: str, x: float, width: float) -> None:
        """A line to sign on where the page is written, and who signs."""
        self._pen.setStrokeGray(INK)
        self._pen.setLineWidth(0.7)
        self._pen.line(_MARGIN + x, self.y, _MARGIN + x + width, self.y)
        self._write(words, _MARGIN + x, self.y - 10, 8, gray=HUSH)

    def _begin(self) -> None:
        """A page's mark and foot, before anything is written over them."""
        self.page += 1
        if self._mark:
            self._across()
        told = f"{self._author} · {self._title}"
        number = f"Page {self.page} of {self._pages}"
        room = self.inner - width_of(number, _SMALL) - 12
        size = min(_SMALL, _SMALL * room / max(1.0, width_of(told, _SMALL)))
        self._write(told, _MARGIN, _FOOT, size, gray=HUSH)
        self._write(number, _MARGIN + self.inner, _FOOT, _SMALL, gray=HUSH, right=True)
        self.y = self._height - _MARGIN

    def _across(self) -> None:
        self._pen.saveState()
        self._pen.translate(self._width / 2, self._height / 2)
        self._pen.rotate(40)
        size = min(96.0, 96.0 * 620 / width_of(self._mark, 96, bold=True))
        self._pen.setFont(face_of(self._mark, bold=True), size)
        self._pen.setFillGray(0.93)
        self._pen.drawCentredString(0, -size / 3, self._mark)
        self._pen.restoreState()

    def _write(
        self, words: str, x: float, y: float, size: float, *, bold: bool = False,
        gray: float = INK, right: bool = False,
    ) -> None:  # fmt: skip
        self._pen.setFont(face_of(words, bold=bold), size)
        self._pen.setFillGray(gray)
        if right:
            self._pen.drawRightString(x, y, words)
        else:
            self._pen.drawString(x, y, words)
