"""Cards that were entered and are not in a round's result, as the ledger has them (duty D17).

A void after cards were entered, and a hand that was entered again differently, are treated as acts
of people: their entries are among the acts of the link.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from meters.wire.messages import EnteredCards, MoneyEvent, Result, Void

OF_TABLES: Final = frozenset({b"wagers", b"result", b"void"})
"""The kinds of entries that are tables' events. All others are acts."""


class _Entered(msgspec.Struct, frozen=True):
    """The needed fields of a void or a result."""

    entered: list[EnteredCards] | UnsetType = UNSET
    entered_before: list[EnteredCards] | UnsetType = UNSET


_ENTERED: Final = msgspec.json.Decoder(_Entered)


def entered_in(event: MoneyEvent) -> Sequence[EnteredCards]:
    """Return the cards that were entered before a void or a result and are not in it."""
    match event:
        case Void():
            return event.entered or ()
        case Result():
            return event.entered_before or ()
        case _:
            return ()


def entered_in_text(kind: str, event: bytes | str) -> Sequence[EnteredCards]:
    """Return the same cards from the text of an entry's event.

    Raises:
        msgspec.DecodeError: the text is not such an event.
    """
    if kind not in {"void", "result"}:
        return ()
    found = _ENTERED.decode(event)
    return (found.entered if kind == "void" else found.entered_before) or ()


def is_act(kind: bytes, event: bytes) -> bool:
    """Return whether an entry is in the index of acts, as `note_entry` puts it there.

    All entries are, except the tables' events. Of these, only those that name cards entered before
    are in the index.

    Raises:
        msgspec.DecodeError: the event is not valid.
    """
    if kind not in OF_TABLES:
        return True
    return b'"entered' in event and bool(entered_in_text(kind.decode(), event))


def count_hands(entered: Sequence[EnteredCards]) -> int:
    """Count the hands that the cards are of. The community cards count as one hand."""
    return len({(cards.what, cards.position) for cards in entered})
