"""Number of final hands of each kind if every player exchanges cards in the best way.

A final hand contains the kept cards and none of the discarded ones. The worth of all final hands
that contain a set of cards is summed for each set. Inclusion and exclusion over the discarded cards
then gives the worth of the final hands of each exchange, so that no draw is formed. Suits are equal
in rank, so classes of deals take the place of the deals.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb, factorial, lcm
from typing import Final

import numpy as np

from bonus.cards import DECK, SUITS
from bonus.errors import UserError
from bonus.hands.rankings import Judge
from bonus.odds.hand_counts import Counts, HandClasses, Integers, hand_classes

STEPS: Final = 4
_LARGEST: Final = 1 << 62
_ORDERS: Final = factorial(len(SUITS))
"""The orders of the suits: the number of hands in a class divides it."""


def count_exchanged(
    judge: Judge,
    size: int,
    exchange: int,
    worth: Mapping[str, Fraction],
    advance: Callable[[int], None],
) -> Counts:
    """Return how many deals and draws result in each final hand.

    Players get ``size`` cards, and exchange at most ``exchange`` of them. They take the exchange
    that is worth the most on average; of several such exchanges, one with the fewest cards. A hand
    is worth 0 if ``worth`` does not have it. Hands that differ only by a renaming of the suits must
    be worth the same, and are counted under one of their names.

    The draws of every exchange have the same total weight, the least common multiple of the numbers
    of draws: with five cards, all deals and draws together weigh 19,933,230,517,200.

    Raises:
        UserError: the worths are too large to be compared exactly.
    """
    classes = hand_classes(size)
    names = [str(judge(cards)) for cards in classes.cards.tolist()]
    unit = lcm(*(value.denominator for value in worth.values()))
    worths = [int(worth.get(name, 0) * unit) for name in names]
    draws = [comb(len(DECK) - size, drawn) for drawn in range(size + 1)]
    weight = lcm(*draws[: exchange + 1])
    sums = comb(len(DECK), size) << size
    if max(map(abs, worths)) * max(weight, sums) >= _LARGEST:
        raise UserError("the odds cannot be counted: the payouts are too large")
    values = np.array(worths, np.int64)
    advance(1)
    held = _Held(classes)
    advance(1)
    returns = held.returns(classes.hands * values)
    masks = [
        mask
        for mask in sorted(range(1 << size), key=lambda mask: -mask.bit_count())
        if size - mask.bit_count() <= exchange
    ]
    weights = {mask: weight // draws[size - mask.bit_count()] for mask in masks}
    best = np.argmax(np.stack([returns[mask] * weights[mask] for mask in masks]), axis=0)
    advance(1)
    found = held.final_hands({mask: best == at for at, mask in enumerate(masks)}, weights)
    counts = dict.fromkeys(names, 0)
    for name, number in zip(names, found.tolist(), strict=True):
        counts[name] += number
    advance(1)
    return counts


class _Held:
    """The sets of cards in the deals that represent the classes.

    A set is a bit mask of a deal's cards.
    """

    def __init__(self, classes: HandClasses) -> None:
        self._deals = classes
        self._masks = range(1 << classes.size)
        self._classes = [hand_classes(mask.bit_count()) for mask in self._masks]
        self._at = [
            of.find(classes.cards[:, [card for card in range(classes.size) if mask >> card & 1]])
            for mask, of in zip(self._masks, self._classes, strict=True)
        ]

    def returns(self, worths: Integers) -> list[Integers]:
        """Return what the final hands are worth together, by the kept cards, for each deal.

        ``worths`` has what all hands of each class are worth together.
        """
        sums = self._sums()
        for at, into in zip(self._at, sums, strict=True):
            np.add.at(into, at, worths)
        found = [
            (into // of.hands)[at]
            for at, into, of in zip(self._at, sums, self._classes, strict=True)
        ]
        # Take away the hands that contain a card which is not kept, one card after another.
        for card in range(self._deals.size):
            for mask in self._masks:
                if not mask >> card & 1:
                    found[mask] = found[mask] - found[mask | 1 << card]
        return found

    def final_hands(self, kept: Mapping[int, Integers], weights: Mapping[int, int]) -> Integers:
        """Return the weight of all final hands of each class.

        ``kept`` says by the kept cards for which deals they are kept. ``weights`` has the weight of
        one draw.
        """
        sums = self._sums()
        for mask, chosen in kept.items():
            drawn = self._deals.hands[chosen] * weights[mask]
            for more in self._masks:
                if more & mask == mask:
                    sign = (-1) ** (more ^ mask).bit_count()
                    np.add.at(sums[more], self._at[more][chosen], sign * drawn)
        total = np.zeros(len(self._deals), np.int64)
        for at, into, of in zip(self._at, sums, self._classes, strict=True):
            total += (into * (_ORDERS // of.hands))[at]
        return total * self._deals.hands // _ORDERS

    def _sums(self) -> list[Integers]:
        """Return a 0 for each class of sets. Masks of the same number of cards share an array."""
        by_size = [
            np.zeros(len(hand_classes(size)), np.int64) for size in range(self._deals.size + 1)
        ]
        return [by_size[mask.bit_count()] for mask in self._masks]
