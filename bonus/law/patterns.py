"""Patterns: hands that a house describes by their cards, such as a suited ace and king.

A game's file lists the patterns of a ranking, and the first one that the cards fit is their hand.
So a pattern can be a hand that the rankings of the law do not have, and a game can have several
decks: three cards can then be equal.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from bonus.cards import ACE, RANKS, SUITS, Card, rank_of, suit_of
from bonus.hands.rankings import RANKINGS, Ranking
from bonus.law.chapter_file import (
    DECKS_MAX,
    OTHER,
    CardsHave,
    Chapter,
    Pattern,
    WagerTables,
    name_problem,
)
from bonus.law.paytables import ChapterError, placed
from bonus.law.results import RESULTS
from bonus.law.shoe_results import BLACKJACK

PATTERN_CARDS_MAX: Final = 5
"""Largest number of cards that form a pattern: its odds are counted over every set of cards."""
SPLIT_CARDS_MAX: Final = 4
"""The same, if a pattern says which cards are the player's or the dealer's."""

_PATTERNS_MAX: Final = 50
_BLACKJACK_TOTALS: Final = range(2, PATTERN_CARDS_MAX * 10 + 1)
_CARD: Final = re.compile(rf"[{RANKS}]*[{SUITS}]*")
_RED: Final = frozenset({1, 2})
_TENS: Final = 10
_ACE_MORE: Final = 10

_Fits = Callable[[Sequence[Card]], bool]


def pattern_rankings(chapter: Chapter) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pattern.ranking for pattern in chapter.pattern))


def pattern_ranking(chapter: Chapter, name: str) -> Ranking:
    return _ranking(patterns_of(chapter, name), chapter.deal.hand)


def patterns_of(chapter: Chapter, name: str) -> tuple[Pattern, ...]:
    return tuple(pattern for pattern in chapter.pattern if pattern.ranking == name)


def tells_apart(patterns: Sequence[Pattern]) -> bool:
    """Return whether it matters which cards are the player's, and which are the dealer's."""
    return any(pattern.hand or pattern.dealer for pattern in patterns)


@lru_cache(maxsize=256)
def _ranking(patterns: tuple[Pattern, ...], hand: int) -> Ranking:
    fits = [(pattern.name, [*_conditions(pattern, hand)]) for pattern in patterns]

    def judge(cards: Sequence[Card], _counts: int | None = None) -> str:
        return next((name for name, all_of in fits if all(fit(cards) for fit in all_of)), OTHER)

    names = (*(pattern.name for pattern in patterns), OTHER)
    sizes = frozenset(range(1, PATTERN_CARDS_MAX + 1))
    return Ranking(names, frozenset(names), sizes, judge, ordered=False)


def _conditions(pattern: Pattern, hand: int) -> Iterator[_Fits]:
    """Yield what must be true of the cards: the player's cards are the first, `hand` of them."""
    for have, part in (
        (pattern.all, slice(None)),
        (pattern.hand, slice(hand)),
        (pattern.dealer, slice(hand, None)),
    ):
        yield from (_of_part(fits, part) for fits in (_fits(have) if have else ()))


def _of_part(fits: _Fits, part: slice) -> _Fits:
    return lambda cards: fits(cards[part])


def _fits(have: CardsHave) -> Iterator[_Fits]:
    if have.cards:
        yield _holding(have.cards)
    if have.of_a_kind:
        yield lambda cards: _of_a_kind(cards) == have.of_a_kind
    if have.same:
        of = suit_of if have.same == "suit" else _is_red
        yield lambda cards: len({of(card) for card in cards}) == 1
    if have.sequence:
        yield _is_sequence
    if have.blackjack_total:
        yield lambda cards: _blackjack_total(cards) in have.blackjack_total
    if have.baccarat_total:
        yield lambda cards: sum(map(_low_points, cards)) % _TENS in have.baccarat_total


def _holding(described: Sequence[str]) -> _Fits:
    """Return a function that finds a different card for each description."""
    wanted = [frozenset(_described(text)) for text in described]

    def holds(cards: Sequence[Card], at: int = 0) -> bool:
        if at == len(wanted):
            return True
        return any(
            card in wanted[at] and holds([*cards[:place], *cards[place + 1 :]], at + 1)
            for place, card in enumerate(cards)
        )

    return holds


def _described(text: str) -> Iterator[Card]:
    ranks = [RANKS.index(letter) for letter in text if letter in RANKS] or range(len(RANKS))
    suits = [SUITS.index(letter) for letter in text if letter in SUITS] or range(len(SUITS))
    for rank in ranks:
        for suit in suits:
            yield Card(rank * len(SUITS) + suit)


def _of_a_kind(cards: Sequence[Card]) -> tuple[int, ...]:
    numbers = Counter(map(rank_of, cards)).values()
    return tuple(sorted((number for number in numbers if number > 1), reverse=True))


def _is_red(card: Card) -> bool:
    return suit_of(card) in _RED


def _is_sequence(cards: Sequence[Card]) -> bool:
    ranks = sorted(map(rank_of, cards))
    low = sorted(-1 if rank == ACE else rank for rank in ranks)
    return any(all(two - one == 1 for one, two in pairwise(each)) for each in (ranks, low))


def _low_points(card: Card) -> int:
    """Return the points of a card: an ace has 1, and a face card 10."""
    rank = rank_of(card)
    return 1 if rank == ACE else min(rank + 2, _TENS)


def _blackjack_total(cards: Sequence[Card]) -> int:
    total = sum(map(_low_points, cards))
    soft = any(rank_of(card) == ACE for card in cards) and total + _ACE_MORE <= BLACKJACK
    return total + _ACE_MORE if soft else total


def check_patterns(chapter: Chapter) -> None:
    """Check the patterns of a game, and that no poker hand is formed from several decks."""
    _check_decks(chapter)
    if len(chapter.pattern) > _PATTERNS_MAX:
        raise ChapterError(f"a game has at most {_PATTERNS_MAX} patterns", ("pattern",))
    if chapter.pattern and chapter.result:
        raise ChapterError("a game has [[pattern]] or [[result]], not both", ("pattern",))
    for number, pattern in enumerate(chapter.pattern):
        with placed("pattern", number):
            _check_pattern(chapter, pattern, chapter.pattern[:number])
    named = pattern_rankings(chapter)
    for number, tables in enumerate(chapter.wager):
        if tables.names and tables.ranking in named:
            with placed("wager", number):
                _check_wager(chapter, tables)
    bonuses = {bonus.ranking for bonus in chapter.main_bonuses}
    wanted = bonuses | {tables.ranking for tables in chapter.wager}
    for name in named:
        if name not in wanted and wanted <= {*RANKINGS, *named}:
            raise ChapterError(f"no wager has the ranking {name!r} of a pattern", ("pattern",))


def _check_decks(chapter: Chapter) -> None:
    decks = chapter.deal.decks
    if not 1 <= decks <= DECKS_MAX:
        raise ChapterError(f"decks: 1 to {DECKS_MAX} are possible", ("deal", "decks"))
    if decks > 1 and chapter.result:
        raise ChapterError("a game with [[result]] has no decks: leave it out", ("deal", "decks"))
    if decks > 1 and chapter.main:
        raise ChapterError("a game with [main] has one deck: leave out decks", ("deal", "decks"))
    for number, tables in enumerate(chapter.wager):
        if decks > 1 and tables.ranking in RANKINGS:
            reason = (
                f"{', '.join(tables.names)}: {tables.ranking} hands are formed from one deck: with"
                f" {decks} decks, describe the hands under [[pattern]]"
            )
            raise ChapterError(reason, ("wager", number, "ranking"))


def _check_wager(chapter: Chapter, tables: WagerTables) -> None:
    of, patterns = tables.names[0], patterns_of(chapter, tables.ranking)
    for key in ("draws", "mini_royal", "fourth_card", "readings"):
        if getattr(tables, key):
            raise ChapterError(f"{of}: {key} is not for a wager on patterns")
    split = tells_apart(patterns)
    most = SPLIT_CARDS_MAX if split else PATTERN_CARDS_MAX
    for cards in tables.cards:
        if split and cards != "hand_and_dealer":
            raise ChapterError(
                f"{of}: a pattern of {tables.ranking} has `hand` or `dealer`, so write cards ="
                ' ["hand_and_dealer"]'
            )
        number = sum(chapter.deal.judged(cards, tables.community_cards))
        if number > most:
            raise ChapterError(f"{of}: {number} cards, but a pattern has at most {most}")
        for pattern in patterns:
            parts = (("all", number), ("hand", chapter.deal.hand), ("dealer", chapter.deal.dealer))
            for part, size in parts:
                _check_size(pattern.name, part, getattr(pattern, part) or CardsHave(), size)


def _check_size(pattern: str, part: str, have: CardsHave, size: int) -> None:
    for key, described in (("cards", len(have.cards)), ("of_a_kind", sum(have.of_a_kind))):
        if described > size:
            raise ChapterError(
                f"{pattern}: {key} of `{part}` is about {described} cards, but there are {size}"
            )


def _check_pattern(chapter: Chapter, pattern: Pattern, earlier: Sequence[Pattern]) -> None:
    if problem := name_problem(pattern.name):
        raise ChapterError(f"{pattern.name} {problem}: choose another name", ("name",))
    if any((one.name, one.ranking) == (pattern.name, pattern.ranking) for one in earlier):
        raise ChapterError(
            f"{pattern.name} is the name of two patterns of {pattern.ranking}", ("name",)
        )
    if pattern.ranking in RANKINGS or pattern.ranking == RESULTS:
        raise ChapterError(
            f"{pattern.ranking} is a ranking already: choose another name", ("ranking",)
        )
    if not [*_conditions(pattern, chapter.deal.hand)]:
        reason = 'write what its cards have, such as all = { same = "suit" }'
        raise ChapterError(f"{pattern.name}: {reason}")
    for have in (pattern.all, pattern.hand, pattern.dealer):
        _check_have(pattern.name, have or CardsHave())


def _check_have(pattern: str, have: CardsHave) -> None:
    for key, totals, possible in (
        ("blackjack_total", have.blackjack_total, _BLACKJACK_TOTALS),
        ("baccarat_total", have.baccarat_total, range(_TENS)),
    ):
        for total in totals:
            if total not in possible:
                reason = f"{key}: {total} is no total of {possible[0]} to {possible[-1]}"
                raise ChapterError(f"{pattern}: {reason}")
    kinds = [*have.of_a_kind]
    if min(kinds, default=2) < 2 or kinds != sorted(kinds, reverse=True):
        raise ChapterError(f"{pattern}: of_a_kind has numbers above 1, the greatest first")
    for text in have.cards:
        if not text or not _CARD.fullmatch(text) or len(set(text)) < len(text):
            raise ChapterError(
                f"{pattern}: {text!r} describes no card: write ranks of {RANKS}, then suits of"
                f" {SUITS}, each once, such as 'Ah', 'TJQK' or 'h'; two aces are 'A', 'A'",
                text=f'"{text}"',
            )
