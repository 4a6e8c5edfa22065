"""The hands of Pai Gow side bets: the best of seven cards, from one deck with a joker.

The joker is an ace, or completes a straight, a flush, a straight flush or a royal flush. As at the
usual side bets, three of a kind is higher than a straight: with seven cards, straights are more
frequent.
"""

from collections.abc import Sequence
from enum import StrEnum, auto
from functools import lru_cache
from typing import Final

from bonus.cards import ACE, JOKER, RANKS, Card
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

PAI_GOW_CARDS: Final = 7


class PaiGowHand(StrEnum):
    """The hands that the side bets pay, the highest first; ``OTHER`` is any other hand.

    A seven-card straight flush has no joker, unless its name says so.
    """

    SEVEN_CARD_STRAIGHT_FLUSH = auto()
    SEVEN_CARD_STRAIGHT_FLUSH_WITH_JOKER = auto()
    FIVE_ACES = auto()
    ROYAL_FLUSH = auto()
    STRAIGHT_FLUSH = auto()
    FOUR_OF_A_KIND = auto()
    FULL_HOUSE = auto()
    FLUSH = auto()
    THREE_OF_A_KIND = auto()
    STRAIGHT = auto()
    OTHER = auto()


OF_SEVEN: Final = frozenset(
    {PaiGowHand.SEVEN_CARD_STRAIGHT_FLUSH, PaiGowHand.SEVEN_CARD_STRAIGHT_FLUSH_WITH_JOKER}
)
_FIVE: Final = 5
_ONE_ACE: Final = 1 << RANK_BITS * ACE
_FOUR_ACES: Final = 4 * _ONE_ACE


def pai_gow_hand(cards: Sequence[Card], counts: int | None = None) -> PaiGowHand:
    """Return the highest hand that seven cards form.

    >>> from bonus.cards import WITH_JOKER
    >>> pai_gow_hand(WITH_JOKER.parse("As Ah Ad Ac Jk 2c 3d".split())).value
    'five_aces'
    """
    if len(cards) != PAI_GOW_CARDS:
        raise ValueError(f"a Pai Gow hand has {PAI_GOW_CARDS} cards, not {len(cards)}")
    return best_with_joker(cards, counts)


def best_with_joker(cards: Sequence[Card], counts: int | None = None) -> PaiGowHand:
    """Return the highest hand that five, six or seven cards form."""
    if counts is None:
        counts = counts_of(cards)
    joker = JOKER in cards
    suit = suit_with(counts, _FIVE - joker)
    by_ranks = hand_of_ranks(counts & RANKS_ONLY, joker=joker)
    if suit is None or by_ranks is PaiGowHand.FIVE_ACES:
        return by_ranks
    mask = suited_mask([card for card in cards if card != JOKER], suit)
    if mask.bit_count() + joker == PAI_GOW_CARDS and run_top(mask, PAI_GOW_CARDS, joker=joker):
        return (
            PaiGowHand.SEVEN_CARD_STRAIGHT_FLUSH_WITH_JOKER
            if joker
            else PaiGowHand.SEVEN_CARD_STRAIGHT_FLUSH
        )
    if top := run_top(mask, _FIVE, joker=joker):
        return PaiGowHand.ROYAL_FLUSH if top == ACE else PaiGowHand.STRAIGHT_FLUSH
    return min(by_ranks, PaiGowHand.FLUSH, key=_PLACES.__getitem__)


_PLACES: Final = {hand: place for place, hand in enumerate(PaiGowHand)}


@lru_cache(maxsize=65_536)
def hand_of_ranks(counts: int, *, joker: bool) -> PaiGowHand:
    """Return the highest hand without a flush; ``counts`` has only ranks, and no joker."""
    if joker and counts & 7 * _ONE_ACE == _FOUR_ACES:
        return PaiGowHand.FIVE_ACES
    mask = ranks_mask(counts)
    fours, threes, pairs, _ = masks_by_count(counts + joker * _ONE_ACE)
    if fours:
        return PaiGowHand.FOUR_OF_A_KIND
    if threes and (pairs or threes.bit_count() >= 2):
        return PaiGowHand.FULL_HOUSE
    if threes:
        return PaiGowHand.THREE_OF_A_KIND
    return PaiGowHand.STRAIGHT if run_top(mask, _FIVE, joker=joker) else PaiGowHand.OTHER


@lru_cache(maxsize=65_536)
def run_top(mask: int, length: int, *, joker: bool) -> int:
    """Return the top rank of the highest run of ``length`` ranks that a joker can complete, or 0.

    No run of five or more ends with the deuce, whose rank is 0.
    """
    masks = [mask | 1 << RANK_BITS * rank for rank in range(len(RANKS))] if joker else [mask]
    return max(straight_top(each, length) or 0 for each in masks)
