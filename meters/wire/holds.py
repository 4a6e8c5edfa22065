"""The rule that decides if a table must stop play until a win is paid."""

from collections.abc import Iterable
from typing import Final

from bonus.wagers import PaidFrom

HELD: Final = "held"
"""State of a table that must wait for a hand pay, and the code that refuses its events."""

HELD_MESSAGE: Final = "the table waits for a hand pay: the cards stay until its payment is recorded"


def holds_table(paid_from: str | None) -> bool:
    """Check if the table must wait until a win with this source of payment is paid or rejected.

    Only a hand pay holds its table: the law requires that the cards remain on the table until the
    necessary documentation is done (649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv)).

    >>> holds_table("hand_pay"), holds_table("table_inventory"), holds_table("game_account")
    (True, False, False)
    """
    return paid_from == PaidFrom.HAND_PAY


def held_by(claims: Iterable[str]) -> str:
    return f"{HELD_MESSAGE} ({', '.join(claims)})"
