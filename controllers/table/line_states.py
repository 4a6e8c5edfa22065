"""State of each line of a settlement: the dealer's next task for it, if there is one."""

from collections.abc import Collection, Mapping
from typing import Final, Literal

from bonus.settling.envy_deciding_win import cause_of
from bonus.settling.settlement_lines import Line, Outcome
from bonus.wagers import PaidFrom
from controllers.table.state import SettledRound, TableState
from meters.wire.envy_decisions import envy_claim_name
from meters.wire.messages import ClaimOpened

LineState = Literal[
    "pay", "credit", "wait", "hand_pay", "paid", "rejected", "ask", "done", "nothing"
]

_ENVY_STATES: Final[Mapping[str | None, LineState]] = {
    None: "wait",
    "validated": "pay",
    "paid": "pay",
    "rejected": "ask",
}
_ENVY_DECISION_STATES: Final[Mapping[str, LineState]] = {
    "validated": "pay",
    "paid": "done",
    "rejected": "rejected",
}
"""State after a decision on the Envy Bonus itself.

It replaces the state that follows from the decision on the winning hand.
"""
_DEALERS: Final = frozenset({"pay", "credit", "rejected", "ask"})
"""Lines that the dealer can complete now, by a payment or by an acknowledgment."""

_OPEN: Final = _DEALERS | {"wait", "hand_pay"}


def line_state(settled: SettledRound, number: int) -> LineState:
    line = settled.lines[number]
    decided = settled.envy_decision_on(number)
    state = _ENVY_DECISION_STATES[decided] if decided else _due_state(settled, line)
    return "done" if number in settled.done and state in {"pay", "credit", "ask"} else state


def due_lines(settled: SettledRound) -> tuple[int, ...]:
    """Return the lines to complete now; at the next lock-out, they count as completed."""
    return tuple(
        number
        for number in range(len(settled.lines))
        if number not in settled.done and line_state(settled, number) in _DEALERS
    )


def open_lines(settled: SettledRound) -> tuple[int, ...]:
    """Return the indexes of the lines of an earlier round that are not completed.

    Only lines whose payment depends on a floorperson's decision, made or not: all others were paid
    before the dealer continued with the next round.
    """
    return tuple(
        number
        for number, line in enumerate(settled.lines)
        if number not in settled.done
        and claim_under(settled, line) is not None
        and line_state(settled, number) in _OPEN
    )


def envy_waits(state: TableState) -> bool:
    """Return whether an unpaid Envy Bonus waits for a decision that the service will report."""
    settlements = state.waiting if state.settled is None else (*state.waiting, state.settled)
    return any(
        line.envy_of is not None
        and number not in settled.done
        and settled.envy_decision_on(number) not in {"paid", "rejected"}
        for settled in settlements
        for number, line in enumerate(settled.lines)
    )


def seen_to(settled: SettledRound, lines: Collection[int] | Mapping[int, str]) -> SettledRound:
    """Return the settlement with those of `lines` completed that the dealer can complete now.

    `lines` can have the state of each line that the dealer saw: a line whose state has changed
    since is not marked.
    """
    shown = lines if isinstance(lines, Mapping) else {}
    done = {
        number
        for number in due_lines(settled)
        if number in lines and shown.get(number) in {None, line_state(settled, number)}
    }
    return settled.with_done(tuple(sorted(done | {*settled.done})))


def envy_line(settled: SettledRound, claim: str, position: int, item: str) -> int | None:
    """Return the index of an Envy Bonus's line; None if it belongs to another round."""
    for number, line in enumerate(settled.lines):
        if line.envy_of is None or (line.position, line.item) != (position, item):
            continue
        under = claim_under(settled, line)
        # Only the end of the claim's name is compared, because the message is always for the link
        # and table of this agent.
        alone = claim.endswith(envy_claim_name(f"-{settled.seq}", line.envy_of))
        if alone if under is None else under.claim == claim:
            return number
    return None


def claim_under(settled: SettledRound, line: Line) -> ClaimOpened | None:
    """Return the claim that must be decided before a line is paid.

    For a win, this is its own claim. For an Envy Bonus, it is that of the winning hand that caused
    it: a floorperson must examine that hand and validate the win before the Envy Bonus is paid.
    """
    if line.envy_of is not None:
        cause = cause_of(line, settled.claims, settled.lines)
        return None if cause is None else settled.claims[cause]
    own = (line.position, line.item)
    return next((claim for claim in settled.claims if (claim.position, claim.item) == own), None)


def _due_state(settled: SettledRound, line: Line) -> LineState:
    if line.outcome is not Outcome.PAID or not (line.paid or line.percent):
        # A wager that wins only jackpots is paid on the lines of its jackpots.
        return "nothing"
    claim = claim_under(settled, line)
    decided = settled.decision_on(claim.claim) if claim else "validated"
    if line.envy_of is not None:
        return _ENVY_STATES[decided]
    if decided == "rejected":
        return "rejected"
    if line.paid_from is PaidFrom.HAND_PAY:
        return "paid" if decided == "paid" else "hand_pay"
    if decided is None:
        return "wait"
    return "credit" if line.paid_from is PaidFrom.GAME_ACCOUNT else "pay"
