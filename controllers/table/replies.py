"""Changes of a table's state by the service: its replies to events and hellos."""

from typing import Final, Literal

from msgspec import UNSET
from msgspec.structs import replace

from controllers.table.device_events import DeviceAnswer, DeviceRefusal
from controllers.table.open_settlements import end
from controllers.table.state import (
    Asking,
    Layout,
    Phase,
    Refused,
    Returned,
    SettledRound,
    TableState,
    WagerToCorrect,
)
from controllers.table.transitions import EVENTS_LOST, UNCONFIRMED, AnsweredStep, corrected, voided
from meters.wire.clock import text_of
from meters.wire.messages import (
    HELD,
    ClaimOpened,
    ErrorDetail,
    HelloReply,
    MoneyEvent,
    Reply,
    Result,
    Void,
    WagerCorrection,
    Wagers,
    Withdrawal,
    holds_table,
)

_OTHER_EVENT: Final = frozenset({"seq_reused", "seq_passed"})
"""The service has already used the number for another event."""


def absorb(layout: Layout, state: TableState, sent: MoneyEvent, reply: Reply) -> AnsweredStep:
    """Apply the service's reply to an event.

    If the service already had another event with this number in an open round, the table has lost
    an event of the round, and is locked out.
    """
    step = _absorbed(layout, state, sent, reply)
    error, round_id = reply.error, step.state.round
    if error is None or error.code not in _OTHER_EVENT or round_id is None:
        return step
    return AnsweredStep(reconcile(step.state, round_id, behind=True), step.answer)


def _absorbed(layout: Layout, state: TableState, sent: MoneyEvent, reply: Reply) -> AnsweredStep:
    match sent:
        case Wagers():
            return _wagers(layout, state, sent, reply)
        case Result():
            return _result(state, sent, reply)
        case Void():
            return _void(state, sent, reply)
        case WagerCorrection():
            return _correction(layout, state, sent, reply)
        case Withdrawal():
            # A refused withdrawal has the same effect as an accepted one: the table no longer has a
            # correction request.
            return AnsweredStep(
                replace(state, asking=None), DeviceAnswer(event="withdraw_correction", ok=True)
            )


def _refusal_of(reply: Reply) -> ErrorDetail:
    return reply.error or ErrorDetail(code="refused", message="the service gave no reason")


def _wagers(layout: Layout, state: TableState, sent: Wagers, reply: Reply) -> AnsweredStep:
    """Apply the reply: refused wagers are returned, and the round goes on without progressives."""
    if reply.status == "accepted":
        answer = DeviceAnswer(
            event="lockout",
            ok=True,
            round=sent.round,
            draw=reply.draw,
            chips=state.chips_due(layout),
        )
        return AnsweredStep(replace(state, draw=reply.draw), answer)
    error = _refusal_of(reply)
    if error.code == HELD and reply.claims:
        return _held_elsewhere(state, error, reply.claims)
    returned = replace(
        _refused(state, "lockout", error),
        round=None,
        wagers=(),
        returned_chips=state.chips_due(layout),
        returned=Returned(f"The service refused the wagers: {error.message}", state.wagers),
    )
    return AnsweredStep(returned, DeviceAnswer(event="lockout", ok=False, error=error))


def _held_elsewhere(
    state: TableState, error: ErrorDetail, claims: tuple[ClaimOpened, ...]
) -> AnsweredStep:
    """Hold the table for wins that only the service knows, because the table's outbox was lost.

    No card was dealt in the new round. Its wagers are returned, and the table waits until the
    documents of the wins are complete.
    """
    returned = Returned(f"The service refused the wagers: {error.message}", state.wagers)
    held = tuple(claim.claim for claim in claims)
    state = replace(state, held=())  # the service has named all of them
    waits = replace(
        end(state, returned=returned, held=held),
        hold=SettledRound(round="", lines=(), claims=claims),
        refusal=Refused("lockout", error.message),
    )
    return AnsweredStep(waits, DeviceAnswer(event="lockout", ok=False, error=error, held=held))


def _refused(state: TableState, event: str, error: ErrorDetail) -> TableState:
    """Record a refusal for the panel, which shows it even if no tablet waits for the answer."""
    return replace(state, asking=None, refusal=Refused(event, error.message))


def _asked(
    state: TableState,
    event: Literal["settle", "void", "correct_wager"],
    sent: Result | Void | WagerCorrection,
    error: ErrorDetail,
) -> AnsweredStep:
    """Record a correction request, whose event the table repeats until the request ends."""
    wager = None
    if isinstance(sent, WagerCorrection):
        at = (one.patron for one in sent.positions if one.position == sent.position)
        wager = WagerToCorrect(sent.action, sent.position, sent.wager, next(at, None))
    asking = state.asking or Asking(
        event,
        text_of(sent.at),
        "" if isinstance(sent, Result) else sent.reason,
        isinstance(sent, WagerCorrection) or sent.confirm,
        wager,
    )
    return AnsweredStep(
        replace(state, asking=asking), DeviceAnswer(event=event, ok=False, error=error)
    )


def _result(state: TableState, sent: Result, reply: Reply) -> AnsweredStep:
    """Apply the reply to the result of a round.

    A hand pay holds the table until its documents are complete (649a.11(c)(5)(iv)). If the result
    is refused, the hands do not change: the dealer can settle the round again or void it.
    """
    if reply.status != "accepted":
        error = _refusal_of(reply)
        if error.code == UNCONFIRMED:
            return _asked(replace(state, phase=Phase.DEALT), "settle", sent, error)
        dealt = replace(_refused(state, "settle", error), phase=Phase.DEALT)
        return AnsweredStep(dealt, DeviceAnswer(event="settle", ok=False, error=error))
    lines, claims = reply.lines or (), reply.claims or ()
    by_hand = {(line.position, str(line.item)) for line in lines if holds_table(line.paid_from)}
    held = tuple(claim.claim for claim in claims if (claim.position, claim.item) in by_hand)
    # The answer names the round. So a stored answer to a repeated event cannot be mistaken for the
    # answer about another round.
    answer = DeviceAnswer(
        event="settle", ok=True, round=state.round or "", lines=lines, claims=claims
    )
    settled = SettledRound(
        round=state.round or "",
        lines=tuple(lines),
        claims=tuple(claims),
        hands=state.hands,
        dealer=state.dealer,
        community=state.community,
        draw=state.draw,
        seq=reply.seq or 0,
        no_win=state.no_win,
    )
    over = end(state, settled, held=held)
    return AnsweredStep(over, replace(answer, held=over.held or UNSET))


def _void(state: TableState, sent: Void, reply: Reply) -> AnsweredStep:
    if reply.status == "accepted":
        return AnsweredStep(voided(state, sent.reason), DeviceAnswer(event="void", ok=True))
    error = _refusal_of(reply)
    if error.code == UNCONFIRMED:
        return _asked(state, "void", sent, error)
    return AnsweredStep(
        _refused(state, "void", error), DeviceAnswer(event="void", ok=False, error=error)
    )


def _correction(
    layout: Layout, state: TableState, sent: WagerCorrection, reply: Reply
) -> AnsweredStep:
    answer = DeviceAnswer(event="correct_wager", ok=True, position=sent.position, wager=sent.wager)
    if reply.status == "accepted":
        state = corrected(state, sent)
        light = state.lit_wager(sent.position, sent.wager) is not None
        return AnsweredStep(state, replace(answer, light=light, chips=state.chips_due(layout)))
    error = _refusal_of(reply)
    if error.code == UNCONFIRMED:
        return _asked(state, "correct_wager", sent, error)
    refused = _refused(state, "correct_wager", error)
    return AnsweredStep(refused, DeviceAnswer(event="correct_wager", ok=False, error=error))


def has_lost_events(hello: HelloReply, *, last_seq: int, pending: bool) -> bool:
    """Return whether the service has lost events to which it had replied.

    `last_seq` is the number of the table's last event. If it is `pending`, the service need not
    have it.
    """
    return hello.last_seq < last_seq - pending


def events_lost() -> DeviceRefusal:
    return DeviceRefusal(
        EVENTS_LOST,
        "the service has lost events that it answered: call a floorperson",
    )


def reconcile(state: TableState, open_round: str | None, *, behind: bool = False) -> TableState:
    """Compare the table's round with the open round that the service has for this table.

    If they differ, the wagers and cards of the round are uncertain. So the table is locked out
    until a floorperson voids the round, for the service's open round if it has one. `behind`: the
    service has events that the table does not have, which can have corrected wagers of the same
    round.
    """
    if open_round == state.round and not (behind and open_round):
        return state
    if open_round is None and state.phase is Phase.LOCKED_OUT:
        return end(state)
    reason = f"the service has an open round {open_round} that this table does not know: void it"
    if open_round == state.round:
        reason = f"the service has events of round {open_round} that this table lost: void it"
    if open_round is None:
        reason = f"round {state.round} is no longer open at the service: void it"
    # The wagers at this table are returned, no matter whether the table or the service is wrong
    # about the round.
    returned = Returned("The table is locked out", state.wagers)
    ended = end(state, returned=returned if state.wagers else None)
    return replace(
        ended, phase=Phase.LOCKED_OUT, round=open_round, reason=reason, joined=state.joined
    )
