"""Numbers of hands of each kind, by published figures and the formulas of combinatorics."""

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from math import comb

import pytest

from bonus.cards import DECK
from bonus.hands.rankings import RANKINGS
from bonus.odds.enumerations import Enumerator, fives
from bonus.odds.hand_counts import count_best_five, count_hands, steps_of_best_five, steps_of_hands
from tests.rules.test_rankings import THREE_CARDS

RUNS = 11
"""Runs of four ranks, from the ace below the deuce to the ace above the king."""
# The number of ways in which suits can be given to five and to six cards of different ranks so that
# no four are of one suit.
MIXED_FIVE = 4**5 - 4 * (5 * 3 + 1)
MIXED_SIX = 4**6 - 4 * (15 * 9 + 6 * 3 + 1)
# The same if two of the cards are a pair: the pair has a suit in three of its six ways.
MIXED_PAIR_OF_FIVE = 6 * 4**3 - 4 * 3
MIXED_PAIR_OF_SIX = 6 * 4**4 - 4 * (6 + 4 * 3 * 3)
MIXED_PAIRS_OF_SIX = 36 * 4**2 - 4 * 3 * 3
# Sets of five and six ranks with four in a row: the highest run, then ranks that do not lengthen
# it.
FIVE_WITH_RUN = 9 + 10 * 8
SIX_WITH_RUN = comb(9, 2) + 10 * comb(8, 2)

FOUR_CARD_OF_5 = {
    "four_of_a_kind": 13 * 48,
    "straight_flush": 4 * (48 + 10 * 47),
    "three_of_a_kind": 13 * 4 * comb(48, 2),
    "flush": 4 * (comb(13, 4) * 39 + comb(13, 5) - (48 + 10 * 47)),
    "straight": FIVE_WITH_RUN * MIXED_FIVE + RUNS * 4 * MIXED_PAIR_OF_FIVE,
    "two_pair": comb(13, 2) * 36 * 44,
    "pair": (comb(13, 4) - RUNS) * 4 * MIXED_PAIR_OF_FIVE,
    "high_card": (comb(13, 5) - FIVE_WITH_RUN) * MIXED_FIVE,
}
FOUR_CARD_OF_6 = {
    "four_of_a_kind": 13 * comb(48, 2),
    "straight_flush": 4 * (comb(48, 2) + 10 * comb(47, 2)),
    # If its four ranks are in a row, the triple has the suit in three of four cases.
    "three_of_a_kind": 13 * 4 * comb(12, 3) * 4**3
    + 13 * 4 * 12 * 6 * 44
    + comb(13, 2) * 4**2
    - RUNS * 4 * 4 * 3,
    "flush": 4 * (comb(13, 4) * comb(39, 2) + comb(13, 5) * 39 + comb(13, 6))
    - 4 * (comb(48, 2) + 10 * comb(47, 2))
    - (comb(13, 4) - RUNS) * 4 * 4 * 3,
    "straight": SIX_WITH_RUN * MIXED_SIX
    + FIVE_WITH_RUN * 5 * MIXED_PAIR_OF_SIX
    + RUNS * 6 * MIXED_PAIRS_OF_SIX,
    "two_pair": comb(13, 3) * 6**3 + (comb(13, 4) - RUNS) * 6 * MIXED_PAIRS_OF_SIX,
    "pair": (comb(13, 5) - FIVE_WITH_RUN) * 5 * MIXED_PAIR_OF_SIX,
    "high_card": (comb(13, 6) - SIX_WITH_RUN) * MIXED_SIX,
}
ACES = {
    "four_aces": 48,
    "four_of_a_kind": 12 * 48,
    "royal_flush": 4,
    "straight_flush": 4 * 9,
    "three_aces": 4 * comb(48, 2),
    "three_of_a_kind": 12 * 4 * comb(48, 2),
    "flush": 4 * (comb(13, 5) - 10),
    "straight": 10 * (4**5 - 4),
    "two_pair": comb(13, 2) * 36 * 44,
    "two_aces": 6 * comb(12, 3) * 4**3,
    "other": 12 * 6 * comb(12, 3) * 4**3 + (comb(13, 5) - 10) * (4**5 - 4),
}
ACES_BEST_FOUR = {
    "four_aces": 48,
    "four_of_a_kind": 12 * 48,
    "royal_flush": 4 * 48,
    "straight_flush": 4 * 10 * 47,
    "three_aces": 4 * comb(48, 2),
    "three_of_a_kind": 12 * 4 * comb(48, 2),
    "flush": FOUR_CARD_OF_5["flush"],
    "straight": FOUR_CARD_OF_5["straight"],
    "two_pair": FOUR_CARD_OF_5["two_pair"],
    # Two of the runs have an ace, and so take no pair of aces.
    "two_aces": (comb(12, 3) - 2) * MIXED_PAIR_OF_FIVE,
    "other": (12 * comb(12, 3) - (4 * RUNS - 2)) * MIXED_PAIR_OF_FIVE + FOUR_CARD_OF_5["high_card"],
}
FIVE_CARDS = {
    "royal_flush_spades": 1, "royal_flush": 3, "straight_flush": 36, "four_of_a_kind": 624,
    "full_house": 3_744, "flush": 5_108, "straight": 10_200, "three_of_a_kind": 54_912,
    "two_pair": 123_552, "pair": 1_098_240, "high_card": 1_302_540,
}  # fmt: skip
FIVE_OF_SIX = {
    "straight_flush": 1_656, "four_of_a_kind": 14_664, "full_house": 165_984, "flush": 205_792,
    "straight": 361_620, "three_of_a_kind": 732_160, "two_pair": 2_532_816, "pair": 9_730_740,
    "high_card": 6_612_900,
}  # fmt: skip
FIVE_OF_SEVEN = {
    "royal_flush_spades": 1_081, "royal_flush": 3_243, "straight_flush": 37_260,
    "four_of_a_kind": 224_848, "full_house": 3_473_184, "flush": 4_047_644,
    "straight": 6_180_020, "three_of_a_kind": 6_461_620, "two_pair": 31_433_400,
    "pair": 58_627_800, "high_card": 23_294_460,
}  # fmt: skip
"""The published numbers for seven cards, such as 4,324 royal flushes."""
ONE_COLOR = 2 * comb(26, 3)
FIGURES: Mapping[tuple[str, tuple[int, ...]], Mapping[str, int]] = {
    ("three_card", (3,)): THREE_CARDS,
    ("five_card", (3, 2)): FIVE_CARDS,
    ("five_card", (3, 3)): FIVE_OF_SIX | {"royal_flush_spades": 47, "royal_flush": 141},
    ("super_royal", (3, 3)): FIVE_OF_SIX
    | {"super_royal_diamonds": 1, "super_royal": 3, "royal_flush": 184},
    ("six_card", (3, 3)): FIVE_OF_SIX
    | {"six_card_royal_diamonds": 1, "six_card_royal": 3, "royal_flush": 184},
    ("four_card", (5,)): FOUR_CARD_OF_5,
    ("four_card", (6,)): FOUR_CARD_OF_6,
    ("aces", (5,)): ACES,
    ("aces_best_four", (5,)): ACES_BEST_FOUR,
    ("prime", (3, 3)): {
        "same_color_player_and_dealer": ONE_COLOR * comb(23, 3),
        "same_color_player": ONE_COLOR * (comb(49, 3) - comb(23, 3)),
        "mixed": (comb(52, 3) - ONE_COLOR) * comb(49, 3),
    },
    ("five_prime", (5,)): {
        "all_five_same_color": 2 * comb(26, 5),
        "four_same_color": 2 * comb(26, 4) * 26,
        "mixed": 2 * comb(26, 3) * comb(26, 2),
    },
}


@pytest.mark.section("679a.11(d)(1)", proof=True)
@pytest.mark.section("649a.6(a)", "649a.6(b)", "649a.6(d)", "679a.6(b)", "679a.6(d)")
@pytest.mark.section("682a.6(b)", "682a.6(d)", "682a.11(e)(1)", proof=True)
@pytest.mark.section("682a.6(e)")
@pytest.mark.reading("F5")
@pytest.mark.reading("F6")
@pytest.mark.reading("F12")
@pytest.mark.reading("P4")
@pytest.mark.reading("T5")
@pytest.mark.parametrize(
    ("ranking", "groups"),
    [
        pytest.param(*key, marks=[pytest.mark.slow] * (sum(key[1]) >= 5 and "prime" not in key[0]))
        for key in FIGURES
    ],
)
def test_all_hands_are_counted(ranking: str, groups: tuple[int, ...]) -> None:
    steps: list[int] = []
    assert count_hands(ranking, groups, steps.append) == FIGURES[ranking, groups]
    assert sum(steps) == steps_of_hands(ranking, groups)


def unseen(_steps: int) -> None:
    """Report no progress."""


@pytest.mark.parametrize(
    ("cards", "known"),
    [
        (5, FIVE_CARDS),
        (6, FIVE_OF_SIX | {"royal_flush_spades": 47, "royal_flush": 141}),
        (7, FIVE_OF_SEVEN),
    ],
)
@pytest.mark.section("649a.6(d)")
def test_best_five_are_counted_in_as_many_steps_as_announced(
    cards: int, known: Mapping[str, int]
) -> None:
    steps: list[int] = []
    assert count_best_five(cards, steps.append) == known
    assert sum(steps) == steps_of_best_five()


@pytest.mark.slow
@pytest.mark.parametrize("cards", [8, 9])
def test_best_five_of_every_deal_are_counted(cards: int) -> None:
    """All deals of eight or nine cards have a hand, and the royal flushes can be counted by hand.

    A royal flush has five given cards, and any others. Nine cards hold at most one.
    """
    counts = count_best_five(cards, unseen)
    assert sum(counts.values()) == comb(52, cards)
    assert counts["royal_flush_spades"] == comb(47, cards - 5)
    assert counts["royal_flush"] == 3 * comb(47, cards - 5)


@pytest.mark.parametrize("cards", [4, 10])
def test_other_numbers_of_cards_are_not_counted(cards: int) -> None:
    with pytest.raises(ValueError, match=f"five to nine cards, not {cards}"):
        count_best_five(cards, unseen)


@pytest.mark.section("679a.11(d)(2)(ii)")
@pytest.mark.reading("P5")
def test_hands_with_a_two_to_follow() -> None:
    found: Counter[str] = Counter()
    judge = RANKINGS["three_card"].of
    for hand in combinations(DECK, 3):
        found[judge(hand)] += 4 - sum(card < 4 for card in hand)
    assert count_hands("three_card", (3,), unseen, further="2") == found
    assert found.total() == comb(52, 3) * 49 * 4 // 52


@pytest.mark.section("649a.11(b)(2)")
@pytest.mark.reading("T7")
def test_five_card_hands_by_the_cards_of_the_player(counted: Enumerator) -> None:
    total: Counter[str] = Counter()
    for deals in counted.get(fives("three_card")).deals.values():
        total.update(deals)
    assert total == {hand: number * comb(5, 3) for hand, number in FIVE_CARDS.items()}
