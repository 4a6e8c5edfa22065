"""Routes for claims (records of wins) and for dealers' correction requests."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Final

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import JSONBody, QueryParameter

from meters.acts.claim_types import (
    ENTRIES_MAX,
    AskRow,
    ClaimRow,
    ClaimState,
    WinPage,
    WinSearch,
    Words,
)
from meters.acts.claims import Claims
from meters.acts.correction_decisions import Asks
from meters.floor.floor_file import Floor
from meters.floor.roles import Right
from meters.http.strict_requests import WebRequest
from meters.users.sessions import SignedIn
from meters.users.users import UserDirectory
from meters.web.error_answers import StaffRequest, refusals
from meters.web.payout_slip import slip_pdf
from meters.web.route_parameters import (
    AskedLink,
    AskedMeter,
    AskedSince,
    AskedTable,
    AskedUntil,
    AskedWords,
    AskId,
    ClaimId,
    MeterAwards,
    NextWins,
    PageSize,
)
from meters.web.security import (
    FOR_ANYBODY,
    NEEDS_PIN,
    Nothing,
    Signature,
    client_of,
    needs,
    person_of,
    session_of,
    signer_of,
    staff_act,
    staff_read,
    with_bar,
)

_READS: Final = (400, 401, 403, 404, 503)


class Rejection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The body of a request that rejects a win.

    Attributes:
        envy_not_due: true to reject the hand's Envy Bonuses too.
    """

    reason: Words
    envy_not_due: bool = False


class Payment(Signature, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The body of a request that records a payment.

    Attributes:
        envy_paid: true if the hand's Envy Bonuses were paid too.
    """

    slip: Words
    envy_paid: bool = False


class Reopening(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Request to reopen a rejected win."""

    reason: Words


class Confirmation(Signature, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Confirmation of another person's request about a win.

    Attributes:
        request: the `entry` of the request.
    """

    request: Annotated[int, msgspec.Meta(ge=1, le=ENTRIES_MAX)]


class RequestWithdrawal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Withdrawal of a request about a win.

    Attributes:
        request: the `entry` of the request.
    """

    request: Annotated[int, msgspec.Meta(ge=1, le=ENTRIES_MAX)]


class SlipCorrection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Correction of a payout slip's number.

    Attributes:
        replaces: the wrong number, as the claim has it.
    """

    slip: Words
    replaces: Words
    reason: Words


class AskRefusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Refusal of a dealer's correction request. The dealer can read `reason`."""

    reason: Words


class EnvyRejection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Declaration that the Envy Bonuses of a hand are not due."""

    reason: Words


def claim_routes(
    floor: Floor, claims: Claims, user_directory: UserDirectory
) -> list[HTTPRouteHandler]:
    return [
        *_reading_routes(floor, claims, user_directory),
        *_deciding_routes(claims, user_directory),
        *_changing_routes(claims, user_directory),
        *_envy_routes(claims),
    ]


def _reading_routes(
    floor: Floor, claims: Claims, user_directory: UserDirectory
) -> list[HTTPRouteHandler]:
    @get("/api/v1/claims", opt=FOR_ANYBODY, responses=refusals(503))
    async def list_claims(request: WebRequest) -> Sequence[ClaimRow]:
        """List the claims that wait, oldest first.

        A claim is the record of a win. A claim waits until the win and its Envy Bonuses are paid or
        rejected. A user with the right to see wins gets every field of each claim, and also the
        rejected wins that somebody asked to reopen. Everybody else gets no evidence, reason,
        slip number or names of people. Money is in cents.
        """
        person = await person_of(request, user_directory, reads_setters=True)
        rows = await claims.waiting()
        if person is not None and person.may(Right.WINS):
            return [_seen_by(person, row) for row in (*rows, *await claims.to_reopen())]
        return [without_names(row) for row in rows]

    @staff_read("/api/v1/claims/{claim:str}", Right.WINS, *_READS, reads_setters=True)
    async def show_claim(claim: ClaimId, request: StaffRequest) -> ClaimRow:
        """Return one claim, decided or not, with the evidence of its round (duty D16)."""
        return _seen_by(request.user, await claims.find(claim))

    @get(
        "/api/v1/claims/{claim:str}/slip.pdf",
        opt=needs(Right.WINS) | {NEEDS_PIN: True},
        security=session_of(Right.WINS),
        responses=refusals(*_READS),
        media_type="application/pdf",
    )
    async def print_slip(claim: ClaimId, request: StaffRequest) -> Response[bytes]:
        """Return the payout slip of a win as a PDF of one page (duty D16).

        The operators' log records who printed the slip (duty D17), so a user whose session has
        lapsed must first enter their PIN.
        """
        row, hand = await claims.find(claim), await claims.hand(claim)
        name = request.user.name
        slip = await asyncio.to_thread(slip_pdf, floor, row, name, datetime.now(UTC), hand)
        await user_directory.log.note(
            "slip_printed", by=name, about=claim, client=client_of(request)
        )
        named = {"Content-Disposition": f'inline; filename="slip-{_plain(claim)}.pdf"'}
        return Response(slip, media_type="application/pdf", headers=named)

    @staff_read("/api/v1/wins", Right.WINS, *_READS, reads_setters=True)
    async def search_wins(
        *,
        request: StaffRequest,
        link: AskedLink = None,
        meter: AskedMeter = None,
        table: AskedTable = None,
        claim_state: Annotated[
            ClaimState | None, QueryParameter(name="state", description="Only wins in this state.")
        ] = None,
        words: AskedWords = None,
        since: AskedSince = None,
        until: AskedUntil = None,
        meter_awards: MeterAwards = False,
        before: NextWins = None,
        limit: PageSize = 25,
    ) -> WinPage:
        """List the wins, decided or waiting, that match a search, latest first (duty D16)."""
        page = await claims.wins(
            WinSearch(
                link=link,
                meter=meter,
                table=table,
                state=claim_state,
                words=words,
                since=since,
                until=until,
                meter_awards=meter_awards,
                before=before,
                limit=limit,
            )
        )
        wins = tuple(_seen_by(request.user, row) for row in page.wins)
        return msgspec.structs.replace(page, wins=wins)

    return [list_claims, show_claim, print_slip, search_wins]


def _deciding_routes(claims: Claims, user_directory: UserDirectory) -> list[HTTPRouteHandler]:
    @staff_act("/api/v1/claims/{claim:str}/validate", Right.DECIDE)
    async def validate_claim(
        claim: ClaimId, data: JSONBody[Nothing], request: StaffRequest
    ) -> ClaimRow:
        """Validate a win (duty D8)."""
        person = request.user
        return await claims.decide(claim, "validate", person.name, setters=person.setters)

    @staff_act("/api/v1/claims/{claim:str}/reject", Right.DECIDE)
    async def reject_claim(
        claim: ClaimId, data: JSONBody[Rejection], request: StaffRequest
    ) -> ClaimRow:
        """Reject a win, or request its rejection.

        If `two_people_reject` of the win is true, the call only stores a request: the claim stays
        pending, and its field `request` names the user. Another user must confirm the request with
        `confirm` (duty D4).

        If the win is a percentage of a meter, its amount goes back to the meter, or to the reserve
        of a must-hit-by meter. The amount of any other win goes back to the house account.
        """
        return await claims.reject(
            claim,
            request.user.name,
            reason=data.reason,
            envy_not_due=data.envy_not_due,
            setters=request.user.setters,
        )

    @staff_act("/api/v1/claims/{claim:str}/pay", Right.DECIDE, 429)
    async def pay_claim(claim: ClaimId, data: JSONBody[Payment], request: StaffRequest) -> ClaimRow:
        """Record the payment of a validated win, with the number of its payout slip.

        The user who records the payment must not count as the person who validated the win (duty
        D4). If a `colleague` is given, the colleague records the payment.
        """
        person = await signer_of(request, data, user_directory)
        return await claims.decide(
            claim,
            "pay",
            person.name,
            slip=data.slip,
            envy_paid=data.envy_paid,
            setters=person.setters,
        )

    return [validate_claim, reject_claim, pay_claim]


def _changing_routes(claims: Claims, user_directory: UserDirectory) -> list[HTTPRouteHandler]:
    @staff_act("/api/v1/claims/{claim:str}/reopen", Right.DECIDE)
    async def reopen_claim(
        claim: ClaimId, data: JSONBody[Reopening], request: StaffRequest
    ) -> ClaimRow:
        """Request to reopen a rejected win.

        Another user must confirm the request before the gaming day of the rejection is closed. The
        win then waits for a floorperson again.
        """
        person = request.user
        return await claims.request_reopening(
            claim, person.name, reason=data.reason, setters=person.setters
        )

    @staff_act("/api/v1/claims/{claim:str}/confirm", Right.DECIDE, 429)
    async def confirm_claim(
        claim: ClaimId, data: JSONBody[Confirmation], request: StaffRequest
    ) -> ClaimRow:
        """Confirm another user's request to reject a win, or to reopen a rejected win (duty D4).

        If a `colleague` is given, the colleague confirms the request, not the signed-in user.
        """
        person = await signer_of(request, data, user_directory)
        return await claims.confirm(claim, person.name, data.request, person.setters)

    @staff_act("/api/v1/claims/{claim:str}/withdraw", Right.DECIDE)
    async def withdraw_claim_request(
        claim: ClaimId, data: JSONBody[RequestWithdrawal], request: StaffRequest
    ) -> ClaimRow:
        """Withdraw a request to reject a win, or to reopen a rejected win."""
        person = request.user
        return await claims.withdraw_request(claim, person.name, data.request, person.setters)

    @staff_act("/api/v1/claims/{claim:str}/correct-slip", Right.DECIDE)
    async def correct_slip(
        claim: ClaimId, data: JSONBody[SlipCorrection], request: StaffRequest
    ) -> ClaimRow:
        """Correct a payout slip's number.

        The wrong number stays in the ledger, and no other win can use it.
        """
        return await claims.correct_slip(
            claim, request.user.name, slip=data.slip, replaces=data.replaces, reason=data.reason
        )

    return [reopen_claim, confirm_claim, withdraw_claim_request, correct_slip]


def _envy_routes(claims: Claims) -> list[HTTPRouteHandler]:
    @staff_act("/api/v1/claims/{claim:str}/pay-envy", Right.DECIDE)
    async def pay_envy(claim: ClaimId, data: JSONBody[Nothing], request: StaffRequest) -> ClaimRow:
        """Record that the table has paid the owed Envy Bonuses for a hand."""
        person = request.user
        return await claims.decide_envy(claim, "pay_envy", person.name, setters=person.setters)

    @staff_act("/api/v1/claims/{claim:str}/reject-envy", Right.DECIDE)
    async def reject_envy(
        claim: ClaimId, data: JSONBody[EnvyRejection], request: StaffRequest
    ) -> ClaimRow:
        """Declare that Envy Bonuses are not due. The bonuses must be owed, and not paid yet."""
        person = request.user
        return await claims.decide_envy(
            claim, "reject_envy", person.name, reason=data.reason, setters=person.setters
        )

    return [pay_envy, reject_envy]


def _seen_by(person: SignedIn, row: ClaimRow) -> ClaimRow:
    if row.request is not None:
        first, pin_set_by = row.request.by, row.request.pin_set_by
    elif row.state == "validated" and row.paid_from == "hand_pay" and row.validated_by:
        first, pin_set_by = row.validated_by, row.pin_set_by
    else:
        return row
    return with_bar(row, person, first, pin_set_by)


def without_names(row: ClaimRow) -> ClaimRow:
    return msgspec.structs.replace(
        row,
        patron=None,
        decided_by=None,
        requested_by=None,
        validated_by=None,
        paid_by=None,
        reason=None,
        slip=None,
        slip_corrected_by=None,
        slip_corrected_at=None,
        request=None,
        wagers=(),
        chips=0,
        electronic=(),
        envy=(),
        envy_by=None,
        envy_reason=None,
        pin_set_by=(),
    )


def _plain(claim: str) -> str:
    return "".join(sign for sign in claim if sign.isascii() and (sign.isalnum() or sign in "-."))


def ask_routes(asks: Asks) -> list[HTTPRouteHandler]:
    @staff_read("/api/v1/asks", Right.WAITING, 401, 403, 503)
    async def list_asks() -> Sequence[AskRow]:
        """List the correction requests that wait for a decision, oldest first.

        A dealer can ask to void a round after its cards or results were entered, or to enter a hand
        or result differently. Before the first card or result, a dealer can also ask to add or take
        back a wager. The table waits until a floorperson confirms or refuses the request.
        """
        return await asks.asks()

    @staff_act("/api/v1/asks/{ask:str}/confirm", Right.DECIDE)
    async def confirm_ask(ask: AskId, data: JSONBody[Nothing], request: StaffRequest) -> AskRow:
        """Confirm the correction that the floor page showed (duty D17).

        If the dealer changes the correction, the table makes a new request with another id.
        """
        return await asks.decide(ask, "confirm_correction", request.user.name)

    @staff_act("/api/v1/asks/{ask:str}/refuse", Right.DECIDE)
    async def refuse_ask(ask: AskId, data: JSONBody[AskRefusal], request: StaffRequest) -> AskRow:
        """Refuse the correction that a dealer asks for; the dealer can read the reason."""
        return await asks.decide(ask, "refuse_correction", request.user.name, reason=data.reason)

    return [list_asks, confirm_ask, refuse_ask]
