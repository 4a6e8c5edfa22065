"""The best exchange of cards: published figures, every draw one by one, and a simulation."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from statistics import mean, stdev
from typing import Final

import pytest

from bonus.cards import DECK, Card, card_name, rank_of
from bonus.errors import UserError
from bonus.hands.counts import counts_of
from bonus.hands.five import best_five
from bonus.hands.rankings import RANKINGS
from bonus.odds.exchange_counts import STEPS, count_exchanged
from tests.naive.ranking import of_five

JACK: Final = 9
NAMES: Final = [card_name(card) for card in DECK]
JACKS_OR_BETTER: Final = {
    "royal_flush": 800, "straight_flush": 50, "four_of_a_kind": 25, "full_house": 9, "flush": 6,
    "straight": 4, "three_of_a_kind": 3, "two_pair": 2, "jacks_or_better": 1,
}  # fmt: skip
PUBLISHED: Final = {
    "royal_flush": 493_512_264,
    "straight_flush": 2_178_883_296,
    "four_of_a_kind": 47_093_167_764,
    "full_house": 229_475_482_596,
    "flush": 219_554_786_160,
    "straight": 223_837_565_784,
    "three_of_a_kind": 1_484_003_070_324,
    "two_pair": 2_576_946_164_148,
    "jacks_or_better": 4_277_372_890_968,
}
"""Combinations of 9/6 Jacks or Better with optimal play, as published in many places."""


def jacks_or_better(cards: Sequence[Card], counts: int | None = None) -> str:
    hand = best_five(cards, counts)
    if hand == "pair":
        ranks = Counter(map(rank_of, cards))
        return "jacks_or_better" if ranks.most_common(1)[0][0] >= JACK else "low_pair"
    return "royal_flush" if hand.startswith("royal_flush") else str(hand)


def exact(worth: Mapping[str, int]) -> dict[str, Fraction]:
    return {hand: Fraction(value) for hand, value in worth.items()}


def test_jacks_or_better_pays_what_is_published() -> None:
    steps: list[int] = []
    found = count_exchanged(jacks_or_better, 5, 5, exact(JACKS_OR_BETTER), steps.append)
    assert sum(steps) == STEPS
    assert {hand: found[hand] for hand in PUBLISHED} == PUBLISHED
    every = sum(found.values())
    assert every == 19_933_230_517_200
    back = Fraction(sum(found[hand] * pays for hand, pays in JACKS_OR_BETTER.items()), every)
    assert round(back * 100, 4) == Fraction(995_439, 10_000)


THREE: Final = {
    "mini_royal": 200, "straight_flush": 30, "three_of_a_kind": 20, "straight": 5, "flush": 3,
    "pair": 1,
}  # fmt: skip


def every_draw(deal: Sequence[Card], kept: Sequence[Card], judge: str) -> Counter[str]:
    """Return how often each hand comes if `kept` of a deal is kept: every draw is formed."""
    others = [card for card in DECK if card not in deal]
    of = RANKINGS[judge].of
    return Counter(
        str(of(cards, counts_of(cards)))
        for drawn in combinations(others, len(deal) - len(kept))
        for cards in [(*kept, *drawn)]
    )


def best_of(
    deal: Sequence[Card], exchange: int, judge: str, worth: Mapping[str, int]
) -> tuple[Fraction, Counter[str]]:
    """Return the most that a deal brings on average, and the final hands of this exchange."""
    found = []
    for drawn in range(exchange + 1):
        for kept in combinations(deal, len(deal) - drawn):
            hands = every_draw(deal, kept, judge)
            total = sum(number * worth.get(hand, 0) for hand, number in hands.items())
            found.append((Fraction(total, hands.total()), hands))
    return max(found, key=lambda each: each[0])


@pytest.mark.parametrize("exchange", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_three_cards_pay_as_much_as_if_every_draw_is_formed(exchange: int) -> None:
    """Of the deals that differ only by their suits, one has all its draws formed."""
    worth = {**THREE, "mini_royal_spades": THREE["mini_royal"]}
    total, deals = Fraction(0), 0
    seen: dict[frozenset[tuple[frozenset[int], int]], Fraction] = {}
    for deal in combinations(DECK, 3):
        suits: dict[int, set[int]] = {}
        for card in deal:
            suits.setdefault(card % 4, set()).add(card // 4)
        key = frozenset(Counter(frozenset(ranks) for ranks in suits.values()).items())
        if key not in seen:
            seen[key] = best_of(deal, exchange, "three_card", worth)[0]
        total += seen[key]
        deals += 1
    found = count_exchanged(RANKINGS["three_card"].of, 3, exchange, exact(worth), lambda _: None)
    back = Fraction(
        sum(number * worth.get(hand, 0) for hand, number in found.items()), sum(found.values())
    )
    assert deals == comb(52, 3)
    assert back == total / deals


@pytest.mark.parametrize(
    ("exchange", "deals"), [(1, 400), pytest.param(2, 100, marks=pytest.mark.slow)]
)
def test_players_with_the_best_exchange_get_back_what_is_counted(exchange: int, deals: int) -> None:
    """Random deals of five cards, with every draw of every exchange, judged by another program."""
    rng, paid = random.Random(exchange), []
    worth = {hand: pays for hand, pays in JACKS_OR_BETTER.items() if hand != "royal_flush"}
    for _ in range(deals):
        deal = rng.sample(NAMES, 5)
        others = [card for card in NAMES if card not in deal]
        returns = []
        for drawn in range(exchange + 1):
            draws = [*combinations(others, drawn)]
            for kept in combinations(deal, 5 - drawn):
                pays = sum(worth.get(of_five((*kept, *draw)), 0) for draw in draws)
                returns.append(pays / len(draws))
        paid.append(max(returns))
    found = count_exchanged(RANKINGS["five_card"].of, 5, exchange, exact(worth), lambda _: None)
    back = sum(number * worth.get(hand, 0) for hand, number in found.items()) / sum(found.values())
    assert abs(mean(paid) - back) < 4 * stdev(paid) / deals**0.5


def test_without_a_payout_nobody_exchanges() -> None:
    found = count_exchanged(RANKINGS["three_card"].of, 3, 3, {}, lambda _: None)
    every = sum(found.values())
    assert found["three_of_a_kind"] * comb(52, 3) == 52 * every
    assert found["pair"] * comb(52, 3) == 13 * 6 * 48 * every


def test_a_hand_of_low_order_is_kept_if_it_pays_the_most() -> None:
    """Only high cards pay, so players exchange anything that is not one."""
    found = count_exchanged(
        RANKINGS["three_card"].of, 3, 3, {"high_card": Fraction(1, 3)}, lambda _: None
    )
    assert found["high_card"] > Fraction(9, 10) * sum(found.values())


def test_payouts_that_are_too_large_are_refused() -> None:
    with pytest.raises(UserError, match="too large"):
        count_exchanged(RANKINGS["three_card"].of, 3, 3, {"pair": Fraction(10**19)}, lambda _: None)
