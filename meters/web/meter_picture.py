"""The amount of a meter as a PNG picture, for systems that cannot show a page.

The numerals are the outlines of Roboto Flex (SIL Open Font License), in thousandths of its size.
"""

import re
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from bonus.display import money

_SAMPLES: Final = 4
"""How many lines of each row of pixels are compared with an outline."""

_DIGIT: Final = 0.74
"""Height of a numeral, with the part of a curve above the line, in sizes of the font."""

_BELOW: Final = 0.16
"""How far a comma reaches below the line."""

_ABOVE: Final = 0.06

_SMALL: Final = 0.52
"""Size of the raised currency sign and of the raised cents."""

_CURRENCY: Final = 0.1
"""How far the currency sign is below the cents, in sizes of the sign."""

_CURVE: Final = 6
"""How many straight lines a curve is drawn with."""

_Stops = tuple[tuple[float, int], ...]
_LIVE: Final[_Stops] = (
    (0.0, 0xFFFEF4), (0.3, 0xFFF0B8), (0.5, 0xFFD463), (0.68, 0xF2A92B), (1.0, 0xFFE7A1),
)  # fmt: skip
_CLOSED: Final[_Stops] = ((0.0, 0xCBBFAE), (1.0, 0xCBBFAE))


def picture(amount_cents: int | None, height: int, *, closed: bool = False) -> bytes:
    """Return a transparent PNG with an amount. Without an amount, the picture is empty.

    The picture is wide enough for 99 million dollars: up to this amount, its width never changes.
    """
    size = height / (_ABOVE + _DIGIT + _BELOW)
    text = money(amount_cents) if amount_cents is not None else ""
    drawn = _parts(text, size)
    needed = sum(part.width for part in drawn)
    width = max(needed, sum(part.width for part in _parts("$88,888,888.88", size)))
    rows = [bytearray(width) for _ in range(height)]
    left = (width - needed) // 2
    for part in drawn:
        for row, opacity in zip(rows, part.rows, strict=False):
            row[left : left + part.width] = opacity
        left += part.width
    lines = bytearray()
    for at, row in enumerate(rows):
        colour = _mixed(_CLOSED if closed else _LIVE, (at / size - _ABOVE) / _DIGIT)
        line = bytearray(4 * width)
        for channel in range(3):
            line[channel::4] = bytes([colour >> 16 - 8 * channel & 0xFF]) * width
        line[3::4] = row
        lines += b"\0" + line
    header = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(lines), 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in parts)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _mixed(stops: _Stops, at: float) -> int:
    for (low, one), (high, other) in pairwise(stops):
        if at <= high:
            part = (at - low) / (high - low)
            return sum(
                round((one >> shift & 0xFF) * (1 - part) + (other >> shift & 0xFF) * part) << shift
                for shift in (16, 8, 0)
            )
    return stops[-1][1]


class _Sign(NamedTuple):
    """A drawn sign: the opacity of each pixel, row by row from the top."""

    width: int
    rows: tuple[bytes, ...]


def _parts(text: str, size: float) -> list[_Sign]:
    whole, _, cents = text.partition(".")
    small, top = size * _SMALL, size * _ABOVE
    return [
        *(_sign(sign, small, top + small * _CURRENCY) for sign in whole[:1]),
        *(_sign(sign, size, top) for sign in whole[1:]),
        *(_sign(sign, small, top) for sign in (f".{cents}" if cents else "")),
    ]


@lru_cache(maxsize=256)
def _sign(sign: str, size: float, top: float) -> _Sign:
    advance, outline = _OUTLINES[sign]
    scale = size / 1000
    width, line = max(1, round(advance * scale)), top + size * _DIGIT
    slopes = [
        (min(y0, y1), max(y0, y1), x0, y0, (x1 - x0) / (y1 - y0), 1 if y1 > y0 else -1)
        for polygon in _polygons(outline)
        for (x0, y0), (x1, y1) in pairwise([(x * scale, y * scale + line) for x, y in polygon])
        if y0 != y1
    ]
    height = round(line + size * _BELOW)
    return _Sign(width, tuple(_row(slopes, row, width) for row in range(height)))


_Slope = tuple[float, float, float, float, float, int]


def _row(slopes: Sequence[_Slope], row: int, width: int) -> bytes:
    """Return how much of each pixel of a row is inside the outline, from 0 to 255."""
    covered, begun = [0.0] * (width + 1), [0] * (width + 2)
    for sample in range(_SAMPLES):
        y = row + (sample + 0.5) / _SAMPLES
        crossings = sorted(
            (min(max(x + (y - y0) * slope, 0.0), float(width)), way)
            for top, bottom, x, y0, slope, way in slopes
            if top <= y < bottom
        )
        winding, left = 0, 0.0
        for x, way in crossings:
            if winding == 0:
                left = x
            winding += way
            if winding == 0:
                first, last = int(left), int(x)
                covered[first] -= left - first
                covered[last] += x - last
                begun[first] += 1
                begun[last] -= 1
    opacity, inside = bytearray(width), 0
    for at in range(width):
        inside += begun[at]
        opacity[at] = min(255, max(0, round((covered[at] + inside) * 255 / _SAMPLES)))
    return bytes(opacity)


_Point = tuple[float, float]


def _polygons(outline: str) -> Iterator[list[_Point]]:
    """Yield the closed lines of an outline. Its paths have only lines and quadratic curves."""
    for path in outline.split("M")[1:]:
        first, *parts = re.split("(?=[LQ])", path)
        points = [_numbers(first)[0]]
        for part in parts:
            *bend, to = _numbers(part[1:])
            if not bend:
                points.append(to)
                continue
            (x, y), ((bend_x, bend_y),), (to_x, to_y) = points[-1], bend, to
            for step in range(1, _CURVE + 1):
                t = step / _CURVE
                a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
                points.append((a * x + b * bend_x + c * to_x, a * y + b * bend_y + c * to_y))
        yield [*points, points[0]]


def _numbers(text: str) -> list[_Point]:
    numbers = [float(number) for number in text.split()]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


_OUTLINES: Final[Mapping[str, tuple[int, str]]] = {
    "0": (568, (
        "M 22 -255 Q 22 -125 91 -57 Q 160 10 284 11 Q 399 11 473 -57 Q 547 -124 547 -255 L "
        "547 -456 Q 547 -584 477 -653 Q 407 -722 284 -722 Q 161 -722 92 -652 Q 22 -582 22 "
        "-456 M 224 -214 L 224 -493 Q 224 -536 239 -559 Q 253 -582 284 -582 Q 314 -582 329 "
        "-559 Q 344 -536 344 -493 L 344 -214 Q 344 -172 329 -149 Q 315 -127 284 -127 Q 253 "
        "-127 239 -149 Q 224 -172 224 -214"
    )),
    "1": (568, (
        "M 240 0 L 445 0 L 445 -714 L 284 -714 L 49 -638 L 49 -474 L 240 -534"
    )),
    "2": (568, (
        "M 15 0 L 557 0 L 557 -160 L 313 -160 L 432 -292 Q 483 -342 512 -395 Q 541 -449 541 "
        "-520 Q 541 -613 477 -667 Q 413 -722 283 -722 Q 161 -722 88 -660 Q 15 -598 15 -506 L "
        "15 -455 L 219 -455 L 219 -481 Q 219 -542 235 -561 Q 251 -581 280 -581 Q 308 -581 323 "
        "-565 Q 338 -549 338 -510 Q 338 -475 320 -444 Q 302 -413 275 -384 L 15 -124"
    )),
    "3": (568, (
        "M 12 -206 Q 12 -104 84 -47 Q 157 11 281 11 Q 406 11 481 -50 Q 555 -111 555 -205 Q "
        "555 -277 520 -319 Q 485 -361 440 -372 L 440 -374 Q 488 -396 513 -435 Q 537 -475 537 "
        "-533 Q 537 -618 471 -670 Q 405 -722 284 -722 Q 167 -722 95 -665 Q 23 -609 23 -508 L "
        "23 -479 L 217 -479 L 217 -503 Q 217 -542 232 -563 Q 246 -584 277 -584 Q 306 -584 322 "
        "-567 Q 338 -549 338 -508 Q 338 -463 319 -443 Q 300 -424 267 -424 L 195 -424 L 195 "
        "-309 L 271 -309 Q 309 -309 331 -289 Q 352 -268 352 -218 Q 352 -167 334 -146 Q 315 "
        "-126 281 -126 Q 248 -126 229 -147 Q 210 -168 210 -212 L 210 -246 L 12 -246"
    )),
    "4": (568, (
        "M 298 0 L 486 0 L 486 -711 L 320 -711 L 7 -274 L 7 -132 L 559 -132 L 559 -288 L 395 "
        "-288 L 378 -281 L 191 -281 L 300 -460 L 304 -460 L 304 -187 L 298 -178"
    )),
    "5": (568, (
        "M 11 -206 Q 11 -103 86 -46 Q 161 11 283 11 Q 414 11 483 -58 Q 553 -127 553 -247 Q "
        "553 -362 491 -417 Q 428 -472 339 -472 Q 301 -472 266 -462 Q 230 -452 203 -435 L 213 "
        "-555 L 518 -551 L 518 -711 L 63 -711 L 26 -333 L 216 -300 Q 224 -320 242 -332 Q 259 "
        "-343 285 -343 Q 315 -343 332 -322 Q 350 -301 350 -238 Q 350 -173 332 -150 Q 314 -126 "
        "281 -126 Q 247 -126 229 -147 Q 212 -167 212 -211 L 212 -241 L 11 -241"
    )),
    "6": (568, (
        "M 18 -289 Q 18 -134 90 -62 Q 163 11 287 11 Q 404 11 480 -56 Q 556 -122 556 -241 Q "
        "556 -349 504 -405 Q 452 -461 367 -461 Q 293 -461 241 -409 Q 189 -356 189 -261 L 219 "
        "-261 Q 219 -302 239 -325 Q 259 -348 289 -348 Q 322 -348 337 -323 Q 353 -298 353 -247 "
        "Q 353 -170 336 -148 Q 319 -125 289 -125 Q 257 -125 238 -153 Q 219 -180 219 -273 L "
        "217 -288 Q 217 -448 273 -503 Q 330 -558 440 -559 L 479 -559 L 479 -720 L 432 -720 Q "
        "232 -719 125 -615 Q 18 -512 18 -330"
    )),
    "7": (568, (
        "M 103 0 L 318 0 L 537 -566 L 537 -711 L 15 -711 L 15 -550 L 327 -550"
    )),
    "8": (568, (
        "M 12 -196 Q 12 -102 86 -46 Q 160 11 283 11 Q 406 11 480 -45 Q 554 -101 554 -196 Q "
        "554 -266 518 -312 Q 481 -357 438 -370 L 438 -371 Q 482 -389 508 -429 Q 535 -470 535 "
        "-529 Q 535 -615 469 -668 Q 404 -722 283 -722 Q 164 -722 98 -669 Q 32 -617 32 -529 Q "
        "32 -471 58 -432 Q 84 -392 129 -372 L 129 -370 Q 87 -357 50 -311 Q 12 -266 12 -196 M "
        "217 -217 Q 217 -271 235 -292 Q 253 -312 283 -312 Q 314 -312 332 -292 Q 349 -271 349 "
        "-217 Q 349 -165 332 -144 Q 315 -123 283 -123 Q 251 -123 234 -144 Q 217 -165 217 -217 "
        "M 225 -501 Q 225 -547 239 -566 Q 254 -586 283 -586 Q 312 -586 327 -566 Q 341 -546 "
        "341 -501 Q 341 -456 325 -435 Q 310 -414 283 -414 Q 256 -414 241 -435 Q 225 -456 225 "
        "-501"
    )),
    "9": (568, (
        "M 14 -470 Q 14 -362 66 -305 Q 117 -248 203 -248 Q 278 -248 329 -300 Q 380 -353 380 "
        "-447 L 351 -447 Q 351 -406 331 -383 Q 311 -360 280 -360 Q 248 -360 233 -385 Q 217 "
        "-409 217 -465 Q 217 -538 234 -560 Q 250 -582 281 -582 Q 313 -582 332 -554 Q 351 -526 "
        "351 -437 L 352 -419 Q 352 -260 296 -204 Q 239 -149 130 -149 L 91 -149 L 91 8 L 138 8 "
        "Q 338 7 445 -96 Q 552 -200 552 -380 L 552 -421 Q 552 -577 480 -649 Q 407 -721 283 "
        "-721 Q 166 -721 90 -655 Q 14 -588 14 -470"
    )),
    "$": (553, (
        "M 11 -196 Q 11 -96 88 -45 Q 164 5 282 5 Q 400 5 473 -52 Q 546 -109 546 -213 Q 546 "
        "-307 495 -358 Q 444 -409 342 -436 Q 244 -463 226 -478 Q 207 -494 207 -520 Q 207 -549 "
        "224 -564 Q 240 -580 277 -580 Q 312 -580 331 -560 Q 350 -540 350 -506 L 350 -495 L "
        "531 -495 L 531 -521 Q 531 -613 460 -664 Q 388 -716 273 -716 Q 159 -716 89 -661 Q 19 "
        "-606 19 -507 Q 19 -418 71 -369 Q 124 -320 234 -288 Q 323 -262 341 -243 Q 358 -224 "
        "358 -194 Q 358 -162 338 -144 Q 317 -126 279 -126 Q 239 -126 217 -147 Q 195 -168 195 "
        "-211 L 195 -226 L 11 -226 M 203 73 L 360 73 L 360 -36 L 354 -41 L 354 -367 L 203 "
        "-367 M 207 -367 L 356 -367 L 356 -783 L 199 -783 L 199 -674 L 207 -669"
    )),
    ",": (305, (
        "M 33 78 L 187 102 Q 215 77 231 38 Q 247 -2 247 -43 L 247 -183 L 70 -183 L 70 -42 Q "
        "70 -9 61 21 Q 52 51 33 78"
    )),
    ".": (303, (
        "M 41 -94 Q 41 -50 70 -21 Q 98 9 151 9 Q 204 9 233 -20 Q 261 -49 261 -94 Q 261 -137 "
        "233 -166 Q 204 -195 151 -195 Q 98 -195 70 -166 Q 41 -137 41 -94"
    )),
}  # fmt: skip
"""The width and the outline of each sign, as the path of an SVG; the line is at 0."""
