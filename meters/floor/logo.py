"""The facility's logo, for pages and for the self-check, which runs without a web server."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.parsers import expat

from bonus.errors import UserError
from meters.floor.branding import Branding

LOGO_BYTES_MAX: Final = 60_000
"""With such a logo, a page of signage stays below 100 kB."""

_SVG: Final = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>|<!--.*?-->|<!DOCTYPE[^>\[]*>|\s)*<svg[\s>]",
    re.DOTALL,
)
_ACTIVE: Final = frozenset({"script", "foreignobject", "iframe", "handler"})
"""Elements that are not allowed in an SVG: they can run scripts or show other pages."""


@dataclass(frozen=True, slots=True)
class Logo:
    body: bytes
    media_type: str


def read_logo(branding: Branding) -> Logo | None:
    """Return the logo that a branding names, if any.

    Raises:
        UserError: the logo cannot be read, is too large, or is not an image that pages are allowed
            to show.
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
    an entity or a line break. A text search would miss it.
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
