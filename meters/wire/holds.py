"""Rule that decides if a win holds its table, and texts about a held table."""

from collections.abc import Iterable
from typing import Final

from bonus.wagers import PaidFrom

HELD: Final = "held"
"""Refusal code for the events of a held table. It is also the state of a held table."""

HELD_MESSAGE: Final = "the table is held: the cards stay until the documents of a win are done"


def holds_table(paid_from: str | None) -> bool:
    """Check if a win with this source of payment holds its table.

    Only a hand pay holds its table, until it is paid or rejected. The cards stay on the table until
    the necessary documentation is done (649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv)).

    >>> holds_table("hand_pay"), holds_table("table_inventory"), holds_table("game_account")
    (True, False, False)
    """
    return paid_from == PaidFrom.HAND_PAY


def held_by(claims: Iterable[str]) -> str:
    """Return the reason why a table is held, with the claims that hold the table."""
    return f"{HELD_MESSAGE} ({', '.join(claims)})"
