"""Which win an Envy Bonus depends on: the one by which a floorperson looks at its hand."""

from collections.abc import Sequence
from typing import Protocol

from bonus.settling.settlement_lines import METER_OF_ITEM, Line


class WaitingWin(Protocol):
    """A win that waits for a floorperson."""

    @property
    def position(self) -> int:
        """Whose it is."""
        ...

    @property
    def item(self) -> str:
        """The wager that won."""
        ...


def cause_of(envy: Line, waiting: Sequence[WaitingWin]) -> int | None:
    """Find the win that an Envy Bonus depends on, by its place among those that wait.

    It is the win of the same hand on the same meter. The holder of the hand need not have wagered
    on that meter (reading T10): then it is the first win of the hand that waits. A hand of which
    no win waits gives None: no floorperson is asked about it.

    Args:
        envy: the line of an Envy Bonus.
        waiting: the wins of its round that wait for a floorperson, in paying order.
    """
    of_hand = [index for index, win in enumerate(waiting) if win.position == envy.envy_of]
    meter = METER_OF_ITEM[envy.item]
    same = (index for index in of_hand if METER_OF_ITEM[waiting[index].item] is meter)
    return next(same, of_hand[0] if of_hand else None)
