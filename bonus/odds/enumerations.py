"""The enumerations of deals that the odds need. Each has a name, and is computed once.

A count depends only on the cards and the ranking, so it can be cached for all paytables.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Generic, Protocol, TypeVar

import msgspec

from bonus.hands.rankings import COMPARES, PAI_GOW, RANKINGS
from bonus.law.chapter_file import Chapter, WagerTables
from bonus.law.game_rankings import ranking_of
from bonus.law.patterns import patterns_of, tells_apart
from bonus.law.results import chances_of
from bonus.odds.bad_beat_odds import BeatenPairs, count_beaten, steps_of_beaten
from bonus.odds.dealer_duels import Duel, count_duel, steps_of_duel, unseen
from bonus.odds.exchange_counts import STEPS as EXCHANGE_STEPS
from bonus.odds.exchange_counts import count_exchanged
from bonus.odds.hand_counts import (
    BY_COLOR,
    Advance,
    Counts,
    count_best_five,
    count_hands,
    each_class,
    hand_classes,
    judged,
    steps_of_best_five,
    steps_of_hands,
)
from bonus.odds.joker_counts import STEPS as JOKER_STEPS
from bonus.odds.joker_counts import count_pai_gow
from bonus.odds.offers import Offer
from bonus.odds.pattern_counts import STEPS, count_patterns

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Enumeration(Generic[T]):
    """An enumeration of deals, with a unique name.

    ``count`` computes the result, and reports each step to the given function. ``steps`` returns
    the number of all steps.
    """

    name: str
    result: type[T]
    count: Callable[[Advance], T]
    steps: Callable[[], int]


class CountStore(Protocol):
    def get(self, name: str) -> bytes | None: ...

    def put(self, name: str, data: bytes) -> None:
        """Store data under a name if possible; a failure is not an error."""


Begin = Callable[[str, int], Advance]
"""Function that is called before a count, with the enumeration's name and number of steps.

The function returns another function, which receives the progress.
"""


class Enumerator:
    def __init__(self, shelf: CountStore | None = None, begin: Begin | None = None) -> None:
        self._shelf = shelf
        self._begin = begin
        self._known: dict[str, object] = {}

    def get(self, wanted: Enumeration[T]) -> T:
        """Return the result of an enumeration: from memory, from the store, or computed now."""
        known = self._known.get(wanted.name)
        if isinstance(known, wanted.result):
            return known
        found = self._take(wanted)
        if found is None:
            advance = self._begin(wanted.name, wanted.steps()) if self._begin else unseen
            found = wanted.count(advance)
            if self._shelf:
                self._shelf.put(wanted.name, msgspec.msgpack.encode(found))
        self._known[wanted.name] = found
        return found

    def _take(self, wanted: Enumeration[T]) -> T | None:
        data = self._shelf.get(wanted.name) if self._shelf else None
        try:
            return None if data is None else msgspec.msgpack.decode(data, type=wanted.result)
        except msgspec.MsgspecError:
            return None


class HandDeals(msgspec.Struct, frozen=True):
    deals: Counts


class Fives(msgspec.Struct, frozen=True):
    """Number of deals of each five-card hand, by the strength of the player's three cards.

    A deal is these three cards and two community cards.
    """

    deals: dict[int, Counts]


def all_hands(ranking: str, groups: tuple[int, ...]) -> Enumeration[HandDeals]:
    """Return the enumeration of all hands of a ranking.

    ``groups`` has the number of cards from each source. Except for rankings of colors, only the sum
    of these numbers matters.
    """
    if ranking not in BY_COLOR:
        groups = (sum(groups),)
    name = f"{ranking} of {' and '.join(map(str, groups))} cards"
    if ranking == "five_card":
        return Enumeration(
            name,
            HandDeals,
            lambda advance: HandDeals(count_best_five(sum(groups), advance)),
            steps_of_best_five,
        )
    if ranking == PAI_GOW:
        return Enumeration(
            name, HandDeals, lambda advance: HandDeals(count_pai_gow(advance)), lambda: JOKER_STEPS
        )
    return Enumeration(
        name,
        HandDeals,
        lambda advance: HandDeals(count_hands(ranking, groups, advance)),
        lambda: steps_of_hands(ranking, groups),
    )


def deals_of(offer: Offer, counted: Enumerator, worth: Mapping[str, Fraction]) -> Counts:
    """Return the number of deals of each hand that decides a wager, or of ways to each result.

    If players exchange cards, it is the number of deals and draws under the best exchange for hands
    of this ``worth``; hands that are not in it are worth nothing.
    """
    chapter, ranking, groups = offer.chapter, offer.ranking, offer.groups
    if chapter.deal.exchange:
        return counted.get(_exchanged(ranking, sum(groups), chapter.deal.exchange, worth)).deals
    if not chapter.result:
        patterns = patterns_of(chapter, ranking)
        every = _all_patterns(chapter, ranking, groups) if patterns else all_hands(ranking, groups)
        return counted.get(every).deals
    chances = chances_of(chapter)
    ways = lcm(*(chance.denominator for chance in chances.values()))
    return {name: int(chance * ways) for name, chance in chances.items()}


def _exchanged(
    ranking: str, size: int, exchange: int, worth: Mapping[str, Fraction]
) -> Enumeration[HandDeals]:
    written = ",".join(f"{hand}={value}" for hand, value in sorted(worth.items()) if value)
    described = hashlib.sha256(written.encode()).hexdigest()
    return Enumeration(
        f"{ranking} of {size} cards, best exchange of {exchange} for {described}",
        HandDeals,
        lambda advance: HandDeals(
            count_exchanged(RANKINGS[ranking].of, size, exchange, worth, advance)
        ),
        lambda: EXCHANGE_STEPS,
    )


def _all_patterns(
    chapter: Chapter, ranking: str, groups: tuple[int, ...]
) -> Enumeration[HandDeals]:
    patterns, decks = patterns_of(chapter, ranking), chapter.deal.decks
    sizes = groups if tells_apart(patterns) else (sum(groups),)
    described = hashlib.sha256(msgspec.msgpack.encode(patterns)).hexdigest()
    return Enumeration(
        f"patterns {described} of {' and '.join(map(str, sizes))} cards from {decks} decks",
        HandDeals,
        lambda advance: HandDeals(
            count_patterns(ranking_of(chapter, ranking).of, sizes, decks, advance)
        ),
        lambda: STEPS,
    )


def with_further_card(wager: WagerTables, size: int, rank: str) -> Enumeration[HandDeals]:
    """Return the enumeration of hands with one additional card of a rank (679a.12(f))."""
    return Enumeration(
        f"{wager.ranking} of {size} cards and a {rank}",
        HandDeals,
        lambda advance: HandDeals(count_hands(wager.ranking, (size,), advance, further=rank)),
        lambda: len(hand_classes(size)),
    )


def beaten_pairs(ranking: str, size: int, lowest: str) -> Enumeration[BeatenPairs]:
    return Enumeration(
        f"{ranking} of {size} cards, {lowest} or higher beaten by another hand",
        BeatenPairs,
        lambda advance: count_beaten(ranking, size, lowest, advance),
        lambda: steps_of_beaten(size),
    )


def duel(chapter: Chapter) -> Enumeration[Duel]:
    main, hand, dealer = chapter.main_game, chapter.deal.hand, chapter.deal.dealer
    queen = main.not_qualified is not None
    return Enumeration(
        f"{main.ranking} {hand} against {dealer} cards{', queen qualifies' if queen else ''}",
        Duel,
        lambda advance: count_duel(main.ranking, hand, dealer, advance, queen_qualifies=queen),
        lambda: steps_of_duel(hand, dealer),
    )


def fives(ranking: str) -> Enumeration[Fives]:
    return Enumeration(
        f"five cards by the {ranking} hand of the player",
        Fives,
        lambda advance: _count_fives(ranking, advance),
        lambda: len(hand_classes(5)),
    )


def _count_fives(ranking: str, advance: Advance) -> Fives:
    judge, compare = RANKINGS["five_card"].of, COMPARES[ranking]
    strengths = [compare(one.cards)[1] for one in each_class(hand_classes(3), unseen)]
    own = [hand_classes(3).find(cards).tolist() for cards in hand_classes(5).subsets(3)]
    deals: dict[int, Counts] = {}
    for at, one in enumerate(each_class(hand_classes(5), advance)):
        for hand, number in judged(judge, one):
            for three in own:
                counts = deals.setdefault(strengths[three[at]], {})
                counts[hand] = counts.get(hand, 0) + number
    return Fives(deals)
