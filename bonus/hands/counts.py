"""How hands are counted: how often each rank and each suit occurs, side by side in one number.

Each card has a number in which those counts are kept side by side, so that the sum over a hand's
cards holds them all, and what a sum of ranks means is worked out once and remembered.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from bonus.cards import ACE, RANKS, SUITS, Card, rank_of, suit_of

# Three bits a rank hold a count of up to four; above them, four bits a suit hold one of up to six.
RANK_BITS: Final = 3
SUIT_BITS: Final = 4
SUITS_FROM: Final = RANK_BITS * len(RANKS)
RANKS_ONLY: Final = (1 << SUITS_FROM) - 1
COUNTS: Final = tuple(
    (1 << RANK_BITS * rank) + (1 << SUITS_FROM + SUIT_BITS * suit)
    for rank in range(len(RANKS))
    for suit in range(len(SUITS))
)
"""The number of each card."""


def counts_of(cards: Iterable[Card]) -> int:
    """The counts of some cards together."""
    total = 0
    for card in cards:
        total += COUNTS[card]
    return total


def ranks_most_first(counts: int) -> list[int]:
    """The ranks in a sum of counts, each as often as it occurs: most frequent, then highest."""
    found = [(counts >> RANK_BITS * rank & 7, rank) for rank in range(len(RANKS))]
    return [rank for count, rank in sorted(found, reverse=True) for _ in range(count)]


def ranks_mask(ranks: Iterable[int]) -> int:
    """A mask with a bit for each rank that occurs."""
    return sum(1 << rank for rank in set(ranks))


def suit_with(counts: int, least: int) -> int | None:
    """The suit that occurs at least so often, where no two can; None where none does."""
    suits = counts >> SUITS_FROM
    for suit in range(len(SUITS)):
        if suits >> SUIT_BITS * suit & 15 >= least:
            return suit
    return None


def suited_mask(cards: Sequence[Card], suit: int) -> int:
    """A mask of the ranks that occur in a suit."""
    return sum(1 << rank_of(card) for card in cards if suit_of(card) == suit)


def straight_top(mask: int, length: int) -> int | None:
    """The top rank of the highest run of ``length`` in a mask of ranks, the ace also below the 2.

    None where there is no such run. An ace is in no run but one that it begins or ends.
    """
    aces_low = mask << 1 | mask >> ACE
    run = (1 << length) - 1
    for top in range(ACE, length - 3, -1):
        if aces_low >> top + 2 - length & run == run:
            return top
    return None
