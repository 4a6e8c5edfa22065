"""Wagers and strategy of simulated players, without progressive wagers.

`pitlink odds` shows the optimal strategy; the simulated players use a simpler one that a person can
remember. With three cards, they play queen-six-four or better; with four, a pair of threes or
better, and with a pair of tens or better they wager three times the stake.
"""

import random
from collections.abc import Iterable, Sequence
from typing import Final

from bonus.cards import Card, parse_card
from bonus.hands import best_four, three_card_strength
from bonus.law.chapter_file import Main
from bonus.settling.table_rules import TableRules

_STAKES_CENTS: Final = (500, 1_000, 1_000, 1_500, 2_500, 5_000, 10_000)
_SIDE_CENTS: Final = (100, 500, 500, 1_000, 2_500)
_LIKING: Final = 0.4
"""Share of players who make an optional wager."""
_WITHOUT_ANTE: Final = 0.1
"""Share of players who do not play against the dealer, if the game allows this."""


def offers_main(rules: TableRules) -> bool:
    """Return whether the floor file has options for the wagers against the dealer."""
    main = rules.chapter.main
    return main is not None and not rules.placings[main.stake].choice


def lay_wagers(
    rules: TableRules, positions: Iterable[int], rng: random.Random
) -> dict[int, dict[str, int]]:
    """Return random wagers before the deal, in cents, without progressive ones.

    There are none if the floor file lacks the table's paytables.
    """
    lays = rules.chapter.main is None or offers_main(rules)
    return {position: _at_one_box(rules, rng) if lays else {} for position in positions}


def _at_one_box(rules: TableRules, rng: random.Random) -> dict[str, int]:
    main = rules.chapter.main_wagers
    offered = {
        name: placing
        for name, placing in rules.placings.items()
        if name not in main and not placing.choice and not placing.meters
    }
    alone = [name for name, placing in offered.items() if not placing.needs]
    wagers: dict[str, int] = {}
    if main and not (alone and rng.random() < _WITHOUT_ANTE):
        wagers[main[0]] = rng.choice(_STAKES_CENTS)
    elif alone:
        wagers[rng.choice(alone)] = rng.choice(_SIDE_CENTS)
    for name, placing in offered.items():
        placed = not placing.needs or any(need in wagers for need in placing.needs)
        if placed and name not in wagers and rng.random() < _LIKING:
            wagers[name] = rng.choice(_SIDE_CENTS)
    for bound in rules.bounds:
        most_cents = bound.at_most * wagers.get(bound.of, 0)
        if wagers.get(bound.wager, 0) > most_cents:
            wagers[bound.of] = wagers[bound.wager]
    return wagers


def _cards(text: str) -> list[Card]:
    return [parse_card(name) for name in text.split()]


_QUEEN_SIX_FOUR: Final = three_card_strength(_cards("Qc 6d 4h"))
_PAIR_OF_TENS: Final = best_four(_cards("Tc Td 3h 2s"))[1]
_PAIR_OF_THREES: Final = best_four(_cards("3c 3d 4h 2s"))[1]


def plays(cards: Sequence[Card]) -> bool:
    """Return whether three cards are worth a Play Wager: queen-six-four or better.

    >>> plays(_cards("Qs 6h 3d"))
    False
    """
    return three_card_strength(cards) >= _QUEEN_SIX_FOUR


def follow_times(main: Main, cards: Sequence[Card]) -> int:
    if main.ranking == "three_card":
        return main.times[0] if plays(cards) else 0
    strength = best_four(cards)[1]
    if strength >= _PAIR_OF_TENS:
        return main.times[-1]
    return main.times[0] if strength >= _PAIR_OF_THREES else 0
