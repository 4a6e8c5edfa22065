"""Cards that a dealer entered and took back, in the ledger (duty D17).

If a round is voided after cards were entered, the void names them. If the dealer replaced a hand,
the result names the cards of the replaced hand. Such voids and results are acts, like decisions of
people: their ledger entries are in the index of acts.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from meters.wire.messages import EnteredCards, MoneyEvent, Result, Void

OF_TABLES: Final = frozenset({b"wagers", b"correct_wager", b"result", b"void"})
"""The kinds of ledger entries that are tables' events. Entries of every other kind are acts."""


class _Entered(msgspec.Struct, frozen=True):
    entered: list[EnteredCards] | UnsetType = UNSET
    entered_before: list[EnteredCards] | UnsetType = UNSET


CONFIRMED_BY: Final = b", confirmed by "
"""Begins the name of the person who confirmed a table's correction, in its entry's `by`."""

_ENTERED: Final = msgspec.json.Decoder(_Entered)


def entered_in(event: MoneyEvent) -> Sequence[EnteredCards]:
    """Return the cards that a table entered, but that are not in the result of the round."""
    match event:
        case Void():
            return event.entered or ()
        case Result():
            return event.entered_before or ()
        case _:
            return ()


def entered_in_text(kind: str, event: bytes | str) -> Sequence[EnteredCards]:
    """Return the cards that a void's or result's text names as entered and taken back."""
    if kind not in {"void", "result"}:
        return ()
    found = _ENTERED.decode(event)
    return (found.entered if kind == "void" else found.entered_before) or ()


def is_act(kind: bytes, event: bytes, by: bytes) -> bool:
    """Check if a ledger entry belongs in the index of acts.

    All ledger entries that are not tables' events do. A table's event does only if it corrects a
    wager, if it names cards that were entered and taken back, or if a floorperson confirmed it.
    `by` says who wrote the entry. The service (`LinkIntake`) has the same rule.

    Raises:
        msgspec.DecodeError: the event is not valid.
    """
    if kind not in OF_TABLES or kind == b"correct_wager":
        return True
    if by.startswith(b"table:") and CONFIRMED_BY in by:
        return True
    return b'"entered' in event and bool(entered_in_text(kind.decode(), event))


def count_hands(entered: Sequence[EnteredCards]) -> int:
    """Count the hands to which the entered cards belong. The community cards count as one hand."""
    return len({(cards.what, cards.position) for cards in entered})
