from litestar import MediaType, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import JSONBody

from bonus.settling.settle import SettlementText
from meters.displays.display_state import DisplayState
from meters.floor.floor_file import Floor
from meters.http.settle_page import SettlePage, settle_body
from meters.http.strict_requests import WebRequest
from meters.web.errors import refusals
from meters.web.security import NEEDS_PIN, SESSION, for_anybody, for_whoever_signed_in


def settle_routes(floor: Floor, displays: DisplayState, version: str) -> list[HTTPRouteHandler]:
    """Declare two routes: one shows the page, the other settles a round.

    Everybody can load the page, because it contains only terms of the tables and amounts of meters.
    To settle a round, a user must sign in.
    """
    page = SettlePage(floor.facility, version, home="/floor", home_name="Floor page", signs_in=True)

    @get(
        "/settle",
        opt=for_anybody(), media_type=MediaType.HTML, include_in_schema=False,
        sync_to_thread=False,
    )  # fmt: skip
    def show_settle_page() -> str:
        return page.render(
            [
                (link, table)
                for each in floor.link
                for link in [displays.in_force(each)]
                for table in link.table
            ],
            {(row.link, row.meter): row.amount for row in displays.rows()},
        )

    # A lapsed session can settle a round, because nothing changes.
    @post(
        "/api/v1/settlements",
        opt={**for_whoever_signed_in(), NEEDS_PIN: False}, security=SESSION,
        responses=refusals(400, 401, 403, 413, 415, 503), status_code=200,
    )  # fmt: skip
    async def settle(data: JSONBody[dict[str, object]], request: WebRequest) -> SettlementText:
        """Calculate what a round pays, to decide a dispute. Nothing is stored or sent.

        The body is a round in the format of `pitlink settle`, with money in cents. Each line of the
        answer names the subsection of the law that decides it. If the round is not possible, the
        `field` of the error names the wrong field of the round.
        """
        return settle_body(await request.body())

    return [show_settle_page, settle]
