"""The win on which an Envy Bonus depends.

A floorperson examines the hand when they validate that win.
"""

from collections.abc import Sequence
from typing import Protocol

from bonus.settling.settlement_lines import METER_OF_ITEM, Line


class WaitingWin(Protocol):
    """A win that waits for a floorperson."""

    @property
    def position(self) -> int:
        """The position that won."""
        ...

    @property
    def item(self) -> str:
        """The wager that won."""
        ...


def cause_of(envy: Line, waiting: Sequence[WaitingWin]) -> int | None:
    """Return the index of the waiting win on which an Envy Bonus depends, or None.

    It is the win of the same hand on the same meter. The holder of the hand may have made no wager
    on that meter (reading T10); then it is the hand's first waiting win. The result is None if no
    win of the hand waits: no floorperson examines the hand.

    Args:
        envy: the line of an Envy Bonus.
        waiting: the wins of its round that wait for a floorperson, in paying order.
    """
    of_hand = [index for index, win in enumerate(waiting) if win.position == envy.envy_of]
    meter = METER_OF_ITEM[envy.item]
    same = (index for index in of_hand if METER_OF_ITEM[waiting[index].item] is meter)
    return next(same, of_hand[0] if of_hand else None)
