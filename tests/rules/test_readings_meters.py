"""The readings on turns, percentages, reseeds, reserves and draws."""

import pytest

from bonus.law.meter_terms import meter_terms
from bonus.settling.meter_holdings import contributions, take_off
from bonus.settling.settlement import void_lines
from bonus.settling.settlement_lines import MeterHolding, Outcome, PercentWon
from bonus.settling.table_rules import meter_rules
from bonus.wagers import MICROS_PER_CENT
from tests.rules.dealing import (
    DEALER_BONUS,
    FIVE_CARD,
    FIVE_OF_SIX,
    HAND_BONUS,
    PROGRESSIVE,
    box,
    items,
    play,
    terms_at,
)

RAGS = "2h 5s Jc"
ROYAL = "As Ks Qs"
BELOW = "9s 8s 7s"  # a straight flush with the same two community cards
JACK_TEN = "Js Ts"
RULES = meter_rules("three_card_poker")
BONUS = "five_card_hand_bonus"


def cents(amount: int, reserve: int = 0) -> MeterHolding:
    return MeterHolding(amount * MICROS_PER_CENT, reserve * MICROS_PER_CENT)


@pytest.mark.reading("G1")
@pytest.mark.section("649a.11(c)")
def test_reading_g1_the_highest_position_is_paid_first() -> None:
    """The straight flush of position 6 takes its tenth before the one of position 2."""
    played = play(
        box(2, "Qs 9s 8s", FIVE_CARD),
        box(6, "Qd 9d 8d", FIVE_CARD),
        community=JACK_TEN,
        held={"five_card_progressive": cents(2_000_000)},
    )
    assert played.of("five_card_progressive") == [
        (6, Outcome.PAID, 3_000),
        (2, Outcome.PAID, 200_000),
    ]
    after_a_royal = play(
        box(6, BELOW, FIVE_CARD),
        box(7, ROYAL, FIVE_CARD),
        community=JACK_TEN,
        dealer="2c 7d 9h",
        held={"five_card_progressive": cents(2_000_000)},
    )
    before_it = play(
        box(7, BELOW, FIVE_CARD),
        box(6, ROYAL, FIVE_CARD),
        community=JACK_TEN,
        dealer="2c 7d 9h",
        held={"five_card_progressive": cents(2_000_000)},
    )
    assert after_a_royal.paid("five_card_progressive") == [(7, 2_000_000), (6, 100_000)]
    assert before_it.paid("five_card_progressive") == [(7, 200_000), (6, 1_800_000)]


@pytest.mark.reading("G2")
@pytest.mark.section("649a.12(e)(1)")
def test_reading_g2_x_for_1_is_x_times_the_wager_in_all() -> None:
    played = play(box(3, "6s 7s 8s", PROGRESSIVE, cents=500), terms=terms_at(500))
    line = played.lines[0]
    assert (line.paid, line.returned, line.wagered) == (35_000, 0, 500)


@pytest.mark.reading("G3")
def test_reading_g3_fractions_of_a_cent_stay_on_the_meter() -> None:
    held = MeterHolding(1_234_567_8901)  # 1,234,567 cents and 8,901 micros
    played = play(
        box(3, BELOW, FIVE_CARD),
        community=JACK_TEN,
        held={"five_card_progressive": held},
    )
    assert played.paid("five_card_progressive") == [(3, 123_456)]
    assert played.after["five_card_progressive"] == MeterHolding(
        held.amount_micros - 123_456 * MICROS_PER_CENT
    )
    assert take_off(
        held,
        PercentWon("five_card_progressive", 100),
        terms_at()["five_card_progressive"],
    ) == (1_234_567, MeterHolding(1_000_000 * MICROS_PER_CENT + 8_901))


@pytest.mark.reading("T13")
@pytest.mark.section("649a.11(c)(5)")
@pytest.mark.section("649a.11(c)(7)")
@pytest.mark.section("649a.11(c)(8)")
@pytest.mark.section("649a.11(c)(9)")
def test_reading_t13_each_player_in_succession_and_envy_at_the_turn_of_its_cause() -> None:
    everything = (PROGRESSIVE, FIVE_CARD, FIVE_OF_SIX, HAND_BONUS, DEALER_BONUS)
    played = play(
        box(4, RAGS, *everything),
        box(7, "3h 6h 9c", *everything),
        box(5, ROYAL, *everything),
        community=JACK_TEN,
        dealer="2c 7d Kh",
        magic="Js",
        lucky=5,
    )
    in_turn = [
        "progressive",
        "five_card_progressive",
        "five_card_hand_bonus",
        "five_card_hand_bonus_dealer",
        "magic_card",
        "magic_card",
        "five_of_six_progressive",
    ]
    assert items(played.lines) == [
        *((7, item) for item in in_turn),
        (5, "progressive"),
        (7, "progressive_envy"),
        (4, "progressive_envy"),
        (5, "five_card_progressive"),
        (7, "five_card_envy"),
        (4, "five_card_envy"),
        *((5, item) for item in in_turn[2:6]),
        (5, "lucky_bonus"),
        (5, "five_of_six_progressive"),
        *((4, item) for item in in_turn),
    ]


@pytest.mark.reading("T14")
def test_reading_t14_every_wager_adds_to_its_meter_folded_or_not() -> None:
    added = contributions(
        [
            box(1, None, PROGRESSIVE, FIVE_CARD, folded=True),
            box(2, RAGS, PROGRESSIVE, HAND_BONUS, DEALER_BONUS),
            box(3, RAGS),
        ],
        RULES,
        terms_at(),
    )
    assert added == {
        "progressive": cents(28),
        "five_card_progressive": cents(21),
        BONUS: cents(42, 16),
    }


@pytest.mark.reading("T14")
@pytest.mark.section("649a.12(i)(4)")
def test_reading_t14_what_a_wager_adds_is_exact_below_the_cent() -> None:
    terms = {BONUS: meter_terms(BONUS, 1)}
    assert contributions([box(1, RAGS, HAND_BONUS, cents=1)], RULES, terms) == {
        BONUS: MeterHolding(2_100, 800)
    }


@pytest.mark.reading("T15")
@pytest.mark.reading("Turn")
@pytest.mark.section("649a.12(h)(4)")
def test_reading_t15_a_later_player_is_paid_from_the_reseeded_meter() -> None:
    held = MeterHolding(3_000_000 * MICROS_PER_CENT + 77)
    played = play(
        box(7, ROYAL, FIVE_CARD),
        box(1, BELOW, FIVE_CARD),
        community=JACK_TEN,
        held={"five_card_progressive": held},
    )
    assert played.paid("five_card_progressive") == [(7, 3_000_000), (1, 100_000)]
    assert played.after["five_card_progressive"] == MeterHolding(900_000 * MICROS_PER_CENT + 77)


@pytest.mark.duty("D3")
@pytest.mark.parametrize(
    ("overflow", "paid", "left", "over"),
    [(0, 90_000, 810_000, 0), (30_000, 93_000, 837_000, 0), (250_000, 100_000, 1_000_000, 50_000)],
)
def test_a_later_player_is_paid_from_the_meter_that_its_overflow_refilled(
    overflow: int, paid: int, left: int, over: int
) -> None:
    """Two awards of 10% at a limit of $10,000."""
    limit = 1_000_000 * MICROS_PER_CENT
    played = play(
        box(7, "4s 5s 6s", HAND_BONUS),
        box(1, "9s Ts Js", HAND_BONUS),
        community="7s 8s",
        held={BONUS: MeterHolding(limit, 8, overflow * MICROS_PER_CENT, limit)},
    )
    assert played.paid(BONUS) == [(7, 100_000), (1, paid)]
    assert played.after[BONUS] == MeterHolding(
        left * MICROS_PER_CENT, 8, over * MICROS_PER_CENT, limit
    )


@pytest.mark.reading("T15")
@pytest.mark.section("649a.12(e)(3)")
@pytest.mark.section("649a.12(e)(4)")
def test_reading_t15_the_progressive_is_reseeded_at_a_thousand_for_one() -> None:
    played = play(
        box(7, ROYAL, PROGRESSIVE, cents=500),
        terms=terms_at(500, "B"),
        held={"progressive": cents(734_512)},
    )
    assert played.paid("progressive") == [(7, 734_512)]
    assert played.after["progressive"] == cents(500_000)


@pytest.mark.section("649a.12(j)(1)")
@pytest.mark.section("649a.12(j)(3)")
@pytest.mark.section("649a.12(j)(4)")
@pytest.mark.parametrize(
    ("suit", "percent", "paid", "left"),
    [("s", 100, 1_500_003, 1_000_000), ("d", 25, 375_000, 1_125_003)],
)
def test_five_of_six_pays_the_royal_of_spades_the_whole_meter_others_a_quarter(
    suit: str, percent: int, paid: int, left: int
) -> None:
    played = play(
        box(4, f"A{suit} 3c T{suit}", FIVE_OF_SIX),
        dealer=f"K{suit} Q{suit} J{suit}",
        held={"five_of_six_progressive": cents(1_500_003)},
    )
    line = played.lines[0]
    assert (line.percent, line.paid, line.paid_from) == (percent, paid, "hand_pay")
    assert played.after["five_of_six_progressive"] == cents(left)


@pytest.mark.reading("T16")
def test_reading_t16_the_five_card_hand_bonus_pays_the_meter_at_the_players_turn() -> None:
    played = play(
        box(7, "4s 5s 6s", HAND_BONUS),
        box(2, "9s Ts Js", HAND_BONUS),
        community="7s 8s",
        held={BONUS: cents(1_000_009)},
    )
    assert played.paid("five_card_hand_bonus") == [(7, 100_000), (2, 90_000)]
    assert played.after[BONUS] == cents(810_009)


@pytest.mark.reading("T17")
@pytest.mark.section("649a.12(i)(2)")
def test_reading_t17_one_equal_share_a_patron_fixed_when_the_first_is_paid() -> None:
    """Three players share ten per cent of 1,000,019 cents. Position 5's own tenth comes later."""
    played = play(
        box(7, "2h 5h Jc", DEALER_BONUS, patron="ann"),
        box(6, "2d 5c Jd", DEALER_BONUS, patron="ann"),
        box(5, "4s 5s 6s", HAND_BONUS, DEALER_BONUS, patron="bob"),
        box(3, "3h 6h Tc", DEALER_BONUS, patron="cid", folded=True),
        box(2, "3d 6d Td", PROGRESSIVE, patron="dan"),
        dealer="9s Ts Js",
        community="7s 8s",
        held={BONUS: cents(1_000_019)},
    )
    assert played.of("five_card_hand_bonus_dealer") == [
        (7, Outcome.PAID, 33_333),
        (6, Outcome.COLLECTED, 0),
        (5, Outcome.PAID, 33_333),
        (3, Outcome.PAID, 33_333),
    ]
    # Two cents that do not divide stayed on the meter, so the own tenth is of 900,020.
    assert played.paid("five_card_hand_bonus") == [(5, 90_002)]
    assert played.after[BONUS] == cents(810_018)
    [again] = [line for line in played.lines if line.position == 6]
    assert (again.hand, again.rule, again.paid_from, again.percent) == (
        "straight_flush",
        "649a.12(i)(2)",
        None,
        None,
    )


@pytest.mark.reading("T17")
@pytest.mark.section("649a.12(i)(2)")
def test_reading_t17_odds_on_the_dealers_hand_are_paid_on_every_box() -> None:
    played = play(
        box(7, "2h 5h Jc", DEALER_BONUS, patron="ann"),
        box(6, "2d 5c Jd", DEALER_BONUS, patron="ann"),
        dealer="Ts 4s 6s",
        community="7s 8s",
    )
    assert played.paid("five_card_hand_bonus_dealer") == [(7, 5_000), (6, 5_000)]


@pytest.mark.reading("T18")
@pytest.mark.section("649a.11(c)(8)")
def test_reading_t18_own_hand_before_the_dealers() -> None:
    played = play(
        box(4, ROYAL, HAND_BONUS, DEALER_BONUS),
        dealer=BELOW,
        community=JACK_TEN,
        held={BONUS: cents(1_200_000, 30_000)},
    )
    assert played.paid("five_card_hand_bonus") == [(4, 1_200_000)]
    assert played.paid("five_card_hand_bonus_dealer") == [(4, 3_000)]
    assert played.after[BONUS] == cents(27_000)


@pytest.mark.reading("T19")
@pytest.mark.section("649a.12(i)(3)")
@pytest.mark.parametrize(
    ("magic", "paid_on"),
    [
        ("5s", ["player"]),  # in the player's hand
        ("7d", ["dealer"]),  # in the dealer's hand
        ("4c", ["player", "dealer"]),  # a community card serves both
        ("5h", []),  # of the same rank only
        (None, []),
    ],
)
@pytest.mark.parametrize("folded", [False, True])
def test_reading_t19_the_magic_card_pays_each_hand_that_holds_it(
    magic: str | None, paid_on: list[str], *, folded: bool
) -> None:
    played = play(box(4, RAGS, HAND_BONUS, DEALER_BONUS, folded=folded), magic=magic)
    drawn = [line for line in played.lines if line.item == "magic_card"]
    assert [line.on for line in drawn] == paid_on
    assert {(line.paid, line.paid_from, line.rule) for line in drawn} <= {
        (2_000, "game_account", "649a.12(i)(3)")
    }


@pytest.mark.reading("T19")
def test_reading_t19_the_magic_card_needs_the_wager_on_that_hand() -> None:
    played = play(
        box(4, RAGS, DEALER_BONUS),
        box(3, "3h 6s Tc", HAND_BONUS),
        box(2, "3d 6d Td", FIVE_CARD),
        magic="8d",
    )
    drawn = [line for line in played.lines if line.item == "magic_card"]
    assert [(line.position, line.on) for line in drawn] == [(4, "dealer"), (3, "player")]


@pytest.mark.reading("T19")
def test_reading_t19_the_magic_card_is_on_top_of_the_five_card_hand_bonus() -> None:
    played = play(box(4, "As 9s 2s", HAND_BONUS), community="7s 8s", magic="As")
    assert played.paid("five_card_hand_bonus") == [(4, 5_000)]
    assert played.paid("magic_card") == [(4, 2_000)]


@pytest.mark.reading("T20")
@pytest.mark.section("649a.12(i)(3)")
def test_reading_t20_a_lucky_position_pays_the_wager_on_the_players_own_hand_there() -> None:
    played = play(
        box(4, RAGS, HAND_BONUS, DEALER_BONUS, folded=True),
        box(3, "3h 6s Tc", HAND_BONUS),
        lucky=4,
    )
    assert [(line.position, line.on, line.paid) for line in played.lines if line.on] == [
        (4, "player", 500)
    ]
    assert not [line for line in play(box(4, RAGS, DEALER_BONUS), lucky=4).lines if line.on]


@pytest.mark.reading("T20")
@pytest.mark.section("649a.12(i)(3)")
def test_reading_t20_a_lucky_dealer_pays_every_wager_on_the_dealers_hand() -> None:
    played = play(
        box(4, RAGS, HAND_BONUS, DEALER_BONUS),
        box(3, "3h 6s Tc", DEALER_BONUS),
        box(2, "3d 6d Td", HAND_BONUS),
        lucky="dealer",
    )
    lucky = [line for line in played.lines if line.item == "lucky_bonus"]
    assert [(line.position, line.on, line.paid, line.paid_from) for line in lucky] == [
        (4, "dealer", 500, "game_account"),
        (3, "dealer", 500, "game_account"),
    ]


@pytest.mark.reading("T21")
@pytest.mark.section("649a.12(i)(4)")
def test_reading_t21_the_reserve_becomes_the_meter_and_starts_again_at_nothing() -> None:
    held = MeterHolding(1_200_000 * MICROS_PER_CENT + 31, 30_000 * MICROS_PER_CENT + 400)
    played = play(box(4, ROYAL, HAND_BONUS), community=JACK_TEN, held={BONUS: held})
    assert played.paid("five_card_hand_bonus") == [(4, 1_200_000)]
    assert played.after[BONUS] == MeterHolding(30_000 * MICROS_PER_CENT + 431, 0)


@pytest.mark.reading("T21")
def test_reading_t21_a_tenth_leaves_the_reserve_alone() -> None:
    played = play(
        box(4, BELOW, HAND_BONUS), community=JACK_TEN, held={BONUS: cents(1_200_000, 30_000)}
    )
    assert played.paid("five_card_hand_bonus") == [(4, 120_000)]
    assert played.after[BONUS] == cents(1_080_000, 30_000)


@pytest.mark.reading("T17")
@pytest.mark.reading("T21")
def test_reading_t21_a_divided_royal_of_the_dealer_moves_the_reserve_once() -> None:
    played = play(
        box(4, RAGS, DEALER_BONUS),
        box(3, "3h 6s Tc", DEALER_BONUS),
        dealer=ROYAL,
        community=JACK_TEN,
        held={BONUS: cents(1_200_001, 30_000)},
    )
    assert played.paid("five_card_hand_bonus_dealer") == [(4, 600_000), (3, 600_000)]
    assert played.after[BONUS] == cents(30_001, 0)


@pytest.mark.reading("T23")
@pytest.mark.section("649a.12(e)(2)")
@pytest.mark.section("649a.12(h)(2)")
@pytest.mark.section("649a.12(j)(2)")
def test_reading_t23_only_the_highest_hand_is_paid() -> None:
    """A straight flush is a straight and a flush as well, and is paid once."""
    played = play(
        box(4, "6s 7s 8s", PROGRESSIVE, FIVE_OF_SIX), dealer="9s Ts 8d", community="2d 3d"
    )
    assert played.of("progressive") == [(4, Outcome.PAID, 7_000)]
    assert played.of("five_of_six_progressive") == [(4, Outcome.PAID, 25_000)]
    house = play(box(4, "6s 6d 6c", FIVE_CARD), community="9s 9d")
    assert house.of("five_card_progressive") == [(4, Outcome.PAID, 5_000)]


@pytest.mark.reading("T28")
@pytest.mark.reading("Void")
@pytest.mark.section("649a.13")
def test_reading_t28_a_void_round_returns_every_wager_in_paying_order() -> None:
    lines = void_lines(
        [
            box(2, None, FIVE_OF_SIX, PROGRESSIVE, folded=True),
            box(6, RAGS, DEALER_BONUS, HAND_BONUS, FIVE_CARD),
        ],
        RULES,
        "649a.13",
    )
    assert items(lines) == [
        (6, "five_card_progressive"),
        (6, "five_card_hand_bonus"),
        (6, "five_card_hand_bonus_dealer"),
        (2, "progressive"),
        (2, "five_of_six_progressive"),
    ]
    assert {
        (line.outcome, line.wagered, line.returned, line.paid, line.rule) for line in lines
    } == {(Outcome.RETURNED, 100, 100, 0, "649a.13")}


@pytest.mark.reading("Hand pay")
@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.section("649a.11(c)(7)(iv)")
@pytest.mark.section("649a.11(c)(8)(iii)")
@pytest.mark.section("649a.11(c)(9)(iv)")
def test_reading_hand_pay_percentages_come_from_no_drawer_and_odds_do() -> None:
    percentages = play(
        box(7, ROYAL, PROGRESSIVE, FIVE_CARD, HAND_BONUS),
        box(6, BELOW, FIVE_CARD, HAND_BONUS, DEALER_BONUS),
        community=JACK_TEN,
        dealer="6h 7c 9h",
    )
    assert {
        (line.position, line.item): line.paid_from for line in percentages.lines if line.percent
    } == {
        (7, "progressive"): "hand_pay",
        (7, "five_card_progressive"): "hand_pay",
        (7, "five_card_hand_bonus"): "hand_pay",
        (6, "five_card_progressive"): "hand_pay",
        (6, "five_card_hand_bonus"): "hand_pay",
    }
    odds = play(
        box(5, "Td Th Tc", PROGRESSIVE, FIVE_CARD, FIVE_OF_SIX, HAND_BONUS),
        community="Ts 3d",
        dealer="6h 6c 9h",
    )
    assert {line.item: line.paid_from for line in odds.lines} == {
        "progressive": "table_inventory",
        "five_card_progressive": "table_inventory",
        "five_of_six_progressive": "table_inventory",
        "five_card_hand_bonus": "game_account",
    }
    lost = play(box(5, RAGS, PROGRESSIVE))
    assert lost.lines[0].paid_from is None


def test_a_take_off_another_meter_or_of_nothing_is_refused() -> None:
    terms = terms_at()
    with pytest.raises(ValueError, match="a take off progressive by the terms of"):
        take_off(cents(1), PercentWon("progressive", 100), terms[BONUS])
    for percent, shares in ((0, 1), (101, 1), (10, 0)):
        with pytest.raises(ValueError, match="cannot take"):
            PercentWon(BONUS, percent, shares)
    with pytest.raises(ValueError, match="less than nothing"):
        MeterHolding(-1)
    with pytest.raises(ValueError, match="less than nothing"):
        MeterHolding(0, -1)
