"""Routes of the page on which a person settles a whole round; nothing is sent."""

from typing import Final

import msgspec
from litestar import MediaType, Response, get, post
from litestar.handlers import HTTPRouteHandler

from bonus.printable import escape_in_json
from bonus.settling.rounds import RoundError
from controllers.agent.agent import Agent
from meters.floor.floor_file import Floor
from meters.http.requests import WebRequest
from meters.settle_page.page import SettlePage, problems_of, settle_body

_BODY_BYTES_MAX: Final = 16_384


def settle_routes(floor: Floor, agent: Agent, version: str) -> list[HTTPRouteHandler]:
    page = SettlePage(floor.facility, version, home="/", home_name="Panel", signs_in=False)
    link_id = agent.layout.link
    found = floor.find_table(agent.layout.table)
    tables = [found] if found else []

    @get("/settle", media_type=MediaType.HTML, sync_to_thread=False)
    def show_settle_page() -> str:
        values = agent.meter_values
        return page.render(
            tables, {(link_id, meter): value.amount for meter, value in values.items()}
        )

    @post("/api/v1/settlements", media_type=MediaType.JSON, request_max_body_size=_BODY_BYTES_MAX)
    async def settle(request: WebRequest) -> Response[bytes]:
        try:
            body, status = msgspec.json.encode(settle_body(await request.body())), 200
        except RoundError as error:
            first, *_ = found = problems_of(error)
            problem = {**msgspec.structs.asdict(first), "all": found}
            body, status = msgspec.json.encode({"error": problem}), 400
        shown = escape_in_json(body.decode()).encode()
        return Response(shown, status_code=status, media_type=MediaType.JSON)

    return [show_settle_page, settle]
