"""The page that shows players what each hand wins (duty D1)."""

import hashlib
from dataclasses import dataclass

import msgspec
from litestar import MediaType, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from bonus.display import wager_text
from meters.displays.display_state import DisplayState
from meters.floor.demonstration import MARK
from meters.floor.floor_file import Floor, Link, Meter
from meters.http.static_files import Assets
from meters.http.templates import load_template
from meters.web.paytable.hand_text import Pay, pays_of


@dataclass(frozen=True, slots=True)
class _Paytable:
    meter_id: str
    title: str
    wager: str
    pays: tuple[Pay, ...]
    has_envy: bool


def pays_page_route(floor: Floor, displays: DisplayState, assets: Assets) -> HTTPRouteHandler:
    """Declare the route of the page that shows the paytables of a link."""
    by_id = {link.id: link for link in floor.link}
    template = load_template("meters.web.paytable", "page.html")

    def page(link: Link) -> str:
        paytables = [_paytable(meter) for meter in link.meter]
        digest = hashlib.sha256(msgspec.json.encode(paytables)).hexdigest()[:12]
        return template.render(
            facility=floor.facility,
            link=link,
            paytables=paytables,
            version=assets.version,
            terms=f"{assets.version}-{digest}",
            mark=MARK,
        )

    @get(
        "/signage/{link:str}/pays",
        media_type=MediaType.HTML, include_in_schema=False, sync_to_thread=False,
    )  # fmt: skip
    def show_pays(link: FromPath[str]) -> str:
        if link not in by_id:
            raise NotFoundException(f"there is no link {link}: there are {', '.join(by_id)}")
        return page(displays.in_force(by_id[link]))

    return show_pays


def _paytable(meter: Meter) -> _Paytable:
    pays = tuple(pays_of(meter))
    return _Paytable(
        meter.meter_id, meter.title, wager_text(meter.wager), pays, any(pay.envy for pay in pays)
    )
