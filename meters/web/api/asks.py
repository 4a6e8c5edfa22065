from collections.abc import Sequence

import msgspec
from litestar import get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody

from meters.claims.correction_requests import Asks
from meters.floor_api.types import AskRow, Words
from meters.users.roles import Right
from meters.web.api.claims import Nothing
from meters.web.errors import StaffRequest, refusals
from meters.web.security import SESSION, needs, staff_act


class AskRefusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Refusal of a dealer's correction request. The dealer can read `reason`."""

    reason: Words


def ask_routes(asks: Asks) -> list[HTTPRouteHandler]:
    @get(
        "/api/v1/asks",
        opt=needs(Right.WAITING), security=SESSION, responses=refusals(401, 403, 503),
    )  # fmt: skip
    async def list_asks() -> Sequence[AskRow]:
        """List the correction requests that wait for a decision, oldest first.

        The dealer asks for a correction to void a round after its cards were entered, to enter a
        hand again with other cards, or to add a wager or take one back before the first card. The
        table waits until a floorperson confirms or refuses the request.
        """
        return await asks.asks()

    @staff_act("/api/v1/asks/{ask:str}/confirm", Right.DECIDE)
    async def confirm_ask(
        ask: FromPath[str], data: JSONBody[Nothing], request: StaffRequest
    ) -> AskRow:
        """Confirm the correction that the floor page showed (duty D17).

        If the dealer changes it, the table makes another request with another id.
        """
        return await asks.decide(ask, "confirm_correction", request.user.name)

    @staff_act("/api/v1/asks/{ask:str}/refuse", Right.DECIDE)
    async def refuse_ask(
        ask: FromPath[str], data: JSONBody[AskRefusal], request: StaffRequest
    ) -> AskRow:
        return await asks.decide(ask, "refuse_correction", request.user.name, reason=data.reason)

    return [list_asks, confirm_ask, refuse_ask]
