"""Chapter 649a by subsection, through the public interface: wagers that feed no meter.

Wagers are $10 unless a test says otherwise. The dealer's Q-7-2 is the lowest kind of hand that
plays; J-7-2 is below it.
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

GAME = "three_card_poker"
CHOICES: Mapping[str, object] = {"ante_bonus": "b-A", "pair_plus": "A", "six_card_bonus": "E"}
MAIN = {"ante": ANTE, "play": ANTE}
QUEEN_HIGH = "Qc 7d 2h"
JACK_HIGH = "Jc 7d 2h"


def dealt(
    cards: str,
    dealer: str = QUEEN_HIGH,
    wagers: Mapping[str, int] = MAIN,
    *,
    choices: Mapping[str, object] = CHOICES,
    **more: object,
) -> SettlementText:
    return settled(GAME, [box(1, cards, wagers)], dealer, paytables=choices, **more)


LADDER = [
    "As Ks Qs",  # the highest straight flush
    "Kh Qh Jh",
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


@pytest.mark.section("649a.6(b)", "649a.6(b)(1)", "649a.6(b)(2)", "649a.6(b)(3)", "649a.6(b)(4)")
@pytest.mark.section("649a.6(b)(5)")
@pytest.mark.parametrize("rung", range(len(LADDER) - 1), ids=lambda rung: LADDER[rung])
def test_each_hand_outranks_the_next(rung: int) -> None:
    higher, lower = LADDER[rung], LADDER[rung + 1]
    assert dealt(higher, lower).worth("play") == won(1)
    assert dealt(lower, higher).worth("play") == LOST


@pytest.mark.section("649a.6(a)")
def test_an_ace_is_low_with_2_and_3_and_in_no_other_run() -> None:
    wagers = MAIN | {"pair_plus": ANTE}
    assert dealt("As 2s 3c", wagers=wagers).worth("pair_plus") == won(6)
    assert dealt("Ks Ah 2c", wagers=wagers).worth("pair_plus") == LOST


@pytest.mark.section("649a.6(a)")
def test_suits_are_equal() -> None:
    assert dealt("As Kh 9s", "Ac Kd 9h").worth("ante") == PUSHED
    assert dealt("Ac Kd 9h", "As Kh 9s").worth("ante") == PUSHED


@pytest.mark.section("649a.6(c)")
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
    assert dealt(higher, lower).worth("play") == won(1)
    assert dealt(lower, higher).worth("play") == LOST


SIX_CARDS = [
    ("Ad Kd Qd", "9d Jd Td", "super_royal_diamonds", None),
    ("Ah Kh Qh", "9h Jh Th", "super_royal", None),
    ("Ah Kh Qh", "8h Jh Th", "royal_flush", (1_000, 1_000, 1_000, 1_000, 1_000)),
    ("9s 8s 7s", "Qd 6s 5s", "straight_flush", (200, 200, 200, 200, 200)),
    ("9s 9h 9d", "Qd 9c 5s", "four_of_a_kind", (50, 100, 100, 50, 50)),
    ("9s 9h 9d", "4d Qc Qs", "full_house", (25, 20, 20, 25, 20)),
    ("Ks 8s 2s", "Qd 4s Ts", "flush", (20, 15, 15, 15, 15)),
    ("6s 5h 4d", "Qd 3c 2s", "straight", (10, 9, 10, 10, 10)),
    ("8s 8h 4d", "Qd 8c 2s", "three_of_a_kind", (5, 8, 7, 5, 5)),
]


@pytest.mark.section("649a.6(d)", "649a.6(d)(1)", "649a.6(d)(2)", "649a.6(d)(3)", "649a.6(d)(4)")
@pytest.mark.section("649a.6(d)(5)", "649a.6(d)(6)", "649a.6(d)(7)", "649a.6(d)(8)")
@pytest.mark.section("649a.7(d)(5)", "649a.11(c)(6)", "649a.12(f)")
@pytest.mark.reading("T5")
@pytest.mark.parametrize(("cards", "dealer", "hand", "times"), SIX_CARDS)
def test_six_card_bonus_is_paid_on_the_best_of_six_cards(
    cards: str, dealer: str, *, hand: str, times: tuple[int, ...] | None
) -> None:
    for index, letter in enumerate("ABCDE"):
        choices = {**CHOICES, "six_card_bonus": letter}
        settlement = dealt(cards, dealer, MAIN | {"six_card_bonus": ANTE}, choices=choices)
        line = settlement.of("six_card_bonus")
        assert line.rule == "649a.12(f)"
        if times:
            assert line.hand == hand
            assert settlement.worth("six_card_bonus") == won(times[index])
        elif letter == "E":
            sum_cents = 100_000_000 if hand == "super_royal_diamonds" else 10_000_000
            assert line.hand == hand
            assert settlement.worth("six_card_bonus") == ("paid", sum_cents, ANTE)
        else:
            assert line.hand == "royal_flush"
            assert settlement.worth("six_card_bonus") == won(1_000)


@pytest.mark.section("649a.7(d)(5)", "649a.11(c)(6)")
def test_six_card_bonus_loses_below_three_of_a_kind_and_may_win_if_the_ante_is_lost() -> None:
    wagers = MAIN | {"pair_plus": ANTE, "six_card_bonus": ANTE}
    lost = dealt("As Ad 9h", "Qc Qd 2h", wagers)
    assert lost.worth("six_card_bonus") == LOST
    assert lost.of("six_card_bonus").rule == "649a.11(c)(6)"
    beaten = dealt("8s 7h 4d", "8c 8h Qd", wagers)
    assert [beaten.worth(item) for item in ("ante", "pair_plus")] == [LOST, LOST]
    assert beaten.worth("six_card_bonus") == won(5)


@pytest.mark.section("649a.7(d)(5)")
def test_six_card_bonus_goes_with_an_ante_or_a_pair_plus() -> None:
    only = {"pair_plus": ANTE, "six_card_bonus": ANTE}
    assert dealt("8s 7h 4d", "8c 8h Qd", only).worth("six_card_bonus") == won(5)
    boxes = [box(1, "8s 7h 4d", {"six_card_bonus": ANTE})]
    refused("wager_missing", "649a.7(d)(5)", GAME, boxes, QUEEN_HIGH, paytables=CHOICES)


@pytest.mark.section("649a.6(e)", "649a.12(g)", "649a.12(g)(1)", "649a.12(g)(2)")
@pytest.mark.reading("T4")
def test_a_mini_royal_is_paid_above_a_straight_flush_where_it_is_offered() -> None:
    wagers = MAIN | {"pair_plus": ANTE}
    offered = {**CHOICES, "mini_royal": {"ante_bonus": 7, "pair_plus": 50}}
    royal = dealt("Ah Kh Qh", wagers=wagers, choices=offered)
    assert (royal.of("ante_bonus").paid, royal.of("pair_plus").paid) == (7 * ANTE, 50 * ANTE)
    assert royal.of("ante_bonus").rule == "649a.12(g)(1)"
    assert royal.of("pair_plus").rule == "649a.12(g)(2)"
    straight_flush = dealt("Kh Qh Jh", wagers=wagers, choices=offered)
    assert straight_flush.of("ante_bonus").paid == 5 * ANTE
    assert straight_flush.of("pair_plus").paid == 35 * ANTE
    without = dealt("Ah Kh Qh", wagers=wagers)
    assert (without.of("ante_bonus").paid, without.of("pair_plus").paid) == (5 * ANTE, 35 * ANTE)
    unsuited = dealt("Ah Kd Qh", wagers=wagers, choices=offered)
    assert (unsuited.of("ante_bonus").paid, unsuited.of("pair_plus").paid) == (ANTE, 6 * ANTE)


@pytest.mark.section("649a.12(g)", "649a.12(g)(1)", "649a.12(g)(2)")
@pytest.mark.reading("T4")
@pytest.mark.parametrize(
    ("item", "least", "rule"),
    [("ante_bonus", 5, r"649a\.12\(g\)\(1\)"), ("pair_plus", 40, r"649a\.12\(g\)\(2\)")],
)
def test_a_mini_royal_has_least_odds(item: str, least: int, rule: str) -> None:
    wagers = MAIN | {"pair_plus": ANTE}
    at_least = {**CHOICES, "mini_royal": {item: least}}
    assert dealt("Ah Kh Qh", wagers=wagers, choices=at_least).of(item).paid == least * ANTE
    with pytest.raises(ValueError, match=rule):
        dealt("Ah Kh Qh", choices={**CHOICES, "mini_royal": {item: least - 1}})


@pytest.mark.section("649a.7(d)", "649a.7(d)(1)")
def test_a_play_equals_the_ante() -> None:
    for play in (ANTE - 1, ANTE + 1, 2 * ANTE):
        boxes = [box(1, "As 9h 2c", {"ante": ANTE, "play": play})]
        refused("wrong_amount", "649a.7(d)(1)", GAME, boxes, QUEEN_HIGH, paytables=CHOICES)


@pytest.mark.section("649a.7(d)", "649a.7(d)(2)")
def test_a_pair_plus_may_be_the_only_wager() -> None:
    settlement = dealt("9s 9h 2c", wagers={"pair_plus": ANTE})
    assert settlement.items() == [(1, "pair_plus")]
    assert settlement.worth("pair_plus") == won(1)


@pytest.mark.section("649a.7(d)", "649a.7(d)(3)")
def test_ante_and_pair_plus_may_be_of_different_amounts() -> None:
    settlement = dealt("9s 9h 2c", wagers=MAIN | {"pair_plus": 7 * ANTE})
    assert settlement.worth("ante") == won(1)
    assert settlement.worth("pair_plus") == won(1, 7 * ANTE)


@pytest.mark.section("649a.7(e)", "649a.7(e)(1)", "649a.7(e)(2)", "649a.7(e)(3)")
@pytest.mark.parametrize(
    ("version", "ante", "pair_plus", "allowed"),
    [
        ("1", 1000, 1000, True),
        ("1", 1000, 0, True),
        ("1", 1000, 1001, False),
        ("1", 0, 1000, False),
        ("2", 1000, 2000, True),
        ("2", 1000, 0, True),
        ("2", 1000, 2001, False),
        ("2", 0, 1000, False),
        ("3", 1000, 5000, True),
        ("3", 5000, 1000, True),
        ("3", 1000, 5001, False),
        ("3", 5001, 1000, False),
        ("3", 1000, 0, False),
        ("3", 0, 1000, False),
    ],
)
def test_the_versions_bound_one_wager_by_the_other(
    version: str, ante: int, pair_plus: int, *, allowed: bool
) -> None:
    amounts = {"ante": ante, "play": ante, "pair_plus": pair_plus}
    wagers = {wager: cents for wager, cents in amounts.items() if cents}
    choices = {**CHOICES, "ante_bonus": "c-A", "version": version}
    if allowed:
        settlement = dealt("9s 9h 2c", wagers=wagers, choices=choices)
        assert settlement.worth("ante") == won(1, ante)
    else:
        boxes = [box(1, "9s 9h 2c", wagers)]
        rule = f"649a.7(e)({version})"
        refused("wrong_amount", rule, GAME, boxes, QUEEN_HIGH, paytables=choices)


@pytest.mark.section("649a.11(b)", "649a.11(b)(1)")
def test_a_fold_forfeits_ante_and_pair_plus() -> None:
    boxes = [box(1, None, {"ante": ANTE, "pair_plus": ANTE}, folded=True)]
    settlement = settled(GAME, boxes, QUEEN_HIGH, paytables=CHOICES)
    assert settlement.worth("ante") == LOST
    assert settlement.worth("pair_plus") == LOST
    assert settlement.of("pair_plus").rule == "649a.11(b)(1)"


@pytest.mark.section("649a.11(b)(3)")
@pytest.mark.reading("T6")
@pytest.mark.parametrize("pair_plus", [{}, {"pair_plus": ANTE}], ids=["alone", "with Pair Plus"])
def test_a_fold_leaves_a_six_card_bonus(pair_plus: Mapping[str, int]) -> None:
    wagers = {"ante": ANTE, "six_card_bonus": ANTE, **pair_plus}
    boxes = [box(1, "8s 8h 4d", wagers, folded=True)]
    settlement = settled(GAME, boxes, "8c Jd Qd", paytables=CHOICES)
    assert settlement.worth("ante") == LOST
    assert settlement.worth("six_card_bonus") == won(5)


@pytest.mark.section("649a.11(b)")
@pytest.mark.parametrize(
    ("wagers", "folded", "code"),
    [(MAIN, True, "after_fold"), ({"ante": ANTE}, False, "undecided")],
)
def test_an_ante_is_followed_or_forfeited(
    wagers: Mapping[str, int], *, folded: bool, code: str
) -> None:
    boxes = [box(1, "As 9h 2c", wagers, folded=folded)]
    refused(code, "649a.11(b)", GAME, boxes, QUEEN_HIGH, paytables=CHOICES)


@pytest.mark.section("649a.11(c)")
@pytest.mark.reading("G1")
def test_players_are_settled_from_the_dealers_right_each_in_the_chapters_order() -> None:
    wagers = MAIN | {"pair_plus": ANTE, "six_card_bonus": ANTE}
    boxes = [box(2, "9d 9h 9c", wagers), box(5, "Ks Kc 4s", wagers)]
    assert settled(GAME, boxes, QUEEN_HIGH, paytables=CHOICES).items() == [
        *((5, item) for item in ("ante", "play", "pair_plus", "six_card_bonus")),
        *((2, item) for item in ("ante", "play", "ante_bonus", "pair_plus", "six_card_bonus")),
    ]


@pytest.mark.section("649a.11(c)(2)")
def test_the_players_highest_hand_counts_in_whatever_order_it_lies() -> None:
    for cards in ("3c As 2d", "2d 3c As", "As 2d 3c"):
        assert dealt(cards).of("ante_bonus").hand == "straight"


@pytest.mark.section("649a.11(c)(3)", "649a.11(c)(3)(i)")
@pytest.mark.reading("T26")
@pytest.mark.parametrize("cards", ["4s 5d 8c", "Ah Ad 5s", "Js 7c 2s"])
def test_a_dealer_below_queen_pays_ante_and_returns_play(cards: str) -> None:
    settlement = dealt(cards, JACK_HIGH)
    assert settlement.worth("ante") == won(1)
    assert settlement.worth("play") == PUSHED
    assert settlement.of("play").rule == "649a.11(c)(3)(i)"


@pytest.mark.section("649a.11(c)(3)(i)", "649a.11(c)(3)(ii)")
def test_the_lowest_queen_high_plays_and_the_highest_jack_high_does_not() -> None:
    assert dealt("As Ks 9h", "Qc 3d 2h").worth("play") == won(1)
    assert dealt("As Ks 9h", "Jc Td 8h").worth("play") == PUSHED


@pytest.mark.section("649a.11(c)(3)(ii)", "649a.11(c)(3)(ii)(A)")
def test_a_lower_hand_loses_both() -> None:
    settlement = dealt("Js Tc 8h")
    assert settlement.worth("ante") == LOST
    assert settlement.worth("play") == LOST
    assert settlement.of("ante").rule == "649a.11(c)(3)(ii)(A)"


@pytest.mark.section("649a.11(c)(3)(ii)", "649a.11(c)(3)(ii)(B)", "649a.12(a)")
def test_a_higher_hand_wins_1_to_1_on_both() -> None:
    settlement = dealt("As Tc 8h")
    assert settlement.worth("ante") == won(1)
    assert settlement.worth("play") == won(1)
    assert settlement.of("ante").rule == settlement.of("play").rule == "649a.12(a)"


@pytest.mark.section("649a.11(c)(3)(ii)", "649a.11(c)(3)(ii)(C)")
def test_an_equal_hand_returns_both() -> None:
    settlement = dealt("Qs 7c 2s")
    assert settlement.worth("ante") == PUSHED
    assert settlement.worth("play") == PUSHED
    assert settlement.of("ante").rule == "649a.11(c)(3)(ii)(C)"


@pytest.mark.section("649a.11(c)(3)(ii)(B)", "649a.12(b)")
@pytest.mark.reading("T1")
@pytest.mark.parametrize(
    ("cards", "times"),
    [
        ("As Ks Qs", (5, 5, 4)),
        ("9s 8s 7s", (5, 5, 4)),
        ("9s 9h 9d", (4, 3, 3)),
        ("9s 8h 7c", (1, 1, 1)),
        ("Ks 9s 4s", (0, 0, 0)),
    ],
)
@pytest.mark.parametrize("dealer", [QUEEN_HIGH, JACK_HIGH, "Tc Th Td", "Ad Kd Qd"])
def test_an_ante_bonus_is_paid_whatever_the_dealer_has(
    cards: str, times: tuple[int, ...], dealer: str
) -> None:
    for letter, odds in zip("ABC", times, strict=True):
        settlement = dealt(cards, dealer, choices={**CHOICES, "ante_bonus": f"b-{letter}"})
        if odds:
            assert settlement.worth("ante_bonus") == ("paid", odds * ANTE, 0)
            assert settlement.of("ante_bonus").rule == "649a.12(b)"
        else:
            assert settlement.items() == [(1, "ante"), (1, "play")]


@pytest.mark.section("649a.12(c)")
@pytest.mark.reading("T2")
@pytest.mark.reading("T3")
@pytest.mark.parametrize(
    ("cards", "times"),
    [
        ("As Ks Qs", (50, 50, 50)),
        ("Ah Kh Qh", (5, 50, 10)),
        ("9s 8s 7s", (4, 8, 6)),
        ("9s 9h 9d", (3, 6, 3)),
        ("9s 8h 7c", (1, 0, 0)),
    ],
)
def test_the_other_ante_bonus_goes_with_a_version(cards: str, times: tuple[int, ...]) -> None:
    for letter, odds in zip("ABC", times, strict=True):
        choices = {**CHOICES, "ante_bonus": f"c-{letter}"}
        settlement = dealt(cards, "Tc Th Td", choices={**choices, "version": "1"})
        if odds:
            assert settlement.worth("ante_bonus") == ("paid", odds * ANTE, 0)
            assert settlement.of("ante_bonus").rule == "649a.12(c)"
        else:
            assert (1, "ante_bonus") not in settlement.items()
        with pytest.raises(ValueError, match=r"649a\.12\(c\)"):
            dealt(cards, choices=choices)


@pytest.mark.section("649a.12(b)", "649a.12(c)", "649a.7(e)")
@pytest.mark.reading("T2")
@pytest.mark.parametrize("version", ["1", "2", "3"])
def test_a_table_with_a_version_has_no_ante_bonus_of_the_other_game(version: str) -> None:
    for letter in "ABC":
        choices = {**CHOICES, "ante_bonus": f"b-{letter}", "version": version}
        with pytest.raises(ValueError, match=r"649a\.12\(c\): choose c-A, c-B or c-C"):
            dealt("9s 8h 7c", wagers=MAIN | {"pair_plus": ANTE}, choices=choices)


@pytest.mark.section("649a.11(c)(4)", "649a.12(d)", "649a.7(d)(2)")
@pytest.mark.parametrize(
    ("cards", "times"),
    [
        ("As Ks Qs", (35, 40, 40, 40, 40)),
        ("9s 8s 7s", (35, 40, 40, 40, 40)),
        ("9s 9h 9d", (25, 30, 30, 30, 25)),
        ("9s 8h 7c", (6, 5, 6, 6, 6)),
        ("Ks 9s 4s", (4, 4, 3, 4, 4)),
        ("Ks Kd 4s", (1, 1, 1, 1, 1)),
        ("Ks Qd 4s", (0, 0, 0, 0, 0)),
    ],
)
@pytest.mark.parametrize("dealer", [QUEEN_HIGH, "Ac Ah Ad"], ids=["queen high", "three aces"])
def test_pair_plus_goes_by_the_players_hand_alone(
    cards: str, times: tuple[int, ...], dealer: str
) -> None:
    for letter, odds in zip("ABCDE", times, strict=True):
        choices = {**CHOICES, "pair_plus": letter}
        settlement = dealt(cards, dealer, MAIN | {"pair_plus": ANTE}, choices=choices)
        assert settlement.worth("pair_plus") == (won(odds) if odds else LOST)
        assert settlement.of("pair_plus").rule == ("649a.12(d)" if odds else "649a.11(c)(4)")


@pytest.mark.section("649a.13(a)", "649a.13(c)", "649a.13(d)", "649a.13(f)")
@pytest.mark.reading("T28")
@pytest.mark.parametrize("irregularity", ["void", "dealer_exposed"])
def test_a_void_round_returns_every_wager(irregularity: str) -> None:
    wagers = {"ante": ANTE, "pair_plus": ANTE, "six_card_bonus": ANTE, "progressive": 100}
    boxes = [box(1, None, wagers), box(2, None, wagers | MAIN)]
    # Each of the two had added 14 cents to the meter.
    meters: JSON = {"progressive": {"wager": 100, "amount": 150_028}}
    settlement = settled(
        GAME,
        boxes,
        None,
        paytables={**CHOICES, "progressive": "A"},
        meters=meters,
        irregularity=irregularity,
    )
    assert len(settlement.lines) == 9
    for line in settlement.lines:
        assert (line.outcome, line.paid, line.returned) == ("returned", 0, line.wagered)
    assert settlement.meters["progressive"].amount == 150_000


@pytest.mark.section("649a.12")
@pytest.mark.reading("T27")
def test_there_is_no_payout_limit() -> None:
    with pytest.raises(ValueError, match="payout_limit"):
        dealt("9s 9h 2c", choices={**CHOICES, "payout_limit": 5_000_000})
