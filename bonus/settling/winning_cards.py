"""The cards that decide a win, and the cards among them that form its hand, as evidence."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple

from bonus.cards import DECK, JOKER, WITH_JOKER, Card, are_cards
from bonus.hands.counts import counts_of, ranks_mask, ranks_most_first, straight_top
from bonus.hands.five import best_five
from bonus.hands.four import best_four
from bonus.hands.pai_gow import OF_SEVEN, best_with_joker
from bonus.hands.rankings import PAI_GOW, SixCardHand, six_card_hand
from bonus.law.chapter_file import CardsOf, Chapter
from bonus.wagers import (
    BAD_BEAT_PARTS,
    bad_beat_item,
    community_item,
    envy_item,
    envy_share_item,
    jackpot_item,
)

_OF_SIX: Final = frozenset({SixCardHand.SIX_CARD_ROYAL_DIAMONDS, SixCardHand.SIX_CARD_ROYAL})


class WinningCards(NamedTuple):
    """`counted` are the cards that decide a win; `winning` are those that form its hand."""

    counted: tuple[str, ...] = ()
    winning: tuple[str, ...] = ()


def winning_cards(
    games: Iterable[Chapter],
    item: str,
    *,
    hand: Sequence[str],
    dealer: Sequence[str],
    community: Sequence[str],
) -> WinningCards:
    """Return the cards that decide a settlement line, from the names of all cards of the round.

    The result is empty if the games have no such item, if the item is drawn by chance, or if the
    games do not agree on the cards. For an Envy Bonus, a share of a meter, and an item of
    ``jackpot_item``, these are the cards that decide the wager on the player's hand.
    """
    judged = set(_judged(games, item))
    if len(judged) != 1:
        return WinningCards()
    ((ranking, of, first),) = judged
    parts = {"hand": hand, "dealer": dealer, "community": community[: first or None]}
    counted = tuple(name for part in of.split("_and_") for name in parts.get(part, ()))
    return WinningCards(counted, _formed(ranking, counted))


def _judged(games: Iterable[Chapter], item: str) -> Iterable[tuple[str, CardsOf, int]]:
    for game in games:
        for wager in game.wager:
            at = wager.names.index(item) if item in wager.names else None
            if item == envy_item(wager.names[0]) or item in _of_meters(wager.fed):
                at = 0
            if at is not None:
                yield wager.ranking, wager.cards[at], wager.community_cards


def _of_meters(fed: Iterable[str]) -> Iterator[str]:
    for meter in fed:
        yield from (jackpot_item(meter), community_item(meter), envy_share_item(meter))
        yield from (bad_beat_item(meter, part) for part in BAD_BEAT_PARTS)


@lru_cache(maxsize=1_024)
def _formed(ranking: str, names: tuple[str, ...]) -> tuple[str, ...]:
    if not are_cards(names):
        return names  # a result that the dealer entered
    cards = WITH_JOKER.parse(names)
    size = _size(ranking, cards)
    if len(cards) <= size:
        return names
    choices = combinations(cards, size)
    if size == 4:
        best = max(choices, key=lambda four: best_four(four)[1])
    elif ranking == PAI_GOW:
        formed = best_with_joker(cards)
        best = max((five for five in choices if best_with_joker(five) is formed), key=_with_joker)
    else:
        highest = best_five(cards)
        best = max((five for five in choices if best_five(five) is highest), key=_ranks)
    return tuple(name for card, name in zip(cards, names, strict=True) if card in best)


def _size(ranking: str, cards: Sequence[Card]) -> int:
    """Return how many cards form a hand; most rankings judge every card."""
    match ranking:
        case "four_card":
            return 4
        case "five_card":
            return 5
        case "pai_gow":
            return 7 if best_with_joker(cards) in OF_SEVEN else 5
        case "six_card" | "super_royal":
            return 6 if six_card_hand(cards) in _OF_SIX else 5
        case _:
            return len(cards)


def _ranks(five: Sequence[Card]) -> tuple[int, list[int]]:
    """Return a sort key for hands with one name.

    The key is the top of a straight, then the ranks, the most frequent first.
    """
    counts = counts_of(five)
    top = straight_top(ranks_mask(counts), 5)
    return -1 if top is None else top, ranks_most_first(counts)


def _with_joker(five: Sequence[Card]) -> tuple[int, list[int]]:
    """Return `_ranks` with the best card that the joker can be in the hand of the five cards."""
    if JOKER not in five:
        return _ranks(five)
    hand, others = best_with_joker(five), [card for card in five if card != JOKER]
    possible = ([*others, card] for card in DECK if card not in others)
    return max(
        (_ranks(cards) for cards in possible if best_with_joker(cards) is hand), default=(-1, [])
    )
