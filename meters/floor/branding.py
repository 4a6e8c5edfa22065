"""Theme, logo and texts of the facility's displays."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal
from xml.parsers import expat

import msgspec

from bonus.errors import UserError
from meters.floor.facility import Config

LOGO_BYTES_MAX: Final = 60_000
"""With such a logo, a page of signage stays below 300 kB with its fonts."""

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
        pending: after a win that waits for a floorperson (duty D8).
        validated: after a win that a floorperson has just validated.
        closed: at a meter whose link accepts no wagers.
        unavailable: at a meter without a current amount (duty D14).
        foot: the line at the bottom of every page; empty for no line.
    """

    jackpot: Phrase = "Jackpot"
    pending: Phrase = "verifying"
    validated: Phrase = "verified"
    closed: Phrase = "Closed"
    unavailable: Phrase = "Temporarily unavailable"
    foot: Annotated[str, msgspec.Meta(max_length=160)] = ""


class Branding(Config, frozen=True, kw_only=True):
    """Appearance of displays. Each key is optional.

    Attributes:
        title: the text above the meters if a page shows several links.
        theme: ``gold``, ``neon`` or ``classic``.
        logo: the path of an SVG, PNG or WebP file, relative to the floor file.
        rotate: ``fit`` shows all meters at the same time, unless numerals or names would be too
            small to read across the room: then the meters take turns. With ``links`` or ``meters``,
            the links or the meters always take turns.
        rotate_seconds: the duration of each turn.
        celebrate_from: an amount in cents. A smaller win is shown as pending, without a
            celebration.
    """

    title: Annotated[str, msgspec.Meta(min_length=1, max_length=80)] = "Progressive Jackpots"
    theme: Literal["gold", "neon", "classic"] = "gold"
    logo: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] | None = None
    rotate: Literal["fit", "links", "meters"] = "fit"
    rotate_seconds: Annotated[int, msgspec.Meta(ge=3, le=600)] = 12
    celebrate_from: Annotated[int, msgspec.Meta(ge=0)] = 0
    wording: BrandingText = BrandingText()


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
