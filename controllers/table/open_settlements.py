"""Settlements at a table: the dealer's next task for each line, and rounds that stay open.

A round stays open while one of its wins waits for a floorperson, and until the dealer has completed
each line that depends on such a win.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final, Literal

from msgspec.structs import replace

from bonus.rounds import Line, Outcome, cause_of
from bonus.wagers import PaidFrom
from controllers.table.betting import check_open
from controllers.table.device_events import DeviceRefusal
from controllers.table.state import Phase, Returned, SettledRound, TableState
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
"""State after a decision on the Envy Bonus itself, not only on the winning hand."""
_DEALERS: Final = frozenset({"pay", "credit", "rejected", "ask"})
"""Lines that the dealer can complete now, by a payment or by an acknowledgment."""

_OPEN: Final = _DEALERS | {"wait", "hand_pay"}
WAITING_MAX: Final = 8
"""Limit on the earlier rounds with a waiting win. One more round stops the table."""


def line_state(settled: SettledRound, number: int) -> LineState:
    line = settled.lines[number]
    decided = settled.envy_decision_on(number)
    state = _ENVY_DECISION_STATES[decided] if decided else _due_state(settled, line)
    return "done" if number in settled.done and state in {"pay", "credit", "ask"} else state


def due_lines(settled: SettledRound) -> tuple[int, ...]:
    """Return the lines to complete now. At the next lock-out, they count as completed."""
    return tuple(
        number
        for number in range(len(settled.lines))
        if number not in settled.done and line_state(settled, number) in _DEALERS
    )


def open_lines(settled: SettledRound) -> tuple[int, ...]:
    """Return the indexes of the lines of an earlier round that are not completed.

    Such a line depends on a floorperson's decision, whether it was made already or not. All other
    lines were paid before the dealer continued with the next round.
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
    return any(
        line.envy_of is not None
        and number not in settled.done
        and settled.envy_decision_on(number) not in {"paid", "rejected"}
        for settled in state.shown
        for number, line in enumerate(settled.lines)
    )


def seen_to(
    settled: SettledRound, lines: Collection[int] | Mapping[int, str] | None = None
) -> SettledRound:
    """Mark as completed those of `lines` that the dealer can complete now.

    Without `lines`, mark all lines that the dealer can complete now. If `lines` has the state in
    which the dealer saw each line, a line whose state has changed since is not marked.
    """
    due = due_lines(settled)
    shown = lines if isinstance(lines, Mapping) else {}
    done = {
        number
        for number in due
        if number in (due if lines is None else lines)
        and shown.get(number) in {None, line_state(settled, number)}
    }
    return replace(settled, done=tuple(sorted(done | {*settled.done})))


def claim_under(settled: SettledRound, line: Line) -> ClaimOpened | None:
    """Return the claim that must be decided before a line is paid.

    An Envy Bonus needs the claim of the winning hand that caused it: a floorperson must examine
    this hand and validate the win first.
    """
    if line.envy_of is not None:
        cause = cause_of(line, settled.claims, settled.lines)
        return None if cause is None else settled.claims[cause]
    own = (line.position, line.item, line.hand_of)
    return next(
        (one for one in settled.claims if (one.position, one.item, one.hand_of) == own), None
    )


def _due_state(settled: SettledRound, line: Line) -> LineState:
    if line.outcome is not Outcome.PAID or not (line.paid or line.percent):
        # A wager that wins only jackpots is paid on the lines of these jackpots.
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


def awaits_staff(settled: SettledRound) -> bool:
    """Return whether a floorperson must still decide or pay a win of the settlement."""
    unpaid = (line_state(settled, number) == "hand_pay" for number in range(len(settled.lines)))
    return bool(settled.undecided) or any(unpaid)


def go_on(
    state: TableState,
    done: Collection[int] | Mapping[int, str] | None = None,
    round_name: str | None = None,
) -> TableState:
    """Close the settlement after the dealer has paid. Lines that are not completed stay visible.

    `done` means the same as `lines` in `seen_to`. `round_name` is the round whose settlement the
    dealer saw; None for the settlement that is visible now.

    Raises:
        DeviceRefusal: ``claims_wait``: the maximum number of rounds waits already.
            ``nothing_there``: another settlement is visible. Another code: a round is in progress.
    """
    check_open(state)
    if state.settled is not None and round_name not in {None, state.settled.round}:
        message = (
            f"the panel now shows the settlement of round {state.settled.round}: look at it first"
        )
        raise DeviceRefusal("nothing_there", message)
    return _close(state, done, make_room=False)


def begin(state: TableState) -> TableState:
    """Close the previous settlement at the lock-out of the next round.

    A table without a button to complete earlier rounds must not stop because of a round whose wins
    are all decided. So if this settlement waits too, and no more rounds can wait, the oldest round
    whose wins are all decided is removed. Without such a round, refuse with ``claims_wait``.
    """
    return _close(state, None, make_room=True)


def _close(
    state: TableState, done: Collection[int] | Mapping[int, str] | None, *, make_room: bool
) -> TableState:
    state = replace(state, settled=state.settled and seen_to(state.settled, done))
    if state.settled and _waits(state.settled) and len(state.waiting) >= WAITING_MAX:
        decided = next(
            (each for each in state.waiting if make_room and not awaits_staff(each)), None
        )
        if decided is None:
            raise DeviceRefusal(
                "claims_wait",
                f"wins of {WAITING_MAX} rounds wait: call a floorperson, then touch Done for one"
                " round",
            )
        state = replace(state, waiting=_without(state.waiting, decided.round))
    return _as_pending(state)


def end(
    state: TableState,
    settled: SettledRound | None = None,
    returned: Returned | None = None,
    held: tuple[str, ...] = (),
) -> TableState:
    """Return the state of the table after a round.

    The table is open for the next round, unless a hand pay holds it: one of this round (`held`), or
    one that was reopened during the round. With `returned=None`, the previously returned wagers
    stay on the panel.
    """
    pending = _as_pending(state)
    held = (*state.held, *held)
    return TableState(
        phase=Phase.HELD if held else Phase.OPEN,
        held=held,
        hold=state.hold,
        settled=settled,
        waiting=pending.waiting,
        last_settled=pending.last_settled,
        last_wagers=state.last_wagers,
        last_joined=state.joined,
        returned=returned or state.returned,
        rounds=state.rounds,
    )


def acknowledge(
    state: TableState,
    round_name: str,
    line: int | None = None,
    shown: Mapping[int, str] | None = None,
) -> TableState:
    """Mark decided lines of an earlier round as completed: those in `shown`, `line`, or all.

    A completed line, and a round without open lines, disappear from the panel. `shown` has lines
    with the states that the dealer saw.

    Raises:
        DeviceRefusal: ``claims_wait``: a win is not decided. ``nothing_there``: there is no such
            round or line. ``changed``: the state of a line has changed.
    """
    found = next((each for each in state.waiting if each.round == round_name), None)
    if found is None:
        raise DeviceRefusal("nothing_there", f"no win of round {round_name[:40]} waits here")
    if shown is not None:
        return _tick_off(state, found, shown)
    if line is not None:
        return _tick_off(state, found, {line: None})
    if awaits_staff(found):
        raise DeviceRefusal("claims_wait", f"a win of round {round_name} waits for a floorperson")
    state = _replace_round(state, seen_to(found))
    return replace(state, waiting=_without(state.waiting, round_name))


def _tick_off(
    state: TableState, found: SettledRound, lines: Mapping[int, str | None]
) -> TableState:
    for line, shown in lines.items():
        if line not in open_lines(found):
            raise DeviceRefusal("nothing_there", f"line {line} of round {found.round} is not open")
        if shown not in {None, line_state(found, line)}:
            message = f"a line of round {found.round} has changed: look at it again"
            raise DeviceRefusal("changed", message)
        if line not in due_lines(found):
            waits = f"a win of round {found.round} waits for a floorperson"
            raise DeviceRefusal("claims_wait", waits)
    return _replace_round(state, seen_to(found, {*lines}))


def _replace_round(state: TableState, settled: SettledRound) -> TableState:
    return change_settlements(state, lambda each: settled if each.round == settled.round else each)


def change_settlements(
    state: TableState, change: Callable[[SettledRound], SettledRound]
) -> TableState:
    """Apply `change` to each settlement in the state of a table.

    If the change completes a waiting round, the round no longer waits.
    """
    changed = ((each, change(each)) for each in state.waiting)
    return replace(
        state,
        settled=state.settled and change(state.settled),
        last_settled=state.last_settled and change(state.last_settled),
        hold=state.hold and change(state.hold),
        waiting=tuple(new for old, new in changed if new is old or _waits(new)),
    )


def _as_pending(state: TableState) -> TableState:
    settled = state.settled
    if settled is None:
        return state
    waiting = (*state.waiting, settled) if _waits(settled) else state.waiting
    return replace(state, settled=None, last_settled=settled, waiting=waiting)


def _waits(settled: SettledRound) -> bool:
    return bool(settled.undecided or open_lines(settled))


def _without(waiting: tuple[SettledRound, ...], round_name: str) -> tuple[SettledRound, ...]:
    return tuple(each for each in waiting if each.round != round_name)
