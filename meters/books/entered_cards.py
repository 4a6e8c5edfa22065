"""Cards that were entered and are not in a round's result, as the ledger has them (duty D17).

A void after cards were entered, and a hand that was taken back and entered differently, are looked
at like what people do: their entries are among the acts of the link.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from meters.wire.messages import EnteredCards, MoneyEvent, Result, Void

OF_TABLES: Final = frozenset({b"wagers", b"result", b"void"})
"""The kinds of entries that are tables' events; all others are acts."""


class _Entered(msgspec.Struct, frozen=True):
    """A void or a result, as far as it is needed here."""

    entered: list[EnteredCards] | UnsetType = UNSET
    entered_before: list[EnteredCards] | UnsetType = UNSET


_ENTERED: Final = msgspec.json.Decoder(_Entered)


def entered_in(event: MoneyEvent) -> Sequence[EnteredCards]:
    """The cards that a void or a result tells of as entered before it."""
    match event:
        case Void():
            return event.entered or ()
        case Result():
            return event.entered_before or ()
        case _:
            return ()


def entered_in_text(kind: str, event: bytes | str) -> Sequence[EnteredCards]:
    """The same of an entry's event.

    Raises:
        msgspec.DecodeError: it is none.
    """
    if kind not in {"void", "result"}:
        return ()
    found = _ENTERED.decode(event)
    return (found.entered if kind == "void" else found.entered_before) or ()


def is_act(kind: bytes, event: bytes) -> bool:
    """Return whether an entry is in the index of acts, as `note_entry` puts it there.

    All are but what tables send, and of that what names cards entered before.

    Raises:
        msgspec.DecodeError: the event is none.
    """
    if kind not in OF_TABLES:
        return True
    return b'"entered' in event and bool(entered_in_text(kind.decode(), event))


def count_hands(entered: Sequence[EnteredCards]) -> int:
    """How many hands, the dealer's and the community cards among them, some cards are of."""
    return len({(cards.what, cards.position) for cards in entered})
