"""Three-card hands: 649a.6(b), (c) and (e), 679a.6(a) to (c)."""

from collections.abc import Mapping, Sequence
from enum import StrEnum, auto
from functools import cache
from typing import Final

from bonus.cards import ACE, QUEEN, SPADES, SUITS, Card
from bonus.hands.counts import (
    COUNTS,
    RANKS_ONLY,
    SUIT_BITS,
    SUITS_FROM,
    ranks_mask,
    ranks_most_first,
    straight_top,
)


class ThreeCardHand(StrEnum):
    """The hands of 649a.6(b) and 679a.6(b), the highest first; mini-royals are separate hands.

    In 649a, a mini-royal is the highest straight flush (649a.6(e)); in 679a, it is a hand above all
    straight flushes. So both chapters have the same order. Only payouts distinguish the mini-royal
    of spades.
    """

    MINI_ROYAL_SPADES = auto()
    MINI_ROYAL = auto()
    STRAIGHT_FLUSH = auto()
    THREE_OF_A_KIND = auto()
    STRAIGHT = auto()
    FLUSH = auto()
    PAIR = auto()
    HIGH_CARD = auto()


_ORDER: Final[Mapping[ThreeCardHand, int]] = {
    ThreeCardHand.MINI_ROYAL_SPADES: 5,
    ThreeCardHand.MINI_ROYAL: 5,
    ThreeCardHand.STRAIGHT_FLUSH: 5,
    ThreeCardHand.THREE_OF_A_KIND: 4,
    ThreeCardHand.STRAIGHT: 3,
    ThreeCardHand.FLUSH: 2,
    ThreeCardHand.PAIR: 1,
    ThreeCardHand.HIGH_CARD: 0,
}
_FLUSHES: Final = frozenset(3 << SUIT_BITS * suit for suit in range(len(SUITS)))
QUEEN_HIGH: Final = QUEEN << 8
"""The lowest strength of a three-card hand that is a queen high or better."""


def three_card(cards: Sequence[Card], counts: int | None = None) -> tuple[ThreeCardHand, int]:
    """Return the hand that three cards form, and its strength.

    The higher strength wins; equal strengths tie. If both hands are pairs, the rank of the pair
    decides, then the third card. A-2-3 is the lowest straight (reading G4).
    """
    if counts is None:
        first, second, third = cards
        counts = COUNTS[first] + COUNTS[second] + COUNTS[third]
    return _three(counts if counts >> SUITS_FROM in _FLUSHES else counts & RANKS_ONLY)


def three_card_hand(cards: Sequence[Card], counts: int | None = None) -> ThreeCardHand:
    return three_card(cards, counts)[0]


def three_card_strength(cards: Sequence[Card]) -> int:
    return three_card(cards)[1]


def dealer_qualifies(cards: Sequence[Card]) -> bool:
    """Return whether the dealer's hand is a queen high or better (649a.11(c)(3)(i), 679a.1)."""
    return three_card(cards)[1] >= QUEEN_HIGH


@cache
def _three(counts: int) -> tuple[ThreeCardHand, int]:
    """Judge three cards; ``counts`` has their suits only if all cards are of one suit."""
    ranks = ranks_most_first(counts)
    top = straight_top(ranks_mask(counts), 3)
    suits = counts >> SUITS_FROM
    flush = suits in _FLUSHES
    if top == ACE and flush:
        spades = suits == 3 << SUIT_BITS * SPADES
        hand = ThreeCardHand.MINI_ROYAL_SPADES if spades else ThreeCardHand.MINI_ROYAL
    elif top is not None:
        hand = ThreeCardHand.STRAIGHT_FLUSH if flush else ThreeCardHand.STRAIGHT
    elif flush:
        hand = ThreeCardHand.FLUSH
    else:
        distinct = len(set(ranks))
        hand = (ThreeCardHand.THREE_OF_A_KIND, ThreeCardHand.PAIR, ThreeCardHand.HIGH_CARD)[
            distinct - 1
        ]
    first, second, third = ranks if top is None else (top, 0, 0)
    return hand, _ORDER[hand] << 12 | first << 8 | second << 4 | third
