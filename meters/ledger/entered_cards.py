"""Cards in the ledger: those that a dealer took back (duty D17), and digests of all dealt ones.

If a round is voided after cards were entered, the void names them. If the dealer replaced a hand,
the result names the cards of the replaced hand. Such voids and results are acts, like decisions of
people: their ledger entries are in the index of acts.
"""

import hashlib
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


DEALT_KEPT: Final = 16_384
"""The greatest number of results whose cards a link remembers. The digests are in a ring: the
number of a result's ledger entry determines its place, where it replaces the oldest one."""


def dealt_digest(event: Result) -> str:
    """Return a digest of a round's id and cards; an empty text if the result has no player's hand.

    It does not depend on the positions of the hands or on the order of the cards, so that a copied
    result is found even if somebody changed these.
    """
    hands = sorted(sorted(dealt.cards) for dealt in event.positions if dealt.cards)
    if not hands:
        return ""
    content = [event.round, hands, sorted(event.dealer), sorted(event.community or ())]
    return hashlib.blake2b(msgspec.json.encode(content), digest_size=8).hexdigest()


def dealt_field(digest: str) -> str:
    """Return the field for a digest: its value is a table, and the number of the result's entry."""
    return f"d:{digest}"


def ring_field(entry: int) -> str:
    """Return the field for the digest of a result's entry: one of `DEALT_KEPT`, used in turn."""
    return f"s:{entry % DEALT_KEPT}"
