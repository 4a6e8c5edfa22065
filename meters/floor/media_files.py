"""Kinds of files that a house can use on its displays. A file's contents show its kind."""

import re
from collections.abc import Mapping
from typing import Final
from xml.parsers import expat

MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".jpg": "image/jpeg",
    ".webm": "video/webm",
    ".mp4": "video/mp4",
    ".woff2": "font/woff2",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
}

_BEGINNINGS: Final[Mapping[bytes, str]] = {
    b"\x89PNG\r\n\x1a\n": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"\x1a\x45\xdf\xa3": ".webm",
    b"wOF2": ".woff2",
    b"ID3": ".mp3",
    b"\xff\xfb": ".mp3",
    b"OggS": ".ogg",
}
_SVG: Final = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>|<!--.*?-->|<!DOCTYPE[^>\[]*>|\s)*<svg[\s>]",
    re.DOTALL,
)
_ACTIVE: Final = frozenset({"script", "foreignobject", "iframe", "handler"})
"""Elements that an SVG must not have, because they can run scripts or show other pages."""


def suffix_of(body: bytes) -> str | None:
    """Return the suffix for a file's kind; None if pages cannot show this kind."""
    for beginning, suffix in _BEGINNINGS.items():
        if body.startswith(beginning):
            return suffix
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return ".webp"
    if body[4:8] == b"ftyp":
        return ".mp4"
    return ".svg" if _SVG.match(body) else None


class _ActiveError(Exception):
    pass


def active_part(drawing: bytes) -> str | None:
    """Return which part of an SVG is active or unreadable; None if no part is.

    The SVG is parsed as browsers parse it. So an element is found even if its name has a prefix, an
    entity or a line break.
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
