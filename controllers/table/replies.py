"""Changes of a table's state by the service: its replies to events and hellos."""

from typing import Final

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
from controllers.table.transitions import (
    DEVICE_EVENT,
    EVENTS_LOST,
    UNCONFIRMED,
    AnsweredStep,
    corrected,
    voided,
)
from controllers.table.win_decisions import must_hit_by_won
from meters.process.clock import text_of
from meters.wire.messages import (
    HELD,
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

_Sent = Wagers | WagerCorrection | Result | Void

_OTHER_EVENT: Final = frozenset({"seq_reused", "seq_passed"})
"""The service has already used the number for another event."""


def absorb(layout: Layout, state: TableState, sent: MoneyEvent, reply: Reply) -> AnsweredStep:
    """Apply the service's reply to an event.

    If the service has used the number for another event, a table with an open round has lost an
    event of this round, and is locked out.
    """
    if isinstance(sent, Withdrawal):
        # After a refused or an accepted withdrawal, the table has no correction request any more.
        answer = DeviceAnswer(event=DEVICE_EVENT[Withdrawal], ok=True)
        step = AnsweredStep(replace(state, asking=None), answer)
    elif reply.status == "accepted":
        step = _accepted(layout, state, sent, reply)
    else:
        step = _refused(layout, state, sent, reply)
    error, round_id = reply.error, step.state.round
    if error is None or error.code not in _OTHER_EVENT or round_id is None:
        return step
    return AnsweredStep(reconcile(step.state, round_id, behind=True), step.answer)


def _accepted(layout: Layout, state: TableState, sent: _Sent, reply: Reply) -> AnsweredStep:
    answer = DeviceAnswer(event=DEVICE_EVENT[type(sent)], ok=True)
    match sent:
        case Wagers():
            state = must_hit_by_won(replace(state, draw=reply.draw), reply.claims or ())
            chips = state.chips_due(layout)
            claims = reply.claims or UNSET
            answer = replace(answer, round=sent.round, draw=reply.draw, chips=chips, claims=claims)
        case Result():
            return _settled(state, reply, answer)
        case Void():
            state = voided(state, sent.reason)
        case WagerCorrection():
            state = must_hit_by_won(corrected(state, sent), reply.claims or ())
            answer = replace(
                answer,
                position=sent.position,
                wager=sent.wager,
                light=state.lit_wager(sent.position, sent.wager) is not None,
                chips=state.chips_due(layout),
                claims=reply.claims or UNSET,
            )
    return AnsweredStep(state, answer)


def _settled(state: TableState, reply: Reply, answer: DeviceAnswer) -> AnsweredStep:
    """Show the settlement of a round.

    A hand pay holds the table until its documents are complete (649a.11(c)(5)(iv)).
    """
    lines, claims = reply.lines or (), reply.claims or ()
    by_hand = {
        (line.position, line.item, line.hand_of) for line in lines if holds_table(line.paid_from)
    }
    held = tuple(one.claim for one in claims if (one.position, one.item, one.hand_of) in by_hand)
    settled = SettledRound(
        round=state.round or "",
        lines=lines,
        claims=claims,
        hands=state.hands,
        dealer=state.dealer,
        community=state.community,
        draw=state.draw,
        seq=reply.seq or 0,
        no_win=state.no_win,
    )
    over = end(state, settled, held=held)
    # The answer names the round, so that a stored answer to a repeated event cannot be mistaken
    # for the answer about another round.
    answer = replace(
        answer, round=settled.round, lines=lines, claims=claims, held=over.held or UNSET
    )
    return AnsweredStep(over, answer)


def _refused(layout: Layout, state: TableState, sent: _Sent, reply: Reply) -> AnsweredStep:
    """Apply a refusal, or record a correction request that waits for a floorperson.

    The panel shows a refusal even if no tablet waits for the answer. If wagers are refused, they
    are returned, and the round continues without progressive wagers, unless the service says that
    wins hold the table. If a result is refused, the hands do not change: the dealer can settle the
    round again or void it.
    """
    error = reply.error or ErrorDetail(code="refused", message="the service gave no reason")
    name = DEVICE_EVENT[type(sent)]
    answer = DeviceAnswer(event=name, ok=False, error=error)
    refusal = Refused(name, error.message)
    if isinstance(sent, Wagers):
        returned = Returned(f"The service refused the wagers: {error.message}", state.wagers)
        if error.code == HELD and reply.claims:
            # The table's outbox was lost, so only the service knows all wins that hold the table.
            # No card was dealt, so the table waits without a round.
            held = tuple(claim.claim for claim in reply.claims)
            hold = SettledRound(round="", lines=(), claims=reply.claims)
            over = end(replace(state, held=()), returned=returned, held=held)
            return AnsweredStep(
                replace(over, hold=hold, refusal=refusal), replace(answer, held=held)
            )
        chips = state.chips_due(layout)
        state = replace(state, round=None, wagers=(), returned_chips=chips, returned=returned)
    elif isinstance(sent, Result):
        state = replace(state, phase=Phase.DEALT)
    if error.code == UNCONFIRMED and not isinstance(sent, Wagers):
        return AnsweredStep(replace(state, asking=state.asking or _request(sent)), answer)
    return AnsweredStep(replace(state, asking=None, refusal=refusal), answer)


def _request(sent: Result | Void | WagerCorrection) -> Asking:
    since = text_of(sent.at)
    match sent:
        case Result():
            return Asking("settle", since, confirm=sent.confirm)
        case Void():
            return Asking("void", since, sent.reason, sent.confirm)
        case WagerCorrection():
            at = (one.patron for one in sent.positions if one.position == sent.position)
            wager = WagerToCorrect(
                sent.action, sent.position, sent.wager, next(at, None), sent.amount
            )
            return Asking("correct_wager", since, sent.reason, wager=wager)


def has_lost_events(hello: HelloReply, *, last_seq: int, pending: bool) -> bool:
    """Return whether the service has lost events to which it had replied.

    `last_seq` is the number of the table's last event. If this event is `pending`, the service can
    lack it without a loss.
    """
    return hello.last_seq < last_seq - pending


def events_lost() -> DeviceRefusal:
    return DeviceRefusal(
        EVENTS_LOST, "the service has lost what this table sent: call a floorperson"
    )


def reconcile(state: TableState, open_round: str | None, *, behind: bool = False) -> TableState:
    """Compare the table's round with the open round that the service has for this table.

    If the two differ, the wagers and cards of the round are uncertain. So the table is locked out
    until a floorperson voids the round that is open at the service. If the service has no open
    round, they void the table's round. `behind` is true if the service has events that the table
    lacks: these events can have corrected wagers of the same round.
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
    # The wagers at this table are returned, no matter which side is wrong about the round.
    returned = Returned("The table is locked out", state.wagers)
    ended = end(state, returned=returned if state.wagers else None)
    return replace(
        ended, phase=Phase.LOCKED_OUT, round=open_round, reason=reason, joined=state.joined
    )
