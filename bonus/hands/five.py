"""The five-card hands of 649a.6(d), formed from the best five of five to nine cards."""

from collections.abc import Mapping, Sequence
from enum import StrEnum, auto
from functools import cache, lru_cache
from typing import Final

from bonus.cards import ACE, RANKS, SPADES, Card
from bonus.hands.counts import (
    COUNTS,
    RANKS_ONLY,
    SUIT_BITS,
    SUITS_FROM,
    counts_of,
    masks_by_count,
    ranks_mask,
    ranks_most_first,
    ranks_of,
    straight_top,
    suit_with,
    suited_mask,
)

FIVE_OF_LEAST: Final = 5
FIVE_OF_MOST: Final = 9
"""The most cards of which the best five are found: ten cards could have two flushes."""


class FiveCardHand(StrEnum):
    """The hands of 649a.6(d), the highest first, then hands that the law does not name.

    The royal flush of spades has its own name because 649a.12(j) pays it separately.
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
_FLUSH_AND_MORE: Final = 8
_FEW: Final = 6
_ABOVE_FLUSH: Final = frozenset({FiveCardHand.FOUR_OF_A_KIND, FiveCardHand.FULL_HOUSE})


def five_card_hand(cards: Sequence[Card]) -> FiveCardHand:
    """Return the hand of 649a.6(d) that five cards form; A-2-3-4-5 is a straight (reading G5).

    >>> from bonus.cards import parse_card
    >>> five_card_hand([parse_card(name) for name in ("Ah", "2s", "3s", "4d", "5c")]).value
    'straight'
    """
    if len(cards) != 5:
        raise ValueError(f"a five-card hand has five cards, not {len(cards)}")
    return best_five(cards)


def best_five_of(cards: Sequence[Card], counts: int | None = None) -> FiveCardHand:
    """Return the highest hand of 649a.6(d) that five of six cards form (649a.11(c)(9))."""
    if len(cards) != 6:
        raise ValueError(f"the best five are taken from six cards, not {len(cards)}")
    return best_five(cards, counts)


def best_five(cards: Sequence[Card], counts: int | None = None) -> FiveCardHand:
    if not FIVE_OF_LEAST <= len(cards) <= FIVE_OF_MOST:
        raise ValueError(f"the best five are taken from five to nine cards, not {len(cards)}")
    if counts is None:
        counts = 0
        for card in cards:
            counts += COUNTS[card]
    carried = (counts >> SUITS_FROM) + _FIVE_CARRIES & _CARRIED
    if not carried:
        by_ranks = _by_few_ranks if len(cards) <= _FEW else _by_many_ranks
        return by_ranks(counts & RANKS_ONLY)
    suit = (carried.bit_length() - 1) // SUIT_BITS
    top = straight_top(suited_mask(cards, suit), 5)
    if top is None:
        return _flush_or_higher(counts, len(cards))
    if top != ACE:
        return FiveCardHand.STRAIGHT_FLUSH
    return FiveCardHand.ROYAL_FLUSH_SPADES if suit == SPADES else FiveCardHand.ROYAL_FLUSH


def _flush_or_higher(counts: int, cards: int) -> FiveCardHand:
    # Five cards of one suit have five different ranks. A full house or four of a kind needs three
    # further cards.
    if cards < _FLUSH_AND_MORE:
        return FiveCardHand.FLUSH
    by_ranks = _by_many_ranks(counts & RANKS_ONLY)
    return by_ranks if by_ranks in _ABOVE_FLUSH else FiveCardHand.FLUSH


def _by_ranks(counts: int) -> FiveCardHand:
    fours, threes, pairs, _ = masks_by_count(counts)
    if fours:
        return FiveCardHand.FOUR_OF_A_KIND
    if threes and (pairs or threes.bit_count() >= 2):
        return FiveCardHand.FULL_HOUSE
    if straight_top(ranks_mask(counts), 5) is not None:
        return FiveCardHand.STRAIGHT
    if threes:
        return FiveCardHand.THREE_OF_A_KIND
    if pairs:
        return FiveCardHand.TWO_PAIR if pairs.bit_count() >= 2 else FiveCardHand.PAIR
    return FiveCardHand.HIGH_CARD


# There are 24,570 results for five or six cards. A cache without a limit is faster.
_by_few_ranks: Final = cache(_by_ranks)
_by_many_ranks: Final = lru_cache(maxsize=65_536)(_by_ranks)


_OF_A_KIND: Final[Mapping[FiveCardHand, tuple[int, ...]]] = {
    FiveCardHand.FOUR_OF_A_KIND: (4, 1),
    FiveCardHand.FULL_HOUSE: (3, 2),
    FiveCardHand.THREE_OF_A_KIND: (3, 1, 1),
    FiveCardHand.TWO_PAIR: (2, 2, 1),
    FiveCardHand.PAIR: (2, 1, 1, 1),
    FiveCardHand.HIGH_CARD: (1, 1, 1, 1, 1),
}
"""How many cards of each rank decide between two such hands, the first rank first."""
_RUNS: Final = frozenset(
    {
        FiveCardHand.ROYAL_FLUSH_SPADES,
        FiveCardHand.ROYAL_FLUSH,
        FiveCardHand.STRAIGHT_FLUSH,
        FiveCardHand.STRAIGHT,
    }
)
_FROM_LOWEST: Final = {hand: at for at, hand in enumerate(reversed(FiveCardHand))}


def five_card(cards: Sequence[Card], counts: int | None = None) -> tuple[FiveCardHand, int]:
    """Return the best five-card hand of five to nine cards, and its strength.

    Suits are equal in rank (649a.6(a)): all royal flushes are equal.

    >>> from bonus.cards import CARDS
    >>> kings, aces = (CARDS.parse(hand.split()) for hand in ("Kc Kd Kh Ks 2c", "Ac Ad Ah As 2d"))
    >>> five_card(kings)[1] < five_card(aces)[1]
    True
    """
    if counts is None:
        counts = counts_of(cards)
    hand = best_five(cards, counts)
    suit = suit_with(counts, 5)
    mask = ranks_mask(counts) if suit is None else suited_mask(cards, suit)
    if hand in _RUNS:
        top = straight_top(mask, 5)
        deciding = [] if top is None else [top]
    elif hand is FiveCardHand.FLUSH:
        deciding = [*ranks_of(mask)][:5]
    else:
        deciding = _deciding(ranks_most_first(counts), _OF_A_KIND[hand])
    of_hand = FiveCardHand.ROYAL_FLUSH if hand is FiveCardHand.ROYAL_FLUSH_SPADES else hand
    strength = _FROM_LOWEST[of_hand]
    for rank in (*deciding, 0, 0, 0, 0, 0)[:5]:
        strength = strength * len(RANKS) + rank
    return hand, strength


def _deciding(ranks: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Return, for each size, the highest rank that occurs so often and is not taken yet."""
    taken: list[int] = []
    for size in sizes:
        taken.append(max(rank for rank in {*ranks} - {*taken} if ranks.count(rank) >= size))
    return taken
