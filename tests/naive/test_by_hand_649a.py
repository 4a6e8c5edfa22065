"""Rounds of Three Card Poker worked by hand from the text; both settlements must meet them.

These rounds have no meter; the meters have a file of their own.
"""

import pytest

from tests.naive.by_hand import Settler, both, box, check_lines, folded, poker


@both
@pytest.mark.section("649a.11(c)(3)(ii)(B)")
def test_higher_than_a_queen(settler: Settler) -> None:
    played = poker("Qh 9c 4d", box(1, "As 7d 2c", ante=1000, play=1000))
    check_lines(settler, played, "1 ante 1000 paid 1000+1000", "1 play 1000 paid 1000+1000")


@both
@pytest.mark.section("649a.11(c)(3)(ii)(A)")
def test_lower_than_a_queen(settler: Settler) -> None:
    played = poker("Qh 9c 4d", box(1, "Qs 9d 3c", ante=1000, play=1000))
    check_lines(settler, played, "1 ante 1000 collected", "1 play 1000 collected")


@both
@pytest.mark.section("649a.11(c)(3)(ii)(C)")
def test_tie(settler: Settler) -> None:
    played = poker("Qh 9c 4d", box(1, "4c Qs 9d", ante=1000, play=1000))
    check_lines(settler, played, "1 ante 1000 returned", "1 play 1000 returned")


@both
@pytest.mark.section("649a.11(c)(3)(i)")
@pytest.mark.reading("T26")
def test_dealer_below_queen_and_a_player_still_lower(settler: Settler) -> None:
    played = poker("Jh 9c 4d", box(1, "7s 5d 2c", ante=1000, play=1000))
    check_lines(settler, played, "1 ante 1000 paid 1000+1000", "1 play 1000 returned")


@both
@pytest.mark.section("649a.6(c)")
@pytest.mark.reading("G4")
def test_twos_with_an_ace_do_not_beat_kings(settler: Settler) -> None:
    played = poker("Kh Kd 3c", box(1, "2s 2d Ac", ante=500, play=500, pair_plus=500))
    check_lines(
        settler, played,
        "1 ante 500 collected", "1 play 500 collected", "1 pair_plus 500 paid 500+500",
    )  # fmt: skip


@both
@pytest.mark.section("649a.6(b)(3)", "649a.12(b)")
@pytest.mark.reading("T1", "G4")
def test_ace_two_three_is_the_lowest_straight_and_has_its_bonus(settler: Settler) -> None:
    played = poker("4h 3h 2s", box(1, "As 2d 3c", ante=500, play=500))
    check_lines(
        settler, played,
        "1 ante 500 collected", "1 play 500 collected", "1 ante_bonus 500 paid 500+0",
    )  # fmt: skip


@both
@pytest.mark.section("649a.6(a)")
def test_king_ace_two_is_nothing(settler: Settler) -> None:
    played = poker("Qh Jc 9d", box(1, "Ks Ad 2c", ante=500, play=500, pair_plus=700))
    check_lines(
        settler, played,
        "1 ante 500 paid 500+500", "1 play 500 paid 500+500", "1 pair_plus 700 collected",
    )  # fmt: skip


@both
@pytest.mark.section("649a.12(c)", "649a.7(e)(1)")
@pytest.mark.reading("T3")
@pytest.mark.parametrize(
    ("choice", "cards", "bonus"),
    [
        ("c-A", "As Ks Qs", 50),
        ("c-A", "Ah Kh Qh", 5),
        ("c-B", "Ac Kc Qc", 50),
        ("c-C", "Ad Kd Qd", 10),
        ("c-B", "9d 8d 7d", 8),
        ("c-C", "9d 9c 9h", 3),
        ("c-A", "9d 8c 7h", 1),
        ("c-B", "9d 8c 7h", 0),
    ],
)
def test_ante_bonus_of_the_versions(settler: Settler, choice: str, cards: str, bonus: int) -> None:
    played = poker(
        "Jh 6c 4d", box(1, cards, ante=500, play=500),
        paytables={"ante_bonus": choice, "pair_plus": "A", "version": 1},
    )  # fmt: skip
    expected = ["1 ante 500 paid 500+500", "1 play 500 returned"]
    if bonus:
        expected.append(f"1 ante_bonus 500 paid {500 * bonus}+0")
    check_lines(settler, played, *expected)


@both
@pytest.mark.section("649a.12(g)(1)", "649a.12(g)(2)")
@pytest.mark.reading("T4")
def test_mini_royal_takes_the_place_of_the_straight_flush(settler: Settler) -> None:
    played = poker(
        "Qc Jc 2d",
        box(2, "Ah Kh Qh", ante=1000, play=1000, pair_plus=1000),
        box(1, "Kd Qd Jd", ante=1000, play=1000, pair_plus=1000),
        paytables={
            "ante_bonus": "b-B", "pair_plus": "D", "mini_royal": {"ante_bonus": 7, "pair_plus": 60},
        },
    )  # fmt: skip
    check_lines(
        settler, played,
        "2 ante 1000 paid 1000+1000", "2 play 1000 paid 1000+1000",
        "2 ante_bonus 1000 paid 7000+0", "2 pair_plus 1000 paid 60000+1000",
        "1 ante 1000 paid 1000+1000", "1 play 1000 paid 1000+1000",
        "1 ante_bonus 1000 paid 5000+0", "1 pair_plus 1000 paid 40000+1000",
    )  # fmt: skip


@both
@pytest.mark.section("649a.11(b)(1)", "649a.11(b)(3)")
@pytest.mark.reading("T6")
def test_a_fold_forfeits_pair_plus_and_not_the_six_card_bonus(settler: Settler) -> None:
    played = poker(
        "9h 9c 2d",
        folded(3, None, ante=500, pair_plus=500),
        folded(2, "9s 7d 7c", ante=500, pair_plus=500, six_card_bonus=200),
        box(1, "5s 5d Jc", pair_plus=500),
    )
    check_lines(
        settler, played,
        "3 ante 500 collected", "3 pair_plus 500 collected",
        "2 ante 500 collected", "2 pair_plus 500 collected", "2 six_card_bonus 200 paid 5000+200",
        "1 pair_plus 500 paid 500+500",
    )  # fmt: skip


@both
@pytest.mark.section("649a.12(f)", "649a.6(d)(8)")
@pytest.mark.reading("T5")
@pytest.mark.parametrize(
    ("choice", "suit", "cents"),
    [("E", "d", 100_000_000), ("E", "c", 10_000_000), ("A", "d", 300_000)],
)
def test_super_royal(settler: Settler, choice: str, suit: str, cents: int) -> None:
    played = poker(
        f"J{suit} 9{suit} T{suit}",
        box(1, f"Q{suit} A{suit} K{suit}", pair_plus=100, six_card_bonus=300),
        paytables={"pair_plus": "A", "six_card_bonus": choice},
    )
    check_lines(
        settler, played,
        "1 pair_plus 100 paid 3500+100", f"1 six_card_bonus 300 paid {cents}+300",
    )  # fmt: skip
