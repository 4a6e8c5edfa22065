"""Results of the Prime Wager, which pays for cards of one color.

679a.11(d)(1), 682a.11(e)(1).
"""

from collections.abc import Sequence
from enum import StrEnum, auto
from typing import Final

from bonus.cards import Card

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


def prime_hand(cards: Sequence[Card]) -> PrimeHand:
    """Return the result of the Prime Wager of chapter 679a.

    ``cards`` are the player's three cards, then the dealer's three cards.

    Raises:
        ValueError: there are not six cards.
    """
    if len(cards) != 6:
        raise ValueError(f"the Prime Wager is on three cards and the dealer's, not {len(cards)}")
    red = [_RED[card] for card in cards]
    if len({*red[:3]}) > 1:
        return PrimeHand.MIXED
    both = len({*red}) == 1
    return PrimeHand.SAME_COLOR_PLAYER_AND_DEALER if both else PrimeHand.SAME_COLOR_PLAYER


def five_prime_hand(cards: Sequence[Card]) -> FivePrimeHand:
    """Return the result of the Prime Wager of chapter 682a, for a player's five cards.

    Raises:
        ValueError: there are not five cards.
    """
    if len(cards) != 5:
        raise ValueError(f"the Prime Wager is on five cards, not {len(cards)}")
    red = sum(_RED[card] for card in cards)
    if red in {0, 5}:
        return FivePrimeHand.ALL_FIVE_SAME_COLOR
    return FivePrimeHand.FOUR_SAME_COLOR if red in {1, 4} else FivePrimeHand.MIXED
