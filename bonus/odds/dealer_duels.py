"""Counts of dealer's hands: how many are higher than each hand of the player.

The player's five cards and the dealer's six can be dealt in 2.8e13 ways. They are counted by
inclusion and exclusion over the subsets of the player's hand: all dealer's hands, minus those that
contain one of the player's cards, plus those that contain two, and so on. For each subset, the
calculation needs the number of dealer's hands that contain the subset and are higher than a
strength. This number is the same for all subsets of a class (``hand_counts``): the subsets differ
only by a renaming of the suits.
"""

from collections import Counter
from collections.abc import Sequence
from math import comb
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from bonus.cards import DECK, Card, suit_of
from bonus.hands.rankings import COMPARES, Compare
from bonus.hands.three import dealer_qualifies
from bonus.odds.hand_counts import Advance, HandClasses, Integers, each_class, hand_classes, judged


class Duel(msgspec.Struct, frozen=True):
    """Every hand of the player against every hand of the dealer, in columns of equal length.

    Hands of the player share a row if they have the same name, strength and suits, and the same
    chances against the dealer.

    Attributes:
        strength: of two hands, the one with the higher strength wins.
        suits: the number of cards in each suit of a hand, the largest number first.
        hands: the number of player's hands in a row.
        not_qualified: for each hand of a row, the number of dealer's hands that do not qualify.
            ``equal`` counts dealer's hands that qualify and tie, and ``higher`` counts dealer's
            hands that qualify and win.
        deals: the number of dealer's hands that are possible against any one hand of the player.
        examples: for each strength, the cards of one hand of the player.
    """

    hand: list[str]
    strength: list[int]
    suits: list[tuple[int, ...]]
    hands: list[int]
    not_qualified: list[int]
    equal: list[int]
    higher: list[int]
    deals: int
    examples: dict[int, tuple[int, ...]]


def count_duel(
    ranking: str, player: int, dealer: int, advance: Advance, *, queen_qualifies: bool
) -> Duel:
    """Count the outcomes of every hand of the player against every hand of the dealer.

    ``ranking`` is one of ``COMPARES``. The dealer has at least as many cards as the player. If
    ``queen_qualifies``, a dealer's hand below a queen high does not qualify (649a.11(c)(3)(i),
    679a.11(c)(3)(i)); if not, every dealer's hand qualifies (reading F9).
    """
    compare = COMPARES[ranking]
    players, dealers = hand_classes(player), hand_classes(dealer)
    strength = _strengths(compare, players, advance)
    against = _strengths(compare, dealers, advance)
    tables = _Tables(players, dealers, against, advance)
    qualifies = _least_qualifying(dealers, against) if queen_qualifies else 0
    deals = comb(len(DECK) - player, dealer)
    qualified = tables.above(np.full(len(players), qualifies - 1))
    higher = tables.above(np.maximum(strength, qualifies - 1))
    equal = tables.above(np.maximum(strength - 1, qualifies - 1)) - higher
    chances = zip(
        strength.tolist(),
        (deals - qualified).tolist(),
        equal.tolist(),
        higher.tolist(),
        strict=True,
    )
    rows: Counter[tuple[str, int, tuple[int, ...], int, int, int]] = Counter()
    examples: dict[int, tuple[int, ...]] = {}
    for one, chance in zip(each_class(players, unseen), chances, strict=True):
        examples.setdefault(chance[0], tuple(one.cards))
        own, *against_it = chance
        for hand, number in judged(lambda cards: compare(cards)[0], one):
            rows[hand, own, _suits(one.cards), *against_it] += number
    ordered = sorted(rows, key=lambda row: (-row[1], row))
    return Duel(
        hand=[row[0] for row in ordered],
        strength=[row[1] for row in ordered],
        suits=[row[2] for row in ordered],
        hands=[rows[row] for row in ordered],
        not_qualified=[row[3] for row in ordered],
        equal=[row[4] for row in ordered],
        higher=[row[5] for row in ordered],
        deals=deals,
        examples=examples,
    )


def _suits(cards: Sequence[Card]) -> tuple[int, ...]:
    return tuple(sorted(Counter(map(suit_of, cards)).values(), reverse=True))


def steps_of_duel(player: int, dealer: int) -> int:
    subsets = sum(comb(dealer, size) for size in range(player + 1))
    return len(hand_classes(player)) + len(hand_classes(dealer)) + subsets * _STEPS_A_SUBSET


_STEPS_A_SUBSET: Final = 20_000


class _Tables:
    """Numbers of dealer's hands that contain given cards and are above a given strength."""

    def __init__(
        self, players: HandClasses, dealers: HandClasses, against: Integers, advance: Advance
    ) -> None:
        self._players = players
        self._dealers = dealers
        self._against = against
        self._found, ranks = np.unique(against, return_inverse=True)
        self._above = [
            _table(dealers, hand_classes(size), ranks, len(self._found), advance)
            for size in range(players.size)
        ]
        self._holding = []
        for cards in dealers.subsets(players.size):
            self._holding.append(players.find(cards))
            advance(_STEPS_A_SUBSET)

    def above(self, strength: Integers) -> Integers:
        """Return, for each class of player's hands, the number of dealer's hands above a strength.

        A dealer's hand with a card of the player is not counted. ``strength`` and the result have
        the shape (classes,).
        """
        ranks = np.searchsorted(self._found, strength, side="right")
        found = np.zeros(len(self._players), np.int64)
        for size, above in enumerate(self._above):
            classes = hand_classes(size)
            for cards in self._players.subsets(size):
                found += (-1) ** size * above[classes.find(cards), ranks]
        found += (-1) ** self._players.size * self._all_held(strength)
        return found

    def _all_held(self, strength: Integers) -> Integers:
        found = np.zeros(len(self._players), np.int64)
        for at in self._holding:
            np.add.at(found, at, self._dealers.hands * (self._against > strength[at]))
        found //= self._players.hands
        return found


def _table(
    dealers: HandClasses, subsets: HandClasses, ranks: Integers, strengths: int, advance: Advance
) -> npt.NDArray[np.int32]:
    """Count the dealer's hands at or above each strength, for each class of subsets.

    A count is for the hands that contain one subset of the class. For this, each hand is added
    to the class of every subset of the hand, and the sum is divided by the number of subsets in the
    class. The result has the shape (classes, strengths + 1), and its last column is 0.
    """
    width = strengths + 1
    # A class has at most 24 subsets. Each subset is in at most C(52,6) hands. So 32 bits are
    # enough.
    table = np.zeros(len(subsets) * width, np.int32)
    weights = dealers.hands.astype(np.int32)
    for cards in dealers.subsets(subsets.size):
        np.add.at(table, subsets.find(cards) * width + ranks, weights)
        advance(_STEPS_A_SUBSET)
    rows = table.reshape(len(subsets), width)
    backwards = rows[:, ::-1]
    np.cumsum(backwards, axis=1, out=backwards)
    np.floor_divide(rows, subsets.hands[:, np.newaxis].astype(np.int32), out=rows)
    return rows


def _strengths(compare: Compare, classes: HandClasses, advance: Advance) -> Integers:
    return np.fromiter((compare(one.cards)[1] for one in each_class(classes, advance)), np.int64)


def _least_qualifying(classes: HandClasses, strength: Integers) -> int:
    return min(
        int(number)
        for one, number in zip(each_class(classes, unseen), strength, strict=True)
        if dealer_qualifies(one.cards)
    )


def unseen(_steps: int) -> None:
    """Receive a report of progress, and do nothing."""
