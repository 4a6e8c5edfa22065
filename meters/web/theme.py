"""The facility's branding as files: a style sheet, and drawn digits in the facility's colors."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec

from meters.floor.branding import Branding, away, mixed, on, read_logo, readable
from meters.floor.floor_file import Floor
from meters.http.page_files import SHARED, Assets

PAGES: Final = (
    "meters.web.signage", "meters.web.floor", "meters.web.paytable", SHARED,
)  # fmt: skip
"""The Python packages that contain the files of the pages."""

_DRAWN: Final = ("numerals.svg", "dollar.svg", "comma.svg", "point.svg")
"""Drawings whose original colors are replaced by the facility's."""


def themed(assets: Assets, floor: Floor) -> Assets:
    """Return the files of the pages, with drawings and a style sheet in the facility's colors.

    Pages show parts of the floor file. If one of these changes, so does the version of the files,
    with which an open display compares its own: if they differ, it reloads.

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
    shown = msgspec.json.encode(
        (floor.facility, look, floor.link), enc_hook=lambda games: dict(games.digests)
    )
    digest = hashlib.sha256(
        b"\0".join((assets.version.encode(), shown, *bodies.values(), logo.body if logo else b""))
    )
    return replace(assets, version=digest.hexdigest()[:12], bodies=bodies)


def _painted(drawing: bytes, branding: Branding) -> bytes:
    colours: Mapping[str, str] = {
        "#fffaf0": branding.ink,
        "#f3e6c4": mixed(branding.ink, branding.accent, 14),
        "#d9bd82": mixed(branding.ink, branding.accent, 50),
        "#c9a25a": branding.accent,
    }
    return re.sub(rb"#[0-9a-f]{6}", lambda found: colours[found[0].decode()].encode(), drawing)


def _sheet(branding: Branding) -> bytes:
    shade = away(branding.ground, branding.ink, 52)
    hush = readable(mixed(branding.ink, branding.ground, 40), branding.ink, branding.ground)
    dark = on(branding.ground) == "#ffffff"
    return f"""\
:root {{
  color-scheme: {"dark" if dark else "light"};
  --ground: {branding.ground};
  --shade: {shade};
  --ink: {branding.ink};
  --hush: {hush};
  --accent: {branding.accent};
  --bright: {readable(branding.accent, branding.ink, branding.ground)};
  --on-accent: {on(branding.accent)};
  --rule: {branding.accent}57;
  --ray: {branding.accent}1f;
}}
""".encode()
