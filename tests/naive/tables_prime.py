"""The payouts of 679a.12 and 682a.12, typed from the printed tables.

Rows that pay nothing are left out; odds are the number before "to 1" or "for 1".
"""

Table = dict[str, int]

PLAY_679A: Table = {
    "mini_royal": 10, "straight_flush": 6, "three_of_a_kind": 5, "straight": 2, "flush": 1,
    "pair": 1, "high_card": 1,
}  # fmt: skip

BAD_BEAT_679A: dict[str, Table] = {
    "A": {"straight_flush": 12, "three_of_a_kind": 10, "straight": 4},
    "B": {"straight_flush": 12, "three_of_a_kind": 10, "straight": 4, "flush": 1},
    "C": {"straight_flush": 6, "three_of_a_kind": 5, "straight": 2},
    "D": {"straight_flush": 6, "three_of_a_kind": 5, "straight": 2, "flush": 1},
}

PRIME_679A: Table = {"player_and_dealer": 4, "player": 3}

PAIR_BONUS_NOT_A_TWO: Table = {
    "mini_royal": 50, "straight_flush": 40, "three_of_a_kind": 30, "straight": 6, "flush": 3,
    "pair": 1,
}  # fmt: skip

PAIR_BONUS_TWO: dict[str, Table] = {
    "A": {
        "mini_royal": 100, "straight_flush": 80, "three_of_a_kind": 60, "straight": 12, "flush": 6,
        "pair": 1,
    },
    "B": {
        "mini_royal": 75, "straight_flush": 60, "three_of_a_kind": 45, "straight": 10, "flush": 5,
        "pair": 2,
    },
    "C": {
        "mini_royal": 75, "straight_flush": 50, "three_of_a_kind": 40, "straight": 8, "flush": 4,
        "pair": 2,
    },
    "D": {
        "mini_royal": 75, "straight_flush": 50, "three_of_a_kind": 40, "straight": 8, "flush": 4,
        "pair": 1,
    },
}  # fmt: skip

ALL_SIX: dict[str, Table] = {
    "A": {
        "royal_flush": 1000, "straight_flush": 200, "four_of_a_kind": 50, "full_house": 25,
        "flush": 20, "straight": 10, "three_of_a_kind": 5,
    },
    "B": {
        "royal_flush": 1000, "straight_flush": 200, "four_of_a_kind": 50, "full_house": 25,
        "flush": 15, "straight": 10, "three_of_a_kind": 5,
    },
    "C": {
        "royal_flush": 1000, "straight_flush": 200, "four_of_a_kind": 100, "full_house": 20,
        "flush": 15, "straight": 9, "three_of_a_kind": 8,
    },
    "D": {
        "royal_flush": 1000, "straight_flush": 200, "four_of_a_kind": 100, "full_house": 20,
        "flush": 15, "straight": 10, "three_of_a_kind": 7,
    },
    "E": {
        "six_card_royal_diamonds": 200_000, "six_card_royal_other": 20_000,
        "royal_flush": 1000, "straight_flush": 200, "four_of_a_kind": 50, "full_house": 20,
        "flush": 15, "straight": 10, "three_of_a_kind": 5,
    },
}  # fmt: skip
"""679a.12(g) and 682a.12(f) print the same five tables."""

WIN_BONUS: Table = {"four_of_a_kind": 25, "straight_flush": 20, "three_of_a_kind": 2}

BAD_BEAT_682A: dict[str, Table] = {
    "A": {"four_of_a_kind": 25, "straight_flush": 20, "three_of_a_kind": 2},
    "B": {"four_of_a_kind": 50, "straight_flush": 40, "three_of_a_kind": 5},
    "C": {"four_of_a_kind": 100, "straight_flush": 50, "three_of_a_kind": 5},
    "D": {"four_of_a_kind": 100, "straight_flush": 50, "three_of_a_kind": 10},
}

PRIME_682A: dict[str, Table] = {"A": {"five": 6, "four": 1}, "B": {"five": 5, "four": 1}}

ACES_BONUS: dict[str, Table] = {
    "A": {
        "four_aces": 500, "four_of_a_kind": 100, "royal_flush": 50, "straight_flush": 30,
        "three_aces": 20, "three_of_a_kind": 10, "flush": 5, "straight": 4, "two_pair": 2,
        "two_aces": 1,
    },
    "B": {
        "four_aces": 500, "four_of_a_kind": 100, "royal_flush": 40, "straight_flush": 30,
        "three_aces": 15, "three_of_a_kind": 10, "flush": 5, "straight": 4, "two_pair": 2,
        "two_aces": 1,
    },
    "C": {
        "four_aces": 500, "four_of_a_kind": 100, "royal_flush": 50, "straight_flush": 40,
        "three_aces": 25, "three_of_a_kind": 10, "flush": 5, "straight": 3, "two_pair": 2,
        "two_aces": 1,
    },
    "D": {
        "four_aces": 500, "four_of_a_kind": 100, "royal_flush": 50, "straight_flush": 30,
        "three_aces": 20, "three_of_a_kind": 10, "flush": 5, "straight": 3, "two_pair": 2,
        "two_aces": 1,
    },
    "E": {
        "four_aces": 500, "four_of_a_kind": 100, "royal_flush": 50, "straight_flush": 20,
        "three_aces": 15, "three_of_a_kind": 10, "flush": 5, "straight": 3, "two_pair": 2,
        "two_aces": 1,
    },
    "F": {
        "four_aces": 50, "four_of_a_kind": 50, "royal_flush": 30, "straight_flush": 30,
        "three_aces": 7, "three_of_a_kind": 7, "flush": 6, "straight": 5, "two_pair": 2,
        "two_aces": 1,
    },
    "G": {
        "four_aces": 50, "four_of_a_kind": 50, "royal_flush": 30, "straight_flush": 30,
        "three_aces": 9, "three_of_a_kind": 9, "flush": 6, "straight": 4, "two_pair": 2,
        "two_aces": 1,
    },
    "H": {
        "four_aces": 50, "four_of_a_kind": 50, "royal_flush": 40, "straight_flush": 40,
        "three_aces": 8, "three_of_a_kind": 8, "flush": 5, "straight": 4, "two_pair": 3,
        "two_aces": 1,
    },
}  # fmt: skip
