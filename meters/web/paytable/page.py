"""The page at a table that tells players what each hand wins (duty D1)."""

import hashlib
from collections.abc import Sequence
from html import escape
from typing import Final

from litestar import MediaType, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from bonus.display import wager_text
from meters.displays.display_state import DisplayState
from meters.floor.facility import Facility
from meters.floor.floor_file import Floor, Link, Meter
from meters.http.static_files import Assets
from meters.web.paytable.hand_text import Pay, pays_of
from meters.web.signage.markup import DEMONSTRATION

_PAGE: Final = """\
<!doctype html>
<html lang="en" data-terms="{terms}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What each hand wins · {name} · {facility}</title>
<link rel="stylesheet" href="/assets/{version}/look.css">
<link rel="stylesheet" href="/assets/{version}/signage.css">
<link rel="stylesheet" href="/assets/{version}/pays.css">
<link rel="icon" href="/assets/{version}/dollar.svg" type="image/svg+xml">
<script src="/assets/{version}/pays.js" type="module"></script>
</head>
<body>
{demonstration}<header class="mast">
<p class="facility">{facility}</p>
<h1>{name}</h1>
</header>
<main class="pays">
{meters}
</main>
</body>
</html>
"""
_METER: Final = """\
<section data-meter="{meter}">
<h2>{title} <span class="wager">{wager}</span></h2>
<table>
<thead><tr><th scope="col">Hand</th><th scope="col">Wins</th>{envy}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</section>"""
_ENVY: Final = '<th scope="col">Envy Bonus to each other player who made the wager</th>'


def pays_page_route(floor: Floor, board: DisplayState, assets: Assets) -> HTTPRouteHandler:
    """Serve the page of each link."""
    by_id = {link.id: link for link in floor.link}

    @get(
        "/signage/{link:str}/pays",
        media_type=MediaType.HTML, include_in_schema=False, sync_to_thread=False,
    )  # fmt: skip
    def show_pays(link: FromPath[str]) -> str:
        if link not in by_id:
            raise NotFoundException(f"there is no link {link}: there are {', '.join(by_id)}")
        return _page(floor.facility, board.in_force(by_id[link]), assets.version)

    return show_pays


def _page(facility: Facility, link: Link, version: str) -> str:
    meters = "\n".join(_meter(meter) for meter in link.meter)
    return _PAGE.format(
        version=version, facility=escape(facility.name), name=escape(link.name),
        demonstration=DEMONSTRATION if facility.demonstration else "",
        meters=meters or '<p class="nothing">No progressive is offered here.</p>',
        terms=f"{version}-{hashlib.sha256(meters.encode()).hexdigest()[:12]}",
    )  # fmt: skip


def _meter(meter: Meter) -> str:
    pays = list(pays_of(meter))
    envy = any(pay.envy for pay in pays)
    return _METER.format(
        meter=escape(meter.meter_id), title=escape(meter.title),
        wager=escape(wager_text(meter.wager)), envy=_ENVY if envy else "",
        rows=_rows(pays, envy=envy),
    )  # fmt: skip


def _rows(pays: Sequence[Pay], *, envy: bool) -> str:
    return "\n".join(
        f'<tr><th scope="row">{escape(pay.hand)}</th><td>{escape(pay.wins)}</td>'
        + (f"<td>{escape(pay.envy)}</td>" if envy else "")
        + "</tr>"
        for pay in pays
    )
