"""The web application of the service, with all its routes, checks and error answers."""

from collections.abc import Callable
from importlib.metadata import version

from litestar import Litestar, Router
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from bonus.settling.rounds import RoundError
from meters.claims.claims import Claims
from meters.claims.correction_requests import Asks
from meters.displays.display_state import DisplayState, TooManyWatchersError
from meters.floor.floor_file import Floor
from meters.floor_api.change_signal import ChangeSignal
from meters.floor_api.errors import ActError
from meters.http.page_files import Assets, asset_route
from meters.http.strict_requests import BODY_BYTES_MAX, check_body, check_query
from meters.links.links import Links
from meters.metrics import Metrics
from meters.users.directory import UserDirectory
from meters.users.errors import UsersError
from meters.users.operators_log import LogSeal
from meters.web.api.asks import ask_routes
from meters.web.api.changes import change_routes
from meters.web.api.claims import claim_routes
from meters.web.api.health import Health, health_routes
from meters.web.api.links import link_routes
from meters.web.api.meters import meter_routes
from meters.web.api.signing import signing_routes
from meters.web.api.users import user_routes
from meters.web.errors import (
    RefusedError,
    on_act_error,
    on_deep_nesting,
    on_defect,
    on_displays_full,
    on_http_error,
    on_refusal,
    on_round_error,
    on_users_error,
)
from meters.web.floor.page import floor_page_route
from meters.web.paytable.page import pays_page_routes
from meters.web.security import COOKIE, for_anybody, gate
from meters.web.settle import settle_routes
from meters.web.signage.page import page_routes
from meters.web.theme import PAGES, themed


def create_app(
    floor: Floor,
    displays: DisplayState,
    *,
    claims: Claims,
    asks: Asks,
    links: Links,
    changes: ChangeSignal,
    user_directory: UserDirectory,
    log_seal: Callable[[], LogSeal],
    health: Health,
    metrics: Metrics,
) -> Litestar:
    """Build the web application; raise `UserError` if the facility's logo cannot be shown."""
    assets = themed(Assets.load(PAGES), floor)
    pages = [
        *page_routes(floor, displays, assets),
        *pays_page_routes(floor, displays, assets),
        floor_page_route(floor, assets),
        asset_route(assets),
    ]
    return Litestar(
        route_handlers=[
            Router("/", route_handlers=pages, opt=for_anybody()),
            *meter_routes(floor, displays, assets.version),
            *claim_routes(floor, claims, user_directory),
            *ask_routes(asks),
            *link_routes(links),
            *user_routes(user_directory, log_seal),
            *signing_routes(floor, user_directory),
            *change_routes(changes, user_directory, displays),
            *health_routes(health, metrics),
            *settle_routes(floor, displays, assets.version),
        ],
        guards=[gate(user_directory), check_body, check_query],
        exception_handlers={
            HTTPException: on_http_error,
            RefusedError: on_refusal,
            RoundError: on_round_error,
            UsersError: on_users_error,
            ActError: on_act_error,
            TooManyWatchersError: on_displays_full,
            RecursionError: on_deep_nesting,
            Exception: on_defect,
        },
        openapi_config=_schema(floor),
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
        openapi_router=Router(
            "/schema", route_handlers=[], opt=for_anybody(), include_in_schema=False
        ),
        # The API description is served only as JSON. The framework's viewers for it are left out,
        # because they load files from other servers.
        render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"])],
        components=Components(security_schemes={"session": session}),
    )
