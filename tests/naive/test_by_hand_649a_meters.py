"""Rounds of Three Card Poker with meters, worked by hand; both settlements must meet them."""

import pytest

from tests.naive.by_hand import POKER_PAYTABLES, Settler, both, box, check_lines, folded, poker
from tests.naive.shapes import Box, Draw

NO_BONUS_DRAWN: Draw = {"magic_card": None, "lucky_position": None}


def wagering(made: Box, wager: str) -> Box:
    """Make a position with one more wager, of a dollar."""
    made["wagers"][wager] = 100
    return made


@both
@pytest.mark.section("649a.12(e)(1)")
@pytest.mark.parametrize(("choice", "end"), [("A", "paid 600+0"), ("B", "collected")])
def test_progressive_straight_is_in_one_table_only(settler: Settler, choice: str, end: str) -> None:
    played = poker(
        "Kh 9c 2d", box(1, "6s 5d 4c", pair_plus=500, progressive=100),
        paytables={"pair_plus": "B", "progressive": choice},
        meters={"progressive": {"wager": 100, "amount": 100_014}},
    )  # fmt: skip
    meters = check_lines(
        settler, played, "1 pair_plus 500 paid 2500+500", f"1 progressive 100 {end}"
    )
    assert meters == {"progressive": {"amount": 100_014}}


@both
@pytest.mark.section("649a.12(e)(1)", "649a.12(e)(3)", "649a.12(e)(5)", "649a.11(c)(5)(v)")
@pytest.mark.reading("T9", "T15", "T10")
def test_whole_meter_and_envy_but_not_for_the_patrons_other_box(settler: Settler) -> None:
    played = poker(
        "Jd 9c 2d",
        box(4, "As Ks Qs", patron="p1", pair_plus=100, progressive=500),
        box(3, "2s 4d 7c", patron="p1", pair_plus=100, progressive=500),
        box(2, "Ah Kh Qh", patron="p2", pair_plus=100),
        folded(1, None, patron="p3", ante=100, progressive=500),
        meters={"progressive": {"wager": 500, "amount": 777_777}},
    )
    meters = check_lines(
        settler, played,
        "4 pair_plus 100 paid 3500+100", "4 progressive 500 paid 777777+0 hand_pay 100%",
        "1 progressive_envy 500 paid 50000+0 envy of 4",
        "3 pair_plus 100 collected", "3 progressive 500 collected",
        "2 pair_plus 100 paid 3500+100",
        "4 progressive_envy 500 paid 12500+0 envy of 2",
        "3 progressive_envy 500 paid 12500+0 envy of 2",
        "1 progressive_envy 500 paid 12500+0 envy of 2",
        "1 ante 100 collected", "1 progressive 500 collected",
    )  # fmt: skip
    assert meters == {"progressive": {"amount": 500_000}}


@both
@pytest.mark.section("649a.11(c)", "649a.11(b)(2)")
@pytest.mark.reading("T7", "T8")
def test_folded_cards_that_stay_cause_envy_and_others_do_not(settler: Settler) -> None:
    played = poker(
        "Jd 9c 2d",
        folded(3, "Ad Kd Qd", ante=100, progressive=100),
        folded(2, "Ah Kh Qh", ante=100, progressive=100, six_card_bonus=100),
        box(1, "6s 5s 3h", ante=100, play=100, progressive=100),
        meters={"progressive": {"wager": 100, "amount": 100_042}},
    )
    check_lines(
        settler, played,
        "3 ante 100 collected", "3 progressive 100 collected",
        "2 ante 100 collected", "2 progressive 100 collected",
        "3 progressive_envy 100 paid 2500+0 envy of 2",
        "1 progressive_envy 100 paid 2500+0 envy of 2",
        "2 six_card_bonus 100 collected",
        "1 ante 100 paid 100+100", "1 play 100 returned", "1 progressive 100 collected",
    )  # fmt: skip


@both
@pytest.mark.section("649a.12(h)(1)", "649a.12(h)(4)", "649a.12(h)(5)", "649a.11(c)(7)(v)")
@pytest.mark.reading("T11", "T13", "G3")
def test_two_straight_flushes_take_a_tenth_one_after_the_other(settler: Settler) -> None:
    played = poker(
        "Jd 9c 2d",
        box(3, "7h 6h 5h", pair_plus=100, five_card_progressive=100),
        box(2, "Jh Qh Th", pair_plus=100, five_card_progressive=100),
        box(1, "8d 8c 2c", pair_plus=100, five_card_progressive=100),
        community="9h 8h",
        meters={"five_card_progressive": {"wager": 100, "amount": 1_000_005}},
    )
    meters = check_lines(
        settler, played,
        "3 pair_plus 100 paid 3500+100",
        "3 five_card_progressive 100 paid 100000+0 hand_pay 10%",
        "2 five_card_envy 100 paid 30000+0 envy of 3",
        "1 five_card_envy 100 paid 30000+0 envy of 3",
        "2 pair_plus 100 paid 3500+100",
        "2 five_card_progressive 100 paid 90000+0 hand_pay 10%",
        "3 five_card_envy 100 paid 30000+0 envy of 2",
        "1 five_card_envy 100 paid 30000+0 envy of 2",
        "1 pair_plus 100 paid 100+100", "1 five_card_progressive 100 paid 900+0",
    )  # fmt: skip
    assert meters == {"five_card_progressive": {"amount": 810_005}}


@both
@pytest.mark.section("649a.12(j)(1)", "649a.12(j)(5)", "649a.11(c)(9)")
@pytest.mark.reading("T7")
@pytest.mark.parametrize(
    ("suit", "win", "envy", "after"),
    [
        ("h", "paid 250000+0 hand_pay 25%", 25_000, 750_001),
        ("s", "paid 1000001+0 hand_pay 100%", 50_000, 5_000_000),
    ],
)
def test_five_of_six_royal_of_a_folder(
    settler: Settler, suit: str, win: str, envy: int, after: int
) -> None:
    played = poker(
        f"J{suit} T{suit} 2c",
        folded(2, f"A{suit} K{suit} Q{suit}", ante=100, five_of_six_progressive=500),
        folded(1, "Jd Jc 2d", ante=100, five_of_six_progressive=500),
        meters={"five_of_six_progressive": {"wager": 500, "amount": 1_000_001}},
    )
    meters = check_lines(
        settler, played,
        "2 ante 100 collected", f"2 five_of_six_progressive 500 {win}",
        f"1 five_of_six_envy 500 paid {envy}+0 envy of 2",
        "1 ante 100 collected", "1 five_of_six_progressive 500 paid 10000+0",
    )  # fmt: skip
    assert meters == {"five_of_six_progressive": {"amount": after}}


@both
@pytest.mark.section("649a.12(i)(1)", "649a.12(i)(3)", "649a.12(i)(4)")
@pytest.mark.reading("T19", "T20", "T21")
def test_hand_bonus_of_the_whole_meter_magic_and_lucky(settler: Settler) -> None:
    played = poker(
        "Jd 9c 2d",
        box(2, "As Ks Qs", pair_plus=100, five_card_hand_bonus=100,
            five_card_hand_bonus_dealer=100),
        folded(1, "3s 3d 2c", ante=100, five_card_hand_bonus=100),
        community="Js Ts",
        draw={"magic_card": "Ts", "lucky_position": 2},
        meters={"five_card_hand_bonus": {"wager": 100, "amount": 1_234_567, "reserve": 30_024}},
    )  # fmt: skip
    meters = check_lines(
        settler, played,
        "2 pair_plus 100 paid 3500+100",
        "2 five_card_hand_bonus 100 paid 1234567+0 hand_pay 100%",
        "2 five_card_hand_bonus_dealer 100 collected",
        "2 magic_card 100 paid 2000+0 game_account on player",
        "2 magic_card 100 paid 2000+0 game_account on dealer",
        "2 lucky_bonus 100 paid 500+0 game_account on player",
        "1 ante 100 collected", "1 five_card_hand_bonus 100 collected",
        "1 magic_card 100 paid 2000+0 game_account on player",
    )  # fmt: skip
    assert meters == {"five_card_hand_bonus": {"amount": 30_024, "reserve": 0}}


@both
@pytest.mark.section("649a.12(i)(2)")
@pytest.mark.reading("T17", "T20", "G3")
def test_dealers_straight_flush_is_divided_among_patrons(settler: Settler) -> None:
    played = poker(
        "7h 6h 5h",
        box(4, "As Kd 9s", patron="p2", pair_plus=100, five_card_hand_bonus_dealer=100),
        box(3, "Ks Td 9d", patron="p2", pair_plus=100, five_card_hand_bonus_dealer=100),
        folded(2, "2s 3d Jc", patron="p1", ante=100, five_card_hand_bonus_dealer=100),
        box(1, "2d 3c Jd", pair_plus=100, five_card_hand_bonus_dealer=100),
        community="9h 8h",
        draw={"magic_card": None, "lucky_position": "dealer"},
        meters={"five_card_hand_bonus": {"wager": 100, "amount": 1_000_001, "reserve": 7}},
    )
    share = "five_card_hand_bonus_dealer 100 paid 33333+0 hand_pay 10%"
    lucky = "lucky_bonus 100 paid 500+0 game_account on dealer"
    meters = check_lines(
        settler, played,
        "4 pair_plus 100 collected", f"4 {share}", f"4 {lucky}",
        "3 pair_plus 100 collected", "3 five_card_hand_bonus_dealer 100 collected", f"3 {lucky}",
        "2 ante 100 collected", f"2 {share}", f"2 {lucky}",
        "1 pair_plus 100 collected", f"1 {share}", f"1 {lucky}",
    )  # fmt: skip
    assert meters == {"five_card_hand_bonus": {"amount": 900_002, "reserve": 7}}


@both
@pytest.mark.section("649a.11(c)(8)", "649a.12(i)(2)")
@pytest.mark.reading("T18", "T16", "T12")
def test_own_straight_flush_comes_before_the_dealers(settler: Settler) -> None:
    played = poker(
        "7h 6h 5h",
        box(1, "Jh Qh Th", pair_plus=100, five_card_hand_bonus=100,
            five_card_hand_bonus_dealer=100, five_card_progressive=100),
        community="9h 8h",
        draw=NO_BONUS_DRAWN,
        meters={
            "five_card_hand_bonus": {"wager": 100, "amount": 1_000_000, "reserve": 16},
            "five_card_progressive": {"wager": 100, "amount": 2_000_000},
        },
    )  # fmt: skip
    meters = check_lines(
        settler, played,
        "1 pair_plus 100 paid 3500+100",
        "1 five_card_progressive 100 paid 200000+0 hand_pay 10%",
        "1 five_card_hand_bonus 100 paid 100000+0 hand_pay 10%",
        "1 five_card_hand_bonus_dealer 100 paid 90000+0 hand_pay 10%",
    )  # fmt: skip
    assert meters == {
        "five_card_hand_bonus": {"amount": 810_000, "reserve": 16},
        "five_card_progressive": {"amount": 1_800_000},
    }


@both
@pytest.mark.section("649a.13(c)", "649a.13(d)")
@pytest.mark.reading("T28")
@pytest.mark.parametrize("irregularity", ["void", "dealer_exposed"])
def test_everything_goes_back_and_off_the_meters(settler: Settler, irregularity: str) -> None:
    played = poker(
        "7h 6h 5h",
        box(2, "As Ks Qs", ante=300, play=300, pair_plus=100, progressive=100,
            six_card_bonus=200, five_card_hand_bonus=100, five_card_hand_bonus_dealer=100),
        folded(1, "2s 3d Jc", ante=300, progressive=100, five_of_six_progressive=500),
        community="9h 8h",
        paytables={**POKER_PAYTABLES, "progressive": "B"},
        draw={"magic_card": "As", "lucky_position": 2},
        meters={
            "progressive": {"wager": 100, "amount": 100_040},
            "five_of_six_progressive": {"wager": 500, "amount": 5_000_140},
            "five_card_hand_bonus": {"wager": 100, "amount": 1_000_042, "reserve": 16},
        },
        irregularity=irregularity,
    )  # fmt: skip
    meters = check_lines(
        settler, played,
        "2 ante 300 returned", "2 play 300 returned", "2 pair_plus 100 returned",
        "2 progressive 100 returned", "2 six_card_bonus 200 returned",
        "2 five_card_hand_bonus 100 returned", "2 five_card_hand_bonus_dealer 100 returned",
        "1 ante 300 returned", "1 progressive 100 returned",
        "1 five_of_six_progressive 500 returned",
    )  # fmt: skip
    assert meters == {
        "progressive": {"amount": 100_000},
        "five_of_six_progressive": {"amount": 5_000_000},
        "five_card_hand_bonus": {"amount": 1_000_000, "reserve": 0},
    }


@both
@pytest.mark.section("649a.12(h)(1)", "649a.12(h)(5)", "649a.6(d)(1)")
@pytest.mark.parametrize(("wager", "envy"), [(100, 100_000), (500, 500_000)])
def test_five_card_royal_takes_the_whole_meter(settler: Settler, wager: int, envy: int) -> None:
    played = poker(
        "Jd 9c 2d",
        box(2, "As Ks Qs", pair_plus=100, five_card_progressive=wager),
        box(1, "9s 8s 7s", pair_plus=100, five_card_progressive=wager),
        community="Js Ts",
        meters={"five_card_progressive": {"wager": wager, "amount": 9_876_543}},
    )
    reseed = 10_000 * wager
    envy_of_straight_flush = {100: 30_000, 500: 150_000}[wager]
    meters = check_lines(
        settler, played,
        "2 pair_plus 100 paid 3500+100",
        f"2 five_card_progressive {wager} paid 9876543+0 hand_pay 100%",
        f"1 five_card_envy {wager} paid {envy}+0 envy of 2",
        "1 pair_plus 100 paid 3500+100",
        f"1 five_card_progressive {wager} paid {reseed // 10}+0 hand_pay 10%",
        f"2 five_card_envy {wager} paid {envy_of_straight_flush}+0 envy of 1",
    )  # fmt: skip
    assert meters == {"five_card_progressive": {"amount": reseed - reseed // 10}}


@both
@pytest.mark.section("649a.12(i)(2)", "649a.12(i)(4)")
@pytest.mark.reading("T17", "T21", "G3")
def test_dealers_royal_divided_leaves_the_reserve_and_a_cent(settler: Settler) -> None:
    played = poker(
        "As Ks Qs",
        box(2, "9s 8s 7s", pair_plus=100, five_card_hand_bonus_dealer=100,
            five_card_hand_bonus=100),
        box(1, "2d 3c Jd", pair_plus=100, five_card_hand_bonus_dealer=100),
        community="Js Ts",
        meters={"five_card_hand_bonus": {"wager": 100, "amount": 1_000_001, "reserve": 2_000}},
    )  # fmt: skip
    # The own straight flush comes first and takes 100,000; half of 900,001 is 450,000.
    meters = check_lines(
        settler, played,
        "2 pair_plus 100 paid 3500+100",
        "2 five_card_hand_bonus 100 paid 100000+0 hand_pay 10%",
        "2 five_card_hand_bonus_dealer 100 paid 450000+0 hand_pay 100%",
        "1 pair_plus 100 collected",
        "1 five_card_hand_bonus_dealer 100 paid 450000+0 hand_pay 100%",
    )  # fmt: skip
    assert meters == {"five_card_hand_bonus": {"amount": 2_001, "reserve": 0}}


@both
@pytest.mark.section("649a.11(c)")
@pytest.mark.reading("T8")
@pytest.mark.parametrize(
    "bonus", ["five_card_hand_bonus", "five_card_hand_bonus_dealer", "five_of_six_progressive"]
)
def test_each_of_the_surviving_wagers_keeps_folded_cards(settler: Settler, bonus: str) -> None:
    meter = bonus.removesuffix("_dealer")
    played = poker(
        "Jd 9c 2d",
        wagering(folded(2, "Ac Kc Qc", ante=100), bonus),
        folded(1, None, ante=100, progressive=100),
        community="4h 5d" if "hand_bonus" in bonus else None,
        meters={
            "progressive": {"wager": 100, "amount": 100_014},
            meter: {"wager": 100, "amount": 1_000_029, "reserve": 8}
            if "hand_bonus" in meter
            else {"wager": 100, "amount": 1_000_029},
        },
    )
    check_lines(
        settler, played,
        "2 ante 100 collected", "1 progressive_envy 100 paid 2500+0 envy of 2",
        f"2 {bonus} 100 collected",
        "1 ante 100 collected", "1 progressive 100 collected",
    )  # fmt: skip


@both
@pytest.mark.section("649a.6(d)(5)", "649a.12(f)", "649a.12(j)(1)")
@pytest.mark.reading("T23")
@pytest.mark.parametrize(
    ("dealer", "cards", "six_card", "five_of_six"),
    [
        ("9h 8h 7s", "6h 5h 2h", 20, 10),
        ("9h 9s 7s", "9d 7h 7c", 25, 20),
        ("9h 2s 3s", "Ad 4h 5c", 10, 5),
        ("9h 2s 3s", "9d 4h 9c", 5, 0),
        ("Kh 2s 3s", "Ad Qh Jc", 0, 0),
        ("9h 8h 7h", "6h 5h 9c", 200, 250),
        ("9h 8h 9s", "9d 5h 9c", 50, 100),
    ],
)
def test_highest_five_of_six(
    settler: Settler, dealer: str, cards: str, six_card: int, five_of_six: int
) -> None:
    played = poker(
        dealer,
        folded(1, cards, ante=100, six_card_bonus=300, five_of_six_progressive=100),
        meters={"five_of_six_progressive": {"wager": 100, "amount": 1_000_028}},
    )
    six = f"paid {300 * six_card}+300" if six_card else "collected"
    five = f"paid {100 * five_of_six}+0" if five_of_six else "collected"
    check_lines(
        settler, played,
        "1 ante 100 collected", f"1 six_card_bonus 300 {six}",
        f"1 five_of_six_progressive 100 {five}",
    )  # fmt: skip


@both
@pytest.mark.section("649a.12(i)(1)", "649a.12(i)(4)")
@pytest.mark.reading("T21", "G3")
def test_a_tenth_of_an_almost_empty_meter_is_nothing(settler: Settler) -> None:
    played = poker(
        "Jd 9c 2d",
        box(2, "As Ks Qs", pair_plus=100, five_card_hand_bonus=333),
        box(1, "9s 8s 7s", pair_plus=100, five_card_hand_bonus=333),
        folded(3, "5s 6d 7c", ante=100, five_card_hand_bonus_dealer=333),
        community="Js Ts",
        meters={"five_card_hand_bonus": {"wager": 333, "amount": 3_330_139}},
    )
    meters = check_lines(
        settler, played,
        "3 ante 100 collected", "3 five_card_hand_bonus_dealer 333 collected",
        "2 pair_plus 100 paid 3500+100",
        "2 five_card_hand_bonus 333 paid 3330139+0 hand_pay 100%",
        "1 pair_plus 100 paid 3500+100",
        "1 five_card_hand_bonus 333 paid 0+0 hand_pay 10%",
    )  # fmt: skip
    assert meters == {"five_card_hand_bonus": {"amount": 0, "reserve": 0}}


@both
@pytest.mark.section("649a.13(c)", "649a.12(i)(4)")
@pytest.mark.reading("T28", "G3")
def test_fractions_of_a_cent_that_go_off_are_rounded_down(settler: Settler) -> None:
    played = poker(
        "Jd 9c 2d",
        box(1, "9s 8s 7s", pair_plus=100, five_card_hand_bonus=333),
        community="Js Ts",
        meters={"five_card_hand_bonus": {"wager": 333, "amount": 3_330_100, "reserve": 100}},
        irregularity="void",
    )
    meters = check_lines(
        settler, played, "1 pair_plus 100 returned", "1 five_card_hand_bonus 333 returned"
    )
    # 69.93 and 26.64 cents.
    assert meters == {"five_card_hand_bonus": {"amount": 3_330_030, "reserve": 73}}
