"""Five-card hands against phevaluator, an independent judge of poker hands, on every hand."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, islice, starmap
from math import comb

import pytest
from phevaluator.card import Card as TheirCard  # type: ignore[import-untyped]
from phevaluator.evaluator import (  # type: ignore[import-untyped]
    evaluate_5cards,
    evaluate_6cards,
)

from bonus.cards import DECK, Card, card_name
from bonus.hands import FiveCardHand, best_five_of, five_card_hand

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
    ours: Callable[[Sequence[Card]], FiveCardHand],
    theirs: Callable[..., int],
    lows: Sequence[Card],
    cards: int,
) -> tuple[int, dict[tuple[FiveCardHand, int], int]]:
    """Count the hands whose lowest card is one of ``lows``; list those judged differently."""
    pairs: Counter[tuple[FiveCardHand, int]] = Counter()
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


def plain(hand: FiveCardHand) -> FiveCardHand:
    """Return the kind of hand according to phevaluator, which has no separate royal flush."""
    return FiveCardHand.ROYAL_FLUSH if hand == FiveCardHand.ROYAL_FLUSH_SPADES else hand


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


def test_the_parts_hold_every_hand() -> None:
    assert [low for start, end in PARTS for low in range(start, end)] == list(DECK)
    assert sum(comb(51 - low, 5) for low in DECK) == 20_358_520


@pytest.mark.slow
@pytest.mark.section("649a.6(d)")
@pytest.mark.section("649a.11(c)(9)")
@pytest.mark.section("679a.6(d)")
@pytest.mark.section("682a.6(e)")
@pytest.mark.parametrize(("start", "end"), PARTS)
def test_the_best_five_of_all_six_cards_agree(start: int, end: int) -> None:
    hands, wrong = disagreements(best_five_of, evaluate_6cards, DECK[start:end], 6)
    assert not wrong
    assert hands == sum(comb(51 - low, 5) for low in range(start, end))
