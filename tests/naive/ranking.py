"""The hands of 649a.6, 679a.6 and 682a.6, found by looking at every choice of cards."""

from functools import lru_cache
from itertools import combinations

Cards = tuple[str, ...]
"""Cards as two letters each, rank and suit."""
Strength = tuple[int, list[int]]
"""The rank of a hand: its kind, and then what decides between two hands of that kind."""

RANKS = "23456789TJQKA"
_VALUES = {rank: number for number, rank in enumerate(RANKS, start=2)}
ACE, KING, QUEEN = 14, 13, 12
RED = "dh"

THREE_CARD = ("high_card", "pair", "flush", "straight", "three_of_a_kind", "straight_flush")
"""649a.6(b) from the lowest up; 679a.6(b) has the mini-royal above them."""
FOUR_CARD = (
    "nothing", "pair", "two_pairs", "straight", "flush", "three_of_a_kind", "straight_flush",
    "four_of_a_kind",
)  # fmt: skip
"""682a.6(b) from the lowest up."""
FIVE_CARD = (
    "high_card", "pair", "two_pair", "three_of_a_kind", "straight", "flush", "full_house",
    "four_of_a_kind", "straight_flush", "royal_flush",
)  # fmt: skip
"""649a.6(d), 679a.6(d) and 682a.6(e) from the lowest up; they do not rank the first three."""
ACES_BONUS = (
    "nothing", "two_aces", "two_pair", "straight", "flush", "three_of_a_kind", "three_aces",
    "straight_flush", "royal_flush", "four_of_a_kind", "four_aces",
)  # fmt: skip
"""682a.6(d) from the lowest up."""


def value(card: str) -> int:
    return _VALUES[card[0]]


def values(cards: Cards) -> list[int]:
    return sorted((value(card) for card in cards), reverse=True)


def alike(cards: Cards) -> list[int]:
    """Return the number of cards of each rank, most first: a full house is [3, 2]."""
    ranks = [card[0] for card in cards]
    return sorted((ranks.count(rank) for rank in set(ranks)), reverse=True)


def by_number(cards: Cards) -> list[int]:
    """Return the ranks present, those with the most cards first, then the higher first."""
    ranks = [value(card) for card in cards]
    return sorted(set(ranks), key=lambda rank: (ranks.count(rank), rank), reverse=True)


def one_suit(cards: Cards) -> bool:
    return len({card[1] for card in cards}) == 1


def is_red(card: str) -> bool:
    return card[1] in RED


def top_of_run(cards: Cards) -> int:
    """Return the top rank of consecutive cards, or 0 if they are not consecutive.

    An ace is low below 2, 3 and so on. The highest of these cards is then the top.
    """
    ranks = values(cards)
    size = len(ranks)
    if ranks == list(range(ranks[0], ranks[0] - size, -1)):
        return ranks[0]
    if ranks == [ACE, *range(size, 1, -1)]:
        return size
    return 0


@lru_cache(maxsize=65_536)
def three_card(cards: Cards) -> str:
    """Return the hand of 649a.6(b) that three cards form."""
    if one_suit(cards) and top_of_run(cards):
        return "straight_flush"
    if alike(cards) == [3]:
        return "three_of_a_kind"
    if top_of_run(cards):
        return "straight"
    if one_suit(cards):
        return "flush"
    if alike(cards) == [2, 1]:
        return "pair"
    return "high_card"


def is_mini_royal(cards: Cards) -> bool:
    return one_suit(cards) and values(cards) == [ACE, KING, QUEEN]


def three_card_named(cards: Cards) -> str:
    """Return the same, but name the mini-royals, and the one of spades, separately."""
    if is_mini_royal(cards):
        return "mini_royal_spades" if cards[0][1] == "s" else "mini_royal"
    return three_card(cards)


@lru_cache(maxsize=65_536)
def three_card_strength(cards: Cards) -> Strength:
    """Return the rank of a hand by 649a.6(b) and (c), and 679a.6(b) and (c).

    A mini-royal needs no place of its own: ace, king and queen are the top straight flush.
    """
    hand = three_card(cards)
    if hand in ("straight_flush", "straight"):
        return THREE_CARD.index(hand), [top_of_run(cards)]
    return THREE_CARD.index(hand), by_number(cards)


def is_queen_high_or_better(cards: Cards) -> bool:
    return three_card(cards) != "high_card" or values(cards)[0] >= QUEEN


def of_five(cards: Cards) -> str:
    """Return the hand of 649a.6(d) that exactly five cards form."""
    run = top_of_run(cards)
    same = alike(cards)
    found = {
        "royal_flush": one_suit(cards) and run == ACE,
        "straight_flush": one_suit(cards) and run != 0,
        "four_of_a_kind": same == [4, 1],
        "full_house": same == [3, 2],
        "flush": one_suit(cards),
        "straight": run != 0,
        "three_of_a_kind": same == [3, 1, 1],
        "two_pair": same == [2, 2, 1],
        "pair": same == [2, 1, 1, 1],
        "high_card": True,
    }
    return next(hand for hand, is_it in found.items() if is_it)


@lru_cache(maxsize=65_536)
def best_five_card(cards: Cards) -> str:
    """Return the highest hand of 649a.6(d) among any five of five or six cards."""
    return max((of_five(five) for five in combinations(cards, 5)), key=FIVE_CARD.index)


@lru_cache(maxsize=65_536)
def best_five_strength(cards: Cards) -> Strength:
    """Return the rank of the highest hand among any five of the cards, with what decides a tie."""
    return max(five_card_strength(five) for five in combinations(cards, 5))


def five_card_strength(cards: Cards) -> Strength:
    hand = of_five(cards)
    if hand in ("royal_flush", "straight_flush", "straight"):
        return FIVE_CARD.index(hand), [top_of_run(cards)]
    return FIVE_CARD.index(hand), by_number(cards)


def is_six_card_royal(cards: Cards) -> bool:
    return one_suit(cards) and values(cards) == [ACE, KING, QUEEN, 11, 10, 9]


def best_five_card_named(cards: Cards) -> str:
    """Return the highest hand of 649a.6(d), with the royal flush of spades named separately."""
    hand = best_five_card(cards)
    spades = tuple(card for card in cards if card[1] == "s")
    if hand == "royal_flush" and len(spades) >= 5 and best_five_card(spades) == "royal_flush":
        return "royal_flush_spades"
    return hand


def of_four(cards: Cards) -> str:
    """Return the hand of 682a.6(b) that exactly four cards form."""
    run = top_of_run(cards)
    same = alike(cards)
    found = {
        "four_of_a_kind": same == [4],
        "straight_flush": one_suit(cards) and run != 0,
        "three_of_a_kind": same == [3, 1],
        "flush": one_suit(cards),
        "straight": run != 0,
        "two_pairs": same == [2, 2],
        "pair": same == [2, 1, 1],
        "nothing": True,
    }
    return next(hand for hand, is_it in found.items() if is_it)


def four_card_strength(cards: Cards) -> Strength:
    """Return the rank of a hand by 682a.6(b) and (c)."""
    hand = of_four(cards)
    if hand in ("straight_flush", "straight"):
        return FOUR_CARD.index(hand), [top_of_run(cards)]
    return FOUR_CARD.index(hand), by_number(cards)


@lru_cache(maxsize=65_536)
def best_four_card(cards: Cards) -> Strength:
    """Return the highest hand among any four of a player's five or the dealer's six cards."""
    return max(four_card_strength(four) for four in combinations(cards, 4))


def is_aces_bonus_hand(hand: str, cards: Cards) -> bool:
    """Check whether cards make a hand of 682a.6(d): all five, or four under the other reading.

    In the printed definitions, runs and flushes have five cards, and the royal flush is ace, king,
    queen, jack and 10. If the best four are played, they have four, and the royal flush has no 10.
    """
    run = top_of_run(cards)
    same = alike(cards)
    aces = sum(value(card) == ACE for card in cards)
    return {
        "four_aces": aces == 4,
        "four_of_a_kind": same[0] == 4,
        "royal_flush": one_suit(cards) and run == ACE,
        "straight_flush": one_suit(cards) and run != 0,
        "three_aces": aces == 3,
        "three_of_a_kind": same[0] == 3,
        "flush": one_suit(cards),
        "straight": run != 0,
        "two_pair": same[:2] == [2, 2],
        "two_aces": aces == 2,
        "nothing": True,
    }[hand]


@lru_cache(maxsize=65_536)
def aces_bonus_hand(cards: Cards, size: int) -> str:
    """Return the highest hand of 682a.6(d) among any ``size`` of a player's five cards."""
    return next(
        hand
        for hand in reversed(ACES_BONUS)
        if any(is_aces_bonus_hand(hand, chosen) for chosen in combinations(cards, size))
    )
