"""Numbers of hands of each kind in a deck, against the formulas of combinatorics."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from itertools import combinations, product
from math import comb
from random import Random

import pytest

from bonus.cards import DECK, Card, suit_of
from bonus.hands import FivePrimeHand, PrimeHand, best_four, five_prime_hand, prime_hand
from bonus.hands.counts import counts_of
from bonus.hands.rankings import COMPARES, RANKINGS

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

FOUR_CARD_OF_4 = {
    "four_of_a_kind": 13,
    "straight_flush": RUNS * 4,
    "three_of_a_kind": 13 * 4 * 48,
    "flush": 4 * (comb(13, 4) - RUNS),
    "straight": RUNS * (4**4 - 4),
    "two_pair": comb(13, 2) * 36,
    "pair": 13 * 6 * comb(12, 2) * 4**2,
    "high_card": (comb(13, 4) - RUNS) * (4**4 - 4),
}
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


@pytest.mark.parametrize(
    ("figures", "cards"),
    [(FOUR_CARD_OF_4, 4), (FOUR_CARD_OF_5, 5), (FOUR_CARD_OF_6, 6), (ACES, 5), (ACES_BEST_FOUR, 5)],
)
def test_the_figures_are_of_all_hands(figures: Mapping[str, int], cards: int) -> None:
    assert sum(figures.values()) == comb(52, cards)


def kinds(ranking: str, cards: int) -> dict[str, int]:
    """Return how many of all hands of a number of cards are of each kind."""
    counted = Counter(map(RANKINGS[ranking].of, combinations(DECK, cards)))
    return {hand.value: number for hand, number in counted.items()}


@pytest.mark.section("682a.6(b)")
def test_four_cards_are_counted() -> None:
    counted = Counter(hand.value for hand, _ in map(best_four, combinations(DECK, 4)))
    assert counted == FOUR_CARD_OF_4


@pytest.mark.slow
@pytest.mark.section("682a.6(b)")
@pytest.mark.parametrize(("cards", "figures"), [(5, FOUR_CARD_OF_5), (6, FOUR_CARD_OF_6)])
def test_the_best_four_of_all_hands_are_counted(cards: int, figures: Mapping[str, int]) -> None:
    assert kinds("four_card", cards) == figures


@pytest.mark.slow
@pytest.mark.section("682a.6(d)")
@pytest.mark.reading("F5")
@pytest.mark.reading("F12")
@pytest.mark.parametrize(
    ("ranking", "figures"), [("aces", ACES), ("aces_best_four", ACES_BEST_FOUR)]
)
def test_aces_bonus_hands_are_counted(ranking: str, figures: Mapping[str, int]) -> None:
    assert kinds(ranking, 5) == figures


@pytest.mark.section("679a.11(d)(1)")
@pytest.mark.reading("P4")
def test_prime_hands_are_counted() -> None:
    """Only colors matter, so each row of six colors is judged on a few hands and counted once."""
    rng = Random(679)
    black_and_red = [[card for card in DECK if (suit_of(card) in {1, 2}) == red] for red in (0, 1)]
    counted: Counter[StrEnum] = Counter()
    for colors in product((0, 1), repeat=6):
        judged = set()
        for _ in range(25):
            decks = [iter(rng.sample(color, 6)) for color in black_and_red]
            judged.add(prime_hand([next(decks[color]) for color in colors]))
        (hand,) = judged
        ways = 1
        for place, color in enumerate(colors):
            ways *= 26 - colors[:place].count(color)
        counted[hand] += ways
    orders = 6 * 6
    assert {hand: ways // orders for hand, ways in counted.items()} == {
        PrimeHand.SAME_COLOR_PLAYER_AND_DEALER: 2 * comb(26, 3) * comb(23, 3),
        PrimeHand.SAME_COLOR_PLAYER: 2 * comb(26, 3) * (comb(49, 3) - comb(23, 3)),
        PrimeHand.MIXED: (comb(52, 3) - 2 * comb(26, 3)) * comb(49, 3),
    }


@pytest.mark.slow
@pytest.mark.section("682a.11(e)(1)")
@pytest.mark.reading("F6")
def test_five_card_prime_hands_are_counted() -> None:
    counted = Counter(map(five_prime_hand, combinations(DECK, 5)))
    assert counted == {
        FivePrimeHand.ALL_FIVE_SAME_COLOR: 131_560,
        FivePrimeHand.FOUR_SAME_COLOR: 777_400,
        FivePrimeHand.MIXED: 1_690_000,
    }


@pytest.mark.parametrize("name", sorted(RANKINGS))
def test_a_ranking_refuses_what_it_does_not_judge(name: str) -> None:
    ranking = RANKINGS[name]
    deck: list[Card] = Random(name).sample(DECK, 9)
    for cards in range(10):
        if cards in ranking.cards:
            assert ranking.of(deck[:cards]) in ranking.hands
        elif (name, cards) != ("four_card", 4):
            with pytest.raises(ValueError, match=r"cards, not|not of|unpack|dealer's, not"):
                ranking.of(deck[:cards])


@pytest.mark.parametrize("name", sorted(RANKINGS))
def test_known_counts_of_cards_do_not_change_their_hand(name: str) -> None:
    """Cards of one suit, or of high ranks, form flushes, straights and hands of a kind."""
    rng, ranking = Random(name), RANKINGS[name]
    compare = COMPARES.get(name)
    decks = (DECK, [card for card in DECK if card % 4 == 1], DECK[-16:])
    for deck in decks * 500:
        for number in ranking.cards:
            cards = rng.sample(deck, number)
            counts = counts_of(cards[:3]) + counts_of(cards[3:])
            assert ranking.of(cards, counts) is ranking.of(cards)
            assert compare is None or compare(cards, counts) == compare(cards)
