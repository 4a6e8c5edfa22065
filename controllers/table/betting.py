"""Wagers before lock-out, corrections of wagers after it, and the count of the value chips."""

from msgspec.structs import asdict, replace

from controllers.table.device_events import (
    DeviceRefusal,
    SamePlayer,
    WagerCorrected,
    WagerPlaced,
    WagerWithdrawn,
)
from controllers.table.state import Layout, Phase, PlacedWager, TableState, WagerToCorrect


def place_wager(
    layout: Layout, state: TableState, event: WagerPlaced, fault: DeviceRefusal | None
) -> TableState:
    """Accept a wager before lock-out and turn on its light (649a.7(c), (d)).

    A wager on a meter has the meter's amount (reading T22), or one of its smaller amounts. If the
    light is on with another amount, the new amount replaces it.
    """
    check_open(state)
    check_position(layout, event.position)
    wager = _meter_wager(layout, event.wager)
    _check_amount(layout, wager, event.amount_cents)
    lit = state.lit_wager(event.position, wager)
    _check_new(state, event.position, wager, event.patron, amount_cents=event.amount_cents)
    if fault is not None:
        raise fault
    patron = lit.patron if lit and event.patron is None else event.patron
    placed = PlacedWager(event.position, wager, event.amount_cents, patron)
    wagers = [placed if each is lit else each for each in state.wagers]
    return replace(state, wagers=tuple(wagers if lit else (*wagers, placed)), returned=None)


def correct_wager(
    layout: Layout, state: TableState, event: WagerCorrected | WagerToCorrect
) -> tuple[PlacedWager, tuple[PlacedWager, ...]]:
    """Return the wager that a correction adds or takes back, and the round's corrected wagers.

    Raises:
        DeviceRefusal: the correction is not possible, for example because a card was entered, a
            draw can decide the wager, or the wager to add is there already.
    """
    if state.phase is Phase.OPEN:
        raise DeviceRefusal("not_locked", "betting is open: place or withdraw the wager itself")
    check_locked(state)
    if state.has_entries:
        raise DeviceRefusal(
            "cards_entered",
            "cards of this round were entered: its wagers can no longer be corrected",
        )
    check_position(layout, event.position)
    wager = _meter_wager(layout, event.wager)
    if layout.is_electronic(wager):
        raise DeviceRefusal(
            "electronic_wager",
            f"{wager} is an electronic wager without a value chip: it cannot be corrected",
        )
    tables = layout.rules.meters.terms.get(wager)
    if tables is not None and tables.draws is not None:
        raise DeviceRefusal("drawn_wager", f"a draw can decide {wager}: it cannot be corrected")
    amount_cents = _largest_cents(layout, wager)
    if event.amount_cents is not None:
        amount_cents = event.amount_cents
        _check_amount(layout, wager, amount_cents)
    if state.round is None:
        raise DeviceRefusal(
            "no_round",
            "no progressive wager was accepted in this round, so no wager can be corrected: return"
            " any chip",
        )
    lit = state.lit_wager(event.position, wager)
    if event.action == "take_back":
        if lit is None:
            raise DeviceRefusal("no_wager", f"position {event.position} has no {wager} wager")
        return lit, tuple(placed for placed in state.wagers if placed is not lit)
    _check_new(state, event.position, wager, event.patron)
    there = state.wagers_at(event.position)
    # If the position has other wagers, the service has one patron for all of them, or none. The
    # added wager must have the same patron, or none.
    patron = there[0].patron if there else event.patron or state.patron_at(event.position)
    added = PlacedWager(event.position, wager, amount_cents, patron)
    return added, (*state.wagers, added)


def _check_amount(layout: Layout, wager: str, amount_cents: int) -> None:
    _largest_cents(layout, wager)
    if amount_cents not in (allowed := layout.amounts_cents(wager)):
        raise DeviceRefusal(
            "wrong_amount",
            f"a {wager} wager is {' or '.join(map(str, allowed))} cents here, not {amount_cents}",
        )


def _largest_cents(layout: Layout, wager: str) -> int:
    amount_cents = layout.amount_cents(wager)
    if amount_cents is None:
        raise DeviceRefusal("unknown_meter", f"table {layout.table} has no meter for {wager}")
    return amount_cents


def _check_new(
    state: TableState, position: int, wager: str, patron: str | None, *, amount_cents: int = 0
) -> None:
    """Check that a wager can be added; `amount_cents` is of a wager that can replace another."""
    lit = state.lit_wager(position, wager)
    if lit and amount_cents in {0, lit.amount_cents}:
        raise DeviceRefusal("wager_twice", f"position {position} has its {wager} wager already")
    given = state.patrons_given(state.boxes_of(position))
    if patron is not None and given - {patron}:
        raise DeviceRefusal("patron_differs", f"position {position} is played by {min(given)}")


def withdraw_wager(layout: Layout, state: TableState, event: WagerWithdrawn) -> TableState:
    """Withdraw a wager before lock-out (649a.7(c)).

    A held table can have wagers that were accepted before a hand pay was reopened.
    """
    if state.phase is not Phase.HELD:
        check_open(state)
    check_position(layout, event.position)
    wager = _meter_wager(layout, event.wager)
    lit = state.lit_wager(event.position, wager)
    if lit is None:
        raise DeviceRefusal("no_wager", f"position {event.position} has no {wager} wager")
    return replace(state, wagers=tuple(placed for placed in state.wagers if placed is not lit))


def repeat_wagers(layout: Layout, state: TableState, fault: DeviceRefusal | None) -> TableState:
    """Place all wagers of the previous round again, at the same positions.

    If one of them cannot be placed, raise `DeviceRefusal` and place none.
    """
    check_open(state)
    if not state.last_wagers:
        raise DeviceRefusal("nothing_there", "the previous round had no wagers")
    if state.wagers:
        raise DeviceRefusal("wager_twice", "wagers of this round are lit already")
    state = replace(state, joined=state.last_joined)
    for placed in state.last_wagers:
        state = place_wager(layout, state, WagerPlaced(**asdict(placed)), fault)
    return state


def record_same_player(layout: Layout, state: TableState, event: SamePlayer) -> TableState:
    """Record whether a position and the next one belong to one player (readings T9 and T17).

    Raises:
        DeviceRefusal: ``patron_differs``: the positions have different patrons. ``same_patron``:
            one patron wagered at both positions, so they cannot be separated. Another code: the
            phase does not allow the event, or there is no next position.
    """
    if state.phase is not Phase.OPEN:
        check_locked(state)
    neighbours = event.position, event.position + 1
    for position in neighbours:
        check_position(layout, position)
    others = tuple(each for each in state.joined if each != event.position)
    if event.same:
        joined = replace(state, joined=tuple(sorted((*others, event.position))))
        given = joined.patrons_given(joined.boxes_of(event.position))
        if len(given) > 1:
            raise DeviceRefusal(
                "patron_differs",
                f"these positions have different players: {', '.join(sorted(given))}",
            )
        return joined
    parted = replace(state, joined=others)
    left, right = (parted.patrons_given(parted.boxes_of(position)) for position in neighbours)
    if event.position in state.joined and left & right:
        reason = (
            f"positions {neighbours[0]} and {neighbours[1]} are both played by {min(left & right)}"
        )
        raise DeviceRefusal("same_patron", reason)
    return parted


def check_open(state: TableState) -> None:
    if state.phase is Phase.LOCKED_OUT:
        raise DeviceRefusal("locked_out", state.reason)
    if state.phase is not Phase.OPEN:
        raise DeviceRefusal("betting_locked", "no more bets: betting is locked for this round")


def check_position(layout: Layout, position: int) -> None:
    if not 1 <= position <= layout.positions:
        raise DeviceRefusal(
            "unknown_position",
            f"table {layout.table} has positions 1 to {layout.positions}, not {position}",
        )


def _meter_wager(layout: Layout, name: str) -> str:
    if name in layout.games.meters.terms:
        return name
    reason = f"there is no wager {name[:40]!r}"
    if name in layout.rules.placings:
        reason = f"{name} feeds no meter: its chips stay on the layout"
    raise DeviceRefusal("unknown_wager", reason)


def count_chips(layout: Layout, state: TableState, count: int) -> TableState:
    """Compare the dealer's count of value chips with the accepted chip wagers (649a.8(b)).

    If the numbers differ (``chips_differ``), the round stops until the dealer counts again,
    corrects a wager or voids the round. If the service refused the wagers, the dealer returns their
    chips, and can then count these chips or enter 0.
    """
    if state.phase is Phase.DEALT:
        raise DeviceRefusal("chips_counted", "the value chips of this round were counted already")
    check_locked(state)
    due = state.chips_due(layout)
    if count not in {due, state.returned_chips or due}:
        raise DeviceRefusal(
            "chips_differ",
            f"{count} value chips were counted, but {due} wagers with a chip were accepted: count"
            " again, or call a floorperson",
        )
    return replace(state, phase=Phase.DEALT, differs=None)


def check_locked(state: TableState) -> None:
    if state.phase is Phase.LOCKED_OUT:
        raise DeviceRefusal("locked_out", state.reason)
    if state.phase is Phase.OPEN:
        raise DeviceRefusal("not_locked", "betting is open: lock it first")
    if state.phase in {Phase.SETTLING, Phase.HELD}:
        raise DeviceRefusal("round_over", "the hands of this round were sent already")
