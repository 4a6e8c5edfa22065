"""Number of hands of each kind, counted over all hands that the deck can form.

Hands that differ only by a renaming of the suits form a class. The function of the ranking
(``bonus.hands``) judges each class. Settlement uses the same function, so odds and payouts follow
the same rules.
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
"""Function that receives the progress: the number of steps done since its last call."""

Judge = Callable[[Sequence[Card]], StrEnum]

Counts = dict[str, int]
"""Number of deals of each hand, by the name of the hand."""

_BATCH: Final = 1 << 14
_NAMED_SUIT: Final = 5
BY_COLOR: Final = frozenset({"prime", "five_prime"})
"""Rankings that judge colors; for these rankings it also matters who has which cards."""

_BLACK_AND_RED: Final = tuple(
    tuple(card for card in DECK if suit_of(card) in suits) for suits in ({0, 3}, {1, 2})
)


def count_hands(ranking: str, groups: tuple[int, ...], advance: Advance) -> Counts:
    """Return how many deals result in each hand, by the name of the hand.

    A hand that does not occur is left out. ``groups`` is the number of cards from each source, such
    as three of the player and three of the dealer. For a ranking of colors, a deal is a separate
    set of cards for each source; for any other, one set of all the cards.
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
    size = sum(groups)
    return len(_BLACK_AND_RED) ** size if ranking in BY_COLOR else len(hand_classes(size))


def count_with_further_card(ranking: str, size: int, rank: str, advance: Advance) -> Counts:
    """Return how many deals result in each hand and an additional card of ``rank``.

    It can be the player's own card or the community card: the number of deals is the same
    (679a.11(d)(2)(ii), reading P5). ``size`` is the number of cards in the hand.
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
    """One class of hands that differ only by a renaming of the suits, and one of these hands.

    ``suited`` is true if the name of a hand can depend on its suit, as for the royal flush of
    spades: all its cards, or five of them, are in one suit.
    """

    cards: list[Card]
    hands: int
    suited: bool


def each_class(classes: HandClasses, advance: Advance) -> Iterator[HandClass]:
    """Yield the classes of hands one by one, and report to ``advance`` how many were yielded."""
    for start in range(0, len(classes), _BATCH):
        batch = slice(start, start + _BATCH)
        suited = classes.in_a_suit[batch] >= min(classes.size, _NAMED_SUIT)
        cards = cast("list[list[Card]]", classes.cards[batch].tolist())
        yield from map(HandClass, cards, classes.hands[batch].tolist(), suited.tolist())
        advance(len(cards))


def judged(judge: Judge, one: HandClass) -> Iterable[tuple[str, int]]:
    """Return the names of the hands in a class, and the number of hands with each name."""
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
