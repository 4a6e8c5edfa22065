"""Counts of the ranks and suits of cards, packed into one integer.

A packed number has one bit field for each rank and one bit field for each suit. The packed number
of a card has a 1 in the field of its rank and in the field of its suit. The packed numbers of a
hand's cards are added. Each field of the sum is then the count of one rank or one suit. For each
sum of the rank fields, the hand is computed once and cached.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from bonus.cards import ACE, RANKS, SUITS, Card, rank_of, suit_of

# A rank occurs at most four times, so its field has three bits. A suit occurs at most six times, so
# its field has four bits. The fields of the suits are in higher bits than the fields of the ranks.
RANK_BITS: Final = 3
SUIT_BITS: Final = 4
SUITS_FROM: Final = RANK_BITS * len(RANKS)
RANKS_ONLY: Final = (1 << SUITS_FROM) - 1
COUNTS: Final = tuple(
    (1 << RANK_BITS * rank) + (1 << SUITS_FROM + SUIT_BITS * suit)
    for rank in range(len(RANKS))
    for suit in range(len(SUITS))
)
"""The packed number of each card: 1 in the field of its rank and 1 in the field of its suit."""


def counts_of(cards: Iterable[Card]) -> int:
    """Return the sum of the packed numbers of cards (``COUNTS``)."""
    total = 0
    for card in cards:
        total += COUNTS[card]
    return total


def ranks_most_first(counts: int) -> list[int]:
    """Return the ranks of a hand, each as often as it occurs.

    The most frequent rank comes first. Of two equally frequent ranks, the higher rank comes first.
    """
    found = [(counts >> RANK_BITS * rank & 7, rank) for rank in range(len(RANKS))]
    return [rank for count, rank in sorted(found, reverse=True) for _ in range(count)]


def ranks_mask(ranks: Iterable[int]) -> int:
    """Return a bit mask with one bit for each rank that occurs; bit 0 is the deuce."""
    return sum(1 << rank for rank in set(ranks))


def suit_with(counts: int, least: int) -> int | None:
    """Return the suit that occurs at least ``least`` times, or None.

    ``least`` must be so high that at most one suit can occur so often.
    """
    suits = counts >> SUITS_FROM
    for suit in range(len(SUITS)):
        if suits >> SUIT_BITS * suit & 15 >= least:
            return suit
    return None


def suited_mask(cards: Sequence[Card], suit: int) -> int:
    """Return a bit mask of the ranks that occur in one suit."""
    return sum(1 << rank_of(card) for card in cards if suit_of(card) == suit)


def straight_top(mask: int, length: int) -> int | None:
    """Return the top rank of the highest straight in a mask of ranks, or None.

    The straight is a run of ``length`` ranks. An ace also counts as the rank below the 2. An ace
    can only begin or end a run.
    """
    aces_low = mask << 1 | mask >> ACE
    run = (1 << length) - 1
    for top in range(ACE, length - 3, -1):
        if aces_low >> top + 2 - length & run == run:
            return top
    return None
