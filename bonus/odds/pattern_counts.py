"""Numbers of deals of each pattern, from any number of decks.

Equal cards of several decks are counted together: a set of cards with its repetitions can be dealt
in as many ways as its cards can be chosen from the decks.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement
from math import comb, prod
from typing import Final

from bonus.cards import DECK, Card
from bonus.hands.rankings import Judge

STEPS: Final = len(DECK)
"""A step is all deals with the same lowest card of the first group."""

_Dealt = tuple[tuple[Card, ...], int]


def count_patterns(
    judge: Judge, sizes: Sequence[int], decks: int, advance: Callable[[int], None]
) -> dict[str, int]:
    """Return the number of deals of each hand.

    ``sizes`` has the number of cards in each group of cards that must be told apart, such as the
    player's and the dealer's. ``advance`` is called after each step.
    """
    found: Counter[str] = Counter()
    first, *others = sizes
    for lowest in DECK:
        for cards, ways in _groups(first, decks, [], lowest):
            for dealt, all_ways in _with_others(cards, ways, others, decks):
                found[judge(dealt)] += all_ways
        advance(1)
    return dict(found)


def _with_others(
    cards: tuple[Card, ...], ways: int, sizes: Sequence[int], decks: int
) -> Iterator[_Dealt]:
    if not sizes:
        yield cards, ways
        return
    for more, more_ways in _groups(sizes[0], decks, cards):
        yield from _with_others((*cards, *more), ways * more_ways, sizes[1:], decks)


def _groups(
    size: int, decks: int, gone: Sequence[Card], lowest: Card | None = None
) -> Iterator[_Dealt]:
    """Yield each set of cards that can be dealt after `gone`, with the number of its ways."""
    left = Counter(dict.fromkeys(DECK, decks))
    left.subtract(gone)
    begin: tuple[Card, ...] = () if lowest is None else (lowest,)
    deck = DECK if lowest is None else DECK[lowest:]
    for rest in combinations_with_replacement(deck, size - len(begin)):
        cards = (*begin, *rest)
        ways = prod(comb(left[card], number) for card, number in Counter(cards).items())
        if ways:
            yield cards, ways
