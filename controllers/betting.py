"""Betting at a table: wagers that light up and go out, and the count of the chips. Pure."""

from msgspec.structs import replace

from bonus.wagers import Wager
from controllers.events import Refusal, WagerPlaced, WagerWithdrawn
from controllers.table import Layout, Phase, PlacedWager, TableState


def place_wager(
    layout: Layout, state: TableState, event: WagerPlaced, fault: Refusal | None
) -> TableState:
    """A wager lights up before lock-out, at its meter's amount (649a.7(c), (d), reading T22).

    Args:
        layout: the table.
        state: the table as it stands.
        event: the wager.
        fault: why no new progressive wager may be taken now (duty D13), or None.

    Raises:
        Refusal: the wager is not taken.
    """
    check_open(state)
    check_position(layout, event.position)
    wager = _meter_wager(layout, event.wager)
    amount_cents = layout.amount_cents(wager)
    if amount_cents is None:
        raise Refusal("unknown_meter", f"table {layout.table} has no meter for {wager}")
    if event.amount_cents != amount_cents:
        raise Refusal(
            "wrong_amount",
            f"a {wager} wager is {amount_cents} cents here, not {event.amount_cents}",
        )
    if state.is_lit(event.position, wager):
        raise Refusal("wager_twice", f"position {event.position} has its {wager} wager already")
    patron = state.patron_at(event.position)
    if None not in (patron, event.patron) and patron != event.patron:
        raise Refusal("patron_differs", f"position {event.position} is played by {patron}")
    if fault is not None:
        raise fault
    placed = PlacedWager(event.position, wager, amount_cents, event.patron)
    return replace(state, wagers=(*state.wagers, placed), settled=state.unfinished)


def withdraw_wager(layout: Layout, state: TableState, event: WagerWithdrawn) -> TableState:
    """A wager may be taken back until lock-out (649a.7(c)).

    Raises:
        Refusal: betting is locked, or there is no such wager.
    """
    check_open(state)
    check_position(layout, event.position)
    wager = _meter_wager(layout, event.wager)
    left = tuple(
        placed
        for placed in state.wagers
        if (placed.position, placed.wager) != (event.position, wager)
    )
    if len(left) == len(state.wagers):
        raise Refusal("no_wager", f"position {event.position} has no {wager} wager")
    return replace(state, wagers=left)


def check_open(state: TableState) -> None:
    """Check that wagers are taken.

    Raises:
        Refusal: ``betting_locked`` or ``locked_out``.
    """
    if state.phase is Phase.LOCKED_OUT:
        raise Refusal("locked_out", state.reason)
    if state.phase is not Phase.OPEN:
        raise Refusal("betting_locked", "no more bets: betting is locked for this round")


def check_position(layout: Layout, position: int) -> None:
    """Check that the table has a position.

    Raises:
        Refusal: ``unknown_position``.
    """
    if not 1 <= position <= layout.positions:
        raise Refusal(
            "unknown_position",
            f"table {layout.table} has positions 1 to {layout.positions}, not {position}",
        )


def _meter_wager(layout: Layout, name: str) -> Wager:
    try:
        return Wager(name)
    except ValueError:
        reason = f"there is no wager {name[:40]!r}"
        if name in layout.rules.placings:
            reason = f"{name} feeds no meter: its chips stay on the layout"
        raise Refusal("unknown_wager", reason) from None


def count_chips(state: TableState, count: int) -> TableState:
    """The chips counted must be the chip wagers accepted, or the table stops (649a.8(b)).

    Another count may follow, or a void. Where the service refused the wagers their chips go back:
    the dealer may count what goes back, or nothing.

    Raises:
        Refusal: ``chips_differ``; or betting is open, or the chips were counted.
    """
    if state.phase is Phase.DEALT:
        raise Refusal("chips_counted", "the value chips of this round were counted already")
    check_locked(state)
    if count not in {state.chips_due, state.returned_chips or state.chips_due}:
        raise Refusal(
            "chips_differ",
            f"{count} value chips counted where {state.chips_due} wagers were accepted: "
            "the table stops for a floorperson",
        )
    return replace(state, phase=Phase.DEALT)


def check_locked(state: TableState) -> None:
    """Check that a round is under way.

    Raises:
        Refusal: ``not_locked``, ``round_over`` or ``locked_out``.
    """
    if state.phase is Phase.LOCKED_OUT:
        raise Refusal("locked_out", state.reason)
    if state.phase is Phase.OPEN:
        raise Refusal("not_locked", "betting is open: lock it first")
    if state.phase in {Phase.SETTLING, Phase.HELD}:
        raise Refusal("round_over", "the hands of this round are in")
