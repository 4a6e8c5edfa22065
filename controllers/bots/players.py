"""What simulated players put on the layout beside the progressive wagers, from a seeded source."""

import random
from collections.abc import Iterable
from typing import Final

from bonus.settling.table_rules import TableRules

_STAKES_CENTS: Final = (500, 1_000, 1_000, 1_500, 2_500, 5_000, 10_000)
_SIDE_CENTS: Final = (100, 500, 500, 1_000, 2_500)
_LIKING: Final = 0.4
"""How many players like an optional wager."""
_WITHOUT_ANTE: Final = 0.1
"""How many players leave the dealer's hand alone, where the game lets them."""


def offers_main(rules: TableRules) -> bool:
    """Whether the table has chosen all that the game against the dealer needs."""
    return not rules.placings[rules.chapter.main.stake].choice


def lay_wagers(
    rules: TableRules, positions: Iterable[int], rng: random.Random
) -> dict[int, dict[str, int]]:
    """The wagers before the deal that are no progressives, by position, in cents.

    Nobody wagers where the table has not chosen its paytables.
    """
    return {
        position: _at_one_box(rules, rng) if offers_main(rules) else {} for position in positions
    }


def _at_one_box(rules: TableRules, rng: random.Random) -> dict[str, int]:
    main = rules.chapter.main
    offered = {
        name: placing
        for name, placing in rules.placings.items()
        if name not in {main.stake, main.follow} and not placing.choice and placing.meter is None
    }
    alone = [name for name, placing in offered.items() if not placing.needs]
    if alone and rng.random() < _WITHOUT_ANTE:
        wagers = {rng.choice(alone): rng.choice(_SIDE_CENTS)}
    else:
        wagers = {main.stake: rng.choice(_STAKES_CENTS)}
    for name, placing in offered.items():
        placed = not placing.needs or any(need in wagers for need in placing.needs)
        if placed and name not in wagers and rng.random() < _LIKING:
            wagers[name] = rng.choice(_SIDE_CENTS)
    for bound in rules.bounds:
        most_cents = bound.at_most * wagers.get(bound.of, 0)
        if wagers.get(bound.wager, 0) > most_cents:
            wagers[bound.of] = wagers[bound.wager]
    return wagers
