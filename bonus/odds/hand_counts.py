"""How many of all hands are of each kind, counted over every hand of the deck.

Each class of hands is judged by the ranking's own function (``bonus.hands``), so that what is
counted here and what is settled at a table are judged by the same code.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import factorial, perm, prod
from typing import Final, cast

from bonus.cards import DECK, RANKS, Card, rank_of, suit_of
from bonus.hands.rankings import RANKINGS
from bonus.odds.suit_classes import HandClasses, hand_classes, renamed

Advance = Callable[[int], None]
"""Told how many more steps are done."""

Judge = Callable[[Sequence[Card]], StrEnum]
"""Names the hand that cards form."""

Counts = dict[str, int]
"""How many deals there are of each hand, by its name."""

_BATCH: Final = 1 << 14
_NAMED_SUIT: Final = 5
BY_COLOR: Final = frozenset({"prime", "five_prime"})
"""The rankings that judge colors, and whose cards they are."""

_BLACK_AND_RED: Final = tuple(
    tuple(card for card in DECK if suit_of(card) in suits) for suits in ({0, 3}, {1, 2})
)


def count_hands(ranking: str, groups: tuple[int, ...], advance: Advance) -> Counts:
    """How many deals give each hand, for every hand that occurs.

    Args:
        ranking: the ranking of ``bonus.hands`` that judges the cards.
        groups: how many cards go to each holder, such as three to the player and three to the
            dealer. A ranking by colors asks who holds them, and its deals are of one group after
            the other; for any other the deals are the sets of all the cards together.
        advance: told of the steps done, ``steps_of_hands`` in all.
    """
    if ranking in BY_COLOR:
        return _count_colors(ranking, groups, advance)
    judge = RANKINGS[ranking].of
    counts: Counter[str] = Counter()
    for one in each_class(hand_classes(sum(groups)), advance):
        for hand, number in judged(judge, one):
            counts[hand] += number
    return dict(counts)


def steps_of_hands(ranking: str, groups: tuple[int, ...]) -> int:
    """How many steps ``count_hands`` tells of."""
    size = sum(groups)
    return len(_BLACK_AND_RED) ** size if ranking in BY_COLOR else len(hand_classes(size))


def count_with_further_card(ranking: str, size: int, rank: str, advance: Advance) -> Counts:
    """How many deals of a hand and one further card give each hand, that card being of ``rank``.

    It may be the player's own fourth card or the community's: the deals are the same
    (679a.11(d)(2)(ii), reading P5).

    Args:
        ranking: as for ``count_hands``.
        size: how many cards the hand has.
        rank: the character of the rank.
        advance: told of each class of hands.
    """
    judge = RANKINGS[ranking].of
    counts: Counter[str] = Counter()
    wanted = RANKS.index(rank)
    for one in each_class(hand_classes(size), advance):
        left = 4 - sum(rank_of(card) == wanted for card in one.cards)
        for hand, number in judged(judge, one):
            counts[hand] += number * left
    return dict(counts)


@dataclass(frozen=True, slots=True)
class HandClass:
    """One class of hands.

    Attributes:
        cards: the hand that stands for it.
        hands: how many it holds.
        suited: whether its hands may differ by what their suit is called, as the royal flush of
            spades does. Such hands lie in one suit with all their cards, or with five.
    """

    cards: list[Card]
    hands: int
    suited: bool


def each_class(classes: HandClasses, advance: Advance) -> Iterator[HandClass]:
    """The classes, one after another."""
    for start in range(0, len(classes), _BATCH):
        batch = slice(start, start + _BATCH)
        suited = classes.in_a_suit[batch] >= min(classes.size, _NAMED_SUIT)
        cards = cast("list[list[Card]]", classes.cards[batch].tolist())
        yield from map(HandClass, cards, classes.hands[batch].tolist(), suited.tolist())
        advance(len(cards))


def judged(judge: Judge, one: HandClass) -> Iterable[tuple[str, int]]:
    """What the hands of a class are, and how many of them."""
    if one.suited:
        return [(judge(sorted(hand)).value, 1) for hand in renamed(one.cards)]
    return ((judge(one.cards).value, one.hands),)


def _count_colors(ranking: str, groups: tuple[int, ...], advance: Advance) -> Counts:
    judge = RANKINGS[ranking].of
    arrangements = prod(map(factorial, groups))
    ordered: Counter[str] = Counter()
    for colors in product(range(len(_BLACK_AND_RED)), repeat=sum(groups)):
        earlier = [colors[:seat].count(color) for seat, color in enumerate(colors)]
        cards = [_BLACK_AND_RED[color][at] for color, at in zip(colors, earlier, strict=True)]
        ordered[judge(cards).value] += prod(
            perm(len(deck), colors.count(color)) for color, deck in enumerate(_BLACK_AND_RED)
        )
        advance(1)
    return {hand: number // arrangements for hand, number in ordered.items()}
