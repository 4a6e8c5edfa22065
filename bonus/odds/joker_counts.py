"""Number of deals of each Pai Gow hand: seven cards from a deck of 52 cards and a joker.

All deals are counted by the ranks of their cards alone, as if there were no flush. Then the deals
with five cards of a suit, or four and the joker, are taken from the hands of their ranks and added
to their own hands. The functions of the ranking judge both, as they judge hands in settlement.
Seven cards have at most one such suit, and the four suits are equal.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, combinations_with_replacement
from math import comb, prod
from typing import Final

from bonus.cards import JOKER, RANKS, SUITS, Card
from bonus.hands.counts import RANKS_ONLY, counts_of
from bonus.hands.pai_gow import PAI_GOW_CARDS, PaiGowHand, hand_of_ranks, pai_gow_hand

_ALL_SUITS: Final = len(SUITS)
_OTHER_SUITS: Final = _ALL_SUITS - 1
_FIVE: Final = 5
_SUIT: Final = 0
"""The suit whose flushes are counted, in place of each suit."""

STEPS: Final = 2


def count_pai_gow(advance: Callable[[int], None]) -> dict[str, int]:
    """Return the number of deals of each hand. ``advance`` is called after each step."""
    counts: Counter[PaiGowHand] = Counter()
    for joker in (False, True):
        jokers = (JOKER,) * joker
        size = PAI_GOW_CARDS - joker
        for cards, deals in _by_rank(size, _ALL_SUITS):
            counts[_of_ranks(cards, joker=joker)] += deals
        for suited in range(_FIVE - joker, size + 1):
            for ranks in combinations(range(len(RANKS)), suited):
                flush = tuple(Card(rank * _ALL_SUITS + _SUIT) for rank in ranks)
                for others, deals in _by_rank(size - suited, _OTHER_SUITS):
                    cards = (*flush, *others)
                    counts[_of_ranks(cards, joker=joker)] -= _ALL_SUITS * deals
                    counts[pai_gow_hand((*cards, *jokers))] += _ALL_SUITS * deals
        advance(1)
    return {hand.value: counts[hand] for hand in PaiGowHand}


def _of_ranks(cards: tuple[Card, ...], *, joker: bool) -> PaiGowHand:
    return hand_of_ranks(counts_of(cards) & RANKS_ONLY, joker=joker)


def _by_rank(number: int, suits: int) -> Iterator[tuple[tuple[Card, ...], int]]:
    """Yield cards with each possible combination of ranks, and the ways to deal such ranks.

    The cards are of the last ``suits`` suits.
    """
    for ranks in combinations_with_replacement(range(len(RANKS)), number):
        each = Counter(ranks)
        if max(each.values(), default=0) <= suits:
            cards = tuple(
                Card(rank * _ALL_SUITS + _ALL_SUITS - 1 - at)
                for rank, times in each.items()
                for at in range(times)
            )
            yield cards, prod(comb(suits, times) for times in each.values())
