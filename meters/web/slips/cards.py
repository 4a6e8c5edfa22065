from collections.abc import Sequence
from typing import Final

from reportlab.graphics.shapes import Drawing, Rect, String  # type: ignore[import-untyped]
from reportlab.lib.colors import Color  # type: ignore[import-untyped]

from meters.pdf.flowables import face_of

_BLACK: Final = (0.0, 0.0, 0.0)
_RED: Final = (0.7, 0.07, 0.12)
_SUITS: Final = {
    "c": ("\N{BLACK CLUB SUIT}", _BLACK),
    "d": ("\N{BLACK DIAMOND SUIT}", _RED),
    "h": ("\N{BLACK HEART SUIT}", _RED),
    "s": ("\N{BLACK SPADE SUIT}", _BLACK),
}
_GAP: Final = 4.0


def cards_drawing(names: Sequence[str], width_max: float) -> object:
    """Return cards such as "Td", the ten of diamonds, in a row of at most `width_max` points."""
    width = min(30.0, width_max / len(names) - _GAP)
    height = 1.38 * width
    drawing = Drawing(len(names) * (width + _GAP), height + 2 * _GAP)
    for number, name in enumerate(names):
        x = number * (width + _GAP)
        suit, rgb = _SUITS[name[1]]
        rank = "10" if name[0] == "T" else name[0]
        drawing.add(
            Rect(
                x, _GAP, width, height, rx=0.1 * width, ry=0.1 * width, fillColor=Color(1, 1, 1),
                strokeColor=Color(0.25, 0.25, 0.25), strokeWidth=0.8,
            )
        )  # fmt: skip
        for text, y, bold in ((rank, 0.59, True), (suit, 0.14, False)):
            drawing.add(
                String(
                    x + width / 2, _GAP + y * height, text, fontName=face_of(text, bold=bold),
                    fontSize=(0.52 if bold else 0.62) * width, fillColor=Color(*rgb),
                    textAnchor="middle",
                )
            )  # fmt: skip
    return drawing
