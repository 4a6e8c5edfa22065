"""Results that are not cards: their names, their chances, and how they decide wagers.

The chance of a result follows from the dice or the wheel that the game's file describes. A chance
that the file states instead is *declared*: nothing here can verify it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from types import MappingProxyType
from typing import Final

from bonus.cards import CARDS, Card, Deck
from bonus.errors import nearest
from bonus.hands.rankings import RANKINGS, Ranking
from bonus.law.chapter_file import Chances, Chapter, GameResult
from bonus.law.paytables import ChapterError, cell_of, placed
from bonus.wagers import MUST_HIT_BY

RESULTS: Final = "results"
"""The ranking of wagers on results."""
OTHER: Final = "other"
"""The result of everything that no ``[[result]]`` names."""

_RESULTS_MAX: Final = 50
_LENGTH_MAX: Final = 32
"""Longest name of a result, for buttons and slips."""
_DICE_MAX: Final = 5
_FACES: Final = 6
_FRACTION: Final = re.compile(r"([1-9][0-9,]{0,99})/([1-9][0-9,]{0,99})")
_SUM: Final = re.compile(r"sum ([1-9][0-9]?)")
_FACE: Final = re.compile(rf"[1-{_FACES}]")


def deck_of(chapter: Chapter) -> Deck:
    """Return what a game deals: the 52 cards, or its results."""
    return _deck(_names(chapter)) if chapter.result else CARDS


def ranking_of(chapter: Chapter, name: str) -> Ranking:
    """Return a ranking, or the results of the game; an unknown name is a ChapterError."""
    if name == RESULTS and chapter.result:
        return _ranking(_names(chapter))
    if name not in RANKINGS:
        known = [RESULTS] if chapter.result else list(RANKINGS)
        raise ChapterError(f"there is no ranking {name!r}{nearest(name, known)}")
    return RANKINGS[name]


def chances_of(chapter: Chapter) -> Mapping[str, Fraction]:
    """Return the probability of each result, and of ``other``; together they are 1.

    Raises:
        ChapterError: a chance is wrong or 0, or nothing is left for ``other``.
    """
    found: dict[str, Fraction] = {}
    chances = chapter.chances or Chances()
    left = _equally_likely(chances)
    for number, result in enumerate(chapter.result):
        with placed("result", number):
            if chances.source:
                found[result.name] = _declared(result)
                continue
            own = {each for each in left if _names_event(result, each, chances)}
            if not own:
                what = "roll" if chances.dice else "pocket"
                raise ChapterError(
                    f"{result.name}: no {what} is left for this result: earlier results name them"
                )
            found[result.name] = Fraction(sum(left[each] for each in own), _ways(chances))
            left = {each: ways for each, ways in left.items() if each not in own}
    rest = 1 - sum(found.values(), Fraction(0))
    if rest <= 0:
        problem = f"are {1 - rest} together, more than 1"
        if not rest:
            problem = f"leave no chance for {OTHER!r}: leave one of them out"
        raise ChapterError(f"the chances of the results {problem}", ("result",))
    return MappingProxyType({**found, OTHER: rest})


def source_words(chapter: Chapter) -> str:
    """Return a sentence about where the chances of a game's results come from, or an empty text."""
    chances = chapter.chances
    if chances is None:
        return ""
    if chances.source:
        return f"The chances are declared by the house, and not calculated: {chances.source}."
    if chances.dice:
        return f"The chances are calculated from {chances.dice} dice with {_FACES} sides."
    return (
        f"The chances are calculated from a wheel of {len(chances.pockets)} pockets, all equally"
        " likely."
    )


def check_results(chapter: Chapter) -> None:
    """Check the results of a game, and that the game has nothing that only cards can decide."""
    if not chapter.result:
        if chapter.chances:
            raise ChapterError("chances without a [[result]]", ("chances",))
        return
    deal = chapter.deal
    if (deal.hand, deal.dealer, deal.community) not in {(1, 0, 0), (0, 1, 0)}:
        raise ChapterError(
            "a game of results has hand = 1 and dealer = 0 if each position has its own result, or"
            " hand = 0 and dealer = 1 if the table has one result, and no community cards",
            ("deal",),
        )
    if chapter.main or chapter.irregular.settled:
        raise ChapterError("a game of results has no [main], and `settled` is empty")
    for number, tables in enumerate(chapter.wager):
        if tables.ranking != RESULTS:
            reason = f"{tables.names[0]}: in a game with results, ranking is {RESULTS!r}"
            raise ChapterError(reason, ("wager", number, "ranking"))
        for key in ("draws", "mini_royal", "fourth_card", "readings"):
            if getattr(tables, key):
                reason = f"{tables.names[0]}: {key} needs cards, but the game has results"
                raise ChapterError(reason, ("wager", number))
    _check_names(chapter)
    _check_chances(chapter.chances or Chances(), chapter.result)
    chances_of(chapter)


def _check_names(chapter: Chapter) -> None:
    names = [result.name for result in chapter.result]
    if len(names) > _RESULTS_MAX:
        raise ChapterError(f"{len(names)} results: at most {_RESULTS_MAX} are possible")
    for number, name in enumerate(names):
        if len(name) > _LENGTH_MAX:
            reason = f"{name}: the name of a result has at most {_LENGTH_MAX} characters"
            raise ChapterError(reason, ("result", number, "name"))
        if name in {OTHER, MUST_HIT_BY} or name.endswith("_or_lower") or name in names[:number]:
            reason = "is the name of two results" if name in names[:number] else "has a meaning"
            raise ChapterError(f"{name} {reason}: choose another name", ("result", number, "name"))


def _check_chances(chances: Chances, results: Sequence[GameResult]) -> None:
    """Check that the game says in exactly one way how its results come about."""
    of = [bool(chances.source), bool(chances.dice), bool(chances.pockets)]
    if sum(of) != 1:
        raise ChapterError(
            "write [chances] with exactly one of source, dice and pockets", ("chances",)
        )
    if not 0 <= chances.dice <= _DICE_MAX:
        raise ChapterError(f"dice: 1 to {_DICE_MAX} are possible", ("chances", "dice"))
    if len(set(chances.pockets)) < len(chances.pockets):
        raise ChapterError("a pocket has two entries", ("chances", "pockets"))
    key = ("chance", "rolls", "pockets")[of.index(True)]
    for number, result in enumerate(results):
        given = [each for each in ("chance", "rolls", "pockets") if getattr(result, each)]
        if given != [key]:
            reason = f"{result.name}: write `{key}`, as [chances] says, and nothing else"
            raise ChapterError(reason, ("result", number))
        with placed("result", number):
            for pocket in result.pockets:
                if pocket not in chances.pockets:
                    raise ChapterError(f"{result.name}: there is no pocket {pocket!r}")
            for roll in result.rolls:
                _check_roll(result.name, roll, chances.dice)


def _check_roll(name: str, roll: str, dice: int) -> None:
    if match := _SUM.fullmatch(roll):
        if dice <= int(match[1]) <= dice * _FACES:
            return
    elif len(faces := roll.split("-")) == dice and all(map(_FACE.fullmatch, faces)):
        return
    example = "-".join(["4"] * dice)
    raise ChapterError(
        f"{name}: {roll!r} is not a roll of {dice} dice: write {example!r} or 'sum {4 * dice}'",
        text=f'"{roll}"',
    )


def _declared(result: GameResult) -> Fraction:
    match = _FRACTION.fullmatch(result.chance)
    if match:
        chance = Fraction(*(int(part.replace(",", "")) for part in match.groups()))
        if chance <= 1:
            return chance
    with cell_of(result.name, result.chance):
        raise ChapterError(f"{result.chance!r} is not a chance: write a fraction such as '1/38'")


def _equally_likely(chances: Chances) -> dict[str, int]:
    """Return the rolls, with the faces in order, or the pockets, each with its number of ways."""
    if chances.pockets:
        return dict.fromkeys(chances.pockets, 1)
    found: dict[str, int] = {}
    for roll in product(range(1, _FACES + 1), repeat=chances.dice) if chances.dice else ():
        name = _roll_name(roll)
        found[name] = found.get(name, 0) + 1
    return found


def _ways(chances: Chances) -> int:
    return len(chances.pockets) or _FACES**chances.dice


def _names_event(result: GameResult, event: str, chances: Chances) -> bool:
    if chances.pockets:
        return event in result.pockets
    total = sum(map(int, event.split("-")))
    return any(roll in {event, f"sum {total}"} for roll in _written_in_order(result.rolls))


def _written_in_order(rolls: Sequence[str]) -> Iterator[str]:
    for roll in rolls:
        yield roll if _SUM.fullmatch(roll) else _roll_name(map(int, roll.split("-")))


def _roll_name(faces: Iterable[int]) -> str:
    return "-".join(map(str, sorted(faces)))


def _names(chapter: Chapter) -> tuple[str, ...]:
    return (*(result.name for result in chapter.result), OTHER)


@lru_cache(maxsize=256)
def _deck(names: tuple[str, ...]) -> Deck:
    kind = f"a result of this game: write {', '.join(names[:-1])} or {names[-1]}"
    numbers = {name: Card(number) for number, name in enumerate(names)}
    return Deck(MappingProxyType(numbers), kind, once=False)


@lru_cache(maxsize=256)
def _ranking(names: tuple[str, ...]) -> Ranking:
    def result(cards: Sequence[Card], _counts: int | None = None) -> str:
        return names[cards[0]]

    return Ranking(names, frozenset(names), frozenset({1}), result, ordered=False)
