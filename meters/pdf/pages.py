"""Pages of a PDF file, filled from the top down, each with a foot."""

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]
from reportlab.platypus import (  # type: ignore[import-untyped]
    BaseDocTemplate,
    Frame,
    PageTemplate,
)

from meters.pdf.flowables import HUSH, face_of, width_of

_FOOT: Final = 7.0


@dataclass(frozen=True, slots=True)
class PageLayout:
    """Layout that all pages of a file share; lengths are in points.

    Attributes:
        title: the file's.
        author: whose it is.
        width: of the paper, and `height`.
        margin: at the left and right of the foot, which is made smaller where it is too long.
        foot: stands at the foot of each page, `foot_y` above its lower edge.
        frames: each a box that is filled, one after the other: its left and lower edge, its width
            and its height.
        mark: large pale words from corner to corner, under what is set over them, or none.
        numbered: the foot tells the page's number of how many.
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


def pdf_file(layout: PageLayout, contents: list[object]) -> bytes:
    """Set contents on as many pages as they need.

    Without the library's own clock and chance in it, equal pages are equal files.
    """
    file = io.BytesIO()
    document = BaseDocTemplate(
        file, pagesize=(layout.width, layout.height), title=layout.title, author=layout.author,
        invariant=1,
    )  # fmt: skip
    frames = [
        Frame(*box, leftPadding=0, bottomPadding=0, rightPadding=0, topPadding=0)
        for box in layout.frames
    ]
    document.addPageTemplates(
        PageTemplate(frames=frames, onPage=lambda canvas, _: canvas.begin_page(layout))
    )
    document.build(contents, canvasmaker=_CountedPages)
    return file.getvalue()


@final
class _CountedPages(Canvas):  # type: ignore[misc, no-any-unimported]
    """Keeps all pages until it is known how many there are.

    The names of what it overrides are the library's.
    """

    def __init__(self, *args: object, **settings: object) -> None:
        super().__init__(*args, **settings)
        self._kept: list[dict[str, object]] = []
        self._layout: PageLayout | None = None

    def begin_page(self, layout: PageLayout) -> None:
        """Draw a page's mark and foot, before anything is set over them."""
        self._layout = layout
        if layout.mark:
            self._draw_across(layout.mark, layout)
        room = layout.width - 2 * layout.margin - (60 if layout.numbered else 0)
        size = min(_FOOT, _FOOT * room / max(1.0, width_of(layout.foot, _FOOT)))
        self.setFont(face_of(layout.foot, bold=False), size)
        self.setFillGray(HUSH)
        self.drawString(layout.margin, layout.foot_y, layout.foot)

    def showPage(self) -> None:  # noqa: N802
        """Keep a page as it is drawn so far."""
        self._kept.append(dict(self.__dict__))
        self._startPage()

    def save(self) -> None:
        """Number the pages, and write them."""
        pages = len(self._kept)
        for number, page in enumerate(self._kept, start=1):
            self.__dict__.update(page)
            layout = self._layout
            if layout and layout.numbered:
                self.setFont(face_of("", bold=False), _FOOT)
                self.setFillGray(HUSH)
                right = layout.width - layout.margin
                self.drawRightString(right, layout.foot_y, f"Page {number} of {pages}")
            super().showPage()
        super().save()

    def _draw_across(self, words: str, layout: PageLayout) -> None:
        self.saveState()
        self.translate(layout.width / 2, layout.height / 2)
        self.rotate(math.degrees(math.atan2(layout.height, layout.width)))
        room = 0.75 * math.hypot(layout.width, layout.height)
        size = min(96.0, 96.0 * room / width_of(words, 96, bold=True))
        self.setFont(face_of(words, bold=True), size)
        self.setFillGray(0.91)
        self.drawCentredString(0, -size / 3, words)
        self.restoreState()
