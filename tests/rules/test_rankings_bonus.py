"""The hands of the bonus wagers: six cards, the Aces Bonus and colors."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest

from bonus.cards import DECK, Card, card_name, rank_of, suit_of
from bonus.hands import (
    AcesHand,
    FivePrimeHand,
    PrimeHand,
    aces_hand,
    aces_hand_best_four,
    five_prime_hand,
    prime_hand,
    six_card_hand,
    super_royal_hand,
)
from bonus.hands.rankings import RANKINGS
from tests.rules.dealing import cards


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


@pytest.mark.section("682a.6(d)")
@pytest.mark.reading("F5")
@pytest.mark.reading("F7")
@pytest.mark.reading("F12")
@pytest.mark.reading("G5")
@pytest.mark.parametrize(
    ("hand", "by_text", "by_best_four"),
    [
        ("Ac Ad Ah As Kd", "four_aces", "four_aces"),
        ("2c 2d 2h 2s Ad", "four_of_a_kind", "four_of_a_kind"),
        ("Ah Kh Qh Jh Th", "royal_flush", "royal_flush"),
        ("Ah Kh Qh Jh 2c", "other", "royal_flush"),
        ("Ah Kh Qh Jh Ac", "two_aces", "royal_flush"),
        ("9h Kh Qh Jh Th", "straight_flush", "straight_flush"),
        ("9h Kh Qh Jh Tc", "straight", "flush"),  # a flush ranks above a straight
        ("Ah 2h 3h 4h 5h", "straight_flush", "straight_flush"),
        ("Ah 2h 3h 4h 9h", "flush", "straight_flush"),
        ("Ah 2h 3h 4h 9c", "other", "straight_flush"),
        ("Ac Ad Ah Ks Kd", "three_aces", "three_aces"),  # a full house is not listed
        ("Kc Kd Kh As Ad", "three_of_a_kind", "three_of_a_kind"),
        ("Ac Ad Ah 2s 3d", "three_aces", "three_aces"),
        ("2h 4h 6h 8h Th", "flush", "flush"),
        ("2h 4h 6h 8h Tc", "other", "flush"),
        ("Ah 2h 3h 4c 5h", "straight", "flush"),
        ("Ah 2d 3h 4c 5h", "straight", "straight"),
        ("Ah 2d 3h 4c 9h", "other", "straight"),
        ("Ah Ad 2d 3h 4c", "two_aces", "straight"),
        ("Kh Ah 2d 3h 9c", "other", "other"),
        ("Ah Ad 2d 2h 4c", "two_pair", "two_pair"),
        ("Kh Kd 2d 2h 4c", "two_pair", "two_pair"),
        ("Ah Ad 9d 2h 4c", "two_aces", "two_aces"),
        ("Kh Kd 9d 2h Ac", "other", "other"),
    ],
)
def test_the_aces_bonus_by_example(hand: str, by_text: str, by_best_four: str) -> None:
    assert aces_hand(cards(hand)).value == by_text
    assert aces_hand_best_four(cards(hand)).value == by_best_four
    assert RANKINGS["aces"].of(cards(hand)).value == by_text
    assert RANKINGS["aces_best_four"].of(cards(hand)).value == by_best_four


@pytest.mark.section("649a.6(d)(8)")
@pytest.mark.section("679a.6(d)")
@pytest.mark.section("682a.6(e)")
@pytest.mark.reading("T5")
@pytest.mark.parametrize(
    ("hand", "six", "super_royal"),
    [
        ("9d Td Jd Qd Kd Ad", "six_card_royal_diamonds", "super_royal_diamonds"),
        ("Kd Ad 9d Td Qd Jd", "six_card_royal_diamonds", "super_royal_diamonds"),
        ("9h Th Jh Qh Kh Ah", "six_card_royal", "super_royal"),
        ("9s Ts Js Qs Ks As", "six_card_royal", "super_royal"),
        ("9h Td Jd Qd Kd Ad", "royal_flush", "royal_flush"),
        ("8d Td Jd Qd Kd Ad", "royal_flush", "royal_flush"),
        ("As Ts Js Qs Ks Ad", "royal_flush", "royal_flush"),
        ("8d 9d Td Jd Qd Kd", "straight_flush", "straight_flush"),
        ("9d Td Jd Qd Kd Ah", "straight_flush", "straight_flush"),
        ("Kd Ad 2d 3d 4d 5d", "straight_flush", "straight_flush"),
        ("9d Td Jd Qd Kh Ad", "flush", "flush"),
        ("9d Td Jd Qc Kh Ad", "straight", "straight"),
        ("9d 9h 9c Ac Ah Ad", "full_house", "full_house"),
        ("9d 9h 9c 9s Ah Ad", "four_of_a_kind", "four_of_a_kind"),
        ("9d 9h 9c 2s Ah Kd", "three_of_a_kind", "three_of_a_kind"),
        ("9d 9h 4c 4s 2h 2d", "two_pair", "two_pair"),
        ("9d 9h 4c 5s 2h Ad", "pair", "pair"),
        ("9d 8h 4c 5s 2h Ad", "high_card", "high_card"),
    ],
)
def test_six_cards_by_example(hand: str, six: str, super_royal: str) -> None:
    assert six_card_hand(cards(hand)).value == six
    assert super_royal_hand(cards(hand)).value == super_royal


@pytest.mark.section("679a.11(d)(1)")
@pytest.mark.reading("P4")
@pytest.mark.parametrize(
    ("hand", "name"),
    [
        ("2c 3s 4c 5s 6c 7s", PrimeHand.SAME_COLOR_PLAYER_AND_DEALER),
        ("2d 3h 4d 5h 6d 7h", PrimeHand.SAME_COLOR_PLAYER_AND_DEALER),
        ("2c 3s 4c 5h 6d 7h", PrimeHand.SAME_COLOR_PLAYER),
        ("2c 3s 4c 5s 6c 7h", PrimeHand.SAME_COLOR_PLAYER),
        ("2d 3h 4d 5s 6d 7h", PrimeHand.SAME_COLOR_PLAYER),
        ("2d 3h 4c 5d 6d 7h", PrimeHand.MIXED),
        ("2d 3c 4c 5s 6s 7s", PrimeHand.MIXED),  # the dealer's colors alone do not count
    ],
)
def test_prime_by_example(hand: str, name: PrimeHand) -> None:
    assert prime_hand(cards(hand)) == name


@pytest.mark.section("682a.11(e)(1)")
@pytest.mark.reading("F6")
@pytest.mark.parametrize(
    ("hand", "name"),
    [
        ("2c 3s 4c 5s 6c", FivePrimeHand.ALL_FIVE_SAME_COLOR),
        ("2d 3h 4d 5h 6d", FivePrimeHand.ALL_FIVE_SAME_COLOR),
        ("2c 3s 4c 5s 6d", FivePrimeHand.FOUR_SAME_COLOR),
        ("2c 3d 4h 5d 6h", FivePrimeHand.FOUR_SAME_COLOR),
        ("2c 3s 4c 5d 6h", FivePrimeHand.MIXED),
        ("2d 3h 4d 5s 6c", FivePrimeHand.MIXED),
    ],
)
def test_five_card_prime_by_example(hand: str, name: FivePrimeHand) -> None:
    assert five_prime_hand(cards(hand)) == name


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
