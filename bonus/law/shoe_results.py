"""Results of baccarat and blackjack, counted over every deal of full decks by the drawing rules.

Only the values of cards matter here. An outcome has as many *ways* as there are sequences of cards
that lead to it, if every deal went on to the same number of cards.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations_with_replacement
from math import prod
from types import MappingProxyType
from typing import Final, NamedTuple

_VALUES: Final = range(10)
"""The values at baccarat. At blackjack, 0 is a card that counts 10, and 1 an ace."""
_TENS_IN_A_DECK: Final = 16
_OTHERS_IN_A_DECK: Final = 4
_BACCARAT_CARDS: Final = 6
_NATURAL: Final = 8
_PLAYER_DRAWS_TO: Final = 5
_BANKER_DRAWS_ON: Final[Mapping[int, Sequence[int]]] = {
    0: _VALUES, 1: _VALUES, 2: _VALUES, 3: (0, 1, 2, 3, 4, 5, 6, 7, 9), 4: range(2, 8),
    5: range(4, 8), 6: (6, 7), 7: (),
}  # fmt: skip
"""The player's third cards on which the banker draws, by the banker's total."""
_DEALER_STANDS_ON: Final = 17
BLACKJACK: Final = 21
_ACE_MORE: Final = 10


class BaccaratOutcome(NamedTuple):
    """`cards` and `total` are those of the winner; in a tie, `cards` counts both hands."""

    winner: str
    cards: int
    total: int
    margin: int


class DealerOutcome(NamedTuple):
    """The dealer's hand at blackjack; a total above 21 is a bust."""

    cards: int
    total: int


@cache
def baccarat_outcomes(decks: int) -> Mapping[BaccaratOutcome, int]:
    """Return the ways to each outcome of punto banco."""
    ways: Counter[BaccaratOutcome] = Counter()
    shoe = _shoe(decks)
    for player, player_ways, after in _pairs(shoe):
        for banker, banker_ways, left in _pairs(after):
            for hands, drawn_ways in _drawn(player, banker, left):
                ways[_outcome(*hands)] += player_ways * banker_ways * drawn_ways
    return MappingProxyType(ways)


def _shoe(decks: int) -> tuple[int, ...]:
    return tuple(decks * (_OTHERS_IN_A_DECK if value else _TENS_IN_A_DECK) for value in _VALUES)


def _without(shoe: Sequence[int], value: int) -> tuple[int, ...]:
    return tuple(number - (each == value) for each, number in enumerate(shoe))


def _pairs(shoe: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int, tuple[int, ...]]]:
    for one, two in combinations_with_replacement(_VALUES, 2):
        left = _without(shoe, one)
        orders = 1 if one == two else 2
        if ways := shoe[one] * left[two] * orders:
            yield (one, two), ways, _without(left, two)


_Hands = tuple[tuple[int, ...], tuple[int, ...]]


def _drawn(
    player: tuple[int, ...], banker: tuple[int, ...], shoe: Sequence[int]
) -> Iterator[tuple[_Hands, int]]:
    """Yield the two hands after the third cards. A card that nobody draws is dealt, and ignored."""
    natural = max(_total(player), _total(banker)) >= _NATURAL
    cards = sum(shoe)
    rest = cards * (cards - 1)
    if natural or (_total(player) > _PLAYER_DRAWS_TO and _total(banker) > _PLAYER_DRAWS_TO):
        yield (player, banker), rest
    elif _total(player) > _PLAYER_DRAWS_TO:
        for value in _VALUES:
            yield (player, (*banker, value)), shoe[value] * (cards - 1)
    else:
        for third in _VALUES:
            if third not in _BANKER_DRAWS_ON[_total(banker)]:
                yield ((*player, third), banker), shoe[third] * (cards - 1)
                continue
            left = _without(shoe, third)
            for value in _VALUES:
                yield ((*player, third), (*banker, value)), shoe[third] * left[value]


def _total(cards: Sequence[int]) -> int:
    return sum(cards) % len(_VALUES)


def _outcome(player: Sequence[int], banker: Sequence[int]) -> BaccaratOutcome:
    margin = _total(player) - _total(banker)
    if not margin:
        return BaccaratOutcome("tie", len(player) + len(banker), _total(player), 0)
    winner, name = (player, "player") if margin > 0 else (banker, "banker")
    return BaccaratOutcome(name, len(winner), _total(winner), abs(margin))


@cache
def dealer_outcomes(decks: int, *, hits_soft_17: bool) -> Mapping[DealerOutcome, int]:
    """Return the ways to each hand of a blackjack dealer who draws from full decks."""
    shoe = _shoe(decks)
    found = dict(_dealt(shoe, (), 1, hits_soft_17=hits_soft_17))
    most = max(len(cards) for cards in found)
    ways: Counter[DealerOutcome] = Counter()
    for cards, number in found.items():
        rest = range(sum(shoe) - most + 1, sum(shoe) - len(cards) + 1)
        ways[DealerOutcome(len(cards), _dealer_total(cards)[0])] += number * prod(rest)
    return MappingProxyType(ways)


def _dealt(
    shoe: tuple[int, ...], cards: tuple[int, ...], ways: int, *, hits_soft_17: bool
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield each sequence of cards after which the dealer stands or is bust, with its ways."""
    total, soft = _dealer_total(cards)
    draws = total < _DEALER_STANDS_ON or (soft and total == _DEALER_STANDS_ON and hits_soft_17)
    if len(cards) > 1 and not draws:
        yield cards, ways
        return
    for value in _VALUES:
        if number := shoe[value]:
            left = _without(shoe, value)
            yield from _dealt(left, (*cards, value), ways * number, hits_soft_17=hits_soft_17)


def _dealer_total(cards: Sequence[int]) -> tuple[int, bool]:
    total = sum(value or len(_VALUES) for value in cards)
    soft = 1 in cards and total + _ACE_MORE <= BLACKJACK
    return (total + _ACE_MORE if soft else total), soft
