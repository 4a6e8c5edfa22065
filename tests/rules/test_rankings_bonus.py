"""The hands of the bonus wagers: six cards, the Aces Bonus and colors."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest

from bonus.cards import DECK, Card, card_name, rank_of, suit_of
from bonus.hands import (
    AcesHand,
    aces_hand,
    aces_hand_best_four,
)
from bonus.hands.rankings import RANKINGS


def plain_aces(hand: Sequence[Card], length: int) -> AcesHand:
    """Rank a hand by 682a.6(d), with flushes or straights of ``length`` cards."""
    runs = [{12, *range(length - 1)}, *({*range(low, low + length)} for low in range(14 - length))]
    counts = Counter(rank_of(card) for card in hand)
    shape = sorted(counts.values(), reverse=True)
    parts = [
        ({rank_of(card) for card in part}, {suit_of(card) for card in part})
        for part in combinations(hand, length)
    ]
    straights = [(ranks, suits) for ranks, suits in parts if ranks in runs]
    definitions = {
        AcesHand.FOUR_ACES: counts[12] == 4,
        AcesHand.FOUR_OF_A_KIND: shape[0] == 4,
        AcesHand.ROYAL_FLUSH: any(ranks == runs[-1] and len(suits) == 1 for ranks, suits in parts),
        AcesHand.STRAIGHT_FLUSH: any(len(suits) == 1 for _, suits in straights),
        AcesHand.THREE_ACES: counts[12] == 3,
        AcesHand.THREE_OF_A_KIND: shape[0] == 3,
        AcesHand.FLUSH: any(len(suits) == 1 for _, suits in parts),
        AcesHand.STRAIGHT: bool(straights),
        AcesHand.TWO_PAIR: shape[:2] == [2, 2],
        AcesHand.TWO_ACES: counts[12] == 2,
        AcesHand.OTHER: True,
    }
    return next(name for name, holds in definitions.items() if holds)


@pytest.mark.section("682a.6(d)")
@pytest.mark.reading("F12")
@pytest.mark.parametrize("ranks", [range(13), range(8, 13), [12, 0, 1, 2, 3]])
@pytest.mark.parametrize("suits", [1, 2, 4])
def test_the_aces_bonus_is_judged_as_its_definitions_read(ranks: Sequence[int], suits: int) -> None:
    rng = Random(f"{ranks} {suits}")
    deck = [card for card in DECK if suit_of(card) < suits and rank_of(card) in ranks]
    for _ in range(3_000):
        hand = rng.sample(deck, 5)
        assert aces_hand(hand) == plain_aces(hand, 5), [*map(card_name, hand)]
        assert aces_hand_best_four(hand) == plain_aces(hand, 4), [*map(card_name, hand)]


@pytest.mark.parametrize("name", sorted(RANKINGS))
def test_the_order_of_the_cards_does_not_matter_but_for_prime(name: str) -> None:
    rng = Random(name)
    ranking = RANKINGS[name]
    suited = [card for card in DECK if suit_of(card) == 1]
    for deck in (DECK, suited):
        for _ in range(300):
            for count in ranking.cards:
                hand = rng.sample(deck, count)
                ours = hand[:3] if name == "prime" else hand
                other = [*rng.sample(ours, len(ours)), *hand[len(ours) :]]
                assert ranking.of(other) == ranking.of(hand)


THREE_CARDS = (
    "mini_royal_spades mini_royal straight_flush three_of_a_kind straight flush pair high_card"
)
FOUR_CARDS = "four_of_a_kind straight_flush three_of_a_kind flush straight two_pair pair high_card"
FIVE_CARDS = (
    "straight_flush four_of_a_kind full_house flush straight three_of_a_kind"
    " two_pair pair high_card"
)
ACES = (
    "four_aces four_of_a_kind royal_flush straight_flush three_aces three_of_a_kind flush straight"
    " two_pair two_aces other"
)


@pytest.mark.section("649a.6(b)")
@pytest.mark.section("649a.6(d)")
@pytest.mark.section("679a.6(b)")
@pytest.mark.section("679a.6(d)")
@pytest.mark.section("682a.6(b)")
@pytest.mark.section("682a.6(d)")
@pytest.mark.section("682a.6(e)")
@pytest.mark.reading("F7")
@pytest.mark.parametrize(
    ("name", "hands"),
    [
        ("three_card", THREE_CARDS),
        ("five_card", f"royal_flush_spades royal_flush {FIVE_CARDS}"),
        ("six_card", f"six_card_royal_diamonds six_card_royal royal_flush {FIVE_CARDS}"),
        ("super_royal", f"super_royal_diamonds super_royal royal_flush {FIVE_CARDS}"),
        ("four_card", FOUR_CARDS),
        ("aces", ACES),
        ("aces_best_four", ACES),
        ("prime", "same_color_player_and_dealer same_color_player mixed"),
        ("five_prime", "all_five_same_color four_same_color mixed"),
    ],
)
def test_the_hands_of_a_ranking_are_highest_first(name: str, hands: str) -> None:
    assert [hand.value for hand in RANKINGS[name].hands] == hands.split()


@pytest.mark.parametrize(
    ("name", "tops"),
    [
        ("three_card", {"mini_royal_spades", "mini_royal", "straight_flush"}),
        ("five_card", {"royal_flush_spades", "royal_flush"}),
        ("six_card", {"six_card_royal_diamonds", "royal_flush"}),
        ("super_royal", {"super_royal_diamonds", "royal_flush"}),
        ("four_card", {"four_of_a_kind"}),
        ("aces", {"four_aces"}),
        ("aces_best_four", {"four_aces"}),
        ("prime", {"same_color_player_and_dealer"}),
        ("five_prime", {"all_five_same_color"}),
    ],
)
def test_a_paytable_may_begin_at_the_top_of_a_ranking(name: str, tops: set[str]) -> None:
    ranking = RANKINGS[name]
    assert {hand.value for hand in ranking.tops} == tops
    assert ranking.tops <= {*ranking.hands}
    assert ranking.hands[0] in ranking.tops
