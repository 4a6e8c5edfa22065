"""Rounds of Three Card Prime worked by hand from the text; both settlements must meet them."""

import pytest

from tests.naive.by_hand import Settler, both, box, check_lines, folded, table, with_fourth
from tests.naive.shapes import Box, Paytables, Round

USUAL: Paytables = {"bad_beat": "A", "pair_bonus": "A", "all_six": "A"}


def prime(
    dealer: str,
    *boxes: Box,
    paytables: Paytables | None = None,
    community: str | None = None,
    irregularity: str | None = None,
) -> Round:
    played = table(
        "three_card_prime", dealer, *boxes, paytables={**USUAL, **(paytables or {})},
        irregularity=irregularity,
    )  # fmt: skip
    if community is not None:
        played["pair_bonus_community_card"] = community
    return played


@both
@pytest.mark.section("679a.11(c)(3)(i)", "679a.12(a)")
@pytest.mark.reading("P3", "P7")
@pytest.mark.parametrize("cards", ["As Ks Qs", "9d 8d 7d", "7s 5d 2c"])
def test_dealer_does_not_qualify(settler: Settler, cards: str) -> None:
    played = prime("Jh 9c 4d", box(1, cards, ante=1000, play=1000))
    check_lines(settler, played, "1 ante 1000 returned", "1 play 1000 paid 1000+1000")


@both
@pytest.mark.section("679a.11(c)(3)(ii)", "679a.12(b)")
@pytest.mark.parametrize(
    ("dealer", "cards", "odds"),
    [
        ("Qh 9c 4d", "Qs 9d 4c", 1),
        ("Qh 9c 4d", "4s 4c Ac", 1),
        ("Ah Ac Kd", "7s 4s 2s", 1),
        ("Ah Jh 9h", "4s 3c 2c", 2),
        ("Ah Kc Qd", "2s 2d 2c", 5),
        ("Ah Ac Ad", "3s 2s As", 6),
        ("Ah Kh Qh", "As Ks Qs", 10),
        ("3h 2d Ah", "4s 3c 2c", 2),
    ],
)
def test_play_wins_against_a_queen_or_better_ties_included(
    settler: Settler, dealer: str, cards: str, odds: int
) -> None:
    played = prime(dealer, box(1, cards, ante=500, play=500))
    check_lines(settler, played, "1 ante 500 paid 500+500", f"1 play 500 paid {500 * odds}+500")


@both
@pytest.mark.section("679a.11(c)(3)(iii)", "679a.11(c)(3)(iv)", "679a.12(c)")
@pytest.mark.reading("P1", "P2", "G4")
@pytest.mark.parametrize(
    ("dealer", "cards", "choice", "odds"),
    [
        ("Ah Kh Qh", "Ks Qs Js", "A", 12),
        ("Ah Kh Qh", "Ks Qs Js", "D", 6),
        ("4h 3h 2h", "As 2s 3s", "B", 12),
        ("9h 8h 7h", "Ks Kd Kc", "A", 10),
        ("Kh Kd Kc", "Qs Qd Qc", "C", 5),
        ("2h 2d 2c", "As Kd Qc", "A", 4),
        ("4h 3d 2c", "As 3c 2d", "C", 2),
        ("4h 3d 2c", "As Ks Js", "A", 0),
        ("4h 3d 2c", "As Ks Js", "B", 1),
        ("Ah Kh Th", "As Ks 9s", "C", 0),
        ("Ah Kh Th", "As Ks 9s", "D", 1),
        ("3h 3d 4c", "2s 2d Ac", "D", 0),
        ("Qh 9d 4c", "Qs 9c 3d", "B", 0),
    ],
)
def test_bad_beat(settler: Settler, dealer: str, cards: str, choice: str, odds: int) -> None:
    played = prime(dealer, box(1, cards, ante=500, play=500), paytables={"bad_beat": choice})
    end = f"paid {500 * odds}+500" if odds else "collected"
    check_lines(settler, played, "1 ante 500 collected", f"1 play 500 {end}")


@both
@pytest.mark.section("679a.11(d)(1)", "679a.12(d)")
@pytest.mark.reading("P4")
@pytest.mark.parametrize(
    ("cards", "end"),
    [
        ("2d 5h 9h", "paid 2000+500"),
        ("2c 5s 9c", "paid 1500+500"),
        ("2c 5s 9h", "collected"),
    ],
)
def test_prime(settler: Settler, cards: str, end: str) -> None:
    played = prime("Jh 7d 4d", box(1, cards, ante=500, play=500, prime=500))
    check_lines(
        settler, played,
        "1 ante 500 returned", "1 play 500 paid 500+500", f"1 prime 500 {end}",
    )  # fmt: skip


@both
@pytest.mark.section("679a.11(d)(2)", "679a.12(e)", "679a.12(f)")
@pytest.mark.reading("P5", "P9")
@pytest.mark.parametrize(
    ("cards", "fourth", "community", "choice", "odds"),
    [
        ("As Ks Qs", "3d", None, "A", 50),
        ("As Ks Qs", "2d", None, "A", 100),
        ("Ks Qs Js", "3d", None, "B", 40),
        ("Ks Qs Js", "2d", None, "C", 50),
        ("5s 5d 5c", "2d", None, "B", 45),
        ("6s 5d 4c", None, "2d", "A", 12),
        ("6s 5d 4c", None, "8d", "A", 6),
        ("8s 5s 3s", None, "2d", "D", 4),
        ("8s 8c 3s", None, "2d", "C", 2),
        ("8s 8c 3s", None, "2d", "D", 1),
        # A fourth card that would make a pair is no part of the hand.
        ("8s 6c 3s", "8d", None, "A", 0),
        # Both at once: the community card decides.
        ("8s 5s 3s", "2d", "8d", "A", 3),
        ("8s 5s 3s", "8d", "2d", "A", 6),
    ],
)
def test_pair_bonus(
    settler: Settler,
    *,
    cards: str,
    fourth: str | None,
    community: str | None,
    choice: str,
    odds: int,
) -> None:
    made = box(1, cards, ante=100, play=100, pair_bonus=700)
    if fourth is not None:
        made = with_fourth(made, fourth)
    played = prime("Jh 9c 7d", made, community=community, paytables={"pair_bonus": choice})
    end = f"paid {700 * odds}+700" if odds else "collected"
    check_lines(
        settler, played,
        "1 ante 100 returned", "1 play 100 paid 100+100", f"1 pair_bonus 700 {end}",
    )  # fmt: skip


@both
@pytest.mark.section("679a.11(d)(3)", "679a.12(g)", "679a.6(d)")
@pytest.mark.reading("G5")
@pytest.mark.parametrize(
    ("dealer", "cards", "choice", "odds"),
    [
        ("Jd 9d Td", "Ad Kd Qd", "E", 200_000),
        ("Jc 9c Tc", "Ac Kc Qc", "E", 20_000),
        ("Jd 9d Td", "Ad Kd Qd", "D", 1000),
        ("Jd 8d Td", "Ad Kd Qd", "E", 1000),
        ("Jd 9d 2c", "Qd Td 8d", "C", 200),
        ("Jd 9d 2c", "9s 9h 9c", "A", 50),
        ("Jd 9d Jc", "9s 9h 8c", "B", 25),
        ("Jd 9d 2d", "8s Kd 4d", "A", 20),
        ("Jd 9d 2d", "8s Th 7c", "C", 9),
        ("Jd 3d 2d", "5s 4h Ac", "B", 10),
        ("Jd 3d 9d", "Js 4h Jc", "D", 7),
        ("Jd 3d 9d", "Js 3h 9c", "D", 0),
        ("Jd Td 9h", "As Kh 2d", "A", 0),
    ],
)
def test_all_six(settler: Settler, dealer: str, cards: str, choice: str, odds: int) -> None:
    # A fold: the Ante is lost, and this wager is not.
    played = prime(dealer, folded(1, cards, ante=100, all_six=300), paytables={"all_six": choice})
    end = f"paid {300 * odds}+300" if odds else "collected"
    check_lines(settler, played, "1 ante 100 collected", f"1 all_six 300 {end}")


@both
@pytest.mark.section("679a.11(b)", "679a.11(c)")
@pytest.mark.reading("G1")
def test_folds_and_the_order_of_positions_and_wagers(settler: Settler) -> None:
    played = prime(
        "Qh 9c 4d",
        folded(2, None, ante=500),
        with_fourth(folded(5, "8s 8d 3s", ante=500, all_six=100, pair_bonus=100, prime=100), "Kh"),
        box(1, "Qs 9d 3c", ante=500, play=500),
    )
    check_lines(
        settler, played,
        "5 ante 500 collected", "5 prime 100 collected", "5 pair_bonus 100 paid 100+100",
        "5 all_six 100 collected",
        "2 ante 500 collected",
        "1 ante 500 collected", "1 play 500 collected",
    )  # fmt: skip


@both
@pytest.mark.section("679a.12(h)")
@pytest.mark.reading("P6", "G6")
def test_limit_cuts_ante_and_play_of_a_patron_and_nothing_else(settler: Settler) -> None:
    played = prime(
        "Qh 9c 4d",
        # 20,000 for the Ante; 40,000 for the Play, of which 30,000 are left.
        box(4, "4s 3c 2c", patron="p1", ante=2_000_000, play=2_000_000, prime=100_000),
        box(3, "As 7d 2h", patron="p1", ante=1_000_000, play=1_000_000, all_six=100_000),
        box(2, "Ks Ts 8s", patron="p2", ante=2_000_000, play=2_000_000, prime=4_000_000),
        box(1, "Ah Kd 5d", patron="p2", ante=2_000_000, play=2_000_000),
        paytables={"payout_limit": 5_000_000},
    )
    check_lines(
        settler, played,
        "4 ante 2000000 paid 2000000+2000000", "4 play 2000000 paid 3000000+2000000",
        "4 prime 100000 paid 300000+100000",
        "3 ante 1000000 paid 0+1000000", "3 play 1000000 paid 0+1000000",
        "3 all_six 100000 collected",
        "2 ante 2000000 paid 2000000+2000000", "2 play 2000000 paid 2000000+2000000",
        "2 prime 4000000 paid 12000000+4000000",
        "1 ante 2000000 paid 1000000+2000000", "1 play 2000000 paid 0+2000000",
    )  # fmt: skip


@both
@pytest.mark.section("679a.12(h)")
@pytest.mark.reading("P6")
def test_limit_leaves_a_bad_beat_alone(settler: Settler) -> None:
    played = prime(
        "9h 8h 7h",
        box(2, "Kc Kd Ks", patron="p1", ante=6_000_000, play=6_000_000),
        box(1, "Th 9c 8c", patron="p1", ante=6_000_000, play=6_000_000),
        paytables={"payout_limit": 5_000_000},
    )
    check_lines(
        settler, played,
        "2 ante 6000000 collected", "2 play 6000000 paid 60000000+6000000",
        "1 ante 6000000 collected", "1 play 6000000 paid 24000000+6000000",
    )  # fmt: skip


@both
@pytest.mark.section("679a.13(d)")
@pytest.mark.reading("P8")
def test_dealers_card_exposed(settler: Settler) -> None:
    played = prime(
        "Jh 9c 4d",
        folded(2, None, ante=500),
        box(1, "9s 9d 9h", ante=500, play=500, prime=100, all_six=100, pair_bonus=100),
        community="2s",
        irregularity="dealer_exposed",
    )
    check_lines(
        settler, played,
        "2 ante 500 returned",
        "1 ante 500 returned", "1 play 500 returned", "1 prime 100 collected",
        "1 pair_bonus 100 paid 6000+100", "1 all_six 100 paid 5000+100",
    )  # fmt: skip


@both
@pytest.mark.section("679a.13(a)", "679a.13(c)")
def test_void(settler: Settler) -> None:
    played = prime(
        "Jh 9c 4d",
        folded(2, "2h 3d Kc", ante=500, all_six=100),
        box(1, "9s 9d 9h", ante=500, play=500, pair_bonus=100, prime=100),
        community="2s",
        irregularity="void",
    )
    check_lines(
        settler, played,
        "2 ante 500 returned", "2 all_six 100 returned",
        "1 ante 500 returned", "1 play 500 returned", "1 prime 100 returned",
        "1 pair_bonus 100 returned",
    )  # fmt: skip
