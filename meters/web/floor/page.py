"""The floorpersons' page: an empty frame, which its scripts fill for who has signed in."""

from html import escape
from typing import Final

from litestar import MediaType, get
from litestar.handlers import HTTPRouteHandler

from meters.floor.demonstration import MARK, PIN, people_text
from meters.floor.facility import Facility
from meters.floor.floor_file import Floor
from meters.http.static_files import Assets

STYLES: Final = ("house", "floor", "floor_claims", "floor_views")
SCRIPTS: Final = (
    "house", "fingers", "floor_words", "floor_service", "floor_stream", "floor_dialog",
    "floor_sound", "floor_claim", "floor_decide", "floor_asks", "floor_waiting", "floor_wins",
    "floor_changes", "floor_links", "floor_people", "floor_session", "floor",
)  # fmt: skip
"""In the order in which they build on each other."""


def floor_page_route(floor: Floor, assets: Assets) -> HTTPRouteHandler:
    """The page, which needs no sign-in: it holds nothing of what happens on the floor."""
    page = _page(floor.facility, assets.version)

    @get("/floor", media_type=MediaType.HTML, include_in_schema=False, sync_to_thread=False)
    def show_floor_page() -> str:
        return page

    return show_floor_page


def _page(facility: Facility, version: str) -> str:
    assets = f"/assets/{version}"
    return _PAGE.format(
        name=escape(facility.name),
        timezone=escape(facility.timezone),
        assets=assets,
        styles="\n".join(f'<link rel="stylesheet" href="{assets}/{each}.css">' for each in STYLES),
        scripts="\n".join(f'<script src="{assets}/{each}.js" defer></script>' for each in SCRIPTS),
        demonstration=_DEMONSTRATION if facility.demonstration else "",
    )


_DEMONSTRATION: Final = f"""\
<p class="demonstration">{MARK}</p>
<p class="demo-people">Sign in as {people_text()}, each with the PIN <strong>{PIN}</strong>: \
demonstration only.</p>
"""

_PAGE: Final = """\
<!doctype html>
<html lang="en" data-timezone="{timezone}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark">
<meta name="theme-color" content="#14261d">
<title>Floor · {name}</title>
{styles}
<link rel="icon" href="{assets}/dollar.svg" type="image/svg+xml">
{scripts}
</head>
<body>
<header>
{demonstration}<p class="facility">{name}</p>
</header>
<div id="floor"></div>
<noscript><p class="notice bad">This page needs JavaScript.</p></noscript>
</body>
</html>
"""
