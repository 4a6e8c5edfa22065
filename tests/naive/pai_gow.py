"""The hands of Pai Gow side bets, found by letting the joker be every card.

The order is that of the bets, which pay more for three of a kind than for a straight.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import Final

from tests.naive.ranking import ACE, RANKS, of_five, one_suit, top_of_run, value

JOKER: Final = "Jk"
DECK: Final = tuple(rank + suit for rank in RANKS for suit in "cdhs")
PAI_GOW: Final = (
    "other", "straight", "three_of_a_kind", "flush", "full_house", "four_of_a_kind",
    "straight_flush", "royal_flush", "five_aces", "seven_card_straight_flush_with_joker",
    "seven_card_straight_flush",
)  # fmt: skip
"""From the lowest up."""
_COMPLETED: Final = {"straight", "flush", "straight_flush", "royal_flush"}


def pai_gow_named(cards: Sequence[str]) -> str:
    """Return the highest hand among all seven cards, and any five of them."""
    found = [_of_five_with_joker(five) for five in combinations(sorted(cards), 5)]
    joker = JOKER in cards
    if any(map(_is_run_of_seven, _instead(cards) if joker else [cards])):
        found.append(f"seven_card_straight_flush{'_with_joker' * joker}")
    return max(found, key=PAI_GOW.index)


def _instead(cards: Sequence[str]) -> Iterator[list[str]]:
    others = [card for card in cards if card != JOKER]
    yield from ([*others, card] for card in DECK if card not in others)


def _is_run_of_seven(cards: Sequence[str]) -> bool:
    return one_suit(tuple(cards)) and top_of_run(tuple(cards)) != 0


@cache
def _of_five_with_joker(cards: tuple[str, ...]) -> str:
    """Return the hand of exactly five cards; a joker is an ace, or completes certain hands."""
    if JOKER not in cards:
        return _known(of_five(cards))
    others = [card for card in cards if card != JOKER]
    if all(value(card) == ACE for card in others):
        return "five_aces"
    aces = [f"A{suit}" for suit in "cdhs" if f"A{suit}" not in others]
    hands = [_known(of_five((*others, ace))) for ace in aces]
    if len({card[0] for card in others}) == len(others):  # a pair is in no straight and no flush
        completed = (of_five((*others, card)) for card in DECK if card not in others)
        hands += [hand for hand in completed if hand in _COMPLETED]
    return max(hands, key=PAI_GOW.index)


def _known(hand: str) -> str:
    return hand if hand in PAI_GOW else "other"
