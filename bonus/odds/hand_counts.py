"""Number of hands of each kind, counted over all hands that the deck can form.

Hands that differ only by a renaming of the suits form a class: suits are equal in rank (649a.6(a)),
so all hands of a class have the same strength. Each hand is written as four bit masks of thirteen
ranks, one mask per suit. The sorted masks, packed into one number, are the key of the class. The
size of a class is the number of distinct ways to assign the four masks to the four suits. The
function of the ranking (``bonus.hands``) judges each class, as it judges hands in settlement.

If the best five of five to nine cards count, the deals are not formed one by one, because nine
cards can be dealt in 3.7 billion ways. The ranks are added one after another, and the number of
deals is stored for each state of the ranks so far. A state also counts the cards of one suit. The
four suits are equal, and nine cards have at most one suit with five cards. So the deals with a
flush are four times the deals with a flush in this suit.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb, factorial, perm, prod
from typing import Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from bonus.cards import DECK, RANKS, SUITS, Card, rank_of, suit_of
from bonus.hands.five import FIVE_OF_LEAST, FIVE_OF_MOST, FiveCardHand
from bonus.hands.rankings import RANKINGS

Integers = npt.NDArray[np.int64]

_RANKS: Final = len(RANKS)
_SUITS: Final = len(SUITS)
_ONE_SUIT: Final = (1 << _RANKS) - 1
_SORTING: Final = ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2))
"""Pairs of indexes to compare and swap, in this order, to sort any four numbers."""


@dataclass(frozen=True, slots=True)
class HandClasses:
    """The classes of hands of one size, with one hand that represents each class.

    Attributes:
        keys: the key of each class, ascending; shape (classes,).
        hands: the number of hands in each class; shape (classes,).
        cards: the cards of the hand that represents each class; shape (classes, size).
        in_a_suit: the number of cards in the longest suit of each class; shape (classes,).
    """

    size: int
    keys: Integers
    hands: Integers
    cards: Integers
    in_a_suit: Integers

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, cards: Integers) -> Integers:
        """Return the index of the class of each hand; ``cards`` has the shape (hands, size)."""
        if self.size == 0:
            return np.zeros(len(cards), np.int64)
        return np.searchsorted(self.keys, _keys(cards))

    def subsets(self, size: int) -> list[Integers]:
        """Return all subsets of ``size`` cards of the representing hands.

        Each array has one subset for each class; its shape is (classes, size).
        """
        return [self.cards[:, chosen] for chosen in combinations(range(self.size), size)]


@cache
def hand_classes(size: int) -> HandClasses:
    """Return the classes of all hands of ``size`` cards, 0 to 6.

    >>> [len(hand_classes(size)) for size in range(5)]
    [1, 13, 169, 1755, 16432]
    """
    masks = np.concatenate([_laid_out(shape) for shape in _shapes(size)])
    masks = -np.sort(-masks, axis=1)
    keys = _packed(list(masks.T))
    order = np.argsort(keys)
    masks = masks[order]
    in_a_suit = np.bitwise_count(masks).max(axis=1).astype(np.int64)
    return HandClasses(size, keys[order], _orbits(masks), _cards(masks, size), in_a_suit)


def renamed(cards: Sequence[Card]) -> frozenset[frozenset[Card]]:
    return frozenset(
        frozenset(Card(card - card % _SUITS + suits[card % _SUITS]) for card in cards)
        for suits in permutations(range(_SUITS))
    )


def _shapes(size: int) -> list[tuple[int, ...]]:
    """Return every division of cards among four suits, as numbers, the largest first."""
    return [
        shape
        for shape in combinations_with_replacement(range(min(size, _RANKS), -1, -1), _SUITS)
        if sum(shape) == size
    ]


def _laid_out(shape: tuple[int, ...]) -> Integers:
    found = np.zeros((1, 0), np.int64)
    for count in sorted(set(shape), reverse=True):
        # Suits with equal numbers of cards are interchangeable, so their masks form one group.
        group = np.array(
            list(combinations_with_replacement(_masks(count), shape.count(count))), np.int64
        )
        found = np.hstack([np.repeat(found, len(group), 0), np.tile(group, (len(found), 1))])
    return found


def _masks(count: int) -> list[int]:
    return [sum(1 << rank for rank in ranks) for ranks in combinations(range(_RANKS), count)]


def _orbits(masks: Integers) -> Integers:
    """Return the number of hands in each class: 24, or fewer if some of its masks are equal."""
    run = np.ones(len(masks), np.int64)
    exchanges = np.ones(len(masks), np.int64)
    for suit in range(1, _SUITS):
        run = np.where(masks[:, suit] == masks[:, suit - 1], run + 1, 1)
        exchanges *= run
    return 24 // exchanges


def _cards(masks: Integers, size: int) -> Integers:
    bits = (masks[:, :, np.newaxis] >> np.arange(_RANKS)) & 1
    _, suits, ranks = np.nonzero(bits)
    return (ranks * _SUITS + suits).reshape(len(masks), size)


def _keys(cards: Integers) -> Integers:
    rank, suit = cards >> 2, cards & 3
    held = np.bitwise_or.reduce(1 << (suit * _RANKS + rank), axis=1)
    return _packed([held >> suit * _RANKS & _ONE_SUIT for suit in range(_SUITS)])


def _packed(masks: list[Integers]) -> Integers:
    for high, low in _SORTING:
        masks[high], masks[low] = (
            np.maximum(masks[high], masks[low]),
            np.minimum(masks[high], masks[low]),
        )
    key = masks[0]
    for mask in masks[1:]:
        key = key << _RANKS | mask
    return key


Advance = Callable[[int], None]
"""Function that receives the number of steps done since its last call."""

Judge = Callable[[Sequence[Card]], str]

Counts = dict[str, int]
"""Number of deals of each hand, by its name."""

_BATCH: Final = 1 << 14
_NAMED_SUIT: Final = 5
BY_COLOR: Final = frozenset({"prime", "five_prime"})
"""Rankings that judge colors; ``prime`` also depends on who has which cards."""

_BLACK_AND_RED: Final = tuple(
    tuple(card for card in DECK if suit_of(card) in suits) for suits in ({0, 3}, {1, 2})
)


def count_hands(
    ranking: str, groups: tuple[int, ...], advance: Advance, *, further: str = ""
) -> Counts:
    """Return how many deals result in each hand that occurs.

    ``groups`` is the number of cards from each source, such as three of the player and three of the
    dealer. For a ranking of colors, a deal is a separate set of cards for each source; for any
    other ranking, it is one set of all the cards. If ``further`` is a rank, a deal has one more
    card of this rank. This can be the player's own card or a card for all players: the number of
    deals is the same (679a.11(d)(2)(ii), reading P5).
    """
    if ranking in BY_COLOR:
        return _count_colors(ranking, groups, advance)
    judge = RANKINGS[ranking].of
    wanted = RANKS.find(further) if further else None
    counts: Counter[str] = Counter()
    for one in each_class(hand_classes(sum(groups)), advance):
        left = 1
        if wanted is not None:
            left = len(SUITS) - sum(rank_of(card) == wanted for card in one.cards)
        for hand, number in judged(judge, one):
            counts[hand] += number * left
    return dict(counts)


def steps_of_hands(ranking: str, groups: tuple[int, ...]) -> int:
    size = sum(groups)
    return len(_BLACK_AND_RED) ** size if ranking in BY_COLOR else len(hand_classes(size))


@dataclass(frozen=True, slots=True)
class HandClass:
    """A class of hands, with the cards of one of its hands.

    ``suited`` is true if all cards, or five of them, are in one suit. Then the name of a hand can
    depend on the suit, as for the royal flush of spades.
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
        return [(str(judge(sorted(hand))), 1) for hand in renamed(one.cards)]
    return ((str(judge(one.cards)), one.hands),)


def _count_colors(ranking: str, groups: tuple[int, ...], advance: Advance) -> Counts:
    judge = RANKINGS[ranking].of
    arrangements = prod(map(factorial, groups))
    ordered: Counter[str] = Counter()
    for colors in product(range(len(_BLACK_AND_RED)), repeat=sum(groups)):
        earlier = [colors[:seat].count(color) for seat, color in enumerate(colors)]
        cards = [_BLACK_AND_RED[color][at] for color, at in zip(colors, earlier, strict=True)]
        ordered[str(judge(cards))] += prod(
            perm(len(deck), colors.count(color)) for color, deck in enumerate(_BLACK_AND_RED)
        )
        advance(1)
    return {hand: number // arrangements for hand, number in ordered.items()}


_FIVE: Final = 5
_OTHER_SUITS: Final = len(SUITS) - 1
_WAYS: Final = tuple(
    (suited, others, comb(_OTHER_SUITS, others))
    for suited in (0, 1)
    for others in range(_OTHER_SUITS + 1)
)
"""For a rank: its cards in one suit, its cards in the other suits, and the number of ways."""


class _State(NamedTuple):
    """The ranks so far. Each number stops at the greatest value that matters.

    Attributes:
        fours, threes, pairs: the number of ranks that occur four times, three times and twice.
            ``fours`` stops at one; ``threes`` and ``pairs`` stop at two.
        run: the number of consecutive ranks up to the last rank; it stops at five.
        suited: the number of cards of the suit; it stops at five. ``suited_run`` and
            ``suited_straight`` are ``run`` and ``straight`` of these cards.
    """

    cards: int = 0
    fours: int = 0
    threes: int = 0
    pairs: int = 0
    run: int = 0
    straight: bool = False
    suited: int = 0
    suited_run: int = 0
    suited_straight: bool = False

    def add_rank(self, suited: int, others: int) -> "_State":
        count = suited + others
        run = min(self.run + 1, _FIVE) if count else 0
        suited_run = min(self.suited_run + 1, _FIVE) if suited else 0
        return _State(
            self.cards + count,
            self.fours or int(count == 4),
            min(self.threes + (count == 3), 2),
            min(self.pairs + (count == 2), 2),
            run,
            self.straight or run == _FIVE,
            min(self.suited + suited, _FIVE),
            suited_run,
            self.suited_straight or suited_run == _FIVE,
        )

    def by_ranks(self, *, straight: bool) -> FiveCardHand:
        if self.fours:
            return FiveCardHand.FOUR_OF_A_KIND
        if self.threes == 2 or (self.threes and self.pairs):
            return FiveCardHand.FULL_HOUSE
        if straight:
            return FiveCardHand.STRAIGHT
        if self.threes:
            return FiveCardHand.THREE_OF_A_KIND
        if self.pairs:
            return FiveCardHand.TWO_PAIR if self.pairs == 2 else FiveCardHand.PAIR
        return FiveCardHand.HIGH_CARD


def count_best_five(cards: int, advance: Advance) -> Counts:
    """Return how many deals have each hand of 649a.6(d) as their best five.

    Raises:
        ValueError: there are fewer than five cards, or more than nine.
    """
    if not FIVE_OF_LEAST <= cards <= FIVE_OF_MOST:
        raise ValueError(f"the best five are counted for five to nine cards, not {cards}")
    counts: Counter[FiveCardHand] = Counter()
    # An ace can begin a straight below the 2, or end a straight above the king. So the ace is the
    # first rank, and its cards are remembered for the end.
    for suited_ace, other_aces, ways in _WAYS:
        states: Mapping[_State, int] = {_State().add_rank(suited_ace, other_aces): ways}
        for _ in RANKS[:-1]:
            states = _with_next_rank(states, cards)
        advance(len(RANKS))
        for state, deals in states.items():
            if state.cards == cards:
                ace_high = bool(suited_ace or other_aces) and state.run >= _FIVE - 1
                by_ranks = state.by_ranks(straight=state.straight or ace_high)
                counts[by_ranks] += deals
                if state.suited == _FIVE:
                    royal = bool(suited_ace) and state.suited_run >= _FIVE - 1
                    _count_flush(counts, state, by_ranks, deals, royal=royal)
    return {hand.value: counts[hand] for hand in FiveCardHand if counts[hand]}


def steps_of_best_five() -> int:
    return len(_WAYS) * len(RANKS)


def _with_next_rank(states: Mapping[_State, int], cards: int) -> Mapping[_State, int]:
    found: Counter[_State] = Counter()
    for state, deals in states.items():
        for suited, others, ways in _WAYS:
            if state.cards + suited + others <= cards:
                found[state.add_rank(suited, others)] += deals * ways
    return found


def _count_flush(
    counts: Counter[FiveCardHand], state: _State, by_ranks: FiveCardHand, deals: int, *, royal: bool
) -> None:
    """Count deals with five cards of the suit as their best hand, not as the hand of their ranks.

    The same number of deals has a flush in each of the other suits.
    """
    counts[by_ranks] -= len(SUITS) * deals
    if royal:
        counts[FiveCardHand.ROYAL_FLUSH_SPADES] += deals
        counts[FiveCardHand.ROYAL_FLUSH] += _OTHER_SUITS * deals
    elif state.suited_straight:
        counts[FiveCardHand.STRAIGHT_FLUSH] += len(SUITS) * deals
    elif by_ranks in {FiveCardHand.FOUR_OF_A_KIND, FiveCardHand.FULL_HOUSE}:
        counts[by_ranks] += len(SUITS) * deals
    else:
        counts[FiveCardHand.FLUSH] += len(SUITS) * deals
