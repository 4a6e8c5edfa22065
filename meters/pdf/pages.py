"""Pages of a PDF file. Each page is filled from top to bottom and has a footer."""

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

from meters.pdf.flowables import HUSH, face_of, parts_of, width_of

_FOOT: Final = 7.0


@dataclass(frozen=True, slots=True)
class PageLayout:
    """The layout of all pages of a PDF file. Lengths are in points.

    Attributes:
        margin: the margin at the left and right of the footer. A footer that is too long shrinks.
        foot_y: the height of the footer above the lower edge of the page.
        frames: the boxes that are filled one after another, each given by its left edge, lower
            edge, width and height.
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


def pdf_file(layout: PageLayout, contents: list[object]) -> bytes:
    """Return a PDF file with the contents on as many pages as they need.

    It contains no date and no random values, so equal contents make identical files.
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
    """A canvas that keeps all pages until the number of pages is known.

    The names of the overridden methods come from the library ReportLab.
    """

    def __init__(self, *args: object, **settings: object) -> None:
        super().__init__(*args, **settings)
        self._kept: list[dict[str, object]] = []
        self._layout: PageLayout | None = None

    def begin_page(self, layout: PageLayout) -> None:
        self._layout = layout
        if layout.mark:
            self._draw_across(layout.mark, layout)
        room = layout.width - 2 * layout.margin - (60 if layout.numbered else 0)
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
