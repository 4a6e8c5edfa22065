from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version

import msgspec
from litestar import Litestar, MediaType, Response, Router, get
from litestar.config.compression import CompressionConfig
from litestar.handlers import HTTPRouteHandler
from litestar.middleware import DefineMiddleware
from litestar.middleware.compression import CompressionMiddleware
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from bonus.printable import without_addresses
from meters.acts.claims import Claims
from meters.acts.correction_decisions import Asks
from meters.acts.floor_history import FloorHistory
from meters.acts.links import Links
from meters.floor.floor_file import Floor
from meters.http.page_files import asset_route
from meters.http.request_limits import BODY_BYTES_MAX
from meters.http.strict_requests import WebRequest, check_body, check_query
from meters.reports.floor_reports import FloorReports
from meters.users.operators_log import LogSeal
from meters.users.users import UserDirectory
from meters.web.claim_routes import ask_routes, claim_routes
from meters.web.described_types import DescribedTypes
from meters.web.display_state import DisplayState
from meters.web.documents import document_routes
from meters.web.error_answers import ERROR_ANSWERS, answer
from meters.web.history_routes import history_routes
from meters.web.link_routes import link_routes
from meters.web.patron_routes import patron_routes
from meters.web.report_routes import report_routes
from meters.web.security import COOKIE, FOR_ANYBODY, gate
from meters.web.signage import signage_routes
from meters.web.staff_pages import floor_page_route, load_assets, settle_routes
from meters.web.streams import ChangeSignal, change_routes, meter_routes
from meters.web.table_states import TableStates
from meters.web.user_routes import sign_in_routes, user_routes


class Alive(msgspec.Struct, frozen=True):
    """The answer of `/healthz`.

    Attributes:
        alive: always true.
    """

    alive: bool


class Readiness(msgspec.Struct, frozen=True):
    """The answer of `/readyz`.

    Attributes:
        ready: true if every link is operable.
        links: for each inoperable link, by its id, the reason. Network addresses are left out,
            because anybody can read this answer: find them in the log and with `pitlink check`.
    """

    ready: bool
    links: dict[str, str]


def create_app(
    floor: Floor,
    displays: DisplayState,
    *,
    claims: Claims,
    asks: Asks,
    links: Links,
    history: FloorHistory,
    reports: FloorReports,
    tables: TableStates,
    changes: ChangeSignal,
    user_directory: UserDirectory,
    log_seal: Callable[[], LogSeal],
    inoperable: Callable[[], Mapping[str, str]],
    exposition: Callable[[str], tuple[bytes, str]],
) -> Litestar:
    """Build the web application.

    `inoperable` returns the reason for each inoperable link, by its id. `exposition` returns the
    metrics in a format that the client accepts.
    """
    assets = load_assets(floor)
    # Two kinds of answers are never compressed: those that have a secret beside text that a
    # stranger can write (BREACH); and streams, because a compressed event could wait for the next.
    packed = DefineMiddleware(CompressionMiddleware, config=CompressionConfig("gzip"))
    pages = [
        *signage_routes(floor, displays, assets.version),
        floor_page_route(floor, assets.version),
    ]
    files = [*patron_routes(floor, displays, assets), asset_route(assets), *document_routes()]
    described: dict[str, Sequence[HTTPRouteHandler]] = {
        "Meters": meter_routes(floor, displays, assets.version),
        "Sign-in": sign_in_routes(floor, user_directory),
        "Wins": claim_routes(floor, claims, user_directory),
        "Correction requests": ask_routes(asks),
        "Links": link_routes(links, user_directory),
        "History": history_routes(floor, history, tables, displays),
        "Reports": report_routes(reports),
        "Users and their log": user_routes(user_directory, log_seal),
        "Changes": change_routes(changes, tables.changed, user_directory, displays),
        "Health": health_routes(inoperable, exposition),
        "Disputes": settle_routes(floor, displays, assets.version),
    }
    return Litestar(
        route_handlers=[
            Router(
                "/",
                route_handlers=pages,
                opt=FOR_ANYBODY,
                include_in_schema=False,
                middleware=[packed],
            ),
            Router("/", route_handlers=files, opt=FOR_ANYBODY, include_in_schema=False),
            *(Router("/", route_handlers=each, tags=[tag]) for tag, each in described.items()),
        ],
        guards=[gate(user_directory), check_body, check_query],
        exception_handlers=ERROR_ANSWERS,
        openapi_config=_schema(floor),
        plugins=[DescribedTypes()],
        request_max_body_size=BODY_BYTES_MAX,
        logging_config=None,
    )


def _schema(floor: Floor) -> OpenAPIConfig:
    session = SecurityScheme(
        type="apiKey", name=COOKIE, security_scheme_in="cookie", description="A session."
    )
    return OpenAPIConfig(
        title=f"pitlink at {floor.facility.name}",
        version=version("pitlink"),
        use_handler_docstrings=True,
        openapi_router=Router(
            "/schema", route_handlers=[], opt=FOR_ANYBODY, include_in_schema=False
        ),
        # The API description is served only as JSON. The framework's viewers for it are left out,
        # because they load files from other servers.
        render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"])],
        components=Components(security_schemes={"session": session}),
    )


def health_routes(
    inoperable: Callable[[], Mapping[str, str]], exposition: Callable[[str], tuple[bytes, str]]
) -> list[HTTPRouteHandler]:
    @get("/healthz", opt=FOR_ANYBODY)
    async def is_alive() -> Alive:
        """Answer that the service's process is alive. The state of the links does not matter."""
        return Alive(alive=True)

    @get("/readyz", opt=FOR_ANYBODY, responses={503: answer(Readiness, "A link is inoperable.")})
    async def is_ready() -> Response[Readiness]:
        """Return whether every link is operable, and the reason for each inoperable link (D14)."""
        found = inoperable()
        reasons = {link: without_addresses(reason) for link, reason in found.items()}
        return Response(
            Readiness(ready=not reasons, links=reasons), status_code=503 if reasons else 200
        )

    @get("/metrics", opt=FOR_ANYBODY, media_type=MediaType.TEXT)
    async def show_metrics(request: WebRequest) -> Response[bytes]:
        """Return the metrics for Prometheus, with the reserves.

        If the floor file has a `metrics_token`, only programs that send the token may read the
        metrics. If not, only programs on the same machine may read them.
        """
        body, media_type = exposition(request.headers.get("accept", ""))
        return Response(body, media_type=media_type)

    return [is_alive, is_ready, show_metrics]
