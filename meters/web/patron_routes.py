"""Routes for further parts of patrons' pages, and for systems that cannot show a page.

A service worker keeps one page in the browser: the message that the service is down. The page has
no amounts. The worker also keeps the files of the page, so even a display that starts while the
service is down shows the message.
"""

import asyncio
import re
from collections.abc import Sequence
from typing import Final, Literal, get_args

import msgspec
from litestar import MediaType, Response, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, FromQuery
from litestar.response import Stream

from bonus.display import money
from meters.floor.branding import Language, Logo, read_logo
from meters.floor.floor_file import Floor, Link
from meters.floor.patron_words import patron_words
from meters.floor.paytable_text import ranks_of
from meters.floor.themes import read_theme
from meters.http.page_files import A_YEAR, Assets, load_template
from meters.http.strict_requests import WebRequest
from meters.users.sign_in_attempts import site
from meters.web.display_state import DisplayState, MeterRow, Watcher
from meters.web.meter_picture import picture
from meters.web.preview import Preview, PreviewDisplay, preview_events
from meters.web.security import client_of
from meters.web.signage import languages_of, sheets_of
from meters.web.streams import event_stream

MESSAGE: Final = "/signage/message.html"
_TEMPLATE: Final = load_template("meters.web", "patron_message.html")
_NAMED: Final = re.compile(rb"url\(\"?([\w.-]+)\"?\)")
_SCRIPTS: Final = ("patron_message.js", "requests.js")
_HEIGHTS: Final = {"small": 90, "medium": 180, "large": 360}


class PatronMessage:
    """The message that the service is down, and the service worker that keeps it.

    A display keeps the message in the languages of the floor file, and in the language of its
    address.
    """

    def __init__(self, floor: Floor, assets: Assets, logo: Logo | None) -> None:
        look, base = floor.signage, f"/assets/{assets.version}/"
        theme = read_theme(look.theme)
        drawing = f"/signage/logo/{assets.version}" if logo is not None else ""
        own = [f"theme_{theme.name}.css"] if theme.sheet else []
        sheets = ("common.css", "tokens.css", f"theme_{theme.base}.css", *own, "signage.css")

        def kept(*names: str) -> list[str]:
            return [base + name for name in (*names, *_named_in(assets, names))]

        def page(languages: Sequence[Language]) -> str:
            return _TEMPLATE.render(
                version=assets.version,
                facility=floor.facility,
                theme=theme.name,
                said=[patron_words(look, language) for language in languages],
                seconds=look.rotate_seconds,
                sheets=[base + name for name in (*sheets, *sheets_of(languages))],
                logo=drawing,
            )

        fixed: dict[str, tuple[Language, ...]] = {each: (each,) for each in get_args(Language)}
        choices = {"": look.languages, **fixed}
        self.pages = {name: page(languages) for name, languages in choices.items()}
        head = {
            "VERSION": assets.version,
            "PAGE": MESSAGE,
            "FILES": [*kept(*sheets, *_SCRIPTS), *([drawing] if drawing else [])],
            "OWN_FILES": {name: kept(*sheets_of(languages)) for name, languages in choices.items()},
        }
        lines = [
            f"const {name} = {msgspec.json.encode(value).decode()};\n"
            for name, value in head.items()
        ]
        self.worker = "".join(lines).encode() + assets.bodies["patron_worker.js"]


def _named_in(assets: Assets, sheets: Sequence[str]) -> list[str]:
    found = (name.decode() for sheet in sheets for name in _NAMED.findall(assets.bodies[sheet]))
    return [name for name in dict.fromkeys(found) if name in assets.bodies]


def patron_routes(floor: Floor, displays: DisplayState, assets: Assets) -> list[HTTPRouteHandler]:
    """Declare the routes, or raise `UserError` if the logo cannot be shown."""
    return [
        *_message_routes(floor, assets),
        *_meter_routes(floor, displays),
        _preview_route(floor, displays, assets.version),
    ]


def _message_routes(floor: Floor, assets: Assets) -> list[HTTPRouteHandler]:
    logo = read_logo(floor.signage)
    message = PatronMessage(floor, assets, logo)

    @get(MESSAGE, media_type=MediaType.HTML)
    async def show_message(lang: FromQuery[str | None] = None) -> str:
        languages_of(floor.signage, lang)
        return message.pages[lang or ""]

    @get("/signage/worker.js")
    async def send_worker() -> Response[bytes]:
        # Without this header, the worker could serve only /signage/..., and not /signage
        # itself.
        headers = {"Service-Worker-Allowed": "/signage"}
        return Response(
            message.worker, media_type="text/javascript; charset=utf-8", headers=headers
        )

    @get("/signage/logo/{version:str}")
    async def send_logo(version: FromPath[str]) -> Response[bytes]:
        if logo is None or version != assets.version:
            raise NotFoundException("there is no such file")
        return Response(logo.body, media_type=logo.media_type, headers={"Cache-Control": A_YEAR})

    return [show_message, send_worker, send_logo]


class ShownMeter(msgspec.Struct, frozen=True, kw_only=True):
    """A meter or fixed jackpot for other systems.

    `amount` is in cents; null if no current amount is known. `text` is the amount as patrons read
    it; empty if no amount is known.
    """

    link: str
    meter: str
    name: str
    state: Literal["live", "closed", "unavailable"]
    amount: int | None
    text: str
    at: str


def _find(floor: Floor, displays: DisplayState, link: str) -> Link:
    by_id = {each.id: each for each in floor.link}
    if link not in by_id:
        raise NotFoundException(f"there is no link {link}: the links are {', '.join(by_id)}")
    return displays.in_force(by_id[link])


def _preview_route(floor: Floor, displays: DisplayState, page_version: str) -> HTTPRouteHandler:
    @get("/signage/{link:str}/preview/{preview:str}")
    async def stream_preview(
        request: WebRequest, link: FromPath[str], preview: FromPath[Preview]
    ) -> Stream:
        shown = PreviewDisplay(_find(floor, displays, link), preview, floor.signage.celebrate_from)
        # A preview takes one of the places for displays, so it counts for their limits.
        place = displays.follow("", Watcher(site(client_of(request))))
        return event_stream(preview_events(shown, page_version, place), displays, place)

    return stream_preview


def _meter_routes(floor: Floor, displays: DisplayState) -> list[HTTPRouteHandler]:
    origins = floor.signage.frame_origins

    def allowed(request: WebRequest) -> dict[str, str]:
        """Return headers with which pages of the floor file's origins can read an answer."""
        if not origins:
            return {}
        headers = {"Cross-Origin-Resource-Policy": "cross-origin", "Vary": "Origin"}
        origin = request.headers.get("origin", "")
        return headers | ({"Access-Control-Allow-Origin": origin} if origin in origins else {})

    def shown(link: str, meter: str | None) -> ShownMeter:
        return _shown(displays, _find(floor, displays, link), meter)

    @get("/signage/{link:str}/meter.json")
    async def show_meter(
        request: WebRequest, link: FromPath[str], meter: FromQuery[str | None] = None
    ) -> Response[ShownMeter]:
        return Response(shown(link, meter), headers=allowed(request))

    @get("/signage/{link:str}/meter.png")
    async def draw_meter(
        request: WebRequest,
        link: FromPath[str],
        meter: FromQuery[str | None] = None,
        size: FromQuery[Literal["small", "medium", "large"]] = "medium",
    ) -> Response[bytes]:
        found = shown(link, meter)
        closed = found.state == "closed"
        body = await asyncio.to_thread(picture, found.amount, _HEIGHTS[size], closed=closed)
        return Response(body, media_type="image/png", headers=allowed(request))

    return [show_meter, draw_meter]


def _shown(displays: DisplayState, link: Link, meter: str | None) -> ShownMeter:
    titles = {each.meter_id: each.title for each in link.meter}
    fixed = {each.id: each for each in link.fixed_jackpots}
    titles |= {each.id: each.name for each in fixed.values()}
    wanted = meter if meter is not None else next(iter(ranks_of(link.meter)), "")
    if wanted not in titles:
        raise NotFoundException(
            f"link {link.id} has no meter {wanted}: its meters are {', '.join(titles)}"
        )
    # A fixed jackpot has the state of its meter.
    meter_id = fixed[wanted].meter.meter_id if wanted in fixed else wanted
    row = next((row for row in displays.rows(link.id) if row.meter == meter_id), None)
    state = _state(displays, row)
    amount = None
    if row is not None and state != "unavailable":
        amount = fixed[wanted].amount_cents if wanted in fixed else row.amount
    return ShownMeter(
        link=link.id,
        meter=wanted,
        name=titles[wanted],
        state=state,
        amount=amount,
        text="" if amount is None else money(amount),
        at="" if row is None else row.at,
    )


def _state(
    displays: DisplayState, row: MeterRow | None
) -> Literal["live", "closed", "unavailable"]:
    links = {beat.link: beat.state for beat in displays.links()}
    states = {links.get(row.link, "inoperable"), row.state} if row is not None else {"inoperable"}
    if "inoperable" in states:
        return "unavailable"
    return "closed" if "closed" in states else "live"
