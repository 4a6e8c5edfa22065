"""The facility's look as files: its colours as a style sheet and in the numerals."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec

from meters.floor.branding import Branding, away, mixed, on, readable
from meters.floor.floor_file import Floor
from meters.floor.logo import read_logo
from meters.http.static_files import SHARED, Assets

PAGES: Final = ("meters.web.signage", "meters.web.floor", "meters.web.paytable", SHARED)
"""The packages whose files the pages use."""

_DRAWN: Final = ("numerals.svg", "dollar.svg", "comma.svg", "point.svg")
"""The files that are drawn in the facility's colours."""


def themed(assets: Assets, floor: Floor) -> Assets:
    """The files of the pages in the facility's colours.

    Their version tells also whatever else of the floor file the pages show, so that a display that
    has been open since before a change shows it by itself.

    Raises:
        UserError: the logo cannot be shown.
    """
    look = floor.signage
    logo = read_logo(look)
    bodies = {
        **assets.bodies,
        **{name: _painted(assets.bodies[name], look) for name in _DRAWN},
        "look.css": _sheet(look),
    }
    shown = msgspec.json.encode((floor.facility, look, floor.link))
    digest = hashlib.sha256(
        b"\0".join((assets.version.encode(), shown, *bodies.values(), logo.body if logo else b""))
    )
    return replace(assets, version=digest.hexdigest()[:12], bodies=bodies)


def _painted(drawing: bytes, look: Branding) -> bytes:
    """A drawing with the colours of the look in the place of those that it was drawn in."""
    colours: Mapping[str, str] = {
        "#fffaf0": look.ink,
        "#f3e6c4": mixed(look.ink, look.accent, 14),
        "#d9bd82": mixed(look.ink, look.accent, 50),
        "#c9a25a": look.accent,
    }
    return re.sub(rb"#[0-9a-f]{6}", lambda found: colours[found[0].decode()].encode(), drawing)


def _sheet(look: Branding) -> bytes:
    shade = away(look.ground, look.ink, 52)
    hush = readable(mixed(look.ink, look.ground, 40), look.ink, look.ground)
    dark = on(look.ground) == "#ffffff"
    return f"""\
:root {{
  color-scheme: {"dark" if dark else "light"};
  --ground: {look.ground};
  --shade: {shade};
  --ink: {look.ink};
  --hush: {hush};
  --accent: {look.accent};
  --bright: {readable(look.accent, look.ink, look.ground)};
  --on-accent: {on(look.accent)};
  --rule: {look.accent}57;
  --ray: {look.accent}1f;
}}
""".encode()
