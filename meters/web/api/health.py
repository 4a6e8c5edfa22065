"""Routes for monitoring: probes and Prometheus."""

from collections.abc import Mapping
from typing import Protocol

import msgspec
from litestar import MediaType, Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec

from meters.http.requests import WebRequest
from meters.metrics import Metrics
from meters.web.security import for_anybody


class Health(Protocol):
    """State of the links, for the probes."""

    def inoperable(self) -> Mapping[str, str]:
        """Return the inoperable links, each with its reason; empty if there are none."""
        ...


class Alive(msgspec.Struct, frozen=True):
    """An answer that the process is alive."""

    alive: bool


class Readiness(msgspec.Struct, frozen=True):
    """An answer that says if every link is operable, and the reason for each one that is not."""

    ready: bool
    links: dict[str, str]


def health_routes(health: Health, metrics: Metrics) -> list[HTTPRouteHandler]:
    """Declare the routes for monitoring: probes and Prometheus."""

    @get("/healthz", opt=for_anybody(), sync_to_thread=False)
    def is_alive() -> Alive:
        """Answer that the process is alive; a link may still be inoperable."""
        return Alive(alive=True)

    @get(
        "/readyz",
        opt=for_anybody(),
        responses={503: ResponseSpec(Readiness, description="A link is inoperable.")},
        sync_to_thread=False,
    )
    def is_ready() -> Response[Readiness]:
        """Check if every link is operable (duty D14)."""
        reasons = dict(health.inoperable())
        return Response(
            Readiness(ready=not reasons, links=reasons), status_code=503 if reasons else 200
        )

    @get("/metrics", opt=for_anybody(), media_type=MediaType.TEXT, sync_to_thread=False)
    def show_metrics(request: WebRequest) -> Response[bytes]:
        """Return everything that Prometheus reads."""
        body, media_type = metrics.exposition(request.headers.get("accept", ""))
        return Response(body, media_type=media_type)

    return [is_alive, is_ready, show_metrics]
