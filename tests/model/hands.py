"""Naming hands the slow way, for the second set of books: nothing here is shared with `bonus`."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Final

RANKS: Final = "23456789TJQKA"

FIVE_CARD_ORDER: Final = (
    "royal_flush_spades",
    "royal_flush",
    "straight_flush",
    "four_of_a_kind",
    "full_house",
    "flush",
    "straight",
    "three_of_a_kind",
    "two_pair",
    "pair",
    "high_card",
)


def _ranks(cards: Sequence[str]) -> list[int]:
    return sorted(RANKS.index(card[0]) for card in cards)


def _one_suit(cards: Sequence[str]) -> bool:
    return len({card[1] for card in cards}) == 1


def _in_sequence(cards: Sequence[str]) -> bool:
    ranks = _ranks(cards)
    low_ace = [*range(len(cards) - 1), RANKS.index("A")]
    return ranks == low_ace or ranks == list(range(ranks[0], ranks[0] + len(cards)))


def three_card_name(cards: Sequence[str]) -> str:
    """The hand of 649a.6(b) that three cards make."""
    counts = sorted(Counter(_ranks(cards)).values())
    if _one_suit(cards):
        if _ranks(cards) == [10, 11, 12]:
            return "mini_royal_spades" if cards[0][1] == "s" else "mini_royal"
        return "straight_flush" if _in_sequence(cards) else "flush"
    if counts == [3]:
        return "three_of_a_kind"
    if _in_sequence(cards):
        return "straight"
    return "pair" if counts == [1, 2] else "high_card"


def five_card_name(cards: Sequence[str]) -> str:
    """The hand of 649a.6(d) that five cards make, the royal of spades apart."""
    counts = sorted(Counter(_ranks(cards)).values())
    if _one_suit(cards):
        if _ranks(cards) == [8, 9, 10, 11, 12]:
            return "royal_flush_spades" if cards[0][1] == "s" else "royal_flush"
        return "straight_flush" if _in_sequence(cards) else "flush"
    if _in_sequence(cards):
        return "straight"
    by_counts = {
        (1, 4): "four_of_a_kind",
        (2, 3): "full_house",
        (1, 1, 3): "three_of_a_kind",
        (1, 2, 2): "two_pair",
        (1, 1, 1, 2): "pair",
    }
    return by_counts.get(tuple(counts), "high_card")


def best_name_of_six(cards: Sequence[str]) -> str:
    """The highest hand that five of six cards make, every five tried."""
    names = [five_card_name(five) for five in combinations(cards, 5)]
    return min(names, key=FIVE_CARD_ORDER.index)
