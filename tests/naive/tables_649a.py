"""The payouts of 649a.12, typed from the printed tables.

Rows that pay nothing are left out. Odds are the number before "to 1" or "for 1"; amounts of
Envy Bonuses and of the Super Royal are cents.
"""

Table = dict[str, int]

ANTE_BONUS: dict[str, Table] = {
    "b-A": {"straight_flush": 5, "three_of_a_kind": 4, "straight": 1},
    "b-B": {"straight_flush": 5, "three_of_a_kind": 3, "straight": 1},
    "b-C": {"straight_flush": 4, "three_of_a_kind": 3, "straight": 1},
    "c-A": {
        "akq_spades": 50, "akq_other": 5, "straight_flush": 4, "three_of_a_kind": 3, "straight": 1,
    },
    "c-B": {"akq_spades": 50, "akq_other": 50, "straight_flush": 8, "three_of_a_kind": 6},
    "c-C": {"akq_spades": 50, "akq_other": 10, "straight_flush": 6, "three_of_a_kind": 3},
}  # fmt: skip

PAIR_PLUS: dict[str, Table] = {
    "A": {"straight_flush": 35, "three_of_a_kind": 25, "straight": 6, "flush": 4, "pair": 1},
    "B": {"straight_flush": 40, "three_of_a_kind": 30, "straight": 5, "flush": 4, "pair": 1},
    "C": {"straight_flush": 40, "three_of_a_kind": 30, "straight": 6, "flush": 3, "pair": 1},
    "D": {"straight_flush": 40, "three_of_a_kind": 30, "straight": 6, "flush": 4, "pair": 1},
    "E": {"straight_flush": 40, "three_of_a_kind": 25, "straight": 6, "flush": 4, "pair": 1},
}

PROGRESSIVE: dict[str, Table] = {
    "A": {"akq_other": 500, "straight_flush": 70, "three_of_a_kind": 60, "straight": 6},
    "B": {"akq_other": 500, "straight_flush": 100, "three_of_a_kind": 90},
}
"""Ace, king and queen of spades take the whole meter."""

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

FIVE_CARD_PROGRESSIVE: Table = {
    "four_of_a_kind": 300, "full_house": 50, "flush": 40, "straight": 30, "three_of_a_kind": 9,
}  # fmt: skip
FIVE_CARD_HAND_BONUS: Table = {"four_of_a_kind": 500, "full_house": 100, "flush": 50}
FIVE_OF_SIX_PROGRESSIVE: Table = {
    "straight_flush": 250, "four_of_a_kind": 100, "full_house": 20, "flush": 10, "straight": 5,
}  # fmt: skip

MAGIC_CARD = 20
LUCKY_BONUS = 5

ENVY_CENTS: dict[str, dict[int, Table]] = {
    "progressive_envy": {
        100: {"akq_spades": 100_00, "akq_other": 25_00},
        500: {"akq_spades": 500_00, "akq_other": 125_00},
    },
    "five_card_envy": {
        100: {"royal_flush": 1_000_00, "straight_flush": 300_00},
        500: {"royal_flush": 5_000_00, "straight_flush": 1_500_00},
    },
    "five_of_six_envy": {
        100: {"royal_spades": 100_00, "royal_other": 50_00},
        500: {"royal_spades": 500_00, "royal_other": 250_00},
    },
}

RESEED_FOR_ONE: Table = {
    "progressive": 1_000, "five_card_progressive": 10_000, "five_of_six_progressive": 10_000,
}  # fmt: skip
"""The Five Card Hand Bonus restarts from its reserve."""

PROGRESSIVE_RATE_PERCENT = {"A": 14, "B": 20}
FIVE_CARD_PROGRESSIVE_RATE_PERCENT = 21
FIVE_OF_SIX_PROGRESSIVE_RATE_PERCENT = 28
FIVE_CARD_HAND_BONUS_RATE_PERCENT = 21
FIVE_CARD_HAND_BONUS_RESERVE_PERCENT = 8
