"""649a.12 once more, read by a second pair of eyes for the second set of books.

Transcribed from the printed chapter, in dollars for a wager of one dollar and in whole percent.
It alone has the terms of a meter over time: its seed, its reseed and the part of each wager that
raises it. The sums of `tests.chaos` take seeds and rates from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final


@dataclass(frozen=True)
class Law:
    """What the chapter says of one meter.

    Attributes:
        rule: the subsection of its payouts.
        percent: hands that win so many percent of the meter.
        for_1: hands that win so many times the wager.
        envy: what a hand brings each other player, in dollars for a wager of one dollar.
        seed, reseed: how many times the wager.
        primary, reserve: percent of each wager that goes to the meter and to its reserve.
        inventory: where payouts come from that are no percentage.
    """

    rule: str
    percent: Mapping[str, int]
    for_1: Mapping[str, int]
    seed: int
    reseed: int
    primary: int
    reserve: int = 0
    envy: Mapping[str, int] = field(default_factory=dict)
    inventory: str = "table_inventory"

    def shown(self, hand: str) -> str:
        """A royal that the table does not set apart is a royal like any other."""
        if hand == "royal_flush_spades" and hand not in self.percent:
            return "royal_flush"
        return hand


PROGRESSIVE: Final = {
    "A": Law(
        rule="649a.12(e)(1)",
        percent={"mini_royal_spades": 100},
        for_1={"mini_royal": 500, "straight_flush": 70, "three_of_a_kind": 60, "straight": 6},
        seed=1_000,
        reseed=1_000,
        primary=14,
        envy={"mini_royal_spades": 100, "mini_royal": 25},
    ),
    "B": Law(
        rule="649a.12(e)(1)",
        percent={"mini_royal_spades": 100},
        for_1={"mini_royal": 500, "straight_flush": 100, "three_of_a_kind": 90},
        seed=1_000,
        reseed=1_000,
        primary=20,
        envy={"mini_royal_spades": 100, "mini_royal": 25},
    ),
}

FIVE_CARD: Final = Law(
    rule="649a.12(h)(1)",
    percent={"royal_flush": 100, "straight_flush": 10},
    for_1={
        "four_of_a_kind": 300,
        "full_house": 50,
        "flush": 40,
        "straight": 30,
        "three_of_a_kind": 9,
    },
    seed=10_000,
    reseed=10_000,
    primary=21,
    envy={"royal_flush": 1_000, "straight_flush": 300},
)

HAND_BONUS: Final = Law(
    rule="649a.12(i)(1)",
    percent={"royal_flush": 100, "straight_flush": 10},
    for_1={"four_of_a_kind": 500, "full_house": 100, "flush": 50},
    seed=10_000,
    reseed=0,
    primary=21,
    reserve=8,
    inventory="game_account",
)

FIVE_OF_SIX: Final = Law(
    rule="649a.12(j)(1)",
    percent={"royal_flush_spades": 100, "royal_flush": 25},
    for_1={
        "straight_flush": 250,
        "four_of_a_kind": 100,
        "full_house": 20,
        "flush": 10,
        "straight": 5,
    },
    seed=10_000,
    reseed=10_000,
    primary=28,
    envy={"royal_flush_spades": 100, "royal_flush": 50},
)

MAGIC_CARD_FOR_1: Final = 20
LUCKY_BONUS_FOR_1: Final = 5

METER_KIND: Final = {
    "progressive": "progressive",
    "five_card_progressive": "five_card_progressive",
    "five_of_six_progressive": "five_of_six_progressive",
    "five_card_hand_bonus": "five_card_hand_bonus",
    "five_card_hand_bonus_dealer": "five_card_hand_bonus",
}
"""The meter that each wager feeds."""


def part(percent: int) -> Fraction:
    """A percentage as the fraction that it is."""
    return Fraction(percent, 100)
