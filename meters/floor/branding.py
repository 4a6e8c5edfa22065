"""The facility's own look on its displays, and whether it can be read from where patrons stand."""

import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec

READABLE: Final = 4.5
"""The least contrast of text with what it stands on (WCAG 2.2, 1.4.3)."""

SEEN: Final = 3.0
"""The least contrast of large signs and of drawn ones (WCAG 2.2, 1.4.11)."""

_COLOUR: Final = re.compile(r"#[0-9A-Fa-f]{6}")
_BLACK: Final = "#000000"
_WHITE: Final = "#ffffff"

Phrase = Annotated[str, msgspec.Meta(min_length=1, max_length=60)]


class _Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all sections share."""


class BrandingText(_Config, frozen=True, kw_only=True):
    """What displays say, in the facility's own words.

    Attributes:
        jackpot: above a hit while it is celebrated.
        pending: above a win that waits for a floorperson (duty D8).
        validated: above a win that a floorperson has just validated.
        closed: beside a meter whose link takes no wagers.
        unavailable: where there is no current number (duty D14).
        foot: the line at the foot of every page; empty for none.
    """

    jackpot: Phrase = "Jackpot"
    pending: Phrase = "Pending verification"
    validated: Phrase = "Validated"
    closed: Phrase = "Closed"
    unavailable: Phrase = "Temporarily unavailable"
    foot: Annotated[str, msgspec.Meta(max_length=160)] = ""


class Branding(_Config, frozen=True, kw_only=True):
    """How displays look; each key may be left out.

    Attributes:
        title: above the meters where a page shows several links.
        ground: what everything stands on, as ``#rrggbb``.
        ink: numerals and words.
        accent: signs, rules and the band of a win.
        logo: the path of an SVG, PNG or WebP file, relative to the floor file.
        rotate: ``fit`` shows everything at once and takes turns only where the numerals would be
            too small to be read across the room; ``links`` and ``meters`` always take turns.
        rotate_seconds: how long each has its turn.
        celebrate_from: in cents; a smaller win is shown as pending without a celebration.
        wording: what displays say.
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
    """What is wrong with a look, each with its key."""
    bad = [
        key for key in ("ground", "ink", "accent") if not _COLOUR.fullmatch(getattr(branding, key))
    ]
    for key in bad:
        yield (key,), f'{key} is a colour in quotes: {key} = "#rrggbb"'
    if bad:
        return
    for key, least in (("ink", READABLE), ("accent", SEEN)):
        found = contrast(getattr(branding, key), branding.ground)
        if found < least:
            # Rounded down: 4.46 must not be told as the 4.5 that it misses.
            ratio = int(found * 10) / 10
            reason = (
                f"{key} {getattr(branding, key)} cannot be read on ground {branding.ground}:"
                f" their contrast is {ratio} to 1, and must be at least {least}"
            )
            yield (key,), reason


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, 1 to 21, as WCAG defines it.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def mixed(one: str, other: str, percent: int) -> str:
    """A colour with so many percent of another in it.

    >>> mixed("#000000", "#ffffff", 50)
    '#808080'
    """
    parts = (
        (a * (100 - percent) + b * percent + 50) // 100
        for a, b in zip(_channels(one), _channels(other), strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)


def on(ground: str) -> str:
    """Black or white, whichever is read better on a colour; one of them always can be."""
    return max((_BLACK, _WHITE), key=lambda ink: contrast(ink, ground))


def away(ground: str, ink: str, percent: int) -> str:
    """A ground that is so many percent farther from its ink, so that nothing on it gets fainter."""
    return mixed(ground, _BLACK if _luminance(ink) > _luminance(ground) else _WHITE, percent)


def readable(colour: str, towards: str, ground: str) -> str:
    """A colour with as much of another as small text in it needs to be read on a ground."""
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
