"""The pages of the staff, and the static files of all pages."""

import hashlib
from dataclasses import replace
from typing import Final

import msgspec
from litestar import MediaType, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import JSONBody

from bonus.rounds import SettlementText
from meters.floor.branding import read_logo
from meters.floor.facility import DEMONSTRATION_MARK, PUBLIC_PIN, demonstration_users
from meters.floor.floor_file import Floor
from meters.floor.themes import themes_of
from meters.http.page_files import SHARED, Assets, load_template
from meters.http.settle_page import SettlePage, settle_body
from meters.http.strict_requests import WebRequest
from meters.web.display_state import DisplayState
from meters.web.error_answers import refusals
from meters.web.security import FOR_ANYBODY, FOR_SIGNED_IN, NEEDS_PIN, SESSION

_PACKAGE: Final = "meters.web"


def load_assets(floor: Floor) -> Assets:
    """Return the static files of the pages, or raise `UserError` if a logo or theme is wrong.

    The version of the files covers the parts of the floor file that pages show. If a part changes,
    an open display reloads.
    """
    assets = Assets.load((_PACKAGE, SHARED))
    look = floor.signage
    logo = read_logo(look)
    bodies = dict(assets.bodies)
    for theme in themes_of(look.theme, (link.theme for link in floor.link)).values():
        if theme.files is not None:
            bodies |= theme.files
            bodies[f"theme_{theme.name}.css"] = theme.sheet.encode()
    shown = msgspec.json.encode(
        (floor.facility, look, floor.link), enc_hook=lambda games: dict(games.digests)
    )
    digest = hashlib.sha256(
        b"\0".join((assets.version.encode(), shown, logo.body if logo else b""))
    )
    return replace(assets, version=digest.hexdigest()[:12], bodies=bodies)


def floor_page_route(floor: Floor, version: str) -> HTTPRouteHandler:
    """Declare the route of the floor page, whose scripts get the data after a sign-in.

    Everybody can load the page. It has titles of wagers and names of links, as signage has.
    """
    page = load_template(_PACKAGE, "floor_page.html").render(
        facility=floor.facility,
        titles=msgspec.json.encode(dict(floor.games.titles)).decode(),
        short=msgspec.json.encode(_short_names(floor)).decode(),
        links=msgspec.json.encode({link.id: link.name for link in floor.link}).decode(),
        version=version,
        mark=DEMONSTRATION_MARK,
        users=demonstration_users(),
        pin=PUBLIC_PIN,
    )

    @get("/floor", media_type=MediaType.HTML)
    async def show_floor_page() -> str:
        return page

    return show_floor_page


def _short_names(floor: Floor) -> dict[str, str]:
    return {
        name: short
        for game in floor.games.values()
        for wager in game.wager
        for name, short in zip(wager.names, wager.short, strict=False)
    }


def settle_routes(floor: Floor, displays: DisplayState, version: str) -> list[HTTPRouteHandler]:
    """Declare the page, which everybody can open, and the call, for which a user must sign in."""
    page = SettlePage(floor.facility, version, home="/floor", home_name="Floor page", signs_in=True)

    @get("/settle", opt=FOR_ANYBODY, media_type=MediaType.HTML, include_in_schema=False)
    async def show_settle_page() -> str:
        return page.render(
            [
                (link, table)
                for each in floor.link
                for link in [displays.in_force(each)]
                for table in link.table
            ],
            {(row.link, row.meter): row.amount for row in displays.rows()},
        )

    # A user whose session has lapsed can settle a round, because nothing changes.
    @post(
        "/api/v1/settlements",
        opt={**FOR_SIGNED_IN, NEEDS_PIN: False},
        security=SESSION,
        responses=refusals(400, 401, 403, 413, 415, 503),
        status_code=200,
    )
    async def settle(data: JSONBody[dict[str, object]], request: WebRequest) -> SettlementText:
        """Calculate what a round pays, to decide a dispute. Nothing is stored or sent.

        The body is a round in the format of `pitlink settle`, with money in cents. Each line of the
        answer names the subsection of the law that decides the line. If the round is not possible,
        `field` of the error names the wrong field of the round.
        """
        return settle_body(await request.body(), floor.games)

    return [show_settle_page, settle]
