"""The Pai Gow hands of all deals from a deck with a joker, counted in ways of their own."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from random import Random
from typing import Final

import pytest

from bonus.cards import DECK, JOKER, WITH_JOKER, Card, card_name
from bonus.hands.pai_gow import PaiGowHand, pai_gow_hand
from bonus.odds.hand_counts import count_best_five, each_class, hand_classes
from bonus.odds.joker_counts import count_pai_gow
from tests.naive.pai_gow import PAI_GOW, pai_gow_named

ALL: Final = comb(53, 7)
WHOLE_DECK: Final = tuple(WITH_JOKER.numbers.values())
PUBLISHED: Final = {
    "seven_card_straight_flush": 32,
    "seven_card_straight_flush_with_joker": 196,
    "five_aces": 1_128,
    "royal_flush": 26_020 + 72,  # the royal match counts as a hand of its own there
    "straight_flush": 184_644,
    "four_of_a_kind": 307_472,
    "full_house": 4_188_528,
    "flush": 6_172_088,
    "three_of_a_kind": 7_672_500,
    "straight": 11_034_204,
}


def named(cards: Sequence[Card]) -> tuple[str, ...]:
    return tuple(map(card_name, cards))


@pytest.fixture(scope="module")
def counted() -> Mapping[str, int]:
    return count_pai_gow(lambda _: None)


def test_every_deal_is_counted_once_and_the_numbers_are_those_published(
    counted: Mapping[str, int],
) -> None:
    assert sum(counted.values()) == ALL == 154_143_080
    assert list(counted) == list(PaiGowHand)
    assert {hand: counted[hand] for hand in PUBLISHED} == PUBLISHED


def test_some_numbers_counted_by_hand(counted: Mapping[str, int]) -> None:
    """A run of seven can begin with eight ranks; with the joker, one of its cards is missing.

    Six of seven ranks without an end of the run are in two runs: seven such sixes for each suit.
    """
    assert counted["seven_card_straight_flush"] == 4 * 8
    assert counted["seven_card_straight_flush_with_joker"] == 4 * (8 * 7 - 7)
    assert counted["five_aces"] == comb(48, 2)


def without_joker() -> Mapping[str, int]:
    """Return the numbers of deals without the joker, from the count of the best five of seven."""
    five = count_best_five(7, lambda _: None)
    found: dict[str, int] = {hand: five.get(hand, 0) for hand in PaiGowHand}
    found[PaiGowHand.ROYAL_FLUSH] += five["royal_flush_spades"]
    found[PaiGowHand.OTHER] = sum(five[hand] for hand in ("two_pair", "pair", "high_card"))
    return found


@pytest.mark.slow
def test_deals_with_and_without_the_joker_are_those_of_two_other_counts(
    counted: Mapping[str, int],
) -> None:
    """Without a joker, hands that differ only in this ranking are compared together."""
    with_joker: Counter[str] = Counter()
    for one in each_class(hand_classes(6), lambda _: None):
        with_joker[pai_gow_hand([*one.cards, JOKER])] += one.hands
    assert sum(with_joker.values()) == comb(52, 6)
    plain = without_joker()
    for hands in (
        ("four_of_a_kind",), ("full_house",), ("flush",), ("other",), ("five_aces",),
        ("three_of_a_kind", "straight"),
        ("seven_card_straight_flush", "royal_flush", "straight_flush"),
        ("seven_card_straight_flush_with_joker",),
    ):  # fmt: skip
        expected = sum(plain[PaiGowHand(hand)] + with_joker[hand] for hand in hands)
        assert sum(counted[hand] for hand in hands) == expected, hands


FIXED: Final = ("As Ah Ks 9s", "5h 6h 7h Kd", "Ad 2d 4d 5c", "8c 8d Ac Kd")


@pytest.mark.parametrize("fixed", FIXED)
def test_all_hands_with_the_joker_and_four_cards_are_judged_as_by_the_second_implementation(
    fixed: str,
) -> None:
    own = WITH_JOKER.parse(fixed.split())
    seen = set()
    for others in combinations([card for card in DECK if card not in own], 2):
        hand = (*own, JOKER, *others)
        assert pai_gow_hand(hand) == pai_gow_named(named(hand)), named(hand)
        seen.add(pai_gow_hand(hand))
    assert len(seen) > 4


def short_decks() -> Iterator[tuple[Card, ...]]:
    """Yield decks in which high hands are frequent."""
    for suits in ({0}, {0, 3}, {0, 1, 2, 3}):
        for lowest in (0, 4, 8, 11):
            yield (*(card for card in DECK if card // 4 >= lowest and card % 4 in suits), JOKER)


def test_hands_of_short_decks_are_judged_as_by_the_second_implementation() -> None:
    rng, seen = Random(53), Counter[str]()
    for deck in short_decks():
        for _ in range(150 if len(deck) >= 7 else 0):
            hand = rng.sample(deck, min(7, len(deck)))
            if len(hand) == 7:
                seen[pai_gow_hand(hand)] += 1
                assert pai_gow_hand(hand) == pai_gow_named(named(hand)), named(hand)
    assert {*seen} >= {*PAI_GOW} - {"straight", "other"}, seen


@pytest.mark.slow
def test_a_simulation_with_the_second_implementation_agrees(counted: Mapping[str, int]) -> None:
    rng, found, deals = Random(7), Counter[str](), 20_000
    for _ in range(deals):
        found[pai_gow_named(named(rng.sample(WHOLE_DECK, 7)))] += 1
    for hand, number in counted.items():
        expected = float(Fraction(number, ALL))
        spread = 5 * (expected * (1 - expected) / deals) ** 0.5
        assert abs(found[hand] / deals - expected) <= spread + 1e-9, hand
