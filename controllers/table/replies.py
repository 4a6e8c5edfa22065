"""How a table's state goes on with what the service says: replies, hellos, jackpots. Pure."""

from enum import StrEnum, auto
from typing import Literal

from msgspec.structs import replace

from controllers.table.device_events import DeviceAnswer, DeviceRefusal
from controllers.table.pending_claims import end
from controllers.table.state import (
    FINAL,
    Asking,
    Phase,
    Refused,
    Returned,
    SettledRound,
    TableState,
)
from controllers.table.transitions import EVENTS_LOST, UNCONFIRMED, Transition, voided
from meters.wire.clock import text_of
from meters.wire.holds import HELD, holds_table
from meters.wire.messages import (
    ClaimOpened,
    ErrorDetail,
    HelloReply,
    MoneyEvent,
    Reply,
    Result,
    Void,
    Wagers,
    Withdrawal,
)


def absorb(state: TableState, sent: MoneyEvent, reply: Reply) -> Transition:
    """Go on with the service's reply to an event of this table."""
    match sent:
        case Wagers():
            return _wagers(state, sent, reply)
        case Result():
            return _result(state, sent, reply)
        case Void():
            return _void(state, sent, reply)
        case Withdrawal():
            # Refused or not: the table asks for nothing any more.
            return Transition(
                replace(state, asking=None), DeviceAnswer(event="withdraw_correction", ok=True)
            )


def _refusal_of(reply: Reply) -> ErrorDetail:
    return reply.error or ErrorDetail(code="refused", message="the service gave no reason")


def _wagers(state: TableState, sent: Wagers, reply: Reply) -> Transition:
    """Refused wagers go back to the players, and the round is played without progressives."""
    if reply.status == "accepted":
        answer = DeviceAnswer(
            event="lockout", ok=True, round=sent.round, draw=reply.draw, chips=state.chips_due
        )
        return Transition(replace(state, draw=reply.draw), answer)
    error = _refusal_of(reply)
    if error.code == HELD and reply.claims:
        return _held_elsewhere(state, error, reply.claims)
    returned = replace(
        _refused(state, "lockout", error),
        round=None,
        wagers=(),
        returned_chips=state.chips_due,
        returned=Returned(f"The service refused the wagers: {error.message}", state.wagers),
    )
    return Transition(returned, DeviceAnswer(event="lockout", ok=False, error=error))


def _held_elsewhere(
    state: TableState, error: ErrorDetail, claims: tuple[ClaimOpened, ...]
) -> Transition:
    """The books hold the table for wins that it knows nothing of: its outbox was lost.

    No card was dealt. The wagers go back, and the table waits as it would have.
    """
    returned = Returned(f"The service refused the wagers: {error.message}", state.wagers)
    held = tuple(claim.claim for claim in claims)
    waits = replace(
        end(state, returned=returned),
        phase=Phase.HELD,
        held=held,
        hold=SettledRound(round="", lines=(), claims=claims),
        refusal=Refused("lockout", error.message),
    )
    return Transition(waits, DeviceAnswer(event="lockout", ok=False, error=error, held=held))


def _refused(state: TableState, event: str, error: ErrorDetail) -> TableState:
    """It stays in sight: the answer itself may come after a tablet has stopped to wait for it."""
    return replace(state, asking=None, refusal=Refused(event, error.message))


def _asked(
    state: TableState, event: Literal["settle", "void"], sent: Result | Void, error: ErrorDetail
) -> Transition:
    """A floorperson is asked; the table keeps what for, and tries again."""
    asking = state.asking or Asking(
        event,
        text_of(sent.at),
        sent.reason if isinstance(sent, Void) else "",
        sent.confirm,
    )
    return Transition(
        replace(state, asking=asking), DeviceAnswer(event=event, ok=False, error=error)
    )


def _result(state: TableState, sent: Result, reply: Reply) -> Transition:
    """A hand pay holds the table until its documents are done (649a.11(c)(5)(iv)).

    A refused result leaves the hands as they are, to be settled again or voided.
    """
    if reply.status != "accepted":
        error = _refusal_of(reply)
        if error.code == UNCONFIRMED:
            return _asked(replace(state, phase=Phase.DEALT), "settle", sent, error)
        dealt = replace(_refused(state, "settle", error), phase=Phase.DEALT)
        return Transition(dealt, DeviceAnswer(event="settle", ok=False, error=error))
    lines, claims = reply.lines or (), reply.claims or ()
    by_hand = {(line.position, str(line.item)) for line in lines if holds_table(line.paid_from)}
    held = tuple(claim.claim for claim in claims if (claim.position, claim.item) in by_hand)
    # Named, so that an answer that is kept for a repeat is never taken for another round's.
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
    )
    over = end(state, settled)
    if not held:
        return Transition(over, answer)
    return Transition(replace(over, phase=Phase.HELD, held=held), replace(answer, held=held))


def _void(state: TableState, sent: Void, reply: Reply) -> Transition:
    if reply.status == "accepted":
        return Transition(voided(state, sent.reason), DeviceAnswer(event="void", ok=True))
    error = _refusal_of(reply)
    if error.code == UNCONFIRMED:
        return _asked(state, "void", sent, error)
    return Transition(
        _refused(state, "void", error), DeviceAnswer(event="void", ok=False, error=error)
    )


def decide(
    state: TableState, claim: str, event: Literal["validated", "rejected", "paid"]
) -> TableState:
    """A floorperson decided a claim; the last whose documents are done opens the table again.

    The claim may be of any round that is kept. What is told twice, or late, changes nothing
    (649a.11(c)(5)(iii), (iv)).
    """
    settled, last = state.settled, state.last_settled
    state = replace(
        state,
        settled=None if settled is None else settled.with_decision(claim, event),
        last_settled=None if last is None else last.with_decision(claim, event),
        hold=None if state.hold is None else state.hold.with_decision(claim, event),
        waiting=tuple(each.with_decision(claim, event) for each in state.waiting),
    )
    if claim not in state.held or event not in FINAL:
        return state
    held = tuple(waiting for waiting in state.held if waiting != claim)
    if held:
        return replace(state, held=held)
    return replace(state, held=(), hold=None, phase=Phase.OPEN)


class SequenceComparison(StrEnum):
    """How the service's books of a table and its outbox compare.

    Attributes:
        AGREED: both know the same events, or all but the one that is under way.
        AHEAD: the service knows events that this outbox does not: an outbox was lost.
        BEHIND: the service does not know events that it has answered.
    """

    AGREED = auto()
    AHEAD = auto()
    BEHIND = auto()


def compare(hello: HelloReply, *, last_seq: int, pending: bool) -> SequenceComparison:
    """Compare the service's last `seq` with the table's; `pending` where that one is unanswered."""
    if hello.last_seq > last_seq:
        return SequenceComparison.AHEAD
    if hello.last_seq < last_seq - pending:
        return SequenceComparison.BEHIND
    return SequenceComparison.AGREED


def events_lost() -> DeviceRefusal:
    """Why a table takes no wagers while the service is behind it."""
    return DeviceRefusal(
        EVENTS_LOST,
        "the service does not know events that it answered: a floorperson must look into it",
    )


def reconcile(state: TableState, open_round: str | None) -> TableState:
    """Hold the table's round against the one that the service holds open for it.

    Where they differ, nobody can know what was wagered and dealt: the table is locked out until a
    floorperson voids. The void goes to the service for the round that it holds open, if any.
    """
    if open_round == state.round:
        return state
    if open_round is None and state.phase is Phase.LOCKED_OUT:
        return end(state)
    reason = f"the service holds round {open_round} open, unknown to this table: void it"
    if open_round is None:
        reason = f"the service no longer holds round {state.round} open: void it"
    # What was wagered here goes back, whichever of the two is wrong about the round.
    returned = Returned(f"The table is locked out: {reason}", state.wagers)
    ended = end(state, returned=returned if state.wagers else None)
    return replace(
        ended, phase=Phase.LOCKED_OUT, round=open_round, reason=reason, joined=state.joined
    )
