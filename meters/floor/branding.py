"""Colors, logo and texts of the facility's displays, with checks that people can read the texts."""

import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec

READABLE: Final = 4.5
"""Lowest contrast of a text against its background (WCAG 2.2, 1.4.3)."""

SEEN: Final = 3.0
"""Lowest contrast of large text, and of graphics (WCAG 2.2, 1.4.11)."""

_COLOUR: Final = re.compile(r"#[0-9A-Fa-f]{6}")
_BLACK: Final = "#000000"
_WHITE: Final = "#ffffff"

Phrase = Annotated[str, msgspec.Meta(min_length=1, max_length=60)]


class _Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class BrandingText(_Config, frozen=True, kw_only=True):
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


class Branding(_Config, frozen=True, kw_only=True):
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


def branding_problems(branding: Branding) -> Iterator[tuple[tuple[str | int, ...], str]]:
    bad = [
        key for key in ("ground", "ink", "accent") if not _COLOUR.fullmatch(getattr(branding, key))
    ]
    for key in bad:
        yield (key,), f'{key} is a color in quotes: {key} = "#rrggbb"'
    if bad:
        return
    for key, least in (("ink", READABLE), ("accent", SEEN)):
        found = contrast(getattr(branding, key), branding.ground)
        if found < least:
            # The ratio is rounded down: 4.46 must not be shown as 4.5, which is enough contrast.
            ratio = int(found * 10) / 10
            reason = (
                f"{key} {getattr(branding, key)} cannot be read on ground {branding.ground}:"
                f" their contrast is {ratio} to 1, and must be at least {least}"
            )
            yield (key,), reason


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
