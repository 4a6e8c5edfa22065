"""Rounds of Four Card Prime worked by hand from the text; both settlements must meet them."""

import pytest

from tests.naive.by_hand import Settler, both, box, check_lines, folded, table
from tests.naive.shapes import Box, Paytables, Round

USUAL: Paytables = {"bad_beat": "A", "prime": "A", "aces_bonus": "A", "all_six": "A"}
NOTHING = "2c 4d 7h 9s Jc Kh"


def four(
    dealer: str,
    *boxes: Box,
    paytables: Paytables | None = None,
    all_six_card: str | None = None,
    irregularity: str | None = None,
) -> Round:
    played = table(
        "four_card_prime", dealer, *boxes, paytables={**USUAL, **(paytables or {})},
        irregularity=irregularity,
    )  # fmt: skip
    if all_six_card is not None:
        played["all_six_card"] = all_six_card
    return played


@both
@pytest.mark.section("682a.6(b)", "682a.6(c)", "682a.6(a)", "682a.11(d)(2)(i)", "682a.12(a)")
@pytest.mark.reading("F8", "F9", "G4")
@pytest.mark.parametrize(
    ("dealer", "cards"),
    [
        # A kind of hand over the next: pair, two pairs, straight, flush.
        (NOTHING, "3s 3d 5c 6d 8h"),
        ("As Ac Kd Qh 9s 4c", "3s 3d 2c 2d 8h"),
        ("As Ac Kd Kh 9s 4c", "2s 3c 4d 5h 9d"),
        ("As Kc Qd Jh 9s 4c", "2h 3h 5h 7h 9d"),
        # Between two of a kind.
        ("3h 2h Ac 4d 9s Ks", "5h 4c 3d 2s 9d"),
        ("Ah Kh Jh Th 9s 4c", "As Ks Qs 2s 9d"),
        ("Ks Kc Qd Qh Js Jc", "As Ac 2h 2d 3c"),
        ("8s 8c Ad Qh Ts 5c", "8h 8d As Kc 2d"),
        ("Ks Qc Td 9h 4s 3h", "Ac 8d 6s 4c 2d"),
        # A tie: the fifth and the sixth card do not play.
        ("As Ac Kd Qh 9s 7c", "Ad Ah Ks Qc 2d"),
        ("As Kc Jd Th 4s 3h", "Ac Kd Js Tc 9d"),
    ],
)
def test_player_is_higher_or_equal(settler: Settler, dealer: str, cards: str) -> None:
    played = four(dealer, box(1, cards, ante=500, raised=1500))
    check_lines(settler, played, "1 ante 500 paid 500+500", "1 raise 1500 paid 1500+1500")


@both
@pytest.mark.section("682a.6(b)", "682a.6(c)", "682a.6(a)", "682a.11(d)(2)(ii)(A)")
@pytest.mark.reading("F8", "F9", "G4")
@pytest.mark.parametrize(
    ("dealer", "cards"),
    [
        (NOTHING, "Ks Jd 9h 6d 3h"),
        # Queen, king, ace and 2 are no straight.
        ("3s 3d 4c 6h 8s Tc", "Qs Kd Ah 2c 9h"),
        # Three pairs among six are the two highest.
        ("Ks Kc Qd Qh 2s 2c", "Kd Kh Js Jc Ad"),
        ("Ks Kc 2d 2h 4s 7c", "Qd Qh Js Jc Ad"),
        ("As 2c 3d 4h 9s Tc", "Qd Qh Js Jc Ad"),
        ("3s 4c 5d 2h 9s Jc", "Ad 2s 3c 4d 8h"),
        ("3s 3c 3d 2h 9s Jc", "Ad Jd 9d 7d 8h"),
        ("Ah Kh Jh 3h 9s 4c", "As Ks Js 2s 9d"),
        ("8s 8c Ad Qh Ts 5c", "8h 8d As Jc Td"),
    ],
)
def test_player_is_lower(settler: Settler, dealer: str, cards: str) -> None:
    played = four(dealer, box(1, cards, ante=500, raised=500))
    check_lines(settler, played, "1 ante 500 collected", "1 raise 500 collected")


@both
@pytest.mark.section("682a.11(d)(2)(i)", "682a.12(b)")
@pytest.mark.reading("F1", "F2")
@pytest.mark.parametrize(
    ("dealer", "cards", "times"),
    [
        ("Ah Jh 9h 4h 2s 3c", "5s 5d 5c 9d Kd", 2),
        ("5h 5s 5d 9h Kd 2c", "6s 6d 6c 3d 4d", 2),
        ("5h 5s 5d 9h Kd 2c", "As 2s 3s 4s Kc", 20),
        ("Ah Kh Qh Jh 9s 2c", "As Ks Qs Js 2d", 20),
        ("Ah Kh Qh Jh 9s 2c", "3s 3c 3d 3h 2d", 25),
    ],
)
def test_win_bonus(settler: Settler, dealer: str, cards: str, times: int) -> None:
    played = four(dealer, box(1, cards, ante=500, raised=1000))
    check_lines(
        settler, played,
        "1 ante 500 paid 500+500", "1 raise 1000 paid 1000+1000",
        f"1 win_bonus 500 paid {500 * times}+0",
    )  # fmt: skip


@both
@pytest.mark.section("682a.11(d)(2)(ii)(B)", "682a.12(c)")
@pytest.mark.reading("F3")
@pytest.mark.parametrize(
    ("dealer", "cards", "choice", "times"),
    [
        ("5h 5s 5d 9h Kd 2c", "4s 4d 4c 3d Qd", "A", 2),
        ("5h 5s 5d 9h Kd 2c", "4s 4d 4c 3d Qd", "B", 5),
        ("5h 5s 5d 9h Kd 2c", "4s 4d 4c 3d Qd", "D", 10),
        ("5h 4h 3h 2h Kd 2c", "As 2s 3s 4s 4d", "A", 20),
        ("9h 9s 9d 9c Kd 2c", "As Ks Qs Js 4d", "C", 50),
        ("9h 9s 9d 9c Kd 2c", "8s 8d 8h 8c 4d", "B", 50),
        ("9h 9s 9d 9c Kd 2c", "8s 8d 8h 8c 4d", "D", 100),
    ],
)
def test_bad_beat_bonus(settler: Settler, dealer: str, cards: str, choice: str, times: int) -> None:
    played = four(dealer, box(1, cards, ante=500, raised=1500), paytables={"bad_beat": choice})
    check_lines(
        settler, played,
        "1 ante 500 returned", "1 raise 1500 collected",
        f"1 bad_beat_bonus 500 paid {500 * times}+0",
    )  # fmt: skip


@both
@pytest.mark.section("682a.11(e)(1)", "682a.12(d)")
@pytest.mark.reading("F6")
@pytest.mark.parametrize(
    ("cards", "choice", "odds"),
    [
        ("2h 5d 8h Jd Qh", "A", 6),
        ("2c 5s 8c Jc Qs", "B", 5),
        ("2h 5d 8h Jd Qs", "A", 1),
        ("2h 5s 8c Jc Qs", "B", 1),
        ("2h 5d 8c Jc Qs", "A", 0),
    ],
)
def test_prime(settler: Settler, cards: str, choice: str, odds: int) -> None:
    played = four(
        "Ks Kd 3c 4h 6d 9c", folded(1, cards, ante=100, prime=300), paytables={"prime": choice}
    )
    end = f"paid {300 * odds}+300" if odds else "collected"
    check_lines(settler, played, "1 ante 100 collected", f"1 prime 300 {end}")


@both
@pytest.mark.section("682a.6(d)", "682a.11(e)(2)", "682a.12(e)")
@pytest.mark.reading("F5", "F7", "F12", "G5")
@pytest.mark.parametrize(
    ("cards", "choice", "five_cards", "best_four"),
    [
        ("As Ad Ah Ac 9d", "A", 500, 500),
        ("As Ad Ah Ac 9d", "F", 50, 50),
        ("5s 5d 5h 5c Ad", "H", 50, 50),
        ("As Ks Qs Js Ts", "B", 40, 40),
        ("As Ks Qs Js Td", "A", 4, 50),
        ("As Ks Qs Js 2d", "C", 0, 50),
        ("9s 8s 7s 6s 5s", "E", 20, 20),
        ("9s 8s 7s 6s 5d", "D", 3, 30),
        ("As 2s 3s 4s 5s", "C", 40, 40),
        ("As 2s 3s 4s Jd", "H", 0, 40),
        ("As Ad Ah Kc Kd", "C", 25, 25),
        ("As Ad Kh Kc Kd", "G", 9, 9),
        ("As Ad Ah Qc Kd", "F", 7, 7),
        ("3s 3d 3h Qc Kd", "H", 8, 8),
        ("2s 5s 8s Ts Ks", "G", 6, 6),
        ("2s 5s 8s Ts Kd", "G", 0, 6),
        ("As 2d 3s 4c 5s", "F", 5, 5),
        ("As 2d 3s 4c 7s", "F", 0, 5),
        ("As Kd Qs Jc 2s", "A", 0, 4),
        ("As Ad Ks Jc 2s", "A", 1, 1),
        ("As Ad Ks Kc 2s", "H", 3, 3),
        ("As Ad 2s 4s 7s", "A", 1, 5),
        ("As Ad Ks Qs Jh", "C", 1, 3),
        ("Ks Kd 2s 3h 7c", "A", 0, 0),
    ],
)
def test_aces_bonus(
    settler: Settler, cards: str, choice: str, five_cards: int, best_four: int
) -> None:
    for reading, odds in ((None, five_cards), ("five_cards", five_cards), ("best_four", best_four)):
        paytables: Paytables = {"aces_bonus": choice}
        if reading is not None:
            paytables["aces_bonus_reading"] = reading
        played = four(
            "6c 6d 6h Th Tc 9c", folded(1, cards, ante=100, aces_bonus=300), paytables=paytables
        )
        end = f"paid {300 * odds}+300" if odds else "collected"
        check_lines(settler, played, "1 ante 100 collected", f"1 aces_bonus 300 {end}")


@both
@pytest.mark.section("682a.6(e)", "682a.11(e)(3)", "682a.12(f)")
@pytest.mark.reading("G5")
@pytest.mark.parametrize(
    ("cards", "sixth", "choice", "odds"),
    [
        ("Ad Kd Qd Jd Td", "9d", "E", 200_000),
        ("Ah Kh Qh Jh 9h", "Th", "E", 20_000),
        ("Ad Kd Qd Jd Td", "9d", "A", 1000),
        ("Ad Kd Qd Jd Td", "8d", "E", 1000),
        ("Ad 2d 3d 4d Th", "5d", "D", 200),
        ("Ad As Ac 4d Th", "Ah", "C", 100),
        ("Ad As Ac 4d Th", "Tc", "A", 25),
        ("Ad Jd 3d 4d Th", "8d", "A", 20),
        ("5c 2d 3d 4d Th", "6h", "C", 9),
        ("Ad As 3d 4d Th", "Ac", "C", 8),
        ("Ad As 3d 3c Th", "Tc", "E", 0),
    ],
)
def test_all_six(settler: Settler, cards: str, sixth: str, choice: str, odds: int) -> None:
    played = four(
        "7c 7s Kc Ks 8c 8s", folded(1, cards, ante=100, all_six=300), all_six_card=sixth,
        paytables={"all_six": choice},
    )  # fmt: skip
    end = f"paid {300 * odds}+300" if odds else "collected"
    check_lines(settler, played, "1 ante 100 collected", f"1 all_six 300 {end}")


@both
@pytest.mark.section("682a.11(b)", "682a.11(c)", "682a.11(d)", "682a.11(e)")
@pytest.mark.reading("G1")
def test_folds_and_the_order_of_positions_and_wagers(settler: Settler) -> None:
    played = four(
        "Ks Kd 3c 4h 6d 9c",
        folded(2, None, ante=500),
        box(4, "As Ad Ac 4s 4c", all_six=100, aces_bonus=200, prime=300,
                                    raised=500, ante=500),
        folded(1, "2h 5d 8h Jd Qs", ante=500, prime=100),
        all_six_card="4d",
    )  # fmt: skip
    check_lines(
        settler, played,
        "4 ante 500 paid 500+500", "4 raise 500 paid 500+500", "4 win_bonus 500 paid 1000+0",
        "4 prime 300 paid 300+300", "4 aces_bonus 200 paid 4000+200",
        "4 all_six 100 paid 2500+100",
        "2 ante 500 collected",
        "1 ante 500 collected", "1 prime 100 paid 100+100",
    )  # fmt: skip


@both
@pytest.mark.section("682a.12(g)")
@pytest.mark.reading("F4", "G6")
def test_limit_is_on_aces_bonus_and_all_six_of_a_patron(settler: Settler) -> None:
    played = four(
        "5h 5s 5d 5c Kd 2c",
        # Two aces: 1 to 1 on the Aces Bonus, which leaves 40,000 of the limit.
        box(4, "As Ac 9s 7s 3s", patron="p1",
            ante=6_000_000, raised=6_000_000, aces_bonus=1_000_000, prime=9_000_000),
        # A flush, 5 to 1, is cut to those; the royal flush of six cards is outside the limit.
        box(3, "Ah Kh Qh Jh 9h", patron="p1",
            ante=10_000_000, raised=10_000_000, aces_bonus=1_000_000, all_six=500),
        box(2, "4h 4s 4d 8c 8d", patron="p1",
            ante=100, raised=100, aces_bonus=1_000_000, all_six=500),
        box(1, "3h 3d 3c 7c 7d", patron="p2",
            ante=6_000_000, raised=6_000_000, aces_bonus=400_000, all_six=200_000),
        all_six_card="Th",
        paytables={"payout_limit": 5_000_000, "all_six": "E", "aces_bonus": "A"},
    )  # fmt: skip
    check_lines(
        settler, played,
        "4 ante 6000000 collected", "4 raise 6000000 collected",
        "4 prime 9000000 paid 54000000+9000000", "4 aces_bonus 1000000 paid 1000000+1000000",
        # Ace to jack of hearts are a straight flush of four, which loses to four 5s.
        "3 ante 10000000 returned", "3 raise 10000000 collected",
        "3 bad_beat_bonus 10000000 paid 200000000+0",
        "3 aces_bonus 1000000 paid 4000000+1000000", "3 all_six 500 paid 10000000+500",
        "2 ante 100 returned", "2 raise 100 collected", "2 bad_beat_bonus 100 paid 200+0",
        "2 aces_bonus 1000000 paid 0+1000000", "2 all_six 500 paid 0+500",
        "1 ante 6000000 returned", "1 raise 6000000 collected",
        "1 bad_beat_bonus 6000000 paid 12000000+0",
        "1 aces_bonus 400000 paid 4000000+400000", "1 all_six 200000 paid 1000000+200000",
    )  # fmt: skip


@both
@pytest.mark.section("682a.13(d)")
@pytest.mark.reading("F10")
def test_dealers_card_exposed(settler: Settler) -> None:
    played = four(
        "5h 5s 5d 5c Kd 2c",
        folded(2, None, ante=500),
        box(1, "As Ac Ad 7s 3s",
            ante=500, raised=1500, prime=100, aces_bonus=100, all_six=100),
        all_six_card="7d",
        irregularity="dealer_exposed",
    )  # fmt: skip
    check_lines(
        settler, played,
        "2 ante 500 returned",
        "1 ante 500 returned", "1 raise 1500 returned", "1 prime 100 paid 100+100",
        "1 aces_bonus 100 paid 2000+100", "1 all_six 100 paid 2500+100",
    )  # fmt: skip


@both
@pytest.mark.section("682a.13(a)", "682a.13(c)")
def test_void(settler: Settler) -> None:
    played = four(
        "5h 5s 5d 5c Kd 2c",
        folded(2, "2h 3h 4h 7h 9d", ante=500, aces_bonus=100),
        box(1, "As Ac Ad 7s 3s", ante=500, raised=1500, all_six=100, prime=100),
        all_six_card="7d",
        irregularity="void",
    )
    check_lines(
        settler, played,
        "2 ante 500 returned", "2 aces_bonus 100 returned",
        "1 ante 500 returned", "1 raise 1500 returned", "1 prime 100 returned",
        "1 all_six 100 returned",
    )  # fmt: skip


@both
@pytest.mark.section("682a.12(g)")
@pytest.mark.reading("F4")
@pytest.mark.parametrize(("choice", "cents"), [("A", 5_000_000), ("E", 400_000_000)])
def test_six_cards_of_a_royal_flush_are_outside_the_limit_in_e_only(
    settler: Settler, choice: str, cents: int
) -> None:
    played = four(
        "5h 5s 5d 5c Kd 2c",
        folded(1, "As Ks Qs Js Ts", ante=100, all_six=20_000),
        all_six_card="9s",
        paytables={"payout_limit": 5_000_000, "all_six": choice},
    )
    check_lines(settler, played, "1 ante 100 collected", f"1 all_six 20000 paid {cents}+20000")
