"""The payouts of 649a.12, typed from the printed tables.

Rows that pay nothing are left out. Odds are the number before "to 1" or "for 1"; amounts of
Envy Bonuses and of the Super Royal are cents. The terms of a meter over time, its seed, its reseed
and the part of each wager that raises it, are here for `tests.model` and `tests.chaos` as well.
"""

from dataclasses import dataclass, field
from fractions import Fraction

Table = dict[str, int]

ANTE_BONUS: dict[str, Table] = {
    "b-A": {"straight_flush": 5, "three_of_a_kind": 4, "straight": 1},
    "b-B": {"straight_flush": 5, "three_of_a_kind": 3, "straight": 1},
    "b-C": {"straight_flush": 4, "three_of_a_kind": 3, "straight": 1},
    "c-A": {
        "mini_royal_spades": 50, "mini_royal": 5, "straight_flush": 4, "three_of_a_kind": 3,
        "straight": 1,
    },
    "c-B": {"mini_royal_spades": 50, "mini_royal": 50, "straight_flush": 8, "three_of_a_kind": 6},
    "c-C": {"mini_royal_spades": 50, "mini_royal": 10, "straight_flush": 6, "three_of_a_kind": 3},
}  # fmt: skip

PAIR_PLUS: dict[str, Table] = {
    "A": {"straight_flush": 35, "three_of_a_kind": 25, "straight": 6, "flush": 4, "pair": 1},
    "B": {"straight_flush": 40, "three_of_a_kind": 30, "straight": 5, "flush": 4, "pair": 1},
    "C": {"straight_flush": 40, "three_of_a_kind": 30, "straight": 6, "flush": 3, "pair": 1},
    "D": {"straight_flush": 40, "three_of_a_kind": 30, "straight": 6, "flush": 4, "pair": 1},
    "E": {"straight_flush": 40, "three_of_a_kind": 25, "straight": 6, "flush": 4, "pair": 1},
}

SIX_CARD_BONUS: dict[str, Table] = {
    "A": {
        "royal_flush": 1000, "straight_flush": 200, "four_of_a_kind": 50, "full_house": 25,
        "flush": 20, "straight": 10, "three_of_a_kind": 5,
    },
    "B": {
        "royal_flush": 1000, "straight_flush": 200, "four_of_a_kind": 100, "full_house": 20,
        "flush": 15, "straight": 9, "three_of_a_kind": 8,
    },
    "C": {
        "royal_flush": 1000, "straight_flush": 200, "four_of_a_kind": 100, "full_house": 20,
        "flush": 15, "straight": 10, "three_of_a_kind": 7,
    },
    "D": {
        "royal_flush": 1000, "straight_flush": 200, "four_of_a_kind": 50, "full_house": 25,
        "flush": 15, "straight": 10, "three_of_a_kind": 5,
    },
    "E": {
        "royal_flush": 1000, "straight_flush": 200, "four_of_a_kind": 50, "full_house": 20,
        "flush": 15, "straight": 10, "three_of_a_kind": 5,
    },
}  # fmt: skip

SUPER_ROYAL_DIAMONDS_CENTS = 1_000_000_00
SUPER_ROYAL_CENTS = 100_000_00


@dataclass(frozen=True)
class MeterLaw:
    """The chapter's terms of one meter.

    Attributes:
        percent: hands that win so many percent of the meter.
        for_1: hands that win so many times the wager.
        seed, reseed: how many times the wager.
        primary, reserve: percent of each wager that goes to the meter and to its reserve. Where
            there is a reserve, the meter restarts from it.
        envy_cents: by the wager's cents, what a hand brings each other player with the wager.
        paid_from: where payouts come from that are no percentage.
    """

    percent: Table
    for_1: Table
    seed: int
    reseed: int
    primary: int | Fraction
    reserve: int | Fraction = 0
    envy_cents: dict[int, Table] = field(default_factory=dict)
    paid_from: str = "table_inventory"

    def shown(self, hand: str) -> str:
        """Return the hand that the table names. A royal that it does not name is a plain royal."""
        if hand == "royal_flush_spades" and hand not in self.percent:
            return "royal_flush"
        return hand


# 649a.12(e)(1), (3) and (5).
_PROGRESSIVE_ENVY = {
    100: {"mini_royal_spades": 100_00, "mini_royal": 25_00},
    500: {"mini_royal_spades": 500_00, "mini_royal": 125_00},
}
PROGRESSIVE: dict[str, MeterLaw] = {
    "A": MeterLaw(
        percent={"mini_royal_spades": 100},
        for_1={"mini_royal": 500, "straight_flush": 70, "three_of_a_kind": 60, "straight": 6},
        seed=1_000,
        reseed=1_000,
        primary=14,
        envy_cents=_PROGRESSIVE_ENVY,
    ),
    "B": MeterLaw(
        percent={"mini_royal_spades": 100},
        for_1={"mini_royal": 500, "straight_flush": 100, "three_of_a_kind": 90},
        seed=1_000,
        reseed=1_000,
        primary=20,
        envy_cents=_PROGRESSIVE_ENVY,
    ),
}

# 649a.12(h)(1), (3) and (5).
FIVE_CARD = MeterLaw(
    percent={"royal_flush": 100, "straight_flush": 10},
    for_1={
        "four_of_a_kind": 300, "full_house": 50, "flush": 40, "straight": 30, "three_of_a_kind": 9,
    },
    seed=10_000,
    reseed=10_000,
    primary=21,
    envy_cents={
        100: {"royal_flush": 1_000_00, "straight_flush": 300_00},
        500: {"royal_flush": 5_000_00, "straight_flush": 1_500_00},
    },
)  # fmt: skip

# 649a.12(i)(1) and (4).
HAND_BONUS = MeterLaw(
    percent={"royal_flush": 100, "straight_flush": 10},
    for_1={"four_of_a_kind": 500, "full_house": 100, "flush": 50},
    seed=10_000,
    reseed=0,
    primary=21,
    reserve=8,
    paid_from="game_account",
)

# 649a.12(j)(1), (3) and (5).
FIVE_OF_SIX = MeterLaw(
    percent={"royal_flush_spades": 100, "royal_flush": 25},
    for_1={
        "straight_flush": 250, "four_of_a_kind": 100, "full_house": 20, "flush": 10, "straight": 5,
    },
    seed=10_000,
    reseed=10_000,
    primary=28,
    envy_cents={
        100: {"royal_flush_spades": 100_00, "royal_flush": 50_00},
        500: {"royal_flush_spades": 500_00, "royal_flush": 250_00},
    },
)  # fmt: skip

METERS: dict[str, MeterLaw] = {
    "five_card_progressive": FIVE_CARD,
    "five_of_six_progressive": FIVE_OF_SIX,
    "five_card_hand_bonus": HAND_BONUS,
}
"""The meters whose paytable is not chosen."""

METER_OF = {
    "progressive": "progressive",
    "five_card_progressive": "five_card_progressive",
    "five_of_six_progressive": "five_of_six_progressive",
    "five_card_hand_bonus": "five_card_hand_bonus",
    "five_card_hand_bonus_dealer": "five_card_hand_bonus",
}
"""The meter that each wager feeds."""

# 649a.12(i)(3).
MAGIC_CARD = 20
LUCKY_BONUS = 5
