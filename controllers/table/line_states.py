"""What the dealer does about each line of a settlement, and which lines are done. Pure."""

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
_TOLD_ENVY: Final[Mapping[str, LineState]] = {
    "validated": "pay",
    "paid": "done",
    "rejected": "rejected",
}
"""What the floor has said of an Envy Bonus itself counts more than what became of its win."""
_DEALERS: Final = frozenset({"pay", "credit", "rejected", "ask"})
"""What the dealer does, or takes note of, and is then done with."""

_OPEN: Final = _DEALERS | {"wait", "hand_pay"}


def line_state(settled: SettledRound, number: int) -> LineState:
    """What the dealer does about a line, by its place in the settlement, from 0."""
    line = settled.lines[number]
    decided = settled.envy_decision_on(number)
    state = _TOLD_ENVY[decided] if decided else _due_state(settled, line)
    return "done" if number in settled.done and state in {"pay", "credit", "ask"} else state


def due_lines(settled: SettledRound) -> tuple[int, ...]:
    """The lines that the dealer can see to now: when they go on, these are done."""
    return tuple(
        number
        for number in range(len(settled.lines))
        if number not in settled.done and line_state(settled, number) in _DEALERS
    )


def open_lines(settled: SettledRound) -> tuple[int, ...]:
    """The lines of a round before that are not done: a floorperson decides them, or has decided.

    What needs nobody's decision was paid when the dealer went on.
    """
    return tuple(
        number
        for number, line in enumerate(settled.lines)
        if number not in settled.done
        and claim_under(settled, line) is not None
        and line_state(settled, number) in _OPEN
    )


def envy_waits(state: TableState) -> bool:
    """Whether the floor may still say something of an Envy Bonus that the dealer has not paid."""
    settlements = state.waiting if state.settled is None else (*state.waiting, state.settled)
    return any(
        line.envy_of is not None
        and number not in settled.done
        and settled.envy_decision_on(number) not in {"paid", "rejected"}
        for settled in settlements
        for number, line in enumerate(settled.lines)
    )


def seen_to(settled: SettledRound, lines: Collection[int] | Mapping[int, str]) -> SettledRound:
    """The settlement once the dealer has seen to some of the lines that are due.

    Where it is said what stood there, a line that reads otherwise by now is not done.
    """
    shown = lines if isinstance(lines, Mapping) else {}
    done = {
        number
        for number in due_lines(settled)
        if number in lines and shown.get(number) in {None, line_state(settled, number)}
    }
    return settled.with_done(tuple(sorted(done | {*settled.done})))


def envy_line(settled: SettledRound, claim: str, position: int, item: str) -> int | None:
    """The line of an Envy Bonus, by its place from 0, or None where it is of another round."""
    for number, line in enumerate(settled.lines):
        if line.envy_of is None or (line.position, line.item) != (position, item):
            continue
        under = claim_under(settled, line)
        # The link and the table before it are those of the message.
        alone = claim.endswith(envy_claim_name(f"-{settled.seq}", line.envy_of))
        if alone if under is None else under.claim == claim:
            return number
    return None


def claim_under(settled: SettledRound, line: Line) -> ClaimOpened | None:
    """The claim that a line waits for: its own, or that of the hand that brings an Envy Bonus.

    An Envy Bonus is paid after the win was validated by which a floorperson looks at its hand.
    """
    if line.envy_of is not None:
        cause = cause_of(line, settled.claims)
        return None if cause is None else settled.claims[cause]
    own = (line.position, line.item)
    return next((claim for claim in settled.claims if (claim.position, claim.item) == own), None)


def _due_state(settled: SettledRound, line: Line) -> LineState:
    """What is due by a line, as far as its claim, or its cause's, is decided."""
    if line.outcome is not Outcome.PAID:
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
