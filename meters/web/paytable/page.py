"""The pages that show the players at a table what each hand wins (duty D1).

They are signage pages that show a paytable under each meter. `/signage/LINK/pays` has all meters of
a link. `/signage/LINK/pays/TABLE` has only the meters of one table, as its game pays.
"""

import hashlib

import msgspec
from litestar import MediaType, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from meters.displays.display_state import DisplayState
from meters.floor.branding import read_logo
from meters.floor.floor_file import Floor, Link
from meters.http.page_files import Assets
from meters.web.paytable.hand_text import pays_of
from meters.web.signage.page import Signage


def pays_page_routes(
    floor: Floor, displays: DisplayState, assets: Assets
) -> list[HTTPRouteHandler]:
    """Declare the routes of paytables; raise `UserError` if the logo cannot be shown."""
    by_id = {link.id: link for link in floor.link}
    logo = read_logo(floor.signage)

    def find(link: str) -> Link:
        if link not in by_id:
            raise NotFoundException(f"there is no link {link}: there are {', '.join(by_id)}")
        return displays.in_force(by_id[link])

    def page(link: Link, table: str = "") -> str:
        paytables = [
            (meter.meter_id, meter.title, meter.limit, pays_of(meter)) for meter in link.meter
        ]
        digest = hashlib.sha256(msgspec.json.encode(paytables)).hexdigest()[:12]
        signage = Signage(floor, displays, assets.version, logo)
        return signage.page((link,), link.id, terms=f"{assets.version}-{digest}", table=table)

    @get(
        "/signage/{link:str}/pays",
        media_type=MediaType.HTML, include_in_schema=False, sync_to_thread=False,
    )  # fmt: skip
    def show_link(link: FromPath[str]) -> str:
        return page(find(link))

    @get(
        "/signage/{link:str}/pays/{table:str}",
        media_type=MediaType.HTML, include_in_schema=False, sync_to_thread=False,
    )  # fmt: skip
    def show_table(link: FromPath[str], table: FromPath[str]) -> str:
        of = find(link)
        tables = {each.id: each for each in of.table}
        if table not in tables:
            raise NotFoundException(
                f"link {link} has no table {table}: its tables are {', '.join(tables)}"
            )
        meters = tuple(
            msgspec.structs.replace(meter, fed_in=(tables[table].game,))
            for meter in of.meter
            if meter.meter_id in tables[table].meters
        )
        return page(msgspec.structs.replace(of, meter=meters), table)

    return [show_link, show_table]
