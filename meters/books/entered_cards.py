"""Cards that were entered and are not in a round's result, as the ledger has them (duty D17).

Such cards are in a void after cards were entered, and in a result with a hand that was entered
differently before. Both events are treated as acts of people: their ledger entries are in the index
of acts.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from meters.wire.messages import EnteredCards, MoneyEvent, Result, Void

OF_TABLES: Final = frozenset({b"wagers", b"result", b"void"})
"""The kinds of ledger entries that are tables' events. Entries of all other kinds are acts."""


class _Entered(msgspec.Struct, frozen=True):
    """The fields of a void or a result that name cards entered before."""

    entered: list[EnteredCards] | UnsetType = UNSET
    entered_before: list[EnteredCards] | UnsetType = UNSET


_ENTERED: Final = msgspec.json.Decoder(_Entered)


def entered_in(event: MoneyEvent) -> Sequence[EnteredCards]:
    """Return the cards that a void or a result names as entered earlier."""
    match event:
        case Void():
            return event.entered or ()
        case Result():
            return event.entered_before or ()
        case _:
            return ()


def entered_in_text(kind: str, event: bytes | str) -> Sequence[EnteredCards]:
    """Return the cards that the text of a void or a result names as entered earlier.

    Return no cards for entries of other kinds.

    Raises:
        msgspec.DecodeError: the text is not a void or a result.
    """
    if kind not in {"void", "result"}:
        return ()
    found = _ENTERED.decode(event)
    return (found.entered if kind == "void" else found.entered_before) or ()


def is_act(kind: bytes, event: bytes) -> bool:
    """Return whether the scripts' function `note_entry` puts an entry into the index of acts.

    All ledger entries that are not tables' events are in the index. A table's event is in the index
    only if it names cards that were entered before.

    Raises:
        msgspec.DecodeError: the event is not valid.
    """
    if kind not in OF_TABLES:
        return True
    return b'"entered' in event and bool(entered_in_text(kind.decode(), event))


def count_hands(entered: Sequence[EnteredCards]) -> int:
    """Count the hands to which some cards belong. The community cards count as one hand."""
    return len({(cards.what, cards.position) for cards in entered})
