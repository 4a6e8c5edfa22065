"""Six-card hands: the best five of six cards, or six cards of one suit from the nine to the ace.

649a.6(d)(8) calls the six suited cards a Super Royal, 679a.6(d)(1) and 682a.6(e)(1) a six-card
royal flush.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum, auto
from typing import Final

from bonus.cards import ACE, Card, suit_of
from bonus.hands.counts import RANK_BITS, suited_mask
from bonus.hands.five import FiveCardHand, best_five_of

_DIAMONDS: Final = 1
_NINE_TO_ACE: Final = sum(1 << RANK_BITS * rank for rank in range(ACE - 5, ACE + 1))


class SixCardHand(StrEnum):
    """The hands of 679a.6(d) and 682a.6(e), the highest first, then those that they do not name."""

    SIX_CARD_ROYAL_DIAMONDS = auto()
    SIX_CARD_ROYAL = auto()
    ROYAL_FLUSH = auto()
    STRAIGHT_FLUSH = auto()
    FOUR_OF_A_KIND = auto()
    FULL_HOUSE = auto()
    FLUSH = auto()
    STRAIGHT = auto()
    THREE_OF_A_KIND = auto()
    TWO_PAIR = auto()
    PAIR = auto()
    HIGH_CARD = auto()


class SuperRoyalHand(StrEnum):
    """The hands of the Six Card Bonus, the highest first (649a.12(f), reading T5)."""

    SUPER_ROYAL_DIAMONDS = auto()
    SUPER_ROYAL = auto()
    ROYAL_FLUSH = auto()
    STRAIGHT_FLUSH = auto()
    FOUR_OF_A_KIND = auto()
    FULL_HOUSE = auto()
    FLUSH = auto()
    STRAIGHT = auto()
    THREE_OF_A_KIND = auto()
    TWO_PAIR = auto()
    PAIR = auto()
    HIGH_CARD = auto()


_ROYALS: Final = frozenset({FiveCardHand.ROYAL_FLUSH_SPADES, FiveCardHand.ROYAL_FLUSH})
_SIX: Final[Mapping[FiveCardHand, SixCardHand]] = {
    hand: SixCardHand.ROYAL_FLUSH if hand in _ROYALS else SixCardHand(hand.value)
    for hand in FiveCardHand
}
_SUPER: Final[Mapping[FiveCardHand, SuperRoyalHand]] = {
    hand: SuperRoyalHand(six.value) for hand, six in _SIX.items()
}


def six_card_hand(cards: Sequence[Card], counts: int | None = None) -> SixCardHand:
    """Return the highest hand of 679a.6(d) and 682a.6(e) that six cards form."""
    hand = best_five_of(cards, counts)
    if hand in _ROYALS and _nine_to_ace(cards):
        diamonds = suit_of(cards[0]) == _DIAMONDS
        return SixCardHand.SIX_CARD_ROYAL_DIAMONDS if diamonds else SixCardHand.SIX_CARD_ROYAL
    return _SIX[hand]


def super_royal_hand(cards: Sequence[Card], counts: int | None = None) -> SuperRoyalHand:
    """Return the highest hand of 649a.6(d) that six cards form.

    The Super Royal of diamonds is a hand of its own because paytable E of the Six Card Bonus pays
    it separately.
    """
    hand = best_five_of(cards, counts)
    if hand in _ROYALS and _nine_to_ace(cards):
        diamonds = suit_of(cards[0]) == _DIAMONDS
        return SuperRoyalHand.SUPER_ROYAL_DIAMONDS if diamonds else SuperRoyalHand.SUPER_ROYAL
    return _SUPER[hand]


def _nine_to_ace(cards: Sequence[Card]) -> bool:
    return suited_mask(cards, suit_of(cards[0])) == _NINE_TO_ACE
