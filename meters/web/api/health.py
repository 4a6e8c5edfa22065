from collections.abc import Mapping
from typing import Protocol

import msgspec
from litestar import MediaType, Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec

from bonus.printable import without_addresses
from meters.http.strict_requests import WebRequest
from meters.metrics import Metrics
from meters.web.security import for_anybody


class Health(Protocol):
    def inoperable(self) -> Mapping[str, str]:
        """Return the reason for each inoperable link, by id."""
        ...


class Alive(msgspec.Struct, frozen=True):
    alive: bool


class Readiness(msgspec.Struct, frozen=True):
    """The answer of `/readyz`: `ready` if every link is operable.

    `links` has the reason for each inoperable link, by id, without network addresses, because
    anybody can read it: the log and `pitlink check` have them.
    """

    ready: bool
    links: dict[str, str]


def health_routes(health: Health, metrics: Metrics) -> list[HTTPRouteHandler]:
    @get("/healthz", opt=for_anybody(), sync_to_thread=False)
    def is_alive() -> Alive:
        """Answer that the service's process is alive, whatever the state of the links."""
        return Alive(alive=True)

    @get(
        "/readyz",
        opt=for_anybody(),
        responses={503: ResponseSpec(Readiness, description="A link is inoperable.")},
        sync_to_thread=False,
    )
    def is_ready() -> Response[Readiness]:
        """Return whether every link is operable, and for each inoperable link the reason (D14)."""
        found = health.inoperable()
        reasons = {link: without_addresses(reason) for link, reason in found.items()}
        return Response(
            Readiness(ready=not reasons, links=reasons), status_code=503 if reasons else 200
        )

    @get("/metrics", opt=for_anybody(), media_type=MediaType.TEXT, sync_to_thread=False)
    def show_metrics(request: WebRequest) -> Response[bytes]:
        body, media_type = metrics.exposition(request.headers.get("accept", ""))
        return Response(body, media_type=media_type)

    return [is_alive, is_ready, show_metrics]
