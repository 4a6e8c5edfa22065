"""The web application of one table: panel, page to settle a round, and metrics."""

import asyncio
import http
from typing import Final

import msgspec
from litestar import Litestar, MediaType, Response, get, post
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler
from litestar.response import Stream

from bonus.printable import escape_in_json
from bonus.rounds import RoundError
from controllers.agent.agent import Agent
from controllers.agent.agent_metrics import AgentMetrics, metrics_route
from controllers.panel.access import PanelAccess
from controllers.panel.tablets import STREAMS_MAX, PanelEvents, PanelUpdates
from controllers.table.device_events import LINE_BYTES_MAX, encode_answer, name_in
from meters.floor.floor_file import Floor
from meters.http.middleware import ServerSettings
from meters.http.page_files import SHARED, Assets, asset_route, load_template
from meters.http.request_limits import BODY_BYTES_MAX
from meters.http.server import serve_web
from meters.http.settle_page import SettlePage, problems_of, settle_body
from meters.http.strict_requests import WebRequest

_BAD: Final = frozenset(
    {"bad_event", "not_json", "line_too_long", "unprintable_text", "reason_missing"}
)
_PACKAGE: Final = "controllers.panel"


async def serve_panel(
    floor: Floor,
    agent: Agent,
    host: str,
    port: int,
    ready: asyncio.Event,
    *,
    key: str,
    metrics: AgentMetrics,
    demonstration: bool = False,
    settings: ServerSettings | None = None,
) -> None:
    """Serve the panel of one table until canceled. Without `settings`, use plain HTTP.

    Raises:
        UserError: the address or the certificate cannot be used.
    """
    feed, touch = PanelUpdates(agent, demonstration=demonstration), PanelEvents(agent)
    access = PanelAccess(key, agent.layout.table)
    assets = Assets.load((_PACKAGE, SHARED))
    app = Litestar(
        route_handlers=[
            *_panel_routes(feed, touch, access, assets.version, agent.layout.table),
            metrics_route(metrics),
            *_settle_routes(floor, agent, assets.version),
            asset_route(assets),
        ],
        before_request=access.refuse,
        exception_handlers={HTTPException: _on_http_error},
        openapi_config=None,
        request_max_body_size=LINE_BYTES_MAX,
        logging_config=None,
    )
    looking = asyncio.create_task(feed.keep_current(), name="panel feed")
    try:
        await serve_web(app, host, port, ready, feed.close, settings=settings, any_port=False)
    finally:
        touch.close()
        looking.cancel()
        await asyncio.wait({looking})


class PendingAnswer(msgspec.Struct, frozen=True):
    """An accepted event to which the service has not replied yet."""

    event: str | None
    waiting: bool
    message: str


def _panel_routes(
    feed: PanelUpdates, touch: PanelEvents, access: PanelAccess, version: str, table: str
) -> list[HTTPRouteHandler]:
    template = load_template(_PACKAGE, "page.html")
    page = template.render(version=version, table=table)

    @get("/", media_type=MediaType.HTML, sync_to_thread=False)
    def show_panel(request: WebRequest) -> Response[str]:
        key = request.query_params.get("key")
        if key is not None:
            return access.let_in(request, key)
        return Response(page, media_type=MediaType.HTML)

    @get("/api/v1/table", media_type=MediaType.JSON, sync_to_thread=False)
    def show_view() -> Response[bytes]:
        return Response(feed.view, media_type=MediaType.JSON)

    @get("/api/v1/table/stream", sync_to_thread=False)
    def follow_view(request: WebRequest) -> Stream:
        if feed.streams >= STREAMS_MAX:
            message = "too many tablets show this table: close its panel on one of them"
            raise HTTPException(message, status_code=503)
        session = access.session_of(request)
        shown = feed.stream(version, lambda: access.holds(session))
        return Stream(shown, media_type="text/event-stream")

    @post("/api/v1/events", media_type=MediaType.JSON)
    async def take_event(request: WebRequest) -> Response[bytes]:
        line = await request.body()
        answer = await touch.submit(line)
        feed.refresh()
        if answer is None:
            message = "accepted, and waiting for the service: do not press again"
            waiting = PendingAnswer(name_in(line), waiting=True, message=message)
            return _json(msgspec.json.encode(waiting), 202)
        if answer.ok:
            return _json(encode_answer(answer), 200)
        return _json(encode_answer(answer), 400 if answer.code in _BAD else 409)

    return [show_panel, show_view, follow_view, take_event]


def _json(body: bytes, status: int) -> Response[bytes]:
    shown = escape_in_json(body.decode()).encode()
    return Response(shown, status_code=status, media_type=MediaType.JSON)


def _on_http_error(_: WebRequest, error: HTTPException) -> Response[bytes]:
    code = http.HTTPStatus(error.status_code).name.lower()
    body = {"error": {"code": code, "message": error.detail}}
    return _json(msgspec.json.encode(body), error.status_code)


def _settle_routes(floor: Floor, agent: Agent, version: str) -> list[HTTPRouteHandler]:
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

    @post("/api/v1/settlements", media_type=MediaType.JSON, request_max_body_size=BODY_BYTES_MAX)
    async def settle(request: WebRequest) -> Response[bytes]:
        try:
            settlement = settle_body(await request.body(), floor.games)
            body, status = msgspec.json.encode(settlement), 200
        except RoundError as error:
            first, *_ = found = problems_of(error)
            problem = {**msgspec.structs.asdict(first), "all": found}
            body, status = msgspec.json.encode({"error": problem}), 400
        return _json(body, status)

    return [show_settle_page, settle]
