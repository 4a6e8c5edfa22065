"""Hands that differ only in the names of suits: each hand of the deck is counted once."""

from itertools import combinations
from math import comb
from random import Random

import numpy as np
import pytest

from bonus.cards import Card
from bonus.odds.suit_classes import hand_classes, renamed


@pytest.mark.parametrize(
    ("size", "classes"),
    [
        (0, 1), (1, 13), (2, 169), (3, 1_755), (4, 16_432), (5, 134_459),
        pytest.param(6, 962_988, marks=pytest.mark.slow),
    ],
)  # fmt: skip
@pytest.mark.section("649a.6(a)")
def test_classes_are_as_many_as_is_known_and_hold_every_hand(size: int, classes: int) -> None:
    found = hand_classes(size)
    assert len(found) == classes
    assert int(found.hands.sum()) == comb(52, size)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_hand_is_of_one_class(size: int) -> None:
    found = hand_classes(size)
    hands = np.array(list(combinations(range(52), size)), np.int64)
    assert (np.bincount(found.find(hands), minlength=len(found)) == found.hands).all()


@pytest.mark.parametrize("size", [4, 5])
def test_a_renaming_of_suits_stays_in_the_class(size: int) -> None:
    random = Random(size)
    found = hand_classes(size)
    for _ in range(200):
        hand = [Card(card) for card in random.sample(range(52), size)]
        others = renamed(hand)
        classes = found.find(np.array([sorted(other) for other in others], np.int64))
        assert len(set(classes.tolist())) == 1
        assert len(others) == found.hands[classes[0]]
        assert frozenset(hand) in others
        assert frozenset(found.cards[classes[0]].tolist()) in others


def test_hands_that_no_renaming_makes_alike_are_of_two_classes() -> None:
    suited, mixed, longer = [0, 4, 9], [0, 5, 9], [0, 4, 8]
    classes = hand_classes(3).find(np.array([suited, mixed, longer], np.int64))
    assert classes[0] != classes[1]
    assert classes[2] not in classes[:2]


def test_the_longest_suit_is_counted() -> None:
    found = hand_classes(4)
    for cards, most in zip(found.cards.tolist(), found.in_a_suit.tolist(), strict=True):
        suits = [card % 4 for card in cards]
        assert most == max(map(suits.count, suits))


def test_subsets_are_every_choice_of_the_cards() -> None:
    found = hand_classes(3)
    assert [chosen[7].tolist() for chosen in found.subsets(2)] == [
        list(pair) for pair in combinations(found.cards[7].tolist(), 2)
    ]
