"""Search for the win that must be validated before an Envy Bonus is paid.

When a floorperson validates it, they also examine the hand that caused the Envy Bonus.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from bonus.settling.settlement_lines import Line
from bonus.wagers import envy_item, is_jackpot


class WaitingWin(Protocol):
    """A win that waits for a floorperson."""

    @property
    def position(self) -> int: ...

    @property
    def item(self) -> str: ...


def cause_of(envy: Line, waiting: Sequence[WaitingWin], lines: Iterable[Line]) -> int | None:
    """Return the index in ``waiting`` of the win on which an Envy Bonus depends, or None.

    The hand that caused the Envy Bonus can also have won. The Envy Bonus depends on its waiting win
    of the wager of the Envy Bonus, or else on its first waiting win, as when its holder did not
    make that wager (reading T10). If no win of the hand waits, no floorperson examines it.

    ``waiting`` are the wins that wait for a floorperson, in paying order, and ``lines`` all lines
    of the round.
    """
    of_hand = [index for index, win in enumerate(waiting) if win.position == envy.envy_of]
    if len(of_hand) > 1:
        items = frozenset(_items_of_wager(envy, lines))
        return next((index for index in of_hand if waiting[index].item in items), of_hand[0])
    return of_hand[0] if of_hand else None


def _items_of_wager(envy: Line, lines: Iterable[Line]) -> Iterator[str]:
    """Yield the items that the hand won with the wager of an Envy Bonus.

    The line of a wager is before the lines of its jackpots.
    """
    own = False
    for line in lines:
        if line.position == envy.envy_of and line.envy_of is None:
            own = own if is_jackpot(line.item) else envy_item(line.item) == envy.item
            if own:
                yield line.item
