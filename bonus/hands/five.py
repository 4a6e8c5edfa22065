"""The five-card hands of 649a.6(d), formed of five cards or of the best five of six."""

from collections.abc import Sequence
from enum import StrEnum, auto
from functools import cache
from typing import Final

from bonus.cards import ACE, SPADES, Card
from bonus.hands.counts import (
    COUNTS,
    RANKS_ONLY,
    SUIT_BITS,
    SUITS_FROM,
    masks_by_count,
    ranks_mask,
    straight_top,
    suited_mask,
)


class FiveCardHand(StrEnum):
    """The hands of 649a.6(d), the highest first.

    The royal flush of spades has its own name, because 649a.12(j) pays it separately. ``TWO_PAIR``,
    ``PAIR`` and ``HIGH_CARD`` are not in 649a.6(d). They are names for all other hands.
    """

    ROYAL_FLUSH_SPADES = auto()
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


# This number is added to the counts of the four suits. In the sum, the top bit of a suit's field is
# set if the suit occurs five times or more.
_FIVE_CARRIES: Final = 0x3333
_CARRIED: Final = 0x8888


def five_card_hand(cards: Sequence[Card]) -> FiveCardHand:
    """Return the hand of 649a.6(d) that five cards form.

    A-2-3-4-5 is a straight (reading G5).

    Raises:
        ValueError: there are not five cards.

    >>> from bonus.cards import parse_card
    >>> five_card_hand([parse_card(name) for name in ("Ah", "2s", "3s", "4d", "5c")]).value
    'straight'
    """
    if len(cards) != 5:
        raise ValueError(f"a five-card hand has five cards, not {len(cards)}")
    return best_five(cards)


def best_five_of(cards: Sequence[Card], counts: int | None = None) -> FiveCardHand:
    """Return the highest hand of 649a.6(d) that five of six cards form (649a.11(c)(9)).

    ``counts`` are the counts of the cards, if they are known.

    Raises:
        ValueError: there are not six cards.
    """
    if len(cards) != 6:
        raise ValueError(f"the best five are taken of six cards, not {len(cards)}")
    return best_five(cards, counts)


def best_five(cards: Sequence[Card], counts: int | None = None) -> FiveCardHand:
    """Return the highest hand of 649a.6(d) that five of the given cards form.

    ``counts`` are the counts of the cards, if they are known.

    Raises:
        ValueError: there are not five or six cards.
    """
    if not 5 <= len(cards) <= 6:
        raise ValueError(f"the best five are taken of five or six cards, not {len(cards)}")
    if counts is None:
        counts = 0
        for card in cards:
            counts += COUNTS[card]
    carried = (counts >> SUITS_FROM) + _FIVE_CARRIES & _CARRIED
    if not carried:
        return _by_ranks(counts & RANKS_ONLY)
    # Five cards of one suit have five different ranks. A sixth card can only form a pair with one
    # of them. So no unsuited hand is higher than the flush.
    suit = (carried.bit_length() - 1) // SUIT_BITS
    top = straight_top(suited_mask(cards, suit), 5)
    if top is None:
        return FiveCardHand.FLUSH
    if top != ACE:
        return FiveCardHand.STRAIGHT_FLUSH
    return FiveCardHand.ROYAL_FLUSH_SPADES if suit == SPADES else FiveCardHand.ROYAL_FLUSH


@cache
def _by_ranks(counts: int) -> FiveCardHand:
    """Return the highest five-card hand that the ranks of five or six cards form.

    ``counts`` are the packed counts of the ranks, without suits. The function is used if no suit
    has five cards.
    """
    fours, threes, pairs, _ = masks_by_count(counts)
    if fours:
        return FiveCardHand.FOUR_OF_A_KIND
    if threes and (pairs or threes.bit_count() == 2):
        return FiveCardHand.FULL_HOUSE
    if straight_top(ranks_mask(counts), 5) is not None:
        return FiveCardHand.STRAIGHT
    if threes:
        return FiveCardHand.THREE_OF_A_KIND
    if pairs:
        return FiveCardHand.TWO_PAIR if pairs.bit_count() >= 2 else FiveCardHand.PAIR
    return FiveCardHand.HIGH_CARD
