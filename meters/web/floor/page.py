"""The floor page: an empty page that scripts fill with data after the user has signed in."""

import msgspec
from litestar import MediaType, get
from litestar.handlers import HTTPRouteHandler

from meters.floor.facility import DEMONSTRATION_MARK, PUBLIC_PIN, demonstration_users
from meters.floor.floor_file import Floor
from meters.http.page_files import Assets, load_template


def floor_page_route(floor: Floor, assets: Assets) -> HTTPRouteHandler:
    """Declare the route of the floor page.

    Everybody can load the empty page: its only data are the titles of wagers and the names of
    links, which the signage shows too.
    """
    page = load_template("meters.web.floor", "page.html").render(
        facility=floor.facility,
        titles=msgspec.json.encode(dict(floor.games.titles)).decode(),
        links=msgspec.json.encode({link.id: link.name for link in floor.link}).decode(),
        version=assets.version,
        mark=DEMONSTRATION_MARK,
        users=demonstration_users(),
        pin=PUBLIC_PIN,
    )

    @get("/floor", media_type=MediaType.HTML, include_in_schema=False, sync_to_thread=False)
    def show_floor_page() -> str:
        return page

    return show_floor_page
