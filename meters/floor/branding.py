"""Theme, logo and texts of the facility's displays."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal
from unicodedata import east_asian_width

import msgspec

from bonus.errors import UserError
from meters.floor.facility import CLOCK, Config, Problem
from meters.floor.media_files import MEDIA_TYPES, active_part, suffix_of

LOGO_BYTES_MAX: Final = 60_000
"""With a logo of this size, a page of signage and its fonts stay below 300 kB."""

Language = Literal["en", "es", "zh-Hans", "vi"]
Phrase = Annotated[str, msgspec.Meta(min_length=1, max_length=60)]
ThemeName = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class BrandingText(Config, frozen=True, kw_only=True):
    """Texts on displays, in the facility's own words.

    Attributes:
        jackpot: above a win while it is celebrated.
        pending: after a win that waits for a floorperson (duty D8).
        validated: after a win that a floorperson has just validated.
        closed: at a meter whose link accepts no wagers.
        unavailable: at a meter without a current amount (duty D14).
        foot: the line at the bottom of every page, for example about responsible gaming. It is
            always shown whole, on one line or two: `pitlink check` refuses a text that does not
            fit.
    """

    jackpot: Phrase = "Jackpot"
    pending: Phrase = "verifying"
    validated: Phrase = "verified"
    closed: Phrase = "Closed"
    unavailable: Phrase = "Temporarily unavailable"
    foot: Annotated[str, msgspec.Meta(max_length=160)] = ""


class Night(Config, frozen=True, kw_only=True):
    """The part of the day in which displays are darker.

    Attributes:
        starts: the local time at which displays become darker, such as ``"02:00"``.
        ends: the local time at which displays get their usual brightness again.
        percent: by how many percent they are darker.
    """

    starts: str
    ends: str
    percent: Annotated[int, msgspec.Meta(ge=10, le=80)] = 40


class Branding(Config, frozen=True, kw_only=True):
    """Appearance of displays. Each key is optional.

    Attributes:
        title: the heading of a page with several links, and of the browser's tab. A page with one
            link has the link's name.
        theme: ``"gold"``, ``"neon"``, ``"classic"``, or the path of a folder with a theme of the
            house, such as ``"./house"``.
        logo: the path of an SVG, PNG or WebP file of at most 60,000 bytes.
        languages: English, Spanish, Simplified Chinese or Vietnamese. Displays show several
            languages one after another, unless the address of the page names one. `wording` is in
            the first language.
        rotate: ``"fit"`` shows all meters together if people can read them at 10 m (33 feet), and
            otherwise one after another. ``"links"`` always shows one link after another, and
            ``"meters"`` always one meter after another.
        rotate_seconds: how long each view, and each language, is shown.
        celebrate_from: an amount in cents. A lower win has a ribbon for 8 seconds. With a win of
            this amount or more, light also falls on its meter. If such a win takes a whole meter,
            or a part of the link's top meter, it instead fills the screen for 20 seconds.
        night: when displays are darker.
        frame_origins: the origins of pages that can show the signage in a frame, such as
            ``"https://player.example"``.
        pays_address: an address on the house's web site with its paytables, such as
            ``"https://casino.example/pays"``, of at most 53 characters. Displays show this address
            as a QR code beside the name of the house.
        wording: the house's own words.
    """

    title: Annotated[str, msgspec.Meta(min_length=1, max_length=80)] = "Progressive Jackpots"
    theme: ThemeName = "gold"
    logo: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] | None = None
    languages: Annotated[tuple[Language, ...], msgspec.Meta(min_length=1)] = ("en",)
    rotate: Literal["fit", "links", "meters"] = "fit"
    rotate_seconds: Annotated[int, msgspec.Meta(ge=3, le=600)] = 12
    celebrate_from: Annotated[int, msgspec.Meta(ge=0)] = 50_000
    night: Night | None = None
    frame_origins: tuple[str, ...] = ()
    pays_address: str | None = None
    wording: BrandingText = BrandingText()


_ORIGIN: Final = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?")

_ADDRESS: Final = re.compile(r"https?://[!-~]+")
_ADDRESS_MAX: Final = 53
"""The most characters of a QR code with 29 by 29 squares.

With more characters, the squares are so small that phones cannot read them.
"""

FOOT_WIDTH_MAX: Final = 96
"""The greatest width of a line at the bottom, in widths of a small letter."""
_ONE_LINE_MAX: Final = 60
_WORD: Final = r"[^\s\u2e80-\U0010ffff]"  # not of a script that is written without spaces
_NUMBER: Final = re.compile(rf"{_WORD}*[0-9]{_WORD}*(?: {_WORD}*[0-9]{_WORD}*)*")
_WHOLE: Final = re.compile(rf"{_NUMBER.pattern}|{_WORD}+")
"""What two lines never divide: a word of letters, or a number with its groups."""


def text_width(text: str) -> float:
    """Return the width of a text on displays, in widths of a small letter."""
    return sum(
        2.6 if east_asian_width(sign) in "WF" else 1.3 if sign.isupper() else 1 for sign in text
    )


def foot_lines(foot: str) -> tuple[str, ...]:
    """Return the text at the bottom as one line, or as two lines of about the same width.

    >>> foot_lines("Must be 21 · 1-800-GAMBLER")
    ('Must be 21 · 1-800-GAMBLER',)
    >>> foot_lines("If you or someone you know has a gambling problem, call 1 800 426 2537.")
    ('If you or someone you know has a', 'gambling problem, call 1 800 426 2537.')
    """
    foot = " ".join(foot.split())
    if text_width(foot) <= _ONE_LINE_MAX:
        return (foot,) if foot else ()
    within = {at for whole in _WHOLE.finditer(foot) for at in range(whole.start() + 1, whole.end())}
    breaks = [at for at in range(1, len(foot)) if at not in within]
    lines = [(foot[:at].strip(), foot[at:].strip()) for at in breaks]
    return min(lines, key=lambda pair: max(map(text_width, pair)), default=(foot,))


def unbroken(line: str) -> str:
    """Return a line without places to break its numbers, for example telephone numbers."""
    return _NUMBER.sub(
        lambda number: (
            number[0].replace("-", "-\N{WORD JOINER}").replace(" ", "\N{NO-BREAK SPACE}")
        ),
        line,
    )


def branding_problems(branding: Branding) -> Iterator[Problem]:
    for key in ("starts", "ends") if branding.night else ():
        if not CLOCK.fullmatch(getattr(branding.night, key)):
            yield ("signage", "night", key), f'{key} is a time of day, such as "02:00"'
    if len(set(branding.languages)) < len(branding.languages):
        yield ("signage", "languages"), "a language is in the list twice"
    lines = foot_lines(branding.wording.foot)
    if any(text_width(line) > FOOT_WIDTH_MAX for line in lines):
        longest = max(lines, key=text_width)
        reason = f"foot does not fit into two lines: {longest!r} is too long for one line"
        yield ("signage", "wording", "foot"), reason
    for at, origin in enumerate(branding.frame_origins):
        if not _ORIGIN.fullmatch(origin):
            reason = (
                f'{origin!r} is no origin: write one such as "https://player.example", without a'
                " path"
            )
            yield ("signage", "frame_origins", at), reason

    address = branding.pays_address
    if address is not None and not _ADDRESS.fullmatch(address):
        reason = (
            "pays_address must be an address that a phone can open, such as"
            ' "https://casino.example/pays"'
        )
        yield ("signage", "pays_address"), reason
    elif address is not None and len(address) > _ADDRESS_MAX:
        reason = (
            f"pays_address has {len(address)} characters: if it has more than {_ADDRESS_MAX},"
            " phones cannot read its QR code on displays"
        )
        yield ("signage", "pays_address"), reason


@dataclass(frozen=True, slots=True)
class Logo:
    body: bytes
    media_type: str


def read_logo(branding: Branding) -> Logo | None:
    """Return the logo that a branding names; None if it names no logo.

    Raises:
        UserError: the logo cannot be read, is too large, or is not an image that pages can show.
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
    suffix = suffix_of(body)
    if suffix not in {".svg", ".png", ".webp"}:
        raise UserError(f"the logo {branding.logo} is not an SVG, PNG or WebP image")
    if suffix == ".svg" and (wrong := active_part(body)):
        raise UserError(f"the logo {branding.logo} contains {wrong}: only drawings are allowed")
    return Logo(body, MEDIA_TYPES[suffix])
