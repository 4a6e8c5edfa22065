"""Each hand of the player against all of the dealer's, compared with counts one by one."""

from collections import Counter
from itertools import combinations
from math import comb
from random import Random

import numpy as np
import pytest

from bonus.cards import DECK
from bonus.hands.four import best_four
from bonus.hands.three import dealer_qualifies, three_card
from bonus.law.games import load_chapter
from bonus.odds.dealer_duels import Duel, count_duel, steps_of_duel
from bonus.odds.enumerations import Enumerator, duel


@pytest.fixture(scope="module")
def three_against_three(counted: Enumerator) -> Duel:
    return counted.get(duel(load_chapter("649a")))


@pytest.fixture(scope="module")
def five_against_six(counted: Enumerator) -> Duel:
    return counted.get(duel(load_chapter("682a")))


def chances(found: Duel) -> set[tuple[str, int, int, int, int]]:
    columns = (found.hand, found.strength, found.not_qualified, found.equal, found.higher)
    return set(zip(*columns, strict=True))


@pytest.mark.slow
@pytest.mark.section("649a.11(c)(3)")
@pytest.mark.section("649a.11(c)(3)(i)")
@pytest.mark.section("679a.11(c)(3)(i)")
def test_three_cards_against_every_hand_of_the_dealer(three_against_three: Duel) -> None:
    random = Random(3)
    known = chances(three_against_three)
    for _ in range(12):
        player = random.sample(DECK, 3)
        hand, strength = three_card(player)
        outcomes: Counter[str] = Counter()
        for dealer in combinations([card for card in DECK if card not in player], 3):
            if not dealer_qualifies(dealer):
                outcomes["not_qualified"] += 1
            else:
                against = three_card(dealer)[1]
                outcomes["higher" if against > strength else "equal"] += against >= strength
        row = (outcomes["not_qualified"], outcomes["equal"], outcomes["higher"])
        assert (hand.value, strength, *row) in known


def test_three_against_three_is_every_deal_once(three_against_three: Duel) -> None:
    found = three_against_three
    assert sum(found.hands) == comb(52, 3)
    assert found.deals == comb(49, 3)
    # Each hand is higher as often as another is lower, so both totals are equal.
    steps: list[int] = []
    everyone = count_duel("three_card", 3, 3, steps.append, queen_qualifies=False)
    assert sum(steps) == steps_of_duel(3, 3)
    higher = sum(n * h for n, h in zip(everyone.hands, everyone.higher, strict=True))
    equal = sum(n * e for n, e in zip(everyone.hands, everyone.equal, strict=True))
    assert 2 * higher + equal == comb(52, 3) * comb(49, 3)
    assert set(everyone.not_qualified) == {0}


@pytest.mark.slow
@pytest.mark.section("682a.11(d)(2)")
@pytest.mark.section("682a.6(c)")
@pytest.mark.reading("F9")
def test_five_cards_against_every_hand_of_the_dealer(five_against_six: Duel) -> None:
    """All 10,737,573 of them, each as the best of its fifteen fours."""
    assert sum(five_against_six.hands) == comb(52, 5)
    assert five_against_six.deals == comb(47, 6)
    assert set(five_against_six.not_qualified) == {0}
    fours = {four: best_four(four)[1] for four in combinations(DECK, 4)}
    table = np.zeros((52,) * 4, np.int32)
    for four, strength in fours.items():
        table[four] = strength
    known = chances(five_against_six)
    random = Random(6)
    for _ in range(3):
        player = random.sample(DECK, 5)
        hand, strength = best_four(player)
        left = [card for card in DECK if card not in player]
        higher = equal = 0
        for first in combinations(left, 2):
            above = np.array(
                list(combinations([card for card in left if card > first[1]], 4)), np.int64
            ).reshape(-1, 4)
            dealers = np.hstack([np.tile(np.array(first), (len(above), 1)), above])
            best = np.zeros(len(dealers), np.int32)
            for chosen in combinations(range(6), 4):
                np.maximum(best, table[tuple(dealers[:, chosen].T)], out=best)
            higher += int((best > strength).sum())
            equal += int((best == strength).sum())
        assert (hand.value, strength, 0, equal, higher) in known
