"""The hands of the Aces Bonus (682a.6(d)), formed of five cards or of the best four of them.

The law does not clearly say which of the two decides (reading F12), so each casino table chooses.
"""

from collections.abc import Sequence
from enum import StrEnum, auto
from functools import cache
from typing import Final

from bonus.cards import ACE, Card
from bonus.hands.counts import (
    RANK_BITS,
    RANKS_ONLY,
    counts_of,
    masks_by_count,
    ranks_mask,
    straight_top,
    suit_with,
    suited_mask,
)

_ACES: Final = 1 << RANK_BITS * ACE


class AcesHand(StrEnum):
    """The hands in the order of 682a.6(d) (reading F7); ``OTHER`` is not paid."""

    FOUR_ACES = auto()
    FOUR_OF_A_KIND = auto()
    ROYAL_FLUSH = auto()
    STRAIGHT_FLUSH = auto()
    THREE_ACES = auto()
    THREE_OF_A_KIND = auto()
    FLUSH = auto()
    STRAIGHT = auto()
    TWO_PAIR = auto()
    TWO_ACES = auto()
    OTHER = auto()


def aces_hand(cards: Sequence[Card], counts: int | None = None) -> AcesHand:
    """Return the highest hand of the Aces Bonus that five cards form (682a.6(d)).

    A flush or a straight needs all five cards. A full house is paid as a three of a kind (reading
    F5).
    """
    return _judge(cards, counts, 5)


def aces_hand_best_four(cards: Sequence[Card], counts: int | None = None) -> AcesHand:
    """Return the highest hand of the Aces Bonus that any four of five cards form (reading F12)."""
    return _judge(cards, counts, 4)


def _judge(cards: Sequence[Card], counts: int | None, length: int) -> AcesHand:
    if len(cards) != 5:
        raise ValueError(f"the Aces Bonus is on five cards, not {len(cards)}")
    if counts is None:
        counts = counts_of(cards)
    suit = suit_with(counts, length)
    if suit is None:
        return _by_ranks(counts & RANKS_ONLY, length)
    # If four or five cards have one suit, the five cards contain at most a pair. All unsuited hands
    # above a flush need three cards of one rank. So only a suited hand can be higher than a flush.
    top = straight_top(suited_mask(cards, suit), length)
    if top is None:
        return AcesHand.FLUSH
    return AcesHand.ROYAL_FLUSH if top == ACE else AcesHand.STRAIGHT_FLUSH


@cache
def _by_ranks(counts: int, length: int) -> AcesHand:
    """Return the highest hand without a flush; a straight has ``length`` cards."""
    fours, threes, pairs, _ = masks_by_count(counts)
    if fours:
        return AcesHand.FOUR_ACES if fours == _ACES else AcesHand.FOUR_OF_A_KIND
    if threes:
        return AcesHand.THREE_ACES if threes == _ACES else AcesHand.THREE_OF_A_KIND
    if straight_top(ranks_mask(counts), length) is not None:
        return AcesHand.STRAIGHT
    if pairs.bit_count() == 2:
        return AcesHand.TWO_PAIR
    return AcesHand.TWO_ACES if pairs == _ACES else AcesHand.OTHER
