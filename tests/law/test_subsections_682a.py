"""Chapter 682a by subsection, through the public interface: rounds calculated manually.

Wagers are $10 unless a test says otherwise. The dealer's best four are at most a pair of jacks
unless a test says otherwise.
"""

from collections.abc import Mapping

import pytest

from tests.law.settling import (
    ANTE,
    LOST,
    PUSHED,
    SettlementText,
    box,
    refused,
    settled,
    won,
)

GAME = "four_card_prime"
CHOICES: Mapping[str, str | int] = {
    "bad_beat": "A",
    "prime": "A",
    "aces_bonus": "A",
    "all_six": "E",
}
MAIN = {"ante": ANTE, "raise": ANTE}
OPTIONAL = {"prime": ANTE, "aces_bonus": ANTE, "all_six": ANTE}
JACKS = "Jc Jd 8h 6c 4h 2d"
FIFTY_THOUSAND = 5_000_000


def dealt(
    cards: str,
    dealer: str | None = JACKS,
    wagers: Mapping[str, int] = MAIN,
    *,
    choices: Mapping[str, str | int] = CHOICES,
    **more: object,
) -> SettlementText:
    return settled(GAME, [box(1, cards, wagers)], dealer, paytables=choices, **more)


# Each pair has a player's five cards, and a dealer's six with the same best four in other suits or
# cards.
LADDER = [
    ("As Ah Ad Ac 9d", "As Ah Ad Ac 9d 3h"),  # the highest four-of-a-kind
    ("2s 2h 2d 2c 9s", "2s 2h 2d 2c 9s 4h"),  # the lowest
    ("Ah Kh Qh Jh 8d", "Ah Kh Qh Jh 8d 6c"),  # the highest straight flush
    ("Ad 2d 3d 4d 9c", "Ad 2d 3d 4d 9c Jc"),  # the lowest
    ("Ac As Ah 7d 9s", "Ac As Ah 7d 9s Jc"),  # the highest three-of-a-kind
    ("2c 2s 2h 5d 9h", "2c 2s 2h 5d 9h Jc"),  # the lowest
    ("5s 7s 9s Ts 2d", "5s 7s 9s Ts 2d Jc"),  # a flush
    ("Ad Kc Qs Jd 8h", "Ad Kc Qs Jd 8h 6c"),  # the highest straight
    ("Ac 2h 3s 4h 9d", "Ac 2h 3s 4h 9d Jh"),  # the lowest
    ("As Ad Kc Kd 8s", "As Ad Kc Kd 8s 6h"),  # the highest two pairs
    ("3c 3d 2c 2d 9h", "3c 3d 2c 2d 9h Jh"),  # the lowest
    ("As Ah 6c 8c Jd", "As Ah 6c 8c Jd 3s"),  # the highest pair
    ("2s 2c 6h 8h Jc", "2s 2c 6h 8h Jc Kd"),  # the lowest
    ("As Kc 9d 7h 5s", "As Kc 9d 7h 5s 3d"),  # none of these
]


@pytest.mark.section("682a.6(b)", "682a.6(b)(1)", "682a.6(b)(2)", "682a.6(b)(3)", "682a.6(b)(4)")
@pytest.mark.section("682a.6(b)(5)", "682a.6(b)(6)", "682a.6(b)(7)", "682a.11(d)(1)")
@pytest.mark.parametrize("rung", range(len(LADDER) - 1), ids=lambda rung: LADDER[rung][0])
def test_each_hand_outranks_the_next(rung: int) -> None:
    """In any order of the cards: reversed, those that are not among the best four come first."""
    for turned in (1, -1):
        (higher, dealers_higher), (lower, dealers_lower) = (
            [" ".join(cards.split()[::turned]) for cards in hands]
            for hands in (LADDER[rung], LADDER[rung + 1])
        )
        assert dealt(higher, dealers_lower).worth("raise") == won(1)
        assert dealt(lower, dealers_higher).worth("raise") == LOST


@pytest.mark.section("682a.6(a)")
def test_an_ace_is_low_with_2_3_and_4_and_in_no_other_run() -> None:
    assert dealt("As 2h 3c 4d 9s", "Ks Kd Qs Qd 7c 5h").worth("ante") == won(1)
    assert dealt("Qs Kh Ac 2c 9s", "3s 3d 6s 8d Tc Jh").worth("ante") == LOST


@pytest.mark.section("682a.6(a)")
def test_suits_are_equal() -> None:
    assert dealt("As Kh 9d 7h 4s", "Ac Kd 9h 7s 3h 2s").worth("ante") == won(1)
    assert dealt("Ac Kd 9h 7s 4s", "As Kh 9d 7h 3h 2s").worth("ante") == won(1)


@pytest.mark.section("682a.6(c)")
@pytest.mark.reading("G4")
@pytest.mark.reading("F8")
@pytest.mark.parametrize(
    ("higher", "lower"),
    [
        ("As Th 8c 6d 2h", "Ks Qh 9c 7d 4s 3h"),
        ("As Th 8c 7d 2h", "Ad Tc 8h 6s 3s 2c"),
        ("3s 3h As Kd 9c", "2s 2h Ah Kh Qc 8d"),
        ("9s 9h As 7d 5c", "9d 9c Ks Qh 5h 3d"),
        ("9s 9h 4s 4d 2c", "8d 8c 7s 7h Kd Qh"),
        ("9s 9h 5s 5d 2c", "9d 9c 4s 4h Kd Qh"),
        ("5h 5d 5c As Kd", "4h 4d 4c Ah Kc Ts"),
        ("2s 3h 4c 5d 9s", "Ah 2d 3s 4h Jc 9h"),
        ("As Ts 8s 6s 2h", "Ad Td 8d 5d Kc Qh"),
        ("Kd Kh Qs Qh 2s", "Js Jc 9c 9d 7c 7d"),  # of three pairs, the two highest
        ("As Kc Jd Th 9d", "Ac Kd Js 9c 8s 3h"),
    ],
)
def test_the_highest_card_that_the_other_lacks_decides(higher: str, lower: str) -> None:
    assert dealt(higher, lower).worth("raise") == won(1)


@pytest.mark.section("682a.6(c)")
@pytest.mark.reading("F8")
def test_cards_beyond_the_best_four_never_play() -> None:
    tied = dealt("9s 9h As 7d 2c", "9d 9c Ah 7s 6h 5d")
    assert tied.worth("ante") == won(1)
    assert dealt("9s 9h As 7d 2c", "9d 9c Ah 8s 6h 5d").worth("ante") == LOST


ACES = [
    ("As Ah Ad Ac 9d", "four_aces", 500),
    ("9s 9h 9d 9c Ad", "four_of_a_kind", 100),
    ("As Ks Qs Js Ts", "royal_flush", 50),
    ("9s 8s 7s 6s 5s", "straight_flush", 30),
    ("As Ah Ad Kc 9d", "three_aces", 20),
    ("As Ah Ad Kc Kd", "three_aces", 20),
    ("9s 9h 9d Ac Kd", "three_of_a_kind", 10),
    ("9s 9h 9d Ac Ad", "three_of_a_kind", 10),
    ("Ks 9s 7s 5s 3s", "flush", 5),
    ("9s 8d 7s 6s 5s", "straight", 4),
    ("9s 9h 7s 7d 5s", "two_pair", 2),
    ("As Ah 7s 6d 5s", "two_aces", 1),
]


@pytest.mark.section("682a.6(d)", "682a.6(d)(1)", "682a.6(d)(2)", "682a.6(d)(3)", "682a.6(d)(4)")
@pytest.mark.section("682a.6(d)(5)", "682a.6(d)(6)", "682a.6(d)(7)", "682a.6(d)(8)")
@pytest.mark.section("682a.6(d)(9)", "682a.6(d)(10)")
@pytest.mark.section("682a.11(e)(2)", "682a.11(e)(2)(ii)", "682a.12(e)")
@pytest.mark.reading("F5")
@pytest.mark.reading("F12")
@pytest.mark.parametrize(("cards", "hand", "times"), ACES)
def test_aces_bonus_is_paid_on_five_cards(cards: str, hand: str, times: int) -> None:
    settlement = dealt(cards, wagers=MAIN | {"aces_bonus": ANTE})
    line = settlement.of("aces_bonus")
    assert (line.hand, line.rule) == (hand, "682a.12(e)")
    assert settlement.worth("aces_bonus") == won(times)


@pytest.mark.section("682a.6(d)")
@pytest.mark.reading("F7")
@pytest.mark.parametrize("letter", "ABCDEFGH")
def test_the_order_of_the_aces_bonus_is_its_own(letter: str) -> None:
    """In A to E four of a kind ranks above a royal flush. The test checks no other order."""
    choices = {**CHOICES, "aces_bonus": letter}
    paid = [
        dealt(cards, wagers=MAIN | {"aces_bonus": ANTE}, choices=choices).of("aces_bonus").paid
        for cards, _, _ in ACES
    ]
    assert paid == sorted(paid, reverse=True)


@pytest.mark.section("682a.6(d)(3)", "682a.6(d)(4)", "682a.6(d)(7)", "682a.6(d)(8)")
@pytest.mark.reading("F12")
@pytest.mark.parametrize(
    ("cards", "best_four"),
    [
        ("As Ks Qs Js 9d", won(50)),
        ("9s 8s 7s 6s Kd", won(30)),
        ("Ks 9s 7s 5s 3d", won(5)),
        ("9s 8d 7s 6s Kd", won(4)),
    ],
)
def test_four_of_the_five_count_in_the_other_reading_alone(
    cards: str, best_four: tuple[str, int, int]
) -> None:
    wagers = MAIN | {"aces_bonus": ANTE}
    assert dealt(cards, wagers=wagers).worth("aces_bonus") == LOST
    choices = {**CHOICES, "aces_bonus_reading": "best_four"}
    assert dealt(cards, wagers=wagers, choices=choices).worth("aces_bonus") == best_four


SIX_CARDS = [
    ("Ad Kd Qd Jd Td", "9d", "six_card_royal_diamonds", 200_000),
    ("Ah Kh Qh Jh Th", "9h", "six_card_royal", 20_000),
    ("Ah Kh Qh Jh Th", "2s", "royal_flush", 1_000),
    ("9s 8s 7s 6s Qd", "5s", "straight_flush", 200),
    ("9s 9h 9d 5s Qd", "9c", "four_of_a_kind", 50),
    ("9s 9h 9d Qs 4d", "Qc", "full_house", 20),
    ("Ks 8s 2s Ts Qd", "4s", "flush", 15),
    ("6s 5h 4d 2s Qd", "3c", "straight", 10),
    ("8s 8h 4d 2s Qd", "8c", "three_of_a_kind", 5),
]


@pytest.mark.section("682a.6(e)", "682a.6(e)(1)", "682a.6(e)(2)", "682a.6(e)(3)", "682a.6(e)(4)")
@pytest.mark.section("682a.6(e)(5)", "682a.6(e)(6)", "682a.6(e)(7)", "682a.6(e)(8)")
@pytest.mark.section("682a.11(e)(3)", "682a.11(e)(3)(ii)", "682a.12(f)")
@pytest.mark.parametrize(("cards", "all_six", "hand", "times"), SIX_CARDS)
def test_all_six_is_paid_on_six_cards(cards: str, all_six: str, *, hand: str, times: int) -> None:
    dealer = "Jc 7c 6c 3h 3d 2c" if all_six != "3c" else JACKS
    for letter in "ABCDE":
        choices = {**CHOICES, "all_six": letter}
        wagers = MAIN | {"all_six": ANTE}
        settlement = dealt(cards, dealer, wagers, choices=choices, all_six_card=all_six)
        line = settlement.of("all_six")
        assert line.rule == "682a.12(f)"
        if letter == "E":
            assert (line.hand, settlement.worth("all_six")) == (hand, won(times))
        elif times >= 1_000:
            assert (line.hand, settlement.worth("all_six")) == ("royal_flush", won(1_000))


@pytest.mark.section("682a.7(d)", "682a.7(d)(1)")
@pytest.mark.parametrize("raised", [ANTE - 1, ANTE + 1, 3 * ANTE // 2, 4 * ANTE])
def test_a_raise_is_one_two_or_three_times_the_ante(raised: int) -> None:
    boxes = [box(1, "As 9h 2c 7c 6h", {"ante": ANTE, "raise": raised})]
    refused("wrong_amount", "682a.7(d)(1)", GAME, boxes, JACKS, paytables=CHOICES)


@pytest.mark.section("682a.7(d)", "682a.7(d)(2)", "682a.7(d)(3)", "682a.7(d)(4)")
@pytest.mark.parametrize(
    ("wager", "rule"),
    [("prime", "682a.7(d)(2)"), ("aces_bonus", "682a.7(d)(3)"), ("all_six", "682a.7(d)(4)")],
)
def test_optional_wagers_are_additional(wager: str, rule: str) -> None:
    boxes = [box(1, "As 9h 2c 7c 6h", {wager: ANTE})]
    refused(
        "wager_missing",
        rule,
        GAME,
        boxes,
        JACKS,
        all_six_card="3s",
        paytables=CHOICES,
    )


@pytest.mark.section("682a.7(d)(2)", "682a.11(e)(1)", "682a.11(e)(1)(i)", "682a.11(e)(1)(ii)")
@pytest.mark.section("682a.12(d)")
@pytest.mark.reading("F6")
@pytest.mark.parametrize(
    ("cards", "times"),
    [
        ("As 9c 7s 5c 3s", {"A": 6, "B": 5}),
        ("Ah 9d 7h 5d 3h", {"A": 6, "B": 5}),
        ("As 9c 7s 5c 3h", {"A": 1, "B": 1}),
        ("As 9c 7s 5d 3h", {"A": 0, "B": 0}),
    ],
)
def test_prime_goes_by_how_many_share_a_color(cards: str, times: Mapping[str, int]) -> None:
    for letter, odds in times.items():
        choices = {**CHOICES, "prime": letter}
        settlement = dealt(cards, wagers=MAIN | {"prime": ANTE}, choices=choices)
        assert settlement.worth("prime") == (won(odds) if odds else LOST)
        rule = "682a.12(d)" if odds else "682a.11(e)(1)(i)"
        assert settlement.of("prime").rule == rule


@pytest.mark.section("682a.7(d)(3)", "682a.11(e)(2)", "682a.11(e)(2)(i)")
@pytest.mark.parametrize("cards", ["Ks Kh 7s 6d 5s", "As Kh Qd Jh 9s"])
def test_aces_bonus_loses_below_a_pair_of_aces(cards: str) -> None:
    settlement = dealt(cards, wagers=MAIN | {"aces_bonus": ANTE})
    assert settlement.worth("aces_bonus") == LOST
    assert settlement.of("aces_bonus").rule == "682a.11(e)(2)(i)"


@pytest.mark.section("682a.7(d)(4)", "682a.11(e)(3)", "682a.11(e)(3)(i)")
def test_all_six_loses_below_three_of_a_kind() -> None:
    wagers = MAIN | {"all_six": ANTE}
    settlement = dealt("Ks Kh 7s 6d 5s", wagers=wagers, all_six_card="7h")
    assert settlement.worth("all_six") == LOST
    assert settlement.of("all_six").rule == "682a.11(e)(3)(i)"


@pytest.mark.section("682a.11(e)(3)")
def test_all_six_goes_without_the_dealers_cards() -> None:
    wagers = MAIN | {"all_six": ANTE}
    settlement = dealt("Js Jh 7s 6d 5s", wagers=wagers, all_six_card="9h")
    assert settlement.worth("all_six") == LOST


@pytest.mark.section("682a.11(b)")
def test_a_fold_forfeits_the_ante_and_nothing_optional() -> None:
    boxes = [box(1, "Ad Ah 9d 9h 4d", {"ante": ANTE} | OPTIONAL, folded=True)]
    settlement = settled(GAME, boxes, JACKS, paytables=CHOICES, all_six_card="Ac")
    assert settlement.worth("ante") == LOST
    assert settlement.worth("prime") == won(6)
    assert settlement.worth("aces_bonus") == won(2)
    assert settlement.worth("all_six") == won(20)


@pytest.mark.section("682a.11(b)")
@pytest.mark.parametrize(
    ("wagers", "folded", "code"),
    [(MAIN, True, "after_fold"), ({"ante": ANTE}, False, "undecided")],
)
def test_an_ante_is_followed_or_forfeited(
    wagers: Mapping[str, int], *, folded: bool, code: str
) -> None:
    boxes = [box(1, "As 9h 2c 7c 6h", wagers, folded=folded)]
    refused(code, "682a.11(b)", GAME, boxes, JACKS, paytables=CHOICES)


@pytest.mark.section("682a.11(b)")
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_raise_of_each_size_is_paid(times: int) -> None:
    settlement = dealt("Qs Qh 2c 7c 6h", wagers={"ante": ANTE, "raise": times * ANTE})
    assert settlement.worth("ante") == won(1)
    assert settlement.worth("raise") == won(1, times * ANTE)


@pytest.mark.section("682a.11(c)")
def test_folded_cards_are_collected_unless_an_optional_wager_keeps_them() -> None:
    collected = box(1, None, {"ante": ANTE}, folded=True)
    assert settled(GAME, [collected], JACKS, paytables=CHOICES).items() == [(1, "ante")]
    kept = box(1, None, {"ante": ANTE, "prime": ANTE}, folded=True)
    refused("cards_missing", "", GAME, [kept], JACKS, paytables=CHOICES)
    kept["cards"] = ["9d", "9h", "4d", "3c", "2s"]
    settlement = settled(GAME, [kept], JACKS, paytables=CHOICES)
    assert settlement.items() == [(1, "ante"), (1, "prime")]


@pytest.mark.section("682a.11(d)", "682a.11(e)")
@pytest.mark.reading("G1")
def test_players_are_settled_from_the_dealers_right_each_in_the_chapters_order() -> None:
    boxes = [
        box(2, "9d 9h 9s 5d 3h", MAIN | OPTIONAL),
        box(5, "Ks Kc 7s 6d 5s", MAIN | OPTIONAL),
    ]
    settlement = settled(GAME, boxes, JACKS, paytables=CHOICES, all_six_card="Tc")
    order = ["ante", "raise", "prime", "aces_bonus", "all_six"]
    order_with_bonus = [*order[:2], "win_bonus", *order[2:]]
    assert settlement.items() == [
        *((5, item) for item in order),
        *((2, item) for item in order_with_bonus),
    ]


@pytest.mark.section("682a.11(d)(2)", "682a.11(d)(2)(i)", "682a.12(a)")
def test_a_higher_hand_wins_1_to_1_on_ante_and_raise() -> None:
    settlement = dealt("Qs Qh 2c 7c 6h", wagers={"ante": ANTE, "raise": 3 * ANTE})
    assert settlement.worth("ante") == won(1)
    assert settlement.worth("raise") == won(1, 3 * ANTE)
    assert settlement.of("ante").rule == "682a.12(a)"
    assert settlement.of("raise").rule == "682a.12(a)"


@pytest.mark.section("682a.11(d)(2)(i)")
@pytest.mark.reading("F9")
def test_an_equal_hand_wins_and_no_dealers_hand_is_too_low() -> None:
    settlement = dealt("9s 8h 6d 4h 2s", "9c 8d 6h 4s 3h 2d")
    assert settlement.worth("ante") == won(1)
    assert settlement.worth("raise") == won(1)
    assert dealt("9s 7h 6d 4h 2s", "9c 8d 6h 4s 3h 2d").worth("raise") == LOST


@pytest.mark.section("682a.11(d)(2)(i)", "682a.12(b)")
@pytest.mark.reading("F2")
@pytest.mark.parametrize(
    ("cards", "times"),
    [
        ("9s 9h 9d 9c Ad", 25),
        ("9s 8s 7s 6s Ad", 20),
        ("9s 9h 9d Ac Kd", 2),
        ("Ks 9s 7s 5s 3d", 0),
        ("Ts 9h 8s 7s 2s", 0),
    ],
)
def test_a_win_bonus_is_paid_in_addition_for_three_of_a_kind_or_better(
    cards: str, times: int
) -> None:
    settlement = dealt(cards, wagers={"ante": ANTE, "raise": 2 * ANTE})
    assert settlement.worth("ante") == won(1)
    assert settlement.worth("raise") == won(1, 2 * ANTE)
    if times:
        assert settlement.worth("win_bonus") == ("paid", times * ANTE, 0)
        assert settlement.of("win_bonus").rule == "682a.12(b)"
    else:
        assert (1, "win_bonus") not in settlement.items()


@pytest.mark.section("682a.11(d)(2)(i)")
@pytest.mark.reading("F1")
def test_a_win_bonus_is_paid_on_a_tie_as_well() -> None:
    settlement = dealt("9s 8s 7s 6s Ad", "9h 8h 7h 6h 2d 2c")
    assert settlement.worth("raise") == won(1)
    assert settlement.worth("win_bonus") == ("paid", 20 * ANTE, 0)


@pytest.mark.section("682a.11(d)(2)(ii)", "682a.11(d)(2)(ii)(A)")
@pytest.mark.parametrize("cards", ["Ts 9h 2c 7c 6h", "Ks 9s 7s 5s 3d", "Ts 9h 8s 7s 2s"])
def test_a_lower_hand_below_three_of_a_kind_loses_both(cards: str) -> None:
    settlement = dealt(cards, "Jc Jd Jh 6c 4h 2d")
    assert settlement.worth("ante") == LOST
    assert settlement.worth("raise") == LOST
    assert settlement.of("ante").rule == "682a.11(d)(2)(ii)(A)"
    assert settlement.items() == [(1, "ante"), (1, "raise")]


@pytest.mark.section("682a.11(d)(2)(ii)", "682a.11(d)(2)(ii)(B)", "682a.12(c)")
@pytest.mark.reading("F3")
@pytest.mark.parametrize(
    ("cards", "dealer", "times"),
    [
        ("9s 9h 9d 9c Ad", "Jc Jd Jh Js 4h 2d", (25, 50, 100, 100)),
        ("9s 8s 7s 6s Ad", "Jc Jd Jh Js 4h 2d", (20, 40, 50, 50)),
        ("9s 9h 9d Ac Kd", "Jc Jd Jh 6c 4h 2d", (2, 5, 5, 10)),
    ],
)
def test_a_bad_beat_bonus_is_paid_besides_the_returned_ante(
    cards: str, dealer: str, times: tuple[int, ...]
) -> None:
    for letter, odds in zip("ABCD", times, strict=True):
        choices = {**CHOICES, "bad_beat": letter}
        wagers = {"ante": ANTE, "raise": 2 * ANTE}
        settlement = dealt(cards, dealer, wagers, choices=choices)
        assert settlement.worth("ante") == PUSHED
        assert settlement.worth("raise") == LOST
        assert settlement.worth("bad_beat_bonus") == ("paid", odds * ANTE, 0)
        assert settlement.of("bad_beat_bonus").rule == "682a.12(c)"
        assert settlement.of("raise").rule == "682a.11(d)(2)(ii)(B)"
        assert settlement.items() == [(1, "ante"), (1, "raise"), (1, "bad_beat_bonus")]


@pytest.mark.section("682a.12(g)")
@pytest.mark.reading("G6")
@pytest.mark.reading("F4")
def test_a_payout_limit_cuts_aces_bonus_and_all_six_alone_and_per_player() -> None:
    thousand = 100_000
    wagers = {"ante": thousand, "raise": thousand, "aces_bonus": thousand, "all_six": thousand}
    boxes = [
        box(1, "9s 9h 9d Kc Kh", wagers, patron="p1"),
        box(2, "As Ah Ad 5s 5h", wagers, patron="p1"),
        box(3, "Qs Qh Qd Qc 3s", wagers, patron="p3"),
    ]
    choices = {**CHOICES, "all_six": "A", "payout_limit": FIFTY_THOUSAND}
    settlement = settled(GAME, boxes, JACKS, paytables=choices, all_six_card="Ac")
    # Player p3: 100 and 50 times 1,000, cut to 50,000 in all.
    assert settlement.worth("win_bonus", 3) == ("paid", 25 * thousand, 0)
    assert settlement.worth("aces_bonus", 3) == ("paid", 50 * thousand, thousand)
    assert settlement.worth("all_six", 3) == ("paid", 0, thousand)
    # Player p1: 20 and 50 times 1,000 at position 2, so 30,000 are left for All-Six.
    assert settlement.worth("aces_bonus", 2) == won(20, thousand)
    assert settlement.worth("all_six", 2) == ("paid", 30 * thousand, thousand)
    assert settlement.worth("aces_bonus", 1) == ("paid", 0, thousand)
    assert settlement.worth("all_six", 1) == ("paid", 0, thousand)
    assert settlement.worth("ante", 1) == won(1, thousand)
    assert settlement.worth("raise", 1) == won(1, thousand)


@pytest.mark.section("682a.12(g)")
@pytest.mark.reading("F4")
def test_a_payout_limit_leaves_out_the_six_card_royal_flush() -> None:
    choices = {**CHOICES, "payout_limit": FIFTY_THOUSAND}
    wagers = MAIN | {"aces_bonus": ANTE, "all_six": ANTE}
    settlement = dealt(
        "Ad Kd Qd Jd Td", "Jc 8h 6c 4h 2d 2c", wagers, choices=choices, all_six_card="9d"
    )
    assert settlement.worth("all_six") == won(200_000)
    assert settlement.worth("aces_bonus") == won(50)
    wagers = MAIN | {"all_six": 20_000}
    cut = dealt("As Ks Qs Js Ts", JACKS, wagers, choices=choices | {"all_six": "A"},
                all_six_card="9s")  # fmt: skip
    assert cut.worth("all_six") == ("paid", FIFTY_THOUSAND, 20_000)


@pytest.mark.section("682a.12(g)")
def test_a_payout_limit_below_50_000_dollars_is_refused() -> None:
    choices = {**CHOICES, "payout_limit": FIFTY_THOUSAND - 1}
    with pytest.raises(ValueError, match=r"682a\.12\(g\)"):
        dealt("Qs Qh 2c 7c 6h", choices=choices)


@pytest.mark.section("682a.13(a)", "682a.13(c)", "682a.13(f)")
def test_a_void_round_returns_every_wager() -> None:
    boxes = [box(1, None, {"ante": ANTE} | OPTIONAL), box(2, None, MAIN | OPTIONAL)]
    settlement = settled(GAME, boxes, None, paytables=CHOICES, irregularity="void")
    assert len(settlement.lines) == 9
    for line in settlement.lines:
        assert (line.outcome, line.paid, line.returned) == PUSHED
        assert line.rule == "682a.13"


@pytest.mark.section("682a.13(d)")
@pytest.mark.reading("F10")
def test_an_exposed_dealers_card_returns_ante_and_raise_and_settles_the_rest() -> None:
    boxes = [
        box(1, "9s 9h 9d 5d 3h", {"ante": ANTE} | OPTIONAL, folded=True),
        box(2, "As Ac 7s 6d 5s", MAIN | OPTIONAL),
    ]
    settlement = settled(
        GAME,
        boxes,
        JACKS,
        paytables=CHOICES,
        all_six_card="9c",
        irregularity="dealer_exposed",
    )
    assert settlement.worth("ante", 2) == PUSHED
    assert settlement.worth("raise", 2) == PUSHED
    assert settlement.of("raise", 2).rule == "682a.13(d)"
    assert settlement.worth("prime", 2) == won(1)
    assert settlement.worth("aces_bonus", 2) == won(1)
    assert settlement.worth("all_six", 2) == LOST
    assert settlement.worth("ante", 1) == PUSHED
    assert settlement.worth("prime", 1) == won(1)
    assert settlement.worth("aces_bonus", 1) == won(10)
    assert settlement.worth("all_six", 1) == won(50)
    assert (1, "win_bonus") not in settlement.items()
