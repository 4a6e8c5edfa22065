"""Numbers of hands of each kind."""

from collections import Counter
from itertools import combinations
from math import comb
from random import Random

import pytest

from bonus.cards import DECK, Card
from bonus.hands.rankings import RANKINGS
from bonus.odds.best_five_counts import count_best_five, steps_of_best_five
from bonus.odds.enumerations import Enumerator, all_hands, fives
from bonus.odds.hand_counts import count_hands, count_with_further_card, steps_of_hands
from bonus.odds.suit_classes import renamed
from tests.rules.test_rankings_counts import ACES, ACES_BEST_FOUR

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


def unseen(_steps: int) -> None:
    """Report no progress."""


@pytest.mark.section("649a.6(b)")
@pytest.mark.section("679a.6(b)")
def test_three_card_hands() -> None:
    assert count_hands("three_card", (3,), unseen) == {
        "mini_royal_spades": 1, "mini_royal": 3, "straight_flush": 44, "three_of_a_kind": 52,
        "straight": 720, "flush": 1_096, "pair": 3_744, "high_card": 16_440,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.section("649a.6(d)")
def test_five_card_hands() -> None:
    assert count_hands("five_card", (3, 2), unseen) == FIVE_CARDS


@pytest.mark.slow
@pytest.mark.section("649a.6(d)")
@pytest.mark.section("679a.6(d)")
@pytest.mark.section("682a.6(e)")
@pytest.mark.reading("T5")
@pytest.mark.parametrize(
    ("ranking", "royals"),
    [
        ("five_card", {"royal_flush_spades": 47, "royal_flush": 141}),
        ("super_royal", {"super_royal_diamonds": 1, "super_royal": 3, "royal_flush": 184}),
        ("six_card", {"six_card_royal_diamonds": 1, "six_card_royal": 3, "royal_flush": 184}),
    ],
)
def test_best_five_of_six(ranking: str, royals: dict[str, int], counted: Enumerator) -> None:
    assert counted.get(all_hands(ranking, (3, 3))).deals == FIVE_OF_SIX | royals


@pytest.mark.parametrize("cards", [5, pytest.param(6, marks=pytest.mark.slow)], ids=["five", "six"])
@pytest.mark.section("649a.6(d)")
def test_best_five_are_counted_as_settlement_judges_them(cards: int) -> None:
    assert count_best_five(cards, unseen) == count_hands("five_card", (cards,), unseen)


def test_best_five_of_seven() -> None:
    assert count_best_five(7, unseen) == FIVE_OF_SEVEN


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


def test_best_five_are_counted_in_as_many_steps_as_announced() -> None:
    steps: list[int] = []
    count_best_five(5, steps.append)
    assert sum(steps) == steps_of_best_five()


@pytest.mark.slow
@pytest.mark.section("682a.6(d)")
@pytest.mark.reading("F12")
@pytest.mark.reading("F5")
def test_aces_hands_in_both_readings() -> None:
    by_text = count_hands("aces", (5,), unseen)
    assert (by_text, count_hands("aces_best_four", (5,), unseen)) == (ACES, ACES_BEST_FOUR)
    # A full house is counted with the threes of a kind.
    assert by_text["three_aces"] + by_text["three_of_a_kind"] == 54_912 + 3_744


@pytest.mark.section("679a.11(d)(1)")
@pytest.mark.reading("P4")
def test_colors_of_player_and_dealer() -> None:
    one_color = 2 * comb(26, 3)
    both = one_color * comb(23, 3)
    deals = comb(52, 3) * comb(49, 3)
    assert count_hands("prime", (3, 3), unseen) == {
        "same_color_player_and_dealer": both,
        "same_color_player": one_color * comb(49, 3) - both,
        "mixed": deals - one_color * comb(49, 3),
    }


@pytest.mark.section("682a.11(e)(1)")
@pytest.mark.reading("F6")
def test_colors_of_five() -> None:
    assert count_hands("five_prime", (5,), unseen) == {
        "all_five_same_color": 2 * comb(26, 5),
        "four_same_color": 2 * comb(26, 4) * 26,
        "mixed": 2 * comb(26, 3) * comb(26, 2),
    }


@pytest.mark.section("679a.11(d)(2)(ii)")
@pytest.mark.reading("P5")
def test_hands_with_a_two_to_follow() -> None:
    found: Counter[str] = Counter()
    judge = RANKINGS["three_card"].of
    for hand in combinations(DECK, 3):
        found[judge(hand).value] += 4 - sum(card < 4 for card in hand)
    assert count_with_further_card("three_card", 3, "2", unseen) == found
    assert found.total() == comb(52, 3) * 49 * 4 // 52


@pytest.mark.parametrize(
    ("ranking", "size"),
    [("three_card", 3), ("five_card", 5), ("five_card", 6), ("super_royal", 6), ("six_card", 6),
     ("four_card", 5), ("four_card", 6), ("aces", 5), ("aces_best_four", 5)],
)  # fmt: skip
def test_suits_by_name_matter_only_where_five_or_all_are_of_one(ranking: str, size: int) -> None:
    """Counting by classes relies on this: elsewhere each hand of a class is equivalent."""
    random = Random(size)
    judge = RANKINGS[ranking].of
    for _ in range(1_500):
        hand = [Card(card) for card in random.sample(range(52), size)]
        suits = [card % 4 for card in hand]
        if max(map(suits.count, suits)) < min(size, 5):
            assert len({judge(sorted(other)) for other in renamed(hand)}) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranking", "groups"), [("three_card", (3,)), ("prime", (3, 3)), ("aces", (5,))]
)
def test_as_many_steps_are_reported_as_were_announced(
    ranking: str, groups: tuple[int, ...]
) -> None:
    steps: list[int] = []
    count_hands(ranking, groups, steps.append)
    assert sum(steps) == steps_of_hands(ranking, groups)


@pytest.mark.section("649a.11(b)(2)")
@pytest.mark.reading("T7")
def test_five_card_hands_by_the_cards_of_the_player(counted: Enumerator) -> None:
    total: Counter[str] = Counter()
    for deals in counted.get(fives("three_card")).deals.values():
        total.update(deals)
    assert total == {hand: number * comb(5, 3) for hand, number in FIVE_CARDS.items()}
