"""Results that are not cards: their names, their chances, and how they decide wagers.

The chance of a result follows from the dice, the wheel or the decks that the game's file describes.
A chance that the file states instead is *declared*: nothing here can verify it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from types import MappingProxyType
from typing import Final

from bonus.cards import Card, Deck
from bonus.hands.rankings import Ranking
from bonus.law.chapter_file import (
    DECKS_MAX,
    OTHER,
    BaccaratResult,
    BlackjackResult,
    Chances,
    Chapter,
    GameResult,
    name_problem,
)
from bonus.law.paytables import ChapterError, cell_of, placed
from bonus.law.shoe_results import (
    BLACKJACK,
    BaccaratOutcome,
    DealerOutcome,
    baccarat_outcomes,
    dealer_outcomes,
)

RESULTS: Final = "results"
"""The ranking of wagers on results."""

_RESULT_KEY: Final = {
    "source": "chance", "dice": "rolls", "pockets": "pockets", "baccarat_decks": "baccarat",
    "blackjack_decks": "blackjack",
}  # fmt: skip
"""What each result says, by what ``[chances]`` says."""
_WORD_OF: Final = {
    "dice": "roll", "pockets": "pocket", "baccarat_decks": "outcome", "blackjack_decks": "hand",
}  # fmt: skip
_RESULTS_MAX: Final = 50
_MOST: Final = {"dice": 5, "baccarat_decks": DECKS_MAX, "blackjack_decks": DECKS_MAX}
_FACES: Final = 6
_FRACTION: Final = re.compile(r"([1-9][0-9,]{0,99})/([1-9][0-9,]{0,99})")
_SUM: Final = re.compile(r"sum ([1-9][0-9]?)")
_Event = str | BaccaratOutcome | DealerOutcome
_FACE: Final = re.compile(rf"[1-{_FACES}]")


def chances_of(chapter: Chapter) -> Mapping[str, Fraction]:
    """Return the probability of each result, and of ``other``; together they are 1.

    Raises:
        ChapterError: a chance is wrong or 0, or nothing is left for ``other``.
    """
    found: dict[str, Fraction] = {}
    chances = chapter.chances or Chances()
    left = _ways(chances)
    all_ways = sum(left.values())
    for number, result in enumerate(chapter.result):
        with placed("result", number):
            if chances.source:
                found[result.name] = _declared(result)
                continue
            own = {each for each in left if _names_event(result, each)}
            if not own:
                what = _WORD_OF[_key(chances)]
                raise ChapterError(
                    f"{result.name}: no {what} is left for this result: there is none, or earlier"
                    " results name them"
                )
            found[result.name] = Fraction(sum(left[each] for each in own), all_ways)
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
        of = f"{chances.dice} dice with {_FACES} sides"
    elif chances.pockets:
        of = f"a wheel of {len(chances.pockets)} pockets, all equally likely"
    elif chances.baccarat_decks:
        of = f"every deal of baccarat from {chances.baccarat_decks} full decks"
    else:
        rule = "draws to" if chances.hits_soft_17 else "stands on"
        of = (
            f"every hand of a dealer with {chances.blackjack_decks} full decks who {rule} a 17 with"
            " an ace that counts 11"
        )
    return f"The chances are calculated from {of}."


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
        twice = "is the name of two results" if name in names[:number] else ""
        if problem := name_problem(name) or twice:
            raise ChapterError(f"{name} {problem}: choose another name", ("result", number, "name"))


def _check_chances(chances: Chances, results: Sequence[GameResult]) -> None:
    """Check that the game says in exactly one way how its results come about."""
    if sum(bool(getattr(chances, way)) for way in _RESULT_KEY) != 1:
        *ways, last = _RESULT_KEY
        raise ChapterError(
            f"write [chances] with exactly one of {', '.join(ways)} and {last}", ("chances",)
        )
    for way, most in _MOST.items():
        if not 0 <= getattr(chances, way) <= most:
            raise ChapterError(f"{way}: 1 to {most} are possible", ("chances", way))
    if chances.hits_soft_17 and not chances.blackjack_decks:
        raise ChapterError("hits_soft_17 needs blackjack_decks", ("chances", "hits_soft_17"))
    if len(set(chances.pockets)) < len(chances.pockets):
        raise ChapterError("a pocket has two entries", ("chances", "pockets"))
    key = _RESULT_KEY[_key(chances)]
    for number, result in enumerate(results):
        given = [each for each in _RESULT_KEY.values() if getattr(result, each)]
        if given != [key]:
            reason = f"{result.name}: write `{key}`, as [chances] says, and nothing else"
            raise ChapterError(reason, ("result", number))
        with placed("result", number):
            _check_result(result, chances)


def _check_result(result: GameResult, chances: Chances) -> None:
    for pocket in result.pockets:
        if pocket not in chances.pockets:
            raise ChapterError(f"{result.name}: there is no pocket {pocket!r}")
    for roll in result.rolls:
        _check_roll(result.name, roll, chances.dice)


def _key(chances: Chances) -> str:
    return next(way for way in _RESULT_KEY if getattr(chances, way))


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


def _ways(chances: Chances) -> Mapping[_Event, int]:
    """Return everything that can happen, each with its number of ways; a roll has its faces sorted.

    If the chances are declared, nothing is known.
    """
    if chances.baccarat_decks:
        return dict(baccarat_outcomes(chances.baccarat_decks).items())
    if chances.blackjack_decks:
        hits = chances.hits_soft_17
        return dict(dealer_outcomes(chances.blackjack_decks, hits_soft_17=hits).items())
    if chances.pockets:
        return dict.fromkeys(chances.pockets, 1)
    found = Counter[_Event]()
    for roll in product(range(1, _FACES + 1), repeat=chances.dice) if chances.dice else ():
        found[_roll_name(roll)] += 1
    return found


def _names_event(result: GameResult, event: _Event) -> bool:
    if isinstance(event, BaccaratOutcome):
        told = result.baccarat or BaccaratResult()
        return told.winner in {"", event.winner} and _fits(
            (told.cards, event.cards), (told.total, event.total), (told.margin, event.margin)
        )
    if isinstance(event, DealerOutcome):
        hand = result.blackjack or BlackjackResult()
        bust = event.total > BLACKJACK or not hand.bust
        return bust and _fits((hand.cards, event.cards), (hand.total, event.total))
    if result.pockets:
        return event in result.pockets
    total = sum(map(int, event.split("-")))
    return any(roll in {event, f"sum {total}"} for roll in _written_in_order(result.rolls))


def _fits(*told: tuple[Sequence[int], int]) -> bool:
    return all(number in numbers or not numbers for numbers, number in told)


def _written_in_order(rolls: Sequence[str]) -> Iterator[str]:
    for roll in rolls:
        yield roll if _SUM.fullmatch(roll) else _roll_name(map(int, roll.split("-")))


def _roll_name(faces: Iterable[int]) -> str:
    return "-".join(map(str, sorted(faces)))


def results_deck(chapter: Chapter) -> Deck:
    """Return the results of a game in place of its cards."""
    return _deck(_names(chapter))


def results_ranking(chapter: Chapter) -> Ranking:
    return _ranking(_names(chapter))


def _names(chapter: Chapter) -> tuple[str, ...]:
    return (*(result.name for result in chapter.result), OTHER)


@lru_cache(maxsize=256)
def _deck(names: tuple[str, ...]) -> Deck:
    kind = f"a result of this game: write {', '.join(names[:-1])} or {names[-1]}"
    numbers = {name: Card(number) for number, name in enumerate(names)}
    return Deck(MappingProxyType(numbers), kind, copies=0)


@lru_cache(maxsize=256)
def _ranking(names: tuple[str, ...]) -> Ranking:
    def result(cards: Sequence[Card], _counts: int | None = None) -> str:
        return names[cards[0]]

    return Ranking(names, frozenset(names), frozenset({1}), result, ordered=False)
