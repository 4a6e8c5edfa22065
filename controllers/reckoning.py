"""How a table's state goes on with what the service says: replies, hellos, jackpots. Pure."""

from enum import StrEnum, auto
from typing import Final, Literal

from msgspec.structs import replace

from bonus.wagers import PaidFrom
from controllers.events import Answer, Refusal
from controllers.play import Step
from controllers.table import Decision, Phase, Settled, TableState
from meters.wire.messages import ErrorDetail, HelloReply, MoneyEvent, Reply, Result, Void, Wagers


def absorb(state: TableState, sent: MoneyEvent, reply: Reply) -> Step:
    """Go on with the service's reply to an event of this table."""
    match sent:
        case Wagers():
            return _wagers(state, sent, reply)
        case Result():
            return _result(state, reply)
        case Void():
            return _void(state, reply)


def _refusal_of(reply: Reply) -> ErrorDetail:
    return reply.error or ErrorDetail(code="refused", message="the service gave no reason")


def _wagers(state: TableState, sent: Wagers, reply: Reply) -> Step:
    """Refused wagers go back to the players, and the round is played without progressives."""
    if reply.status == "accepted":
        answer = Answer(
            event="lockout", ok=True, round=sent.round, draw=reply.draw, chips=state.chips_due
        )
        return Step(replace(state, draw=reply.draw), answer)
    returned = replace(state, round=None, wagers=(), returned_chips=state.chips_due)
    return Step(returned, Answer(event="lockout", ok=False, error=_refusal_of(reply)))


def _result(state: TableState, reply: Reply) -> Step:
    """A hand pay holds the table until its documents are done (649a.11(c)(5)(iv)).

    A refused result leaves the hands as they are, to be settled again or voided.
    """
    if reply.status != "accepted":
        answer = Answer(event="settle", ok=False, error=_refusal_of(reply))
        return Step(replace(state, phase=Phase.DEALT), answer)
    lines, claims = reply.lines or (), reply.claims or ()
    by_hand = {
        (line.position, str(line.item)) for line in lines if line.paid_from is PaidFrom.HAND_PAY
    }
    held = tuple(claim.claim for claim in claims if (claim.position, claim.item) in by_hand)
    answer = Answer(event="settle", ok=True, lines=lines, claims=claims)
    settled = Settled(
        round=state.round or "",
        lines=tuple(lines),
        claims=tuple(claims),
        hand_pays=held,
        hands=state.hands,
        dealer=state.dealer,
        community=state.community,
        draw=state.draw,
    )
    over = TableState(settled=settled, last_wagers=state.wagers)
    if not held:
        return Step(over, answer)
    return Step(replace(over, phase=Phase.HELD, held=held), replace(answer, held=held))


def _void(state: TableState, reply: Reply) -> Step:
    if reply.status == "accepted":
        voided = TableState(settled=state.unfinished, last_wagers=state.wagers)
        return Step(voided, Answer(event="void", ok=True))
    return Step(state, Answer(event="void", ok=False, error=_refusal_of(reply)))


_FINAL: Final = frozenset({"paid", "rejected"})


def decide(
    state: TableState, claim: str, event: Literal["validated", "rejected", "paid"]
) -> TableState:
    """A floorperson decided a claim; the last whose documents are done opens the table again.

    What is told twice, or late, changes nothing (649a.11(c)(5)(iii), (iv)).
    """
    settled = state.settled
    if settled is not None and any(opened.claim == claim for opened in settled.claims):
        known = settled.decision_on(claim)
        if known is None or (known == "validated" and event in _FINAL):
            others = tuple(each for each in settled.decided if each.claim != claim)
            settled = replace(settled, decided=(*others, Decision(claim, event)))
            state = replace(state, settled=settled)
    if claim not in state.held or event not in _FINAL:
        return state
    held = tuple(waiting for waiting in state.held if waiting != claim)
    return replace(state, held=held, phase=Phase.HELD if held else Phase.OPEN)


class Standing(StrEnum):
    """How the service's books of a table and its outbox compare.

    Attributes:
        AGREED: both know the same events, or all but the one that is under way.
        AHEAD: the service knows events that this outbox does not: an outbox was lost.
        BEHIND: the service does not know events that it has answered.
    """

    AGREED = auto()
    AHEAD = auto()
    BEHIND = auto()


def compare(hello: HelloReply, *, last_seq: int, pending: bool) -> Standing:
    """Compare the service's last `seq` with the table's; `pending` where that one is unanswered."""
    if hello.last_seq > last_seq:
        return Standing.AHEAD
    if hello.last_seq < last_seq - pending:
        return Standing.BEHIND
    return Standing.AGREED


def events_lost() -> Refusal:
    """Why a table takes no wagers while the service is behind it."""
    return Refusal(
        "events_lost",
        "the service does not know events that it answered: a floorperson must look into it",
    )


def reconcile(state: TableState, open_round: str | None) -> TableState:
    """Hold the table's round against the one that the service holds open for it.

    Where they differ, nobody can know what was wagered and dealt: the table is locked out until a
    floorperson voids. The void goes to the service for the round that it holds open, if any.
    """
    if state.phase is Phase.LOCKED_OUT:
        if open_round == state.round:
            return state
        return TableState() if open_round is None else _locked_out(open_round)
    if open_round == state.round:
        return state
    if open_round is None:
        return TableState(
            phase=Phase.LOCKED_OUT,
            reason=f"the service no longer holds round {state.round} open: void it",
        )
    return _locked_out(open_round)


def _locked_out(open_round: str) -> TableState:
    return TableState(
        phase=Phase.LOCKED_OUT,
        round=open_round,
        reason=f"the service holds round {open_round} open, unknown to this table: void it",
    )
