"""What has to be counted for the odds, each under a name, and counted once.

A count depends on the cards and on how hands are ranked, and on no paytable; so it can be kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import msgspec

from bonus.hands.rankings import COMPARES, RANKINGS
from bonus.law.chapter_file import Chapter, WagerTables
from bonus.odds.dealer_duels import Duel, count_duel, steps_of_duel
from bonus.odds.hand_counts import (
    BY_COLOR,
    Advance,
    Counts,
    count_hands,
    count_with_further_card,
    each_class,
    judged,
    steps_of_hands,
)
from bonus.odds.suit_classes import hand_classes

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Enumeration(Generic[T]):
    """Something to be counted.

    Attributes:
        name: tells it from every other.
        result: the type of what comes of it.
        count: counts it, telling of each step done.
        steps: how many steps it tells of.
    """

    name: str
    result: type[T]
    count: Callable[[Advance], T]
    steps: Callable[[], int]


class CountStore(Protocol):
    """Where what has been counted is kept."""

    def get(self, name: str) -> bytes | None:
        """What was put under a name, or None."""

    def put(self, name: str, data: bytes) -> None:
        """Keep something under a name, as far as that is possible."""


Begin = Callable[[str, int], Advance]
"""Told the name of a count that begins and its number of steps; gives what to tell of them."""


class Enumerator:
    """Counts what is asked for, unless it has been counted before."""

    def __init__(self, shelf: CountStore | None = None, begin: Begin | None = None) -> None:
        """Keep what is counted on a shelf, where there is one, and tell of what is begun."""
        self._shelf = shelf
        self._begin = begin
        self._known: dict[str, object] = {}

    def get(self, wanted: Enumeration[T]) -> T:
        """The result of an enumeration."""
        known = self._known.get(wanted.name)
        if isinstance(known, wanted.result):
            return known
        stored = self._take(wanted)
        found = self._count(wanted) if stored is None else stored
        self._known[wanted.name] = found
        return found

    def _take(self, wanted: Enumeration[T]) -> T | None:
        data = self._shelf.get(wanted.name) if self._shelf else None
        if data is None:
            return None
        try:
            return msgspec.msgpack.decode(data, type=wanted.result)
        except msgspec.MsgspecError:
            return None

    def _count(self, wanted: Enumeration[T]) -> T:
        advance = self._begin(wanted.name, wanted.steps()) if self._begin else _unseen
        found = wanted.count(advance)
        if self._shelf:
            self._shelf.put(wanted.name, msgspec.msgpack.encode(found))
        return found


class HandDeals(msgspec.Struct, frozen=True):
    """How many deals there are of each hand."""

    deals: Counts


class Fives(msgspec.Struct, frozen=True):
    """Five-card hands by the strength of the three cards in them that are the player's own.

    Attributes:
        deals: how many deals of three cards and two, by the strength of the three, then by hand.
    """

    deals: dict[int, Counts]


def all_hands(ranking: str, groups: tuple[int, ...]) -> Enumeration[HandDeals]:
    """How many hands there are of each kind; only colors ask which cards are whose."""
    if ranking not in BY_COLOR:
        groups = (sum(groups),)
    return Enumeration(
        f"{ranking} of {' and '.join(map(str, groups))} cards",
        HandDeals,
        lambda advance: HandDeals(count_hands(ranking, groups, advance)),
        lambda: steps_of_hands(ranking, groups),
    )


def with_further_card(wager: WagerTables, size: int, rank: str) -> Enumeration[HandDeals]:
    """How many hands there are of each kind with a further card of a rank (679a.12(f))."""
    return Enumeration(
        f"{wager.ranking} of {size} cards and a {rank}",
        HandDeals,
        lambda advance: HandDeals(count_with_further_card(wager.ranking, size, rank, advance)),
        lambda: len(hand_classes(size)),
    )


def duel(chapter: Chapter) -> Enumeration[Duel]:
    """Every hand of the player against every hand of the dealer."""
    main, hand, dealer = chapter.main, chapter.deal.hand, chapter.deal.dealer
    queen = main.not_qualified is not None
    return Enumeration(
        f"{main.ranking} {hand} against {dealer} cards{', queen qualifies' if queen else ''}",
        Duel,
        lambda advance: count_duel(main.ranking, hand, dealer, advance, queen_qualifies=queen),
        lambda: steps_of_duel(hand, dealer),
    )


def fives(ranking: str) -> Enumeration[Fives]:
    """The five-card hands that each strength of the player's own three cards may become."""
    return Enumeration(
        f"five_card of {ranking} and 2 cards",
        Fives,
        lambda advance: _count_fives(ranking, advance),
        lambda: len(hand_classes(5)),
    )


def _count_fives(ranking: str, advance: Advance) -> Fives:
    judge, compare = RANKINGS["five_card"].of, COMPARES[ranking]
    strengths = [compare(one.cards)[1] for one in each_class(hand_classes(3), _unseen)]
    own = [hand_classes(3).find(cards).tolist() for cards in hand_classes(5).subsets(3)]
    deals: dict[int, Counts] = {}
    for at, one in enumerate(each_class(hand_classes(5), advance)):
        for hand, number in judged(judge, one):
            for three in own:
                counts = deals.setdefault(strengths[three[at]], {})
                counts[hand] = counts.get(hand, 0) + number
    return Fives(deals)


def _unseen(_steps: int) -> None:
    """Tell nobody of the steps done."""
