"""Colors, logo and texts of the facility's displays, with checks that people can read the texts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal
from xml.parsers import expat

import msgspec

from bonus.errors import UserError
from meters.floor.facility import Config, Problem

READABLE: Final = 4.5
"""Lowest contrast of a text against its background (WCAG 2.2, 1.4.3)."""

SEEN: Final = 3.0
"""Lowest contrast of large text, and of graphics (WCAG 2.2, 1.4.11)."""

LOGO_BYTES_MAX: Final = 60_000
"""With such a logo, a page of signage stays below 100 kB."""

_COLOUR: Final = re.compile(r"#[0-9A-Fa-f]{6}")
_BLACK: Final = "#000000"
_WHITE: Final = "#ffffff"
_SVG: Final = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>|<!--.*?-->|<!DOCTYPE[^>\[]*>|\s)*<svg[\s>]",
    re.DOTALL,
)
_ACTIVE: Final = frozenset({"script", "foreignobject", "iframe", "handler"})
"""Elements that are not allowed in an SVG: they can run scripts or show other pages."""

Phrase = Annotated[str, msgspec.Meta(min_length=1, max_length=60)]


class BrandingText(Config, frozen=True, kw_only=True):
    """Texts on displays, in the facility's own words.

    Attributes:
        jackpot: above a win during its celebration.
        pending: above a win that waits for a floorperson (duty D8).
        validated: above a win that a floorperson has just validated.
        closed: next to a meter whose link accepts no wagers.
        unavailable: shown if there is no current amount (duty D14).
        foot: the line at the bottom of every page; empty for no line.
    """

    jackpot: Phrase = "Jackpot"
    pending: Phrase = "Pending verification"
    validated: Phrase = "Validated"
    closed: Phrase = "Closed"
    unavailable: Phrase = "Temporarily unavailable"
    foot: Annotated[str, msgspec.Meta(max_length=160)] = ""


class Branding(Config, frozen=True, kw_only=True):
    """Appearance of displays. Each key is optional.

    Attributes:
        title: the text above the meters if a page shows several links.
        ground: the background color, as ``#rrggbb``.
        ink: the color of digits and words.
        accent: the color of signs and lines, and of the band that marks a win.
        logo: the path of an SVG, PNG or WebP file, relative to the floor file.
        rotate: ``fit`` shows all meters at the same time, unless numerals or names would be too
            small to read across the room: then the meters take turns. With ``links`` or ``meters``,
            the links or the meters always take turns.
        rotate_seconds: the duration of each turn.
        celebrate_from: an amount in cents. A smaller win is shown as pending, without a
            celebration.
    """

    title: Annotated[str, msgspec.Meta(min_length=1, max_length=80)] = "Progressive Jackpots"
    ground: str = "#12231b"
    ink: str = "#f4ead2"
    accent: str = "#c9a25a"
    logo: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] | None = None
    rotate: Literal["fit", "links", "meters"] = "fit"
    rotate_seconds: Annotated[int, msgspec.Meta(ge=3, le=600)] = 12
    celebrate_from: Annotated[int, msgspec.Meta(ge=0)] = 0
    wording: BrandingText = BrandingText()


def branding_problems(branding: Branding) -> Iterator[Problem]:
    """Yield what is wrong with the colors; the contrast is checked only if all are colors."""
    for key in ("ground", "ink", "accent"):
        if not _COLOUR.fullmatch(getattr(branding, key)):
            yield ("signage", key), f'{key} is a color in quotes: {key} = "#rrggbb"'
    for key, least in (("ink", READABLE), ("accent", SEEN)):
        found = contrast(getattr(branding, key), branding.ground)
        if found < least:
            # The ratio is rounded down: 4.46 must not be shown as 4.5, which is enough contrast.
            ratio = int(found * 10) / 10
            reason = (
                f"{key} {getattr(branding, key)} cannot be read on ground {branding.ground}:"
                f" their contrast is {ratio} to 1, and must be at least {least}"
            )
            yield ("signage", key), reason


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors, from 1 to 21, as WCAG defines it.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def mixed(one: str, other: str, percent: int) -> str:
    """Return a color mixed with a percentage of another.

    >>> mixed("#000000", "#ffffff", 50)
    '#808080'
    """
    parts = (
        (a * (100 - percent) + b * percent + 50) // 100
        for a, b in zip(_channels(one), _channels(other), strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)


def on(ground: str) -> str:
    """Return black or white; one of them has enough contrast against any background."""
    return max((_BLACK, _WHITE), key=lambda ink: contrast(ink, ground))


def away(ground: str, ink: str, percent: int) -> str:
    """Return a background farther from its text's color, so the contrast does not fall."""
    return mixed(ground, _BLACK if _luminance(ink) > _luminance(ground) else _WHITE, percent)


def readable(colour: str, towards: str, ground: str) -> str:
    """Return `colour`, mixed with just enough of `towards` that small text is readable."""
    steps = (mixed(colour, towards, percent) for percent in range(0, 101, 5))
    return next((one for one in steps if contrast(one, ground) >= READABLE), towards)


def _channels(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def _luminance(colour: str) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in _channels(colour))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@dataclass(frozen=True, slots=True)
class Logo:
    body: bytes
    media_type: str


def read_logo(branding: Branding) -> Logo | None:
    """Return the logo that a branding names, if any.

    Raises:
        UserError: it cannot be read, is too large, or is not an image that pages are allowed to
            show.
    """
    if branding.logo is None:
        return None
    try:
        body = Path(branding.logo).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(f"the logo {branding.logo} cannot be read: {reason}") from None
    if len(body) > LOGO_BYTES_MAX:
        raise UserError(
            f"the logo {branding.logo} has {len(body)} bytes: at most {LOGO_BYTES_MAX} are allowed"
        )
    media_type = _media_type(body)
    if media_type is None:
        raise UserError(f"the logo {branding.logo} is not an SVG, PNG or WebP image")
    if media_type == "image/svg+xml" and (wrong := _active(body)):
        raise UserError(f"the logo {branding.logo} contains {wrong}: only drawings are allowed")
    return Logo(body, media_type)


def _media_type(body: bytes) -> str | None:
    if body.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return "image/webp"
    return "image/svg+xml" if _SVG.match(body) else None


class _ActiveError(Exception):
    pass


def _active(drawing: bytes) -> str | None:
    """Return the part of an SVG that is active or unreadable, if any.

    The SVG is parsed as a browser parses it, which finds an element even if its name has a prefix,
    an entity or a line break.
    """
    reader = expat.ParserCreate()

    def open_element(name: str, attributes: dict[str, str]) -> None:
        if name.rpartition(":")[2].lower() in _ACTIVE:
            raise _ActiveError("a script")
        for key, value in attributes.items():
            acts = key.rpartition(":")[2].lower().startswith("on")
            if acts or "javascript:" in "".join(value.split()).lower():
                raise _ActiveError("a script")

    def declare_entity(*_: object) -> None:
        raise _ActiveError("an entity")

    reader.StartElementHandler = open_element
    reader.EntityDeclHandler = declare_entity
    try:
        reader.Parse(drawing, True)  # noqa: FBT003  (expat's own signature)
    except _ActiveError as found:
        return str(found)
    except (expat.ExpatError, ValueError, LookupError) as error:
        return f"text that is not XML ({error})"
    return None
