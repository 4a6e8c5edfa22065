"""Counts of the ranks and suits of cards, packed into one integer.

A packed number has a bit field for each rank and each suit. The number of a card has a 1 in two
fields, so the sum over a hand counts the ranks and suits of the hand. The hand
for a sum of the rank fields is cached. Cards that belong to several hands, such as the
community cards, are counted once, and their sum is added to the sum of each hand.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bonus.cards import ACE, RANKS, SUITS, Card, rank_of, suit_of

# A rank occurs at most four times, so its field has three bits. A hand has at most nine cards, so
# the field of a suit has four bits. The fields of the suits are above the fields of the ranks.
RANK_BITS: Final = 3
SUIT_BITS: Final = 4
SUITS_FROM: Final = RANK_BITS * len(RANKS)
RANKS_ONLY: Final = (1 << SUITS_FROM) - 1
LOWS: Final = sum(1 << RANK_BITS * rank for rank in range(len(RANKS)))
"""The mask of all ranks. In a *mask*, the lowest bit of a rank's field says if the rank occurs."""
COUNTS: Final = (
    *(
        (1 << RANK_BITS * rank) + (1 << SUITS_FROM + SUIT_BITS * suit)
        for rank in range(len(RANKS))
        for suit in range(len(SUITS))
    ),
    0,
)
"""What each card adds; the joker, which is the last, has neither rank nor suit."""


def counts_of(cards: Iterable[Card]) -> int:
    total = 0
    for card in cards:
        total += COUNTS[card]
    return total


def masks_by_count(counts: int) -> tuple[int, int, int, int]:
    """Return the masks of the ranks that occur four times, three times, twice, and once."""
    ones, twos, fours = counts & LOWS, counts >> 1 & LOWS, counts >> 2 & LOWS
    return fours, ones & twos, twos & ~ones, ones & ~twos


def ranks_mask(counts: int) -> int:
    return (counts | counts >> 1 | counts >> 2) & LOWS


def ranks_most_first(counts: int) -> list[int]:
    """Return the ranks of all cards, by frequency and then by rank, both descending."""
    ranks: list[int] = []
    for count, mask in zip((4, 3, 2, 1), masks_by_count(counts), strict=True):
        for rank in ranks_of(mask):
            ranks += [rank] * count
    return ranks


def ranks_of(mask: int) -> Iterator[int]:
    while mask:
        rank = mask.bit_length() // RANK_BITS
        yield rank
        mask ^= 1 << RANK_BITS * rank


def suit_with(counts: int, least: int) -> int | None:
    """Return the suit with ``least`` cards or more, or None.

    ``least`` must be so high that two suits cannot both have ``least`` cards.
    """
    # The added number sets the top bit of the field of a suit that occurs ``least`` times or more.
    carried = (counts >> SUITS_FROM) + (8 - least) * 0x1111 & 0x8888
    return (carried.bit_length() - 1) // SUIT_BITS if carried else None


def suited_mask(cards: Sequence[Card], suit: int) -> int:
    return sum(1 << RANK_BITS * rank_of(card) for card in cards if suit_of(card) == suit)


def straight_top(mask: int, length: int) -> int | None:
    """Return the top rank of the highest run of ``length`` ranks, or None if there is no run.

    An ace also counts as the rank below the 2, and can only begin or end a run.
    """
    # Each rank moves up one field, so the lowest field is free for the low ace.
    starts = mask << RANK_BITS | mask >> RANK_BITS * ACE
    for _ in range(length - 1):
        starts &= starts >> RANK_BITS  # keep the ranks whose run is one rank longer
    return starts.bit_length() // RANK_BITS + length - 2 if starts else None
