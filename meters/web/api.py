"""The routes for programs: meters, their stream, claims, health and metrics."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from litestar import MediaType, Response, get, post
from litestar.background_tasks import BackgroundTask
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, FromQuery, JSONBody
from litestar.response import Stream

from meters.board import Board, MeterRow
from meters.metrics import Metrics
from meters.web.doors import ClaimDesk, ClaimRow, Health
from meters.web.errors import ErrorBody, WebRequest
from meters.web.security import Guard
from meters.web.stream import EventStream
from meters.wire.floor import Floor

_SIGN_IN: Final[list[dict[str, list[str]]]] = [{"floor_key": []}]
_REFUSALS: Final = {
    401: ResponseSpec(ErrorBody, description="The floor's key is missing or wrong."),
    404: ResponseSpec(ErrorBody, description="There is no such claim."),
    409: ResponseSpec(ErrorBody, description="The claim is in another state."),
}

Actor = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Words = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class _Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who decides."""

    actor: Actor


class Validation(_Decision, frozen=True):
    """A floorperson has verified the win."""


class Rejection(_Decision, frozen=True):
    """A floorperson has found that there is no win, and why."""

    reason: Words


class Payment(_Decision, frozen=True):
    """The patron was paid, against this payout slip."""

    slip: Words


class Alive(msgspec.Struct, frozen=True):
    """The service answers."""

    alive: bool


class Readiness(msgspec.Struct, frozen=True):
    """Whether every link can be played, and for those that cannot: why not."""

    ready: bool
    links: dict[str, str]


def meter_routes(floor: Floor, board: Board, page_version: str) -> list[HTTPRouteHandler]:
    """The meters, as they stand and as they move."""
    links = frozenset(link.id for link in floor.link)

    @get("/api/v1/meters", sync_to_thread=False)
    def list_meters() -> list[MeterRow]:
        """Every meter's current value; money in cents. The reserve is not shown (reading T21)."""
        return board.rows()

    @get("/api/v1/meters/stream", media_type="text/event-stream", sync_to_thread=False)
    def stream_meters(link: FromQuery[str | None] = None) -> Stream:
        """Server-sent events: `meter`, `controller` and `jackpot`, first all that is current.

        With `link`, those of one link. A `controller` event comes every second for each link
        whose controller is alive; where none comes, no meter of that link is current.
        """
        if link is not None and link not in links:
            raise NotFoundException(f"there is no link {link}")
        watch = board.watch(link)
        return Stream(
            EventStream(watch, page_version),
            media_type="text/event-stream",
            # A proxy that gathers events before it passes them on would make every meter stale.
            headers={"X-Accel-Buffering": "no", "Cache-Control": "no-store, no-transform"},
            background=BackgroundTask(board.leave, watch),
        )

    return [list_meters, stream_meters]


def claim_routes(desk: ClaimDesk, guard: Guard) -> list[HTTPRouteHandler]:
    """What waits for a floorperson, and the decisions."""

    @get("/api/v1/claims")
    async def list_claims() -> Sequence[ClaimRow]:
        """The claims that are not yet paid or rejected, oldest first; money in cents."""
        return await desk.waiting()

    @post(
        "/api/v1/claims/{claim:str}/validate",
        guards=[guard], security=_SIGN_IN, responses=_REFUSALS, status_code=200,
    )  # fmt: skip
    async def validate_claim(claim: FromPath[str], data: JSONBody[Validation]) -> ClaimRow:
        """Validate a win (duty D8)."""
        return await desk.decide(claim, "validate", data.actor, None, None)

    @post(
        "/api/v1/claims/{claim:str}/reject",
        guards=[guard], security=_SIGN_IN, responses=_REFUSALS, status_code=200,
    )  # fmt: skip
    async def reject_claim(claim: FromPath[str], data: JSONBody[Rejection]) -> ClaimRow:
        """Reject a win, with the reason; what it took off the meter goes back."""
        return await desk.decide(claim, "reject", data.actor, data.reason, None)

    @post(
        "/api/v1/claims/{claim:str}/pay",
        guards=[guard], security=_SIGN_IN, responses=_REFUSALS, status_code=200,
    )  # fmt: skip
    async def pay_claim(claim: FromPath[str], data: JSONBody[Payment]) -> ClaimRow:
        """Record that a validated win was paid, with the payout slip."""
        return await desk.decide(claim, "pay", data.actor, None, data.slip)

    return [list_claims, validate_claim, reject_claim, pay_claim]


def health_routes(health: Health, metrics: Metrics) -> list[HTTPRouteHandler]:
    """What watches the service: probes and Prometheus."""

    @get("/healthz", sync_to_thread=False)
    def is_alive() -> Alive:
        """The process answers; it may still be unable to serve a link."""
        return Alive(alive=True)

    @get(
        "/readyz",
        responses={503: ResponseSpec(Readiness, description="A link is inoperable.")},
        sync_to_thread=False,
    )
    def is_ready() -> Response[Readiness]:
        """Whether every link is operable (duty D14)."""
        reasons = dict(health.inoperable())
        return Response(
            Readiness(ready=not reasons, links=reasons), status_code=503 if reasons else 200
        )

    @get("/metrics", media_type=MediaType.TEXT, sync_to_thread=False)
    def show_metrics(request: WebRequest) -> Response[bytes]:
        """Everything that Prometheus reads."""
        body, media_type = metrics.exposition(request.headers.get("accept", ""))
        return Response(body, media_type=media_type)

    return [is_alive, is_ready, show_metrics]
