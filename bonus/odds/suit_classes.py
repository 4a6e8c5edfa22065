"""Classes of hands that differ only by a renaming of the suits.

Suits are equal in rank (649a.6(a)), so all hands of a class have the same strength. Each hand is
written as four bit masks of thirteen ranks, one mask per suit, which are sorted and packed into one
number, the key of the class. The size of a class is the number of distinct ways to assign the four
masks to the four suits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations
from typing import Final

import numpy as np
import numpy.typing as npt

from bonus.cards import RANKS, SUITS, Card

Integers = npt.NDArray[np.int64]

_RANKS: Final = len(RANKS)
_SUITS: Final = len(SUITS)
_ONE_SUIT: Final = (1 << _RANKS) - 1
_SORTING: Final = ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2))
"""Pairs of indexes to compare and swap, in this order, to sort any four numbers."""


@dataclass(frozen=True, slots=True)
class HandClasses:
    """The classes of hands of one size, with one hand that represents each class.

    Attributes:
        keys: the key of each class, ascending; shape (classes,).
        hands: the number of hands in each class; shape (classes,).
        cards: the cards of the hand that represents each class; shape (classes, size).
        in_a_suit: the number of cards in the longest suit of each class; shape (classes,).
    """

    size: int
    keys: Integers
    hands: Integers
    cards: Integers
    in_a_suit: Integers

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, cards: Integers) -> Integers:
        """Return the index of each hand's class: shape (hands, size) to shape (hands,)."""
        if self.size == 0:
            return np.zeros(len(cards), np.int64)
        return np.searchsorted(self.keys, _keys(cards))

    def subsets(self, size: int) -> list[Integers]:
        """Return all subsets of ``size`` cards of the hands that represent the classes.

        Each array has one subset for each class; its shape is (classes, size).
        """
        return [self.cards[:, chosen] for chosen in combinations(range(self.size), size)]


@cache
def hand_classes(size: int) -> HandClasses:
    """Return the classes of all hands of ``size`` cards, 0 to 6.

    >>> [len(hand_classes(size)) for size in range(5)]
    [1, 13, 169, 1755, 16432]
    """
    masks = np.concatenate([_laid_out(shape) for shape in _shapes(size)])
    masks = -np.sort(-masks, axis=1)
    keys = _packed(list(masks.T))
    order = np.argsort(keys)
    masks = masks[order]
    in_a_suit = np.bitwise_count(masks).max(axis=1).astype(np.int64)
    return HandClasses(size, keys[order], _orbits(masks), _cards(masks, size), in_a_suit)


def renamed(cards: Sequence[Card]) -> frozenset[frozenset[Card]]:
    """Return all hands in the class of a hand."""
    return frozenset(
        frozenset(Card(card - card % _SUITS + suits[card % _SUITS]) for card in cards)
        for suits in permutations(range(_SUITS))
    )


def _shapes(size: int) -> list[tuple[int, ...]]:
    """Return every way to divide ``size`` cards among the four suits, the largest number first."""
    return [
        shape
        for shape in combinations_with_replacement(range(min(size, _RANKS), -1, -1), _SUITS)
        if sum(shape) == size
    ]


def _laid_out(shape: tuple[int, ...]) -> Integers:
    """Return the masks of all classes whose suits have these numbers of cards: (classes, 4)."""
    found = np.zeros((1, 0), np.int64)
    for count in sorted(set(shape), reverse=True):
        # Suits with equal numbers of cards are interchangeable, so their masks form one group.
        group = np.array(
            list(combinations_with_replacement(_masks(count), shape.count(count))), np.int64
        )
        found = np.hstack([np.repeat(found, len(group), 0), np.tile(group, (len(found), 1))])
    return found


def _masks(count: int) -> list[int]:
    return [sum(1 << rank for rank in ranks) for ranks in combinations(range(_RANKS), count)]


def _orbits(masks: Integers) -> Integers:
    """Return the number of hands in each class.

    It is 24, the number of orders of the four suits, or lower if some of the four masks are equal.
    """
    run = np.ones(len(masks), np.int64)
    exchanges = np.ones(len(masks), np.int64)
    for suit in range(1, _SUITS):
        run = np.where(masks[:, suit] == masks[:, suit - 1], run + 1, 1)
        exchanges *= run
    return 24 // exchanges


def _cards(masks: Integers, size: int) -> Integers:
    bits = (masks[:, :, np.newaxis] >> np.arange(_RANKS)) & 1
    _, suits, ranks = np.nonzero(bits)
    return (ranks * _SUITS + suits).reshape(len(masks), size)


def _keys(cards: Integers) -> Integers:
    rank, suit = cards >> 2, cards & 3
    held = np.bitwise_or.reduce(1 << (suit * _RANKS + rank), axis=1)
    return _packed([held >> suit * _RANKS & _ONE_SUIT for suit in range(_SUITS)])


def _packed(masks: list[Integers]) -> Integers:
    """Return the four masks of each hand packed into one number, the greatest mask first."""
    for high, low in _SORTING:
        masks[high], masks[low] = (
            np.maximum(masks[high], masks[low]),
            np.minimum(masks[high], masks[low]),
        )
    key = masks[0]
    for mask in masks[1:]:
        key = key << _RANKS | mask
    return key
