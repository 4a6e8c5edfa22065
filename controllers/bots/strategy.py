"""What a player who knows the game does with his hand.

What is best to the last hand is found by `pitlink odds`; this is it in words that a player can
keep in mind: queen-six-four, or a pair of threes, with three times the stake from a pair of tens.
"""

from collections.abc import Sequence
from typing import Final

from bonus.cards import Card, parse_card
from bonus.hands import best_four, three_card_strength


def _cards(text: str) -> list[Card]:
    return [parse_card(name) for name in text.split()]


_QUEEN_SIX_FOUR: Final = three_card_strength(_cards("Qc 6d 4h"))
_PAIR_OF_TENS: Final = best_four(_cards("Tc Td 3h 2s"))[1]
_PAIR_OF_THREES: Final = best_four(_cards("3c 3d 4h 2s"))[1]


def plays(cards: Sequence[Card]) -> bool:
    """Whether three cards are worth a Play Wager: queen-six-four or better.

    >>> plays(_cards("Qs 6h 3d"))
    False
    """
    return three_card_strength(cards) >= _QUEEN_SIX_FOUR


def follow_times(game: str, cards: Sequence[Card]) -> int:
    """How many times his stake a player follows it with; 0 where he folds."""
    if game != "four_card_prime":
        return int(plays(cards))
    strength = best_four(cards)[1]
    if strength >= _PAIR_OF_TENS:
        return 3
    return int(strength >= _PAIR_OF_THREES)
