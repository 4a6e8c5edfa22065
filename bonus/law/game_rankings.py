"""What a game deals, and the rankings of its hands: those of the law, its patterns, or results."""

from functools import cache

from bonus.cards import CARDS, WITH_JOKER, Deck
from bonus.errors import nearest
from bonus.hands.rankings import RANKINGS, Ranking
from bonus.law.chapter_file import Chapter
from bonus.law.patterns import pattern_ranking, pattern_rankings
from bonus.law.paytables import ChapterError
from bonus.law.results import RESULTS, results_deck, results_ranking


def deck_of(chapter: Chapter) -> Deck:
    """Return what a game deals: its decks of 52 cards, a deck with a joker, or its results."""
    if chapter.result:
        return results_deck(chapter)
    return WITH_JOKER if chapter.deal.jokers else _decks(chapter.deal.decks)


def ranking_of(chapter: Chapter, name: str) -> Ranking:
    """Return a ranking of the game; an unknown name is a ChapterError."""
    if name == RESULTS and chapter.result:
        return results_ranking(chapter)
    own = pattern_rankings(chapter)
    if name in own:
        return pattern_ranking(chapter, name)
    if name not in RANKINGS:
        known = [RESULTS] if chapter.result else [*own, *RANKINGS]
        raise ChapterError(f"there is no ranking {name!r}{nearest(name, known)}")
    return RANKINGS[name]


@cache
def _decks(number: int) -> Deck:
    return Deck(CARDS.numbers, CARDS.kind, number)
