"""What a player who knows the game does with his hand."""

from collections.abc import Sequence
from typing import Final

from bonus.cards import Card, parse_card
from bonus.hands import three_card_strength

_QUEEN_SIX_FOUR: Final = three_card_strength([parse_card(name) for name in ("Qc", "6d", "4h")])


def plays(cards: Sequence[Card]) -> bool:
    """Whether three cards are worth a Play Wager: queen-six-four or better.

    >>> plays([parse_card("Qs"), parse_card("6h"), parse_card("3d")])
    False
    """
    return three_card_strength(cards) >= _QUEEN_SIX_FOUR
