"""Chapter 649a by subsection, through the public interface: wagers that feed a meter.

Wagers that feed a meter are $1 unless a test says otherwise. The meters hold amounts that no
percentage divides evenly.
"""

from collections.abc import Mapping

import pytest
from msgspec import to_builtins

from tests.law.settling import (
    ANTE,
    JSON,
    LOST,
    MeterText,
    SettlementText,
    box,
    refused,
    settled,
)

GAME = "three_card_poker"
CHOICES: Mapping[str, object] = {
    "ante_bonus": "b-A", "pair_plus": "A", "progressive": "A",
    "six_card_bonus": "A",
}  # fmt: skip
MAIN = {"ante": ANTE, "play": ANTE}
DOLLAR = 100
HELD = {
    "progressive": 150_001,
    "five_card_progressive": 2_000_009,
    "five_of_six_progressive": 3_000_003,
    "five_card_hand_bonus": 1_500_019,
}
"""Balance of each meter before settling, in cents."""
RESERVE = 40_007

JACK_TEN = "Js Ts"
RAGS = "Qc 7d 2h"
PAIR_PLUS_ONLY = {"pair_plus": ANTE}


def meters(wager_cents: int = DOLLAR) -> JSON:
    held: JSON = {name: {"wager": wager_cents, "amount": cents} for name, cents in HELD.items()}
    held["five_card_hand_bonus"]["reserve"] = RESERVE
    return held


def played(
    boxes: list[JSON],
    dealer: str = RAGS,
    community: str = JACK_TEN,
    *,
    choices: Mapping[str, object] = CHOICES,
    wager_cents: int = DOLLAR,
    **more: object,
) -> SettlementText:
    return settled(
        GAME,
        boxes,
        dealer,
        paytables=choices,
        community=community.split(),
        meters=meters(wager_cents),
        **more,
    )


def one(cards: str, wager: str, *, wager_cents: int = DOLLAR) -> list[JSON]:
    """Return a player who stayed in, with one such wager."""
    return [box(1, cards, MAIN | {wager: wager_cents})]


def for_1(times: int, wager_cents: int = DOLLAR) -> tuple[str, int, int]:
    return "paid", times * wager_cents, 0


@pytest.mark.section("649a.7(d)(4)", "649a.7(d)(6)", "649a.7(d)(7)", "649a.7(d)(8)")
@pytest.mark.section("649a.12(e)", "649a.12(h)", "649a.12(i)", "649a.12(j)")
@pytest.mark.parametrize(
    ("wager", "rule"),
    [
        ("progressive", "649a.7(d)(4)"),
        ("five_card_progressive", "649a.7(d)(6)"),
        ("five_card_hand_bonus", "649a.7(d)(7)"),
        ("five_card_hand_bonus_dealer", "649a.7(d)(7)"),
        ("five_of_six_progressive", "649a.7(d)(8)"),
    ],
)
def test_a_wager_on_a_meter_goes_with_an_ante_or_a_pair_plus(wager: str, rule: str) -> None:
    alone = [box(1, "As 9h 4c", {wager: DOLLAR})]
    more = {"paytables": CHOICES, "meters": meters(), "community": JACK_TEN.split()}
    refused("wager_missing", rule, GAME, alone, RAGS, **more)
    for beside in (MAIN, PAIR_PLUS_ONLY):
        settlement = played([box(1, "As 9h 4c", beside | {wager: DOLLAR})])
        assert settlement.worth(wager) == LOST


THREE_CARDS = [
    ("Ah Kh Qh", 500, 500),
    ("9s 8s 7s", 70, 100),
    ("9s 9h 9d", 60, 90),
    ("9s 8h 7c", 6, 0),
    ("Ks 9s 4s", 0, 0),
]


@pytest.mark.section("649a.7(d)(4)", "649a.11(c)(5)", "649a.12(e)(1)", "649a.12(e)(2)")
@pytest.mark.reading("G2")
@pytest.mark.parametrize(("cards", "by_a", "by_b"), THREE_CARDS)
@pytest.mark.parametrize("dealer", [RAGS, "Ac As Ad"], ids=["queen high", "three aces"])
def test_the_progressive_pays_odds_whatever_the_dealer_has(
    cards: str, by_a: int, by_b: int, dealer: str
) -> None:
    for letter, times in (("A", by_a), ("B", by_b)):
        choices = {**CHOICES, "progressive": letter}
        settlement = played(one(cards, "progressive"), dealer, "2c 3d", choices=choices)
        line = settlement.of("progressive")
        assert settlement.worth("progressive") == (for_1(times) if times else LOST)
        assert line.paid_from == ("table_inventory" if times else None)
        assert settlement.meters["progressive"].amount == HELD["progressive"]


@pytest.mark.section("649a.11(c)(5)(iv)", "649a.12(e)(1)", "649a.12(e)(3)", "649a.12(e)(4)")
@pytest.mark.reading("T15")
@pytest.mark.parametrize("letter", ["A", "B"])
@pytest.mark.parametrize("wager_cents", [DOLLAR, 5 * DOLLAR])
def test_the_royal_of_spades_takes_the_progressive_meter(letter: str, wager_cents: int) -> None:
    choices = {**CHOICES, "progressive": letter}
    boxes = one("As Ks Qs", "progressive", wager_cents=wager_cents)
    settlement = played(boxes, choices=choices, wager_cents=wager_cents)
    line = settlement.of("progressive")
    assert settlement.worth("progressive") == ("paid", HELD["progressive"], 0)
    assert (line.percent, line.paid_from, line.rule) == (100, "hand_pay", "649a.12(e)(1)")
    assert settlement.meters["progressive"].amount == 1_000 * wager_cents


FIVE_CARDS = [
    ("Ah Kh Qh", "Jh Th", 100, 0),
    ("9s 8s 7s", JACK_TEN, 10, 0),
    ("Jd Jh Jc", JACK_TEN, 0, 300),
    ("Jd Jh Tc", JACK_TEN, 0, 50),
    ("2s 5s 8s", JACK_TEN, 0, 40),
    ("9h 8d 7c", JACK_TEN, 0, 30),
    ("Jd Jh 4c", JACK_TEN, 0, 9),
    ("Jd Th 4c", JACK_TEN, 0, 0),
]


@pytest.mark.section("649a.7(d)(6)", "649a.11(c)(7)", "649a.11(c)(7)(iv)")
@pytest.mark.section("649a.12(h)(1)", "649a.12(h)(2)", "649a.12(h)(3)")
@pytest.mark.parametrize(("cards", "community", "percent", "times"), FIVE_CARDS)
def test_the_five_card_progressive_goes_by_three_and_two_cards(
    cards: str, community: str, *, percent: int, times: int
) -> None:
    name = "five_card_progressive"
    settlement = played(one(cards, name), RAGS.replace("7d", "3d"), community)
    line = settlement.of(name)
    held = HELD[name]
    if percent:
        paid = held * percent // 100
        assert settlement.worth(name) == ("paid", paid, 0)
        assert (line.percent, line.paid_from) == (percent, "hand_pay")
        left = 10_000 * DOLLAR if percent == 100 else held - paid
        assert settlement.meters[name].amount == left
    else:
        assert settlement.worth(name) == (for_1(times) if times else LOST)
        assert line.paid_from == ("table_inventory" if times else None)
        assert settlement.meters[name].amount == held


@pytest.mark.section("649a.11(c)(7)", "649a.12(h)(3)", "649a.12(h)(4)")
@pytest.mark.reading("G1")
@pytest.mark.reading("T15")
def test_each_is_paid_from_the_balance_of_the_five_card_meter_at_their_turn() -> None:
    name = "five_card_progressive"
    wagers = MAIN | {name: DOLLAR}
    first_ten = played([box(2, "7s 8s 9s", wagers), box(5, "As Ks Qs", wagers)])
    # The royal at position 5 comes first, so the 10% are of the seed.
    assert first_ten.worth(name, 5) == ("paid", 2_000_009, 0)
    assert first_ten.worth(name, 2) == ("paid", 100_000, 0)
    assert first_ten.meters[name].amount == 900_000
    last_ten = played([box(5, "7s 8s 9s", wagers), box(2, "As Ks Qs", wagers)])
    assert last_ten.worth(name, 5) == ("paid", 200_000, 0)
    assert last_ten.worth(name, 2) == ("paid", 1_800_009, 0)
    assert last_ten.meters[name].amount == 1_000_000


HAND_BONUS = [
    ("Ah Kh Qh", "Jh Th", 100, 0),
    ("9s 8s 7s", JACK_TEN, 10, 0),
    ("Jd Jh Jc", JACK_TEN, 0, 500),
    ("Jd Jh Tc", JACK_TEN, 0, 100),
    ("2s 5s 8s", JACK_TEN, 0, 50),
    ("9h 8d 7c", JACK_TEN, 0, 0),
]


@pytest.mark.section("649a.7(d)(7)", "649a.11(c)(8)", "649a.11(c)(8)(iii)")
@pytest.mark.section("649a.12(i)(1)", "649a.12(i)(2)", "649a.12(i)(4)")
@pytest.mark.parametrize("on", ["player", "dealer"])
@pytest.mark.parametrize(("cards", "community", "percent", "times"), HAND_BONUS)
def test_the_hand_bonus_goes_by_the_hand_that_was_wagered_on(
    cards: str, community: str, *, percent: int, times: int, on: str
) -> None:
    name = "five_card_hand_bonus"
    other = "Qc 3d 2h"
    boxes = one(cards, name) if on == "player" else one(other, f"{name}_dealer")
    settlement = played(boxes, other if on == "player" else cards, community)
    item = boxes[0]["wagers"].keys() - MAIN.keys()
    (wager,) = item
    line, meter = settlement.of(wager), settlement.meters[name]
    if percent:
        paid = HELD[name] * percent // 100
        assert settlement.worth(wager) == ("paid", paid, 0)
        assert (line.percent, line.paid_from) == (percent, "hand_pay")
        left = (RESERVE, 0) if percent == 100 else (HELD[name] - paid, RESERVE)
        assert (meter.amount, meter.reserve) == left
    else:
        assert settlement.worth(wager) == (for_1(times) if times else LOST)
        assert line.paid_from == ("game_account" if times else None)
        assert (meter.amount, meter.reserve) == (HELD[name], RESERVE)


@pytest.mark.section("649a.11(c)(8)", "649a.12(i)(2)")
@pytest.mark.reading("T17")
@pytest.mark.reading("T18")
def test_a_jackpot_on_the_dealers_hand_is_divided_equally() -> None:
    own, dealers = "five_card_hand_bonus", "five_card_hand_bonus_dealer"
    boxes = [
        box(2, "Ad 9h 4c", MAIN | {dealers: DOLLAR}),
        box(5, "Jd Jh Jc", MAIN | {own: DOLLAR, dealers: DOLLAR}),
    ]
    settlement = played(boxes, "9s 8s 7s")
    # A tenth is 150,001 cents. One cent of it cannot be divided, and stays on the meter.
    assert settlement.worth(own, 5) == for_1(500)
    assert settlement.worth(dealers, 5) == ("paid", 75_000, 0)
    assert settlement.worth(dealers, 2) == ("paid", 75_000, 0)
    assert settlement.meters[own].amount == HELD[own] - 150_000


@pytest.mark.section("649a.11(c)(8)", "649a.12(i)(3)")
@pytest.mark.reading("T19")
@pytest.mark.reading("T20")
@pytest.mark.parametrize(
    ("magic", "lucky", "drawn"),
    [
        ("4c", 5, ["5 lucky_bonus 500 on player", "2 magic_card 2000 on player"]),
        ("6c", 4, []),  # in a hand without a wager on it, and a position without one
        ("4d", None, []),  # of the rank of a card alone
        ("3c", None, ["5 magic_card 2000 on player"]),  # a hand that was folded
        ("7d", 2, ["4 magic_card 2000 on dealer", "2 magic_card 2000 on dealer",
                   "2 lucky_bonus 500 on player"]),
        ("Js", "dealer", ["5 magic_card 2000 on player", "4 magic_card 2000 on dealer",
                          "4 lucky_bonus 500 on dealer", "2 magic_card 2000 on player",
                          "2 magic_card 2000 on dealer", "2 lucky_bonus 500 on dealer"]),
    ],
)  # fmt: skip
def test_magic_card_and_lucky_bonus_are_paid_in_addition(
    magic: str, lucky: int | str | None, drawn: list[str]
) -> None:
    own, dealers = "five_card_hand_bonus", "five_card_hand_bonus_dealer"
    boxes = [
        box(2, "Ad 9h 4c", MAIN | {own: DOLLAR, dealers: DOLLAR}),
        box(4, "Kd 6c 5h", MAIN | {dealers: DOLLAR}),
        box(5, "Jd 8h 3c", {"ante": ANTE, own: DOLLAR}, folded=True),
    ]
    settlement = played(boxes, draw={"magic_card": magic, "lucky_position": lucky})
    extra = [line for line in settlement.lines if line.on]
    assert {(line.paid_from, line.rule) for line in extra} <= {("game_account", "649a.12(i)(3)")}
    assert [f"{line.position} {line.item} {line.paid} on {line.on}" for line in extra] == drawn


FIVE_OF_SIX = [
    ("As Ks Qs", "2c Js Ts", 100, 0),
    ("Ah Kh Qh", "2c Jh Th", 25, 0),
    ("9s 8s 7s", "2c Js Ts", 0, 250),
    ("9s 9h 9d", "2c 9c Ts", 0, 100),
    ("9s 9h 9d", "2c Tc Ts", 0, 20),
    ("9s 8s 2s", "2c Js Ks", 0, 10),
    ("9s 8h 7s", "2c Jd Ts", 0, 5),
    ("9s 9h 7s", "2c 9d Ts", 0, 0),
    # Two hands in one: only the highest is paid.
    ("6h 5h 2h", "9h 8h 7s", 0, 10),
    ("9d 7h 7c", "9h 9s 7s", 0, 20),
    ("Ad 4h 5c", "9h 2s 3s", 0, 5),
    ("Ad Qh Jc", "Kh 2s 3s", 0, 0),
    ("6h 5h 9c", "9h 8h 7h", 0, 250),
    ("9d 5h 9c", "9h 8h 9s", 0, 100),
]


@pytest.mark.section("649a.7(d)(8)", "649a.11(c)(9)", "649a.11(c)(9)(iv)")
@pytest.mark.section("649a.12(j)(1)", "649a.12(j)(2)", "649a.12(j)(3)", "649a.12(j)(4)")
@pytest.mark.reading("T23")
@pytest.mark.parametrize(("cards", "dealer", "percent", "times"), FIVE_OF_SIX)
def test_5_of_6_goes_by_the_best_five_with_the_dealers_cards(
    cards: str, dealer: str, *, percent: int, times: int
) -> None:
    name = "five_of_six_progressive"
    settlement = played(one(cards, name), dealer, "3c 4d")
    line = settlement.of(name)
    if percent:
        paid = HELD[name] * percent // 100
        assert settlement.worth(name) == ("paid", paid, 0)
        assert (line.percent, line.paid_from) == (percent, "hand_pay")
        left = 10_000 * DOLLAR if percent == 100 else HELD[name] - paid
        assert settlement.meters[name].amount == left
    else:
        assert settlement.worth(name) == (for_1(times) if times else LOST)
        assert line.paid_from == ("table_inventory" if times else None)
        assert settlement.meters[name].amount == HELD[name]


@pytest.mark.section("649a.12(e)(3)", "649a.12(h)(3)", "649a.12(i)(4)", "649a.12(j)(3)")
@pytest.mark.reading("T28")
@pytest.mark.parametrize("wager_cents", [DOLLAR, 5 * DOLLAR])
@pytest.mark.parametrize(("letter", "progressive_percent"), [("A", 14), ("B", 20)])
def test_a_wager_had_put_its_rate_into_the_meter(
    letter: str, progressive_percent: int, wager_cents: int
) -> None:
    """A void round subtracts what its wagers had added."""
    rates = {
        "progressive": progressive_percent,
        "five_card_progressive": 21,
        "five_of_six_progressive": 28,
        "five_card_hand_bonus": 21,
    }
    wagers = {"ante": ANTE} | dict.fromkeys(rates, wager_cents)
    settlement = settled(
        GAME,
        [box(1, None, wagers), box(2, None, wagers)],
        None,
        paytables={**CHOICES, "progressive": letter},
        meters=meters(wager_cents),
        irregularity="void",
    )
    taken = {name: HELD[name] - settlement.meters[name].amount for name in rates}
    assert taken == {name: 2 * percent * wager_cents // 100 for name, percent in rates.items()}
    reserve = settlement.meters["five_card_hand_bonus"].reserve
    assert reserve == RESERVE - 2 * 8 * wager_cents // 100


def envies(settlement: SettlementText, item: str) -> list[tuple[int, int | None, int]]:
    """Return who receives such an Envy Bonus, for whose hand, and how much."""
    found = [line for line in settlement.lines if line.item == item]
    return [(line.position, line.envy_of, line.paid) for line in found]


@pytest.mark.section("649a.11(c)(5)(v)", "649a.12(e)(5)")
@pytest.mark.reading("T10")
@pytest.mark.parametrize(
    ("wager_cents", "spades_cents", "other_cents"),
    [(DOLLAR, 10_000, 2_500), (5 * DOLLAR, 50_000, 12_500)],
)
def test_another_players_royals_bring_envy_bonuses_and_the_dealers_none(
    wager_cents: int, spades_cents: int, other_cents: int
) -> None:
    wagers = MAIN | {"progressive": wager_cents}
    boxes = [
        box(1, "9c 5d 2c", wagers),
        box(2, "Ah Kh Qh", wagers),
        box(3, "As Ks Qs", MAIN),
        box(4, "8c 7c 6c", MAIN),  # a straight flush of three brings none
    ]
    settlement = played(boxes, "Ad Kd Qd", "4c 4d", wager_cents=wager_cents)
    assert envies(settlement, "progressive_envy") == [
        (2, 3, spades_cents),
        (1, 3, spades_cents),
        (1, 2, other_cents),
    ]


@pytest.mark.section("649a.11(c)(7)(v)", "649a.12(h)(5)")
@pytest.mark.reading("T11")
@pytest.mark.reading("T12")
@pytest.mark.parametrize(
    ("wager_cents", "royal_cents", "straight_flush_cents"),
    [(DOLLAR, 100_000, 30_000), (5 * DOLLAR, 500_000, 150_000)],
)
def test_another_players_five_cards_bring_envy_bonuses_and_the_dealers_none(
    wager_cents: int, royal_cents: int, straight_flush_cents: int
) -> None:
    wagers = MAIN | {"five_card_progressive": wager_cents}
    boxes = [
        box(1, "9c 5d 2c", wagers),
        box(2, "9s 8s 7s", wagers),
        box(3, "As Ks Qs", MAIN),
        box(4, "8c 6d 3c", MAIN | {"progressive": wager_cents}),
        box(5, "Jc Jh Jd", wagers),
    ]
    settlement = played(boxes, "Ac Kd 4d", wager_cents=wager_cents)
    assert envies(settlement, "five_card_envy") == [
        (5, 3, royal_cents),
        (2, 3, royal_cents),
        (1, 3, royal_cents),
        (5, 2, straight_flush_cents),
        (1, 2, straight_flush_cents),
    ]
    dealers = played(boxes[:1], "9s 8s 7s", wager_cents=wager_cents)
    assert envies(dealers, "five_card_envy") == []


@pytest.mark.section("649a.11(c)(9)(v)", "649a.12(j)(5)")
@pytest.mark.reading("T11")
@pytest.mark.parametrize(
    ("wager_cents", "spades_cents", "other_cents"),
    [(DOLLAR, 10_000, 5_000), (5 * DOLLAR, 50_000, 25_000)],
)
def test_another_players_royal_of_six_cards_brings_envy_bonuses(
    wager_cents: int, spades_cents: int, other_cents: int
) -> None:
    wagers = MAIN | {"five_of_six_progressive": wager_cents}
    for suit, cents in (("s", spades_cents), ("c", other_cents), ("h", other_cents)):
        boxes = [
            box(1, "9d 5d 2d", wagers),
            box(2, f"A{suit} K{suit} Q{suit}", wagers),
            box(3, f"9{suit} 8{suit} 7{suit}", wagers),
        ]
        dealer = f"J{suit} T{suit} 4d"
        settlement = played(boxes, dealer, "3c 4c", wager_cents=wager_cents)
        assert envies(settlement, "five_of_six_envy") == [(3, 2, cents), (1, 2, cents)]


@pytest.mark.section("649a.11(b)(2)")
@pytest.mark.reading("T7")
def test_a_fold_forfeits_the_progressives_and_leaves_envy_bonuses() -> None:
    wagers = {"progressive": DOLLAR, "five_card_progressive": DOLLAR}
    boxes = [
        box(1, None, {"ante": ANTE} | wagers, folded=True),
        box(2, "As Ks Qs", MAIN),
    ]
    settlement = played(boxes)
    assert settlement.worth("progressive") == LOST
    assert settlement.of("progressive").rule == "649a.11(b)(2)"
    assert settlement.worth("five_card_progressive") == LOST
    assert envies(settlement, "progressive_envy") == [(1, 2, 10_000)]
    assert envies(settlement, "five_card_envy") == [(1, 2, 100_000)]
    # Cards that stay for another wager win nothing from the progressives.
    boxes = [box(1, "As Ks Qs", {"ante": ANTE, "five_of_six_progressive": DOLLAR} | wagers)]
    boxes[0]["folded"] = True
    kept = played(boxes)
    assert kept.worth("progressive") == LOST
    assert kept.worth("five_card_progressive") == LOST


@pytest.mark.section("649a.11(b)(3)")
@pytest.mark.reading("T6")
@pytest.mark.reading("T7")
def test_a_fold_leaves_hand_bonus_and_5_of_6() -> None:
    wagers = {
        "ante": ANTE,
        "pair_plus": ANTE,
        "five_card_hand_bonus": DOLLAR,
        "five_card_hand_bonus_dealer": DOLLAR,
        "five_of_six_progressive": DOLLAR,
    }
    # A flush with the community cards, and a straight with the dealer's.
    boxes = [
        box(1, "7s 8s Qs", wagers, folded=True),
        box(2, "Ah Kh Qh", MAIN),
    ]
    settlement = played(boxes, "Jh Th 9s", JACK_TEN)
    assert settlement.worth("ante") == LOST
    assert settlement.worth("pair_plus") == LOST
    assert settlement.worth("five_card_hand_bonus") == for_1(50)
    assert settlement.worth("five_card_hand_bonus_dealer") == LOST
    assert settlement.worth("five_of_six_progressive") == for_1(5)
    assert envies(settlement, "five_of_six_envy") == [(1, 2, 5_000)]


@pytest.mark.section("649a.11(c)")
@pytest.mark.reading("T8")
@pytest.mark.parametrize(
    ("kept_by", "brings"),
    [
        (None, False),
        ("six_card_bonus", True),
        ("five_card_hand_bonus", True),
        ("five_card_hand_bonus_dealer", True),
        ("five_of_six_progressive", True),
    ],
)
def test_a_folded_hand_is_held_where_a_wager_keeps_its_cards(
    kept_by: str | None, *, brings: bool
) -> None:
    wagers = {"ante": ANTE, "progressive": DOLLAR} | ({kept_by: DOLLAR} if kept_by else {})
    boxes = [
        box(1, "9c 5d 3c", MAIN | {"progressive": DOLLAR, "five_card_progressive": DOLLAR}),
        box(2, "As Ks Qs", wagers, folded=True),
    ]
    settlement = played(boxes)
    assert envies(settlement, "progressive_envy") == ([(1, 2, 10_000)] if brings else [])
    assert envies(settlement, "five_card_envy") == ([(1, 2, 100_000)] if brings else [])
    assert settlement.worth("progressive", 2) == LOST


@pytest.mark.section("649a.11(c)(5)", "649a.11(c)(7)", "649a.11(c)(8)", "649a.11(c)(9)")
@pytest.mark.reading("T13")
def test_the_wagers_of_a_player_are_settled_in_the_chapters_order() -> None:
    wagers = dict.fromkeys(
        ["progressive", "five_card_progressive", "five_card_hand_bonus"], DOLLAR
    ) | dict.fromkeys(["five_card_hand_bonus_dealer", "five_of_six_progressive"], DOLLAR)
    boxes = [box(1, "9c 5d 3c", MAIN | {"pair_plus": ANTE} | wagers)]
    assert [item for _, item in played(boxes).items()] == [
        "ante",
        "play",
        "pair_plus",
        "progressive",
        "five_card_progressive",
        "five_card_hand_bonus",
        "five_card_hand_bonus_dealer",
        "five_of_six_progressive",
    ]


OWN, DEALERS, FIVE = (
    "five_card_hand_bonus", "five_card_hand_bonus_dealer", "five_card_progressive",
)  # fmt: skip
ROUNDS: Mapping[str, tuple[list[JSON], str, str, JSON, str, JSON]] = {
    "one patron at two boxes has no envy of the own hand": (
        [
            box(5, "Ad Kd Qd", {"pair_plus": 100}, patron="p2"),
            box(4, "As Ks Qs", {"pair_plus": 100, "progressive": 500}, patron="p1"),
            box(3, "2s 4d 7c", {"pair_plus": 100, "progressive": 500}, patron="p1"),
            box(2, "Ah Kh Qh", {"pair_plus": 100}, patron="p2"),
            box(1, None, {"ante": 100, "progressive": 500}, patron="p3", folded=True),
        ],
        "Jd 9c 2d",
        JACK_TEN,
        {"progressive": {"wager": 500, "amount": 777_777}},
        """5 pair_plus paid 3500+100
        4 progressive_envy paid 12500 of 5
        3 progressive_envy paid 12500 of 5
        1 progressive_envy paid 12500 of 5
        4 pair_plus paid 3500+100
        4 progressive paid 777777 hand_pay 100%
        1 progressive_envy paid 50000 of 4
        3 pair_plus collected
        3 progressive collected
        2 pair_plus paid 3500+100
        4 progressive_envy paid 12500 of 2
        3 progressive_envy paid 12500 of 2
        1 progressive_envy paid 12500 of 2
        1 ante collected
        1 progressive collected""",
        {"progressive": {"amount": 500_000}},
    ),
    "each takes a tenth of what the one before left, with a fraction that stays": (
        [
            box(3, "7h 6h 5h", {"pair_plus": 100, FIVE: 100}),
            box(2, "Jh Qh Th", {"pair_plus": 100, FIVE: 100}),
        ],
        "Jd 9c 2d",
        "9h 8h",
        {FIVE: {"wager": 100, "amount": 1_000_005}},
        """3 pair_plus paid 3500+100
        3 five_card_progressive paid 100000 hand_pay 10%
        2 five_card_envy paid 30000 of 3
        2 pair_plus paid 3500+100
        2 five_card_progressive paid 90000 hand_pay 10%
        3 five_card_envy paid 30000 of 2""",
        {FIVE: {"amount": 810_005}},
    ),
    "one share a patron of the dealer's hand": (
        [
            box(4, "As Kd 9s", {"pair_plus": 100, DEALERS: 100}, patron="p2"),
            box(3, "Ks Td 9d", {"pair_plus": 100, DEALERS: 100}, patron="p2"),
            box(2, "2s 3d Jc", {"ante": 100, DEALERS: 100}, patron="p1", folded=True),
            box(1, "2d 3c Jd", {"pair_plus": 100, DEALERS: 100}),
        ],
        "7h 6h 5h",
        "9h 8h",
        {OWN: {"wager": 100, "amount": 1_000_001, "reserve": 7}},
        """4 pair_plus collected
        4 five_card_hand_bonus_dealer paid 33333 hand_pay 10%
        3 pair_plus collected
        3 five_card_hand_bonus_dealer collected
        2 ante collected
        2 five_card_hand_bonus_dealer paid 33333 hand_pay 10%
        1 pair_plus collected
        1 five_card_hand_bonus_dealer paid 33333 hand_pay 10%""",
        {OWN: {"amount": 900_002, "reserve": 7}},
    ),
    "odds on the dealer's hand are paid at every box": (
        [
            box(2, "2h 5h Jc", {"pair_plus": 100, DEALERS: 100}, patron="p1"),
            box(1, "2d 5c Jd", {"pair_plus": 100, DEALERS: 100}, patron="p1"),
        ],
        "Ts 4s 6s",
        "7s 8s",
        {OWN: {"wager": 100, "amount": 1_000_001}},
        """2 pair_plus collected
        2 five_card_hand_bonus_dealer paid 5000 game_account
        1 pair_plus collected
        1 five_card_hand_bonus_dealer paid 5000 game_account""",
        {OWN: {"amount": 1_000_001, "reserve": 0}},
    ),
    "the own straight flush before the dealer's, each meter for itself": (
        [box(1, "Jh Qh Th", {"pair_plus": 100, OWN: 100, DEALERS: 100, FIVE: 100})],
        "7h 6h 5h",
        "9h 8h",
        {
            OWN: {"wager": 100, "amount": 1_000_000, "reserve": 16},
            FIVE: {"wager": 100, "amount": 2_000_000},
        },
        """1 pair_plus paid 3500+100
        1 five_card_progressive paid 200000 hand_pay 10%
        1 five_card_hand_bonus paid 100000 hand_pay 10%
        1 five_card_hand_bonus_dealer paid 90000 hand_pay 10%""",
        {OWN: {"amount": 810_000, "reserve": 16}, FIVE: {"amount": 1_800_000}},
    ),
    # The own tenth comes first; half of the other 900,001 is 450,000.
    "the dealer's royal leaves the reserve and a cent that does not divide": (
        [
            box(2, "9s 8s 7s", {"pair_plus": 100, DEALERS: 100, OWN: 100}),
            box(1, "2d 3c Jd", {"pair_plus": 100, DEALERS: 100}),
        ],
        "As Ks Qs",
        JACK_TEN,
        {OWN: {"wager": 100, "amount": 1_000_001, "reserve": 2_000}},
        """2 pair_plus paid 3500+100
        2 five_card_hand_bonus paid 100000 hand_pay 10%
        2 five_card_hand_bonus_dealer paid 450000 hand_pay 100%
        1 pair_plus collected
        1 five_card_hand_bonus_dealer paid 450000 hand_pay 100%""",
        {OWN: {"amount": 2_001, "reserve": 0}},
    ),
    "a tenth of an empty meter is nothing": (
        [
            box(2, "As Ks Qs", {"pair_plus": 100, OWN: 333}),
            box(1, "9s 8s 7s", {"pair_plus": 100, OWN: 333}),
        ],
        "Jd 9c 2d",
        JACK_TEN,
        {OWN: {"wager": 333, "amount": 3_330_139}},
        """2 pair_plus paid 3500+100
        2 five_card_hand_bonus paid 3330139 hand_pay 100%
        1 pair_plus paid 3500+100
        1 five_card_hand_bonus paid 0 hand_pay 10%""",
        {OWN: {"amount": 0, "reserve": 0}},
    ),
}


@pytest.mark.section("649a.11(c)(5)(v)", "649a.11(c)(7)", "649a.11(c)(8)", "649a.12(h)(4)")
@pytest.mark.section("649a.12(i)(2)", "649a.12(i)(4)")
@pytest.mark.reading("G3")
@pytest.mark.reading("T9")
@pytest.mark.reading("T16")
@pytest.mark.reading("T17")
@pytest.mark.reading("T18")
@pytest.mark.reading("T21")
@pytest.mark.parametrize(
    ("boxes", "dealer", "community", "held", "said", "after"), ROUNDS.values(), ids=ROUNDS
)
def test_a_round_of_several_turns_is_settled_line_by_line(
    boxes: list[JSON], dealer: str, community: str, *, held: JSON, said: str, after: JSON
) -> None:
    settlement = settled(
        GAME, boxes, dealer, paytables=CHOICES, community=community.split(), meters=held
    )
    assert settlement.said() == [line.strip() for line in said.splitlines()]
    assert {name: to_builtins(meter) for name, meter in settlement.meters.items()} == {
        name: {"reserve": None} | meter for name, meter in after.items()
    }


@pytest.mark.section("649a.13(c)", "649a.12(i)(4)")
@pytest.mark.reading("G3")
def test_fractions_of_a_cent_that_a_void_round_takes_off_are_rounded_down() -> None:
    settlement = settled(
        GAME,
        [box(1, None, {"pair_plus": 100, OWN: 333})],
        None,
        paytables=CHOICES,
        meters={OWN: {"wager": 333, "amount": 3_330_100, "reserve": 100}},
        irregularity="void",
    )
    # 69.93 and 26.64 cents.
    assert settlement.meters[OWN] == MeterText(3_330_030, 73)
