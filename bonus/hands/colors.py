"""The Prime Wager, which pays for cards of one color: 679a.11(d)(1), 682a.11(e)(1)."""

from collections.abc import Sequence
from enum import StrEnum, auto
from typing import Final

from bonus.cards import Card
from bonus.hands.counts import SUIT_BITS, SUITS_FROM, counts_of

# The suits 0 to 3 are clubs, diamonds, hearts and spades. So the suits 1 and 2 are red.
_RED: Final = tuple(card & 3 in {1, 2} for card in range(52))


class PrimeHand(StrEnum):
    """The results of the Prime Wager of chapter 679a, the highest first (reading P4)."""

    SAME_COLOR_PLAYER_AND_DEALER = auto()
    SAME_COLOR_PLAYER = auto()
    MIXED = auto()


class FivePrimeHand(StrEnum):
    """The results of the Prime Wager of chapter 682a, the highest first (reading F6)."""

    ALL_FIVE_SAME_COLOR = auto()
    FOUR_SAME_COLOR = auto()
    MIXED = auto()


_FIELD: Final = (1 << SUIT_BITS) - 1
_DIAMONDS_FROM: Final = SUITS_FROM + SUIT_BITS
_HEARTS_FROM: Final = _DIAMONDS_FROM + SUIT_BITS
_BY_RED: Final = (
    FivePrimeHand.ALL_FIVE_SAME_COLOR,
    FivePrimeHand.FOUR_SAME_COLOR,
    FivePrimeHand.MIXED,
    FivePrimeHand.MIXED,
    FivePrimeHand.FOUR_SAME_COLOR,
    FivePrimeHand.ALL_FIVE_SAME_COLOR,
)


def prime_hand(cards: Sequence[Card], _counts: int | None = None) -> PrimeHand:
    """Return the result of the Prime Wager of chapter 679a.

    ``cards`` are the player's three cards, then the dealer's. Counts do not say who has which card,
    so they are not used.
    """
    if len(cards) != 6:
        raise ValueError(f"the Prime Wager is on three cards and the dealer's, not {len(cards)}")
    first, second, third, *dealers = cards
    red = _RED[first]
    if _RED[second] is not red or _RED[third] is not red:
        return PrimeHand.MIXED
    both = all(_RED[card] is red for card in dealers)
    return PrimeHand.SAME_COLOR_PLAYER_AND_DEALER if both else PrimeHand.SAME_COLOR_PLAYER


def five_prime_hand(cards: Sequence[Card], counts: int | None = None) -> FivePrimeHand:
    """Return the result of the Prime Wager of chapter 682a, for a player's five cards."""
    if len(cards) != 5:
        raise ValueError(f"the Prime Wager is on five cards, not {len(cards)}")
    if counts is None:
        counts = counts_of(cards)
    return _BY_RED[(counts >> _DIAMONDS_FROM & _FIELD) + (counts >> _HEARTS_FROM & _FIELD)]
