"""What outlasts a round: its settlement, and the wins in it that wait for a floorperson. Pure."""

from typing import Final

from msgspec.structs import replace

from controllers.betting import check_open
from controllers.events import Refusal
from controllers.table import Returned, Settled, TableState

WAITING_MAX: Final = 8
"""So many rounds with a win that waits are kept in sight; then the table waits too."""


def go_on(state: TableState) -> TableState:
    """The dealer has paid and goes on; a round with an undecided win stays in sight until `done`.

    Raises:
        Refusal: ``claims_wait``: as many as can be kept wait already; or a round is under way.
    """
    check_open(state)
    if _waits(state.settled) and len(state.waiting) >= WAITING_MAX:
        raise _full()
    return _put_away(state)


def begin(state: TableState) -> TableState:
    """A round is locked in while the settlement before is still in sight.

    A table whose devices have no button for `done` is not stopped by rounds that are decided: the
    oldest of them gives way.

    Raises:
        Refusal: ``claims_wait``: as many as can be kept wait, and none is decided.
    """
    if _waits(state.settled) and len(state.waiting) >= WAITING_MAX:
        decided = next((each for each in state.waiting if not each.undecided), None)
        if decided is None:
            raise _full()
        state = replace(state, waiting=_without(state.waiting, decided.round))
    return _put_away(state)


def end(
    state: TableState, settled: Settled | None = None, returned: Returned | None = None
) -> TableState:
    """The table after a round, open for the next one.

    Args:
        state: the table.
        settled: the settlement of that round, or None where nothing was settled.
        returned: what went back to the players, or None where nothing new did.
    """
    kept = _put_away(state)
    return TableState(
        settled=settled,
        waiting=kept.waiting,
        last_settled=kept.last_settled,
        last_wagers=state.last_wagers,
        last_joined=state.joined,
        returned=returned or state.returned,
    )


def acknowledge(state: TableState, round_name: str) -> TableState:
    """The dealer has done what was decided about a round's wins: it leaves the panel.

    Raises:
        Refusal: ``claims_wait`` or ``nothing_there``.
    """
    found = next((each for each in state.waiting if each.round == round_name), None)
    if found is None:
        raise Refusal("nothing_there", f"no win of round {round_name[:40]} waits here")
    if found.undecided:
        raise Refusal("claims_wait", f"a win of round {round_name} waits for a floorperson")
    return replace(state, waiting=_without(state.waiting, round_name))


def _put_away(state: TableState) -> TableState:
    settled = state.settled
    if settled is None:
        return state
    waiting = (*state.waiting, settled) if _waits(settled) else state.waiting
    return replace(state, settled=None, last_settled=settled, waiting=waiting)


def _waits(settled: Settled | None) -> bool:
    return settled is not None and bool(settled.undecided)


def _without(waiting: tuple[Settled, ...], round_name: str) -> tuple[Settled, ...]:
    return tuple(each for each in waiting if each.round != round_name)


def _full() -> Refusal:
    return Refusal(
        "claims_wait",
        f"the wins of {WAITING_MAX} rounds wait: call a floorperson, and touch Done on one",
    )
