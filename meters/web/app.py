"""The web application, put together from its routes."""

from importlib.metadata import version
from typing import Final

from litestar import Litestar
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from meters.board import Board, BoardFullError
from meters.metrics import Metrics
from meters.web.api import claim_routes, health_routes, meter_routes
from meters.web.doors import ClaimDesk, ClaimError, Health
from meters.web.errors import on_claim_error, on_defect, on_full_board, on_http_error
from meters.web.pages import page_routes
from meters.web.security import floor_guard
from meters.wire.floor import Floor
from meters.wire.pages.files import SHARED, Assets, asset_route
from meters.wire.pages.headers import add_security_headers

_BODY_BYTES_MAX: Final = 16_384


def create_app(
    floor: Floor,
    board: Board,
    desk: ClaimDesk,
    health: Health,
    metrics: Metrics,
    *,
    floor_key: str,
) -> Litestar:
    """The application that serves one floor.

    Args:
        floor: the facility, its links and meters.
        board: what displays show.
        desk: where claims are decided.
        health: whether the links can be played.
        metrics: what Prometheus reads.
        floor_key: the secret that lets its bearer decide claims.

    Raises:
        ValueError: the floor key is empty.
    """
    assets = Assets.load(("meters.web", SHARED))
    return Litestar(
        route_handlers=[
            *page_routes(floor, board, assets),
            asset_route(assets),
            *meter_routes(floor, board, assets.version),
            *claim_routes(desk, floor_guard(floor_key)),
            *health_routes(health, metrics),
        ],
        before_send=[add_security_headers],
        exception_handlers={
            HTTPException: on_http_error,
            ClaimError: on_claim_error,
            BoardFullError: on_full_board,
            Exception: on_defect,
        },
        openapi_config=_schema(floor),
        request_max_body_size=_BODY_BYTES_MAX,
        logging_config=None,
    )


def _schema(floor: Floor) -> OpenAPIConfig:
    return OpenAPIConfig(
        title=f"pitlink at {floor.facility.name}",
        version=version("pitlink"),
        path="/schema",
        # The document itself, for any viewer: the viewers that come along fetch from elsewhere.
        render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"])],
        components=Components(
            security_schemes={
                "floor_key": SecurityScheme(
                    type="http", scheme="bearer", description="The floor's key."
                )
            }
        ),
    )
