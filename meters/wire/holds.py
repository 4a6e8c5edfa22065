"""The rule that decides if a table must stop play until a win is paid, and a text about this."""

from collections.abc import Iterable
from typing import Final

from bonus.wagers import PaidFrom

HELD: Final = "held"
"""Name of the state of a table that must wait for a hand pay. It is also the refusal code for
events of such a table."""

HELD_MESSAGE: Final = "the table waits for a hand pay: the cards stay until its payment is recorded"


def holds_table(paid_from: str | None) -> bool:
    """Check if the table must wait until a win with this source of payment is paid or rejected.

    Only a hand pay holds its table in this way. The law requires that the cards remain on the table
    until the necessary documentation is done (649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv)).

    >>> holds_table("hand_pay"), holds_table("table_inventory"), holds_table("game_account")
    (True, False, False)
    """
    return paid_from == PaidFrom.HAND_PAY


def held_by(claims: Iterable[str]) -> str:
    """Return a text that says why a table must wait. It names the claims of the hand pays."""
    return f"{HELD_MESSAGE} ({', '.join(claims)})"
