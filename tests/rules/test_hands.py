"""Three-card and five-card hands, counted over whole decks and compared with simple judges."""

import random
from collections import Counter
from itertools import combinations, pairwise

import pytest

from bonus.cards import DECK, Card, card_name, parse_card, rank_of, suit_of
from bonus.hands import (
    FiveCardHand,
    ThreeCardHand,
    best_five_of,
    five_card_hand,
    three_card,
    three_card_hand,
    three_card_strength,
)
from tests.rules.dealing import cards

STRAIGHTS = [{12, *range(4)}, *({*range(low, low + 5)} for low in range(9))]


def plain_five_card_hand(hand: tuple[Card, ...]) -> FiveCardHand:
    """Rank a hand by the definitions of 649a.6(d), one after the other, in plain code."""
    ranks = {rank_of(card) for card in hand}
    suits = {suit_of(card) for card in hand}
    shape = sorted(Counter(rank_of(card) for card in hand).values(), reverse=True)
    flush, straight = len(suits) == 1, ranks in STRAIGHTS
    royal = flush and ranks == STRAIGHTS[-1]
    definitions = {
        FiveCardHand.ROYAL_FLUSH_SPADES: royal and suits == {3},
        FiveCardHand.ROYAL_FLUSH: royal,
        FiveCardHand.STRAIGHT_FLUSH: flush and straight,
        FiveCardHand.FOUR_OF_A_KIND: shape[0] == 4,
        FiveCardHand.FULL_HOUSE: shape == [3, 2],
        FiveCardHand.FLUSH: flush,
        FiveCardHand.STRAIGHT: straight,
        FiveCardHand.THREE_OF_A_KIND: shape[0] == 3,
        FiveCardHand.TWO_PAIR: shape == [2, 2, 1],
        FiveCardHand.PAIR: shape[0] == 2,
        FiveCardHand.HIGH_CARD: True,
    }
    return next(hand for hand, holds in definitions.items() if holds)


@pytest.mark.section("649a.6")
@pytest.mark.section("649a.6(b)")
@pytest.mark.section("649a.6(e)")
@pytest.mark.section("679a.6(b)")
@pytest.mark.reading("P9")
def test_every_three_card_hand_is_counted() -> None:
    assert Counter(three_card_hand(hand) for hand in combinations(DECK, 3)) == {
        ThreeCardHand.MINI_ROYAL_SPADES: 1,
        ThreeCardHand.MINI_ROYAL: 3,
        ThreeCardHand.STRAIGHT_FLUSH: 44,
        ThreeCardHand.THREE_OF_A_KIND: 52,
        ThreeCardHand.STRAIGHT: 720,
        ThreeCardHand.FLUSH: 1_096,
        ThreeCardHand.PAIR: 3_744,
        ThreeCardHand.HIGH_CARD: 16_440,
    }


@pytest.mark.slow
@pytest.mark.section("649a.6(d)")
@pytest.mark.section("649a.11(c)(9)")
@pytest.mark.parametrize("suits", [1, 2, 4])
def test_best_five_of_six_is_the_best_of_its_six_fives(suits: int) -> None:
    """Decks of one and two suits, in which flushes are frequent, are tried too."""
    rng = random.Random(649)
    deck = [card for card in DECK if suit_of(card) >= 4 - suits]
    order = list(FiveCardHand)
    seen = set()
    for _ in range(6_000):
        six = tuple(rng.sample(deck, 6))
        expected = min(
            (plain_five_card_hand(five) for five in combinations(six, 5)), key=order.index
        )
        assert best_five_of(six) == expected, [card_name(card) for card in six]
        assert five_card_hand(six[1:]) == plain_five_card_hand(six[1:])
        seen.add(expected)
    assert len(seen) >= 3


@pytest.mark.section("649a.6(d)")
@pytest.mark.section("649a.11(c)(9)")
@pytest.mark.parametrize(
    ("six", "hand"),
    [
        ("As Ks Qs Js Ts 9s", "royal_flush_spades"),
        ("Ad Kd Qd Jd Td 9d", "royal_flush"),
        ("Ah Kh Qh Jh Tc 9h", "flush"),
        ("Ah 2h 3h 4h 5h Kh", "straight_flush"),
        ("9s 9d 9c 9h 2s 2d", "four_of_a_kind"),
        ("9s 9d 9c 2h 2s 2d", "full_house"),
        ("9s 9d 2c 2h 3s 3d", "two_pair"),
        ("6s 7s 8s 9s 2s Td", "flush"),
        ("6s 7s 8s 9d Tc Td", "straight"),
        ("2s 3s 4d 6d 7d 9c", "high_card"),
    ],
)
def test_best_five_of_six_by_example(six: str, hand: str) -> None:
    assert best_five_of(cards(six)).value == hand


@pytest.mark.reading("G5")
@pytest.mark.section("649a.6(a)")
def test_reading_g5_an_ace_below_the_five_makes_a_straight() -> None:
    assert five_card_hand(cards("Ah 2s 3s 4d 5c")) == FiveCardHand.STRAIGHT
    assert five_card_hand(cards("Ah 2h 3h 4h 5h")) == FiveCardHand.STRAIGHT_FLUSH
    assert five_card_hand(cards("Kh Ah 2s 3s 4d")) == FiveCardHand.HIGH_CARD
    assert three_card_hand(cards("Kh Ah 2s")) == ThreeCardHand.HIGH_CARD


def plain_three_card_place(hand: tuple[Card, ...]) -> tuple[int, list[int]]:
    """Return a hand's place in 649a.6(b), and its ranks in the order of comparison."""
    ranks = [rank_of(card) for card in hand]
    flush = len({suit_of(card) for card in hand}) == 1
    tops = [top for top in range(12, 1, -1) if sorted(ranks) == [top - 2, top - 1, top]]
    if sorted(ranks) == [0, 1, 12]:
        tops = [1]
    order = sorted(ranks, key=lambda rank: (ranks.count(rank), rank), reverse=True)
    if tops:
        return (5 if flush else 3), tops
    if len(set(ranks)) == 1:
        return 4, order
    return (2 if flush else 1 if len(set(ranks)) == 2 else 0), order


@pytest.mark.section("649a.6(b)")
@pytest.mark.section("649a.6(c)")
@pytest.mark.section("679a.6(b)")
@pytest.mark.section("679a.6(c)")
@pytest.mark.reading("G4")
@pytest.mark.reading("P9")
def test_all_three_card_hands_are_in_the_plain_order() -> None:
    """Sorted by strength they are sorted for the simple judge too, and both have the same ties."""
    hands = sorted(combinations(DECK, 3), key=three_card_strength)
    for lower, higher in pairwise(hands):
        plain = plain_three_card_place(lower), plain_three_card_place(higher)
        assert plain[0] <= plain[1]
        ties = three_card_strength(lower) == three_card_strength(higher)
        assert ties == (plain[0] == plain[1])
        assert three_card(higher) == (three_card_hand(higher), three_card_strength(higher))


def test_a_wrong_number_of_cards_is_refused() -> None:
    deuce, trey, four, five = cards("2d 3d 4d 5d")
    with pytest.raises(ValueError, match="unpack"):
        three_card_hand((deuce, trey))
    with pytest.raises(ValueError, match="unpack"):
        three_card_strength((deuce, trey, four, five))
    with pytest.raises(ValueError, match="not 4"):
        five_card_hand((deuce, trey, four, five))
    with pytest.raises(ValueError, match="not 5"):
        best_five_of((deuce, trey, four, five, parse_card("9d")))


@pytest.mark.section("649a.3")
def test_every_card_has_a_name_of_its_own() -> None:
    assert [parse_card(card_name(card)) for card in DECK] == list(DECK)
    for text in ("", "A", "as", "1s", "AsAs"):
        with pytest.raises(ValueError, match="is not a card"):
            parse_card(text)
