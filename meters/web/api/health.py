"""What watches the service: probes and Prometheus."""

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
    """Whether the links can be played."""

    def inoperable(self) -> Mapping[str, str]:
        """The links that cannot be played, each with its reason; empty when all is well."""
        ...


class Alive(msgspec.Struct, frozen=True):
    """The service answers."""

    alive: bool


class Readiness(msgspec.Struct, frozen=True):
    """Whether every link can be played, and for those that cannot: why not."""

    ready: bool
    links: dict[str, str]


def health_routes(health: Health, metrics: Metrics) -> list[HTTPRouteHandler]:
    """What watches the service: probes and Prometheus."""

    @get("/healthz", opt=for_anybody(), sync_to_thread=False)
    def is_alive() -> Alive:
        """The process answers; it may still be unable to serve a link."""
        return Alive(alive=True)

    @get(
        "/readyz",
        opt=for_anybody(),
        responses={503: ResponseSpec(Readiness, description="A link is inoperable.")},
        sync_to_thread=False,
    )
    def is_ready() -> Response[Readiness]:
        """Whether every link is operable (duty D14)."""
        reasons = dict(health.inoperable())
        return Response(
            Readiness(ready=not reasons, links=reasons), status_code=503 if reasons else 200
        )

    @get("/metrics", opt=for_anybody(), media_type=MediaType.TEXT, sync_to_thread=False)
    def show_metrics(request: WebRequest) -> Response[bytes]:
        """Everything that Prometheus reads."""
        body, media_type = metrics.exposition(request.headers.get("accept", ""))
        return Response(body, media_type=media_type)

    return [is_alive, is_ready, show_metrics]
