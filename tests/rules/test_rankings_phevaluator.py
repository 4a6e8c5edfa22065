"""Five-card hands against phevaluator, an independent judge of poker hands, on every hand."""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import combinations, islice, starmap
from math import comb
from random import Random

import pytest
from phevaluator.card import Card as TheirCard  # type: ignore[import-untyped]
from phevaluator.evaluator import evaluate_5cards, evaluate_6cards, evaluate_7cards  # type: ignore[import-untyped]

from bonus.cards import DECK, Card, card_name
from bonus.hands.five import FiveCardHand, best_five, five_card_hand
from bonus.hands.rankings import super_royal_hand

# Numbers of different hands of each kind, ignoring suits. phevaluator numbers all from 1.
DISTINCT = (
    (FiveCardHand.ROYAL_FLUSH, 1),
    (FiveCardHand.STRAIGHT_FLUSH, 9),
    (FiveCardHand.FOUR_OF_A_KIND, 156),
    (FiveCardHand.FULL_HOUSE, 156),
    (FiveCardHand.FLUSH, 1_277),
    (FiveCardHand.STRAIGHT, 10),
    (FiveCardHand.THREE_OF_A_KIND, 858),
    (FiveCardHand.TWO_PAIR, 858),
    (FiveCardHand.PAIR, 2_860),
    (FiveCardHand.HIGH_CARD, 1_277),
)
THEIRS = tuple(hand for hand, number in DISTINCT for _ in range(number))


def disagreements(
    ours: Callable[[Sequence[Card]], StrEnum],
    theirs: Callable[..., int],
    lows: Sequence[Card],
    cards: int,
) -> tuple[int, dict[tuple[StrEnum, int], int]]:
    """Count the hands whose lowest card is one of ``lows``; list those judged differently."""
    pairs: Counter[tuple[StrEnum, int]] = Counter()
    for low in lows:
        hands = ((low, *others) for others in combinations(DECK[low + 1 :], cards - 1))
        while chunk := list(islice(hands, 20_000)):
            pairs.update(zip(map(ours, chunk), starmap(theirs, chunk), strict=True))
    wrong = {
        (hand, number): times
        for (hand, number), times in pairs.items()
        if THEIRS[number - 1] != plain(hand)
    }
    return pairs.total(), wrong


def plain(hand: StrEnum) -> FiveCardHand:
    """Return the kind of hand according to phevaluator, which knows one royal flush only."""
    return FiveCardHand.ROYAL_FLUSH if "royal" in hand.value else FiveCardHand(hand.value)


def test_both_number_the_cards_alike() -> None:
    assert len(THEIRS) == 7_462
    assert [TheirCard.to_id(card_name(card)) for card in DECK] == list(DECK)


@pytest.mark.slow
@pytest.mark.section("649a.6(d)")
@pytest.mark.reading("G5")
def test_all_five_card_hands_agree() -> None:
    hands, wrong = disagreements(five_card_hand, evaluate_5cards, DECK, 5)
    assert not wrong
    assert hands == 2_598_960


# Lowest cards of the parts, of about two million hands each.
PARTS = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 7), (7, 9), (9, 12), (12, 52))


@pytest.mark.slow
@pytest.mark.section("649a.6(d)", "679a.6(d)", "682a.6(e)", proof=True)
@pytest.mark.section("649a.11(c)(9)")
@pytest.mark.reading("G5")
@pytest.mark.parametrize(("start", "end"), PARTS)
def test_all_six_card_hands_agree(start: int, end: int) -> None:
    """The ranking with the Super Royal is the six-card ranking with two names changed.

    The six-card ranking is in turn the best five of six, so all three are judged here.
    """
    hands, wrong = disagreements(super_royal_hand, evaluate_6cards, DECK[start:end], 6)
    assert not wrong
    assert hands == sum(comb(51 - low, 5) for low in range(start, end))


@pytest.mark.slow
@pytest.mark.parametrize("cards", [7, 8, 9])
@pytest.mark.parametrize("suits", [4, 2], ids=["deck", "two_suits"])
def test_the_best_five_of_more_cards_agree(cards: int, suits: int) -> None:
    """Cards of two suits often have a flush, also together with a full house."""
    random = Random(cards)
    deck = [card for card in DECK if card % 4 < suits]
    for _ in range(20_000):
        dealt = random.sample(deck, cards)
        best = min(starmap(evaluate_7cards, combinations(dealt, 7)))
        assert plain(best_five(dealt)) == THEIRS[best - 1], dealt
