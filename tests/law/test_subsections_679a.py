"""Chapter 679a by subsection, through the public interface: rounds calculated manually.

Wagers are $10 unless a test says otherwise. The dealer's Q-7-2 qualifies and loses to any pair;
J-7-2 does not qualify.
"""

from collections.abc import Mapping

import pytest

from tests.law.settling import (
    ANTE,
    JSON,
    LOST,
    PUSHED,
    SettlementText,
    box,
    refused,
    settled,
    won,
)

GAME = "three_card_prime"
CHOICES: Mapping[str, str | int] = {"bad_beat": "A", "pair_bonus": "A", "all_six": "E"}
MAIN = {"ante": ANTE, "play": ANTE}
OPTIONAL = {"prime": ANTE, "pair_bonus": ANTE, "all_six": ANTE}
QUEEN_HIGH = "Qc 7d 2h"
JACK_HIGH = "Jc 7d 2h"
FIFTY_THOUSAND = 5_000_000


def dealt(
    cards: str,
    dealer: str = QUEEN_HIGH,
    wagers: Mapping[str, int] = MAIN,
    *,
    choices: Mapping[str, str | int] = CHOICES,
    fourth: str | None = None,
    **more: object,
) -> SettlementText:
    hand: JSON = {} if fourth is None else {"fourth_card": fourth}
    return settled(GAME, [box(1, cards, wagers, **hand)], dealer, paytables=choices, **more)


LADDER = [
    "As Ks Qs",  # a mini-royal
    "Kh Qh Jh",  # the highest straight flush
    "Ad 2d 3d",  # the lowest
    "Ac Ah As",  # the highest three-of-a-kind
    "2c 2h 2s",  # the lowest
    "Ad Kc Qh",  # the highest straight
    "As 2h 3c",  # the lowest
    "Ac Jc 9c",  # a flush
    "Ah Ad 5s",  # the highest pair
    "2c 2d Ks",  # the lowest
    "Ac Kd Jh",  # none of these
]


@pytest.mark.section("679a.6(b)", "679a.6(b)(1)", "679a.6(b)(2)", "679a.6(b)(3)", "679a.6(b)(4)")
@pytest.mark.section("679a.6(b)(5)", "679a.6(b)(6)")
@pytest.mark.parametrize("rung", range(len(LADDER) - 1), ids=lambda rung: LADDER[rung])
def test_each_hand_outranks_the_next(rung: int) -> None:
    higher, lower = LADDER[rung], LADDER[rung + 1]
    assert dealt(higher, dealer=lower).worth("ante") == won(1)
    assert dealt(lower, dealer=higher).worth("ante") == LOST


@pytest.mark.section("679a.6(a)")
def test_an_ace_is_low_with_2_and_3_and_in_no_other_run() -> None:
    run = dealt("As 2s 3c", wagers=MAIN | OPTIONAL, fourth="9d")
    assert run.of("pair_bonus").hand == "straight"
    no_run = dealt("Ks Ah 2c", wagers=MAIN | OPTIONAL, fourth="9d")
    assert no_run.worth("pair_bonus") == LOST


@pytest.mark.section("679a.6(a)")
def test_suits_are_equal() -> None:
    assert dealt("As Kh 9s", dealer="Ac Kd 9h").worth("ante") == won(1)
    assert dealt("Ac Kd 9h", dealer="As Kh 9s").worth("ante") == won(1)


@pytest.mark.section("679a.6(c)")
@pytest.mark.reading("G4")
@pytest.mark.parametrize(
    ("higher", "lower"),
    [
        ("As 9h 2c", "Ks Qh Td"),
        ("As Jh 9c", "Ad Th 9s"),
        ("As Jh 9c", "Ad Jd 8s"),
        ("Kh Kd 3s", "2c 2d As"),
        ("Kh Kd 4s", "Kc Ks 3d"),
        ("2s 3h 4c", "Ah 2d 3s"),
        ("Ac Jc 3c", "Ad Td 9d"),
    ],
)
def test_the_highest_card_that_the_other_lacks_decides(higher: str, lower: str) -> None:
    assert dealt(higher, dealer=lower).worth("ante") == won(1)
    assert dealt(lower, dealer=higher).worth("ante") == LOST


SIX_CARDS = [
    ("Ad Kd Qd", "9d Jd Td", "six_card_royal_diamonds", 200_000),
    ("Ah Kh Qh", "9h Jh Th", "six_card_royal", 20_000),
    ("Ah Kh Qh", "8h Jh Th", "royal_flush", 1_000),
    ("9s 8s 7s", "Qd 6s 5s", "straight_flush", 200),
    ("9s 9h 9d", "Qd 9c 5s", "four_of_a_kind", 50),
    ("9s 9h 9d", "4d Qc Qs", "full_house", 20),
    ("Ks 8s 2s", "Qd 4s Ts", "flush", 15),
    ("6s 5h 4d", "Qd 3c 2s", "straight", 10),
    ("8s 8h 4d", "Qd 8c 2s", "three_of_a_kind", 5),
]


@pytest.mark.section("679a.6(d)", "679a.6(d)(1)", "679a.6(d)(2)", "679a.6(d)(3)", "679a.6(d)(4)")
@pytest.mark.section("679a.6(d)(5)", "679a.6(d)(6)", "679a.6(d)(7)", "679a.6(d)(8)")
@pytest.mark.section("679a.11(d)(3)", "679a.11(d)(3)(ii)", "679a.12(g)")
@pytest.mark.parametrize(("cards", "dealer", "hand", "times"), SIX_CARDS)
def test_all_six_is_paid_on_six_cards(cards: str, dealer: str, *, hand: str, times: int) -> None:
    for letter in "ABCDE":
        choices = {**CHOICES, "all_six": letter}
        settlement = dealt(cards, dealer, MAIN | {"all_six": ANTE}, choices=choices)
        line = settlement.of("all_six")
        assert line.rule == "679a.12(g)"
        if letter == "E":
            assert (line.hand, settlement.worth("all_six")) == (hand, won(times))
        elif times >= 1_000:
            assert (line.hand, settlement.worth("all_six")) == ("royal_flush", won(1_000))


@pytest.mark.section("679a.7(d)", "679a.7(d)(1)")
def test_a_play_equals_the_ante() -> None:
    for play in (ANTE - 1, ANTE + 1, 2 * ANTE):
        wagers = {"ante": ANTE, "play": play}
        refused(
            "wrong_amount",
            "679a.7(d)(1)",
            GAME,
            [box(1, "As 9h 2c", wagers)],
            QUEEN_HIGH,
            paytables=CHOICES,
        )


@pytest.mark.section("679a.7(d)", "679a.7(d)(2)", "679a.7(d)(3)", "679a.7(d)(4)")
@pytest.mark.parametrize(
    ("wager", "rule"),
    [("prime", "679a.7(d)(2)"), ("pair_bonus", "679a.7(d)(3)"), ("all_six", "679a.7(d)(4)")],
)
def test_optional_wagers_are_additional(wager: str, rule: str) -> None:
    boxes = [box(1, "As 9h 2c", {wager: ANTE}, fourth_card="4d")]
    refused("wager_missing", rule, GAME, boxes, QUEEN_HIGH, paytables=CHOICES)


@pytest.mark.section("679a.7(d)(2)")
def test_prime_wins_on_one_color() -> None:
    assert dealt("As 9c 4s", wagers=MAIN | OPTIONAL, fourth="3d").worth("prime")[0] == "paid"
    assert dealt("As 9c 4h", wagers=MAIN | OPTIONAL, fourth="3d").worth("prime") == LOST


@pytest.mark.section("679a.7(d)(3)")
def test_pair_bonus_wins_with_a_pair_or_better() -> None:
    assert dealt("As Ac 4h", wagers=MAIN | OPTIONAL, fourth="3d").worth("pair_bonus")[0] == "paid"
    assert dealt("As Kc 4h", wagers=MAIN | OPTIONAL, fourth="4d").worth("pair_bonus") == LOST


@pytest.mark.section("679a.7(d)(4)")
def test_all_six_wins_with_three_of_a_kind_or_better() -> None:
    assert dealt("Qs Qd 4h", wagers=MAIN | OPTIONAL, fourth="3d").worth("all_six") == won(5)
    assert dealt("Qs 7s 4h", wagers=MAIN | OPTIONAL, fourth="3d").worth("all_six") == LOST


@pytest.mark.section("679a.11(b)")
def test_a_fold_forfeits_the_ante_and_nothing_optional() -> None:
    boxes = [box(1, "9d 9h 4d", {"ante": ANTE} | OPTIONAL, folded=True, fourth_card="3d")]
    settlement = settled(GAME, boxes, "9c 7d 2h", paytables=CHOICES)
    assert settlement.worth("ante") == LOST
    assert settlement.worth("prime") == won(3)
    assert settlement.worth("pair_bonus") == won(1)
    assert settlement.worth("all_six") == won(5)


@pytest.mark.section("679a.11(b)")
@pytest.mark.parametrize(
    ("wagers", "folded", "code"),
    [(MAIN, True, "after_fold"), ({"ante": ANTE}, False, "undecided")],
)
def test_an_ante_is_followed_or_forfeited(
    wagers: Mapping[str, int], *, folded: bool, code: str
) -> None:
    boxes = [box(1, "As 9h 2c", wagers, folded=folded)]
    refused(code, "679a.11(b)", GAME, boxes, QUEEN_HIGH, paytables=CHOICES)


@pytest.mark.section("679a.11(c)")
def test_folded_cards_are_collected_unless_an_optional_wager_keeps_them() -> None:
    collected = box(1, None, {"ante": ANTE}, folded=True)
    assert settled(GAME, [collected], QUEEN_HIGH, paytables=CHOICES).items() == [(1, "ante")]
    kept = box(1, None, {"ante": ANTE, "prime": ANTE}, folded=True)
    refused("cards_missing", "", GAME, [kept], QUEEN_HIGH, paytables=CHOICES)
    kept["cards"] = ["9d", "9h", "4d"]
    settlement = settled(GAME, [kept], QUEEN_HIGH, paytables=CHOICES)
    assert settlement.items() == [(1, "ante"), (1, "prime")]


@pytest.mark.section("679a.11(c)", "679a.11(d)")
@pytest.mark.reading("G1")
def test_players_are_settled_from_the_dealers_right_each_in_the_chapters_order() -> None:
    wagers = MAIN | OPTIONAL
    boxes = [
        box(2, "9d 9h 4d", wagers, fourth_card="3d"),
        box(5, "Ks Kc 4s", wagers, fourth_card="3s"),
    ]
    order = ["ante", "play", "prime", "pair_bonus", "all_six"]
    assert settled(GAME, boxes, QUEEN_HIGH, paytables=CHOICES).items() == [
        (position, item) for position in (5, 2) for item in order
    ]


@pytest.mark.section("679a.11(c)(2)")
def test_the_players_highest_hand_counts_in_whatever_order_it_lies() -> None:
    for cards in ("3c As 2d", "2d 3c As", "As 2d 3c"):
        assert dealt(cards).of("play").hand == "straight"


@pytest.mark.section("679a.11(c)(3)", "679a.11(c)(3)(i)", "679a.12(a)")
@pytest.mark.reading("P3")
@pytest.mark.reading("P7")
@pytest.mark.parametrize("cards", ["4s 5d 8c", "Ah Ad 5s", "As Ks Qs"])
def test_a_dealer_below_queen_returns_ante_and_pays_play_1_to_1(cards: str) -> None:
    settlement = dealt(cards, JACK_HIGH)
    assert settlement.worth("ante") == PUSHED
    assert settlement.worth("play") == won(1)
    assert settlement.of("ante").rule == "679a.11(c)(3)(i)"
    assert settlement.of("play").rule == "679a.12(a)"


@pytest.mark.section("679a.11(c)(3)(i)", "679a.11(c)(3)(ii)")
def test_the_lowest_queen_high_qualifies_and_the_highest_jack_high_does_not() -> None:
    assert dealt("As Ks 9h", "Qc 3d 2h").worth("ante") == won(1)
    assert dealt("As Ks 9h", "Jc Td 8h").worth("ante") == PUSHED


@pytest.mark.section("679a.11(c)(3)(ii)", "679a.12(a)", "679a.12(b)")
@pytest.mark.parametrize(
    ("cards", "times"),
    [
        ("As Ks Qs", 10),
        ("Ks Qs Js", 6),
        ("9s 9h 9d", 5),
        ("9s 8h 7c", 2),
        ("9s 8s 2s", 1),
        ("9s 9h 2s", 1),
        ("As 9h 2s", 1),
    ],
)
def test_a_higher_hand_wins_1_to_1_on_ante_and_by_its_rank_on_play(cards: str, times: int) -> None:
    settlement = dealt(cards)
    assert settlement.worth("ante") == won(1)
    assert settlement.worth("play") == won(times)
    assert settlement.of("play").rule == "679a.12(b)"


@pytest.mark.section("679a.11(c)(3)(ii)")
@pytest.mark.reading("P2")
@pytest.mark.parametrize(
    ("cards", "dealer", "times"),
    [("Qs 7h 2c", QUEEN_HIGH, 1), ("9s 8h 7c", "9d 8c 7s", 2), ("As Ks Qs", "Ah Kh Qh", 10)],
)
def test_an_equal_hand_wins(cards: str, dealer: str, times: int) -> None:
    settlement = dealt(cards, dealer)
    assert settlement.worth("ante") == won(1)
    assert settlement.worth("play") == won(times)


@pytest.mark.section("679a.11(c)(3)(iii)")
@pytest.mark.parametrize(
    ("letter", "cards"),
    [("A", "Ks 9s 2s"), ("C", "Ks 9s 2s"), ("B", "Ks Kd 2s"), ("D", "Ks Kd 2s"), ("A", "Ks 9d 2s")],
)
def test_a_lower_hand_without_a_bonus_loses_both(letter: str, cards: str) -> None:
    settlement = dealt(cards, "Ac Jc 9c", choices={**CHOICES, "bad_beat": letter})
    assert settlement.worth("ante") == LOST
    assert settlement.worth("play") == LOST
    assert settlement.of("play").rule == "679a.11(c)(3)(iii)"


@pytest.mark.section("679a.11(c)(3)(iv)", "679a.12(c)")
@pytest.mark.reading("P1")
@pytest.mark.parametrize(
    ("cards", "dealer", "times"),
    [
        ("Ks Qs Js", "Ah Kh Qh", (12, 12, 6, 6)),
        ("As 2s 3s", "4h 3h 2h", (12, 12, 6, 6)),
        ("9s 9h 9d", "Ts Th Td", (10, 10, 5, 5)),
        ("9s 8h 7c", "Ts 9h 8d", (4, 4, 2, 2)),
        ("As 3c 2d", "4h 3d 2c", (4, 4, 2, 2)),
        ("Ks 9s 2s", "Ac Jc 9c", (None, 1, None, 1)),
    ],
)
def test_a_bad_beat_bonus_is_paid_on_play_and_ante_is_lost(
    cards: str, dealer: str, times: tuple[int | None, ...]
) -> None:
    for letter, odds in zip("ABCD", times, strict=True):
        settlement = dealt(cards, dealer, choices={**CHOICES, "bad_beat": letter})
        assert settlement.worth("ante") == LOST
        assert settlement.worth("play") == (LOST if odds is None else won(odds))
        if odds is not None:
            assert settlement.of("play").rule == "679a.12(c)"


@pytest.mark.section("679a.11(d)(1)", "679a.11(d)(1)(i)", "679a.11(d)(1)(ii)", "679a.12(d)")
@pytest.mark.reading("P4")
@pytest.mark.parametrize(
    ("cards", "dealer", "worth"),
    [
        ("As 9c 4h", "Qs 7c 2c", LOST),
        ("As 9c 4s", "Qh 7d 2c", won(3)),
        ("As 9c 4s", "Qh 7d 2d", won(3)),
        ("As 9c 4s", "Qs 7c 2c", won(4)),
        ("Ah 9d 4h", "Qd 7h 2h", won(4)),
    ],
)
def test_prime_goes_by_the_colors(cards: str, dealer: str, worth: tuple[str, int, int]) -> None:
    assert dealt(cards, dealer, MAIN | {"prime": ANTE}).worth("prime") == worth


PAIR_OR_BETTER = [
    ("As Ks Qs", 50, (100, 75, 75, 75)),
    ("Ks Qs Js", 40, (80, 60, 50, 50)),
    ("9s 9h 9d", 30, (60, 45, 40, 40)),
    ("9s 8h 6c", 0, (0, 0, 0, 0)),
    ("9s 8h 7c", 6, (12, 10, 8, 8)),
    ("Ks 9s 4s", 3, (6, 5, 4, 4)),
    ("Ks Kd 4s", 1, (1, 2, 2, 1)),
]


@pytest.mark.section("679a.11(d)(2)", "679a.11(d)(2)(i)", "679a.11(d)(2)(ii)")
@pytest.mark.section("679a.11(d)(2)(ii)(A)", "679a.11(d)(2)(ii)(B)", "679a.12(e)", "679a.12(f)")
@pytest.mark.reading("P5")
@pytest.mark.parametrize("common", [False, True], ids=["own fourth card", "community card"])
@pytest.mark.parametrize(("cards", "not_a_2", "a_2"), PAIR_OR_BETTER)
def test_pair_bonus_goes_by_the_hand_and_the_fourth_card(
    cards: str, not_a_2: int, a_2: tuple[int, ...], *, common: bool
) -> None:
    wagers = MAIN | {"pair_bonus": ANTE}
    for letter, on_a_2 in zip("ABCD", a_2, strict=True):
        choices = {**CHOICES, "pair_bonus": letter}
        for fourth, times, rule in (
            ("Kh", not_a_2, "679a.12(e)"),
            ("2d", on_a_2, "679a.12(f)"),
        ):
            card: JSON = {"pair_bonus_community_card": fourth} if common else {"fourth": fourth}
            settlement = dealt(cards, "Qc 7d 3h", wagers, choices=choices, **card)
            if times:
                assert settlement.worth("pair_bonus") == won(times)
                assert settlement.of("pair_bonus").rule == rule
            else:
                assert settlement.worth("pair_bonus") == LOST
                assert settlement.of("pair_bonus").rule == "679a.11(d)(2)(i)"


@pytest.mark.section("679a.11(d)(2)(ii)")
@pytest.mark.reading("P5")
def test_a_community_card_goes_before_a_fourth_card_of_ones_own() -> None:
    boxes = [box(1, "Ks Kd 4s", MAIN | {"pair_bonus": ANTE}, fourth_card="9d")]
    common: JSON = {"pair_bonus_community_card": "2d"}
    settlement = settled(GAME, boxes, QUEEN_HIGH, paytables=CHOICES, **common)
    assert settlement.of("pair_bonus").rule == "679a.12(f)"


@pytest.mark.section("679a.11(d)(3)", "679a.11(d)(3)(i)")
def test_all_six_loses_below_three_of_a_kind() -> None:
    settlement = dealt("As Ad 9h", "Qc Qd 2h", MAIN | {"all_six": ANTE})
    assert settlement.worth("all_six") == LOST
    assert settlement.of("all_six").rule == "679a.11(d)(3)(i)"


@pytest.mark.section("679a.12(h)")
@pytest.mark.reading("G6")
@pytest.mark.reading("P6")
def test_a_payout_limit_cuts_ante_and_play_alone_and_per_player() -> None:
    ten_thousand = 1_000_000
    wagers = {
        "ante": ten_thousand,
        "play": ten_thousand,
        "prime": ten_thousand,
        "pair_bonus": ten_thousand,
    }
    boxes = [
        box(1, "Ks Qs Js", wagers, patron="p1", fourth_card="2d"),
        box(2, "9s 9h 9d", wagers, patron="p1", fourth_card="3d"),
        box(3, "5s 5h 5d", wagers, patron="p3", fourth_card="3s"),
    ]
    choices = {**CHOICES, "payout_limit": FIFTY_THOUSAND}
    settlement = settled(GAME, boxes, QUEEN_HIGH, paytables=choices)
    # Player p3: 10,000 on Ante, and 40,000 of the 50,000 due on Play.
    assert settlement.worth("ante", 3) == won(1, ten_thousand)
    assert settlement.worth("play", 3) == ("paid", 4 * ten_thousand, ten_thousand)
    # Player p1 uses up their limit at position 2, so position 1 is paid only on wagers such as
    # Prime.
    assert settlement.worth("play", 2) == ("paid", 4 * ten_thousand, ten_thousand)
    assert settlement.worth("ante", 1) == ("paid", 0, ten_thousand)
    assert settlement.worth("play", 1) == ("paid", 0, ten_thousand)
    assert settlement.worth("prime", 1) == won(3, ten_thousand)
    assert settlement.worth("pair_bonus", 1) == won(80, ten_thousand)


@pytest.mark.section("679a.12(h)")
@pytest.mark.reading("G6")
def test_payouts_below_a_payout_limit_count_toward_it() -> None:
    ten_thousand = 1_000_000
    boxes = [
        box(1, "5s 5h Kd", {"ante": 2 * ten_thousand, "play": 2 * ten_thousand}, patron="p1"),
        box(2, "9s 9h Kc", {"ante": ten_thousand, "play": ten_thousand}, patron="p1"),
    ]
    choices = {**CHOICES, "payout_limit": FIFTY_THOUSAND}
    settlement = settled(GAME, boxes, QUEEN_HIGH, paytables=choices)
    # Position 2 uses 20,000 of the limit, and the Ante of position 1 uses 20,000 more.
    assert settlement.worth("play", 2) == won(1, ten_thousand)
    assert settlement.worth("ante", 1) == won(1, 2 * ten_thousand)
    assert settlement.worth("play", 1) == ("paid", ten_thousand, 2 * ten_thousand)


@pytest.mark.section("679a.12(h)")
def test_a_payout_limit_leaves_a_bad_beat_bonus_alone() -> None:
    ten_thousand = 1_000_000
    wagers = {"ante": ten_thousand, "play": ten_thousand}
    choices = {**CHOICES, "payout_limit": FIFTY_THOUSAND}
    settlement = dealt("Ks Qs Js", "Ah Kh Qh", wagers, choices=choices)
    assert settlement.worth("play") == won(12, ten_thousand)


@pytest.mark.section("679a.12(h)")
def test_a_payout_limit_below_50_000_dollars_is_refused() -> None:
    choices = {**CHOICES, "payout_limit": FIFTY_THOUSAND - 1}
    with pytest.raises(ValueError, match=r"679a\.12\(h\)"):
        dealt("Ks Qs Js", choices=choices)


@pytest.mark.section("679a.13(a)", "679a.13(c)", "679a.13(f)")
def test_a_void_round_returns_every_wager() -> None:
    wagers = {"ante": ANTE} | OPTIONAL
    boxes = [box(1, None, wagers), box(2, None, MAIN | OPTIONAL)]
    settlement = settled(GAME, boxes, None, paytables=CHOICES, irregularity="void")
    assert len(settlement.lines) == 9
    for line in settlement.lines:
        assert (line.outcome, line.paid, line.returned) == PUSHED
        assert line.rule == "679a.13"


@pytest.mark.section("679a.13(d)")
@pytest.mark.reading("P8")
def test_an_exposed_dealers_card_returns_ante_and_play_and_settles_the_rest() -> None:
    boxes = [
        box(1, "9s 9h 4d", {"ante": ANTE} | OPTIONAL, folded=True, fourth_card="2d"),
        box(2, "Ks 8c 4s", MAIN | OPTIONAL, fourth_card="3s"),
    ]
    settlement = settled(GAME, boxes, "9d 7d 2h", paytables=CHOICES, irregularity="dealer_exposed")
    assert settlement.worth("ante", 2) == PUSHED
    assert settlement.worth("play", 2) == PUSHED
    assert settlement.worth("prime", 2) == won(3)
    assert settlement.worth("pair_bonus", 2) == LOST
    assert settlement.worth("all_six", 2) == LOST
    assert settlement.worth("ante", 1) == PUSHED
    assert settlement.of("ante", 1).rule == "679a.13(d)"
    assert settlement.worth("prime", 1) == LOST
    assert settlement.worth("pair_bonus", 1) == won(1)
    assert settlement.worth("all_six", 1) == won(5)
