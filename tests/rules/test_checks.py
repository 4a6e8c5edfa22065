"""Wagers and deals that are not allowed, one row for each kind, through `pitlink settle`."""

import json
from typing import Any

import pytest

from bonus.law.chapter import chapters
from bonus.settling.rounds import RoundError
from bonus.settling.settle import settle_line

METER = {"wager": 100, "amount": 500_000}
POKER: dict[str, Any] = {
    "game": "three_card_poker",
    "paytables": {
        "ante_bonus": "b-A",
        "pair_plus": "A",
        "progressive": "A",
        "six_card_bonus": "A",
    },
    "positions": [{"position": 3, "cards": ["As", "Kd", "9s"], "wagers": {"ante": 10, "play": 10}}],
    "dealer": ["2c", "3d", "9h"],
    "community": ["Js", "Ts"],
    "meters": {
        "progressive": METER,
        "five_card_progressive": METER,
        "five_of_six_progressive": METER,
        "five_card_hand_bonus": METER,
    },
}
PRIME: dict[str, Any] = {
    "game": "three_card_prime",
    "paytables": {"bad_beat": "A", "pair_bonus": "A", "all_six": "A"},
    "positions": [{"position": 3, "cards": ["As", "Kd", "9s"], "wagers": {"ante": 10, "play": 10}}],
    "dealer": ["2c", "3d", "9h"],
}
FOUR: dict[str, Any] = {
    "game": "four_card_prime",
    "paytables": {"bad_beat": "A", "prime": "A", "aces_bonus": "A", "all_six": "A"},
    "positions": [
        {
            "position": 3,
            "cards": ["As", "Kd", "9s", "4c", "2d"],
            "wagers": {"ante": 10, "raise": 30},
        }
    ],
    "dealer": ["2c", "3d", "9h", "Qs", "Qd", "7h"],
}


def refusal(game: dict[str, Any], at: dict[str, Any] | None = None, **fields: Any) -> RoundError:  # noqa: ANN401
    """Return the refusal of a round with one position, and other fields, changed."""
    changed = {**game, **fields}
    if at is not None:
        changed["positions"] = [{**game["positions"][0], **at}]
    settle_line(json.dumps(game).encode())
    with pytest.raises(RoundError) as refused:
        settle_line(json.dumps(changed).encode())
    return refused.value


WAGERS = [
    (POKER, {"play": 10}, "wager_missing", "play", "649a.7(d)(1)"),
    (FOUR, {"raise": 10}, "wager_missing", "raise", "682a.7(d)(1)"),
    (POKER, {"ante": 0, "play": 0}, "bad_amount", "ante", "1 to"),
    (POKER, {"ante": -10, "play": -10}, "bad_amount", "ante", "1 to"),
    (POKER, {"ante": 10**11, "play": 10**11}, "bad_amount", "ante", "1 to"),
    (POKER, {"pair_plus": 10, "progressive": 500}, "wrong_amount", "progressive", "100"),
    (POKER, {"ante": 10, "raise": 10}, "unknown_wager", "raise", "three_card_poker"),
    (PRIME, {"ante": 10, "play": 10, "pair_plus": 1}, "unknown_wager", "pair_plus", "prime"),
    (FOUR, {"ante": 10, "play": 10}, "unknown_wager", "play", "four_card_prime"),
]


@pytest.mark.section("649a.7(d)")
@pytest.mark.section("649a.11(b)")
@pytest.mark.section("679a.7(d)")
@pytest.mark.section("679a.11(b)")
@pytest.mark.section("682a.7(d)")
@pytest.mark.section("682a.11(b)")
@pytest.mark.parametrize(("game", "wagers", "code", "field", "words"), WAGERS)
def test_what_may_not_be_wagered_is_refused_with_its_subsection(
    game: dict[str, Any], wagers: dict[str, int], code: str, field: str, words: str
) -> None:
    error = refusal(game, {"wagers": wagers})
    assert error.code == code
    assert (error.field or "").startswith(f"positions[0].wagers.{field}")
    assert words in error.message


OFFERS = [
    (POKER, {"ante_bonus": "b-D"}, "ante_bonus", "b-A, b-B, b-C"),
    (POKER, {"pair_plus": "F"}, "pair_plus", "A, B, C, D, E"),
    (POKER, {"bad_beat": "A"}, "bad_beat", "three_card_poker has no choice"),
    (POKER, {"version": "4"}, "version", "1, 2, 3"),
    (POKER, {"mini_royal": {"progressive": 50}}, "mini_royal", "ante_bonus or pair_plus"),
    (POKER, {"mini_royal": 5}, "mini_royal", "odds for"),
    (
        POKER,
        {"ante_bonus": "c-A", "version": "1", "mini_royal": {"ante_bonus": 50}},
        "mini_royal",
        "649a.12(c)",
    ),
    (PRIME, {"bad_beat": "E"}, "bad_beat", "A, B, C, D"),
    (PRIME, {"mini_royal": {"pair_plus": 50}}, "mini_royal", "has no choice"),
    (PRIME, {"payout_limit": 4_999_999}, "payout_limit", "679a.12(h)"),
    (FOUR, {"payout_limit": 1}, "payout_limit", "682a.12(g)"),
    (FOUR, {"aces_bonus": "I"}, "aces_bonus", "G, H"),
    (FOUR, {"aces_bonus_reading": "three_cards"}, "aces_bonus_reading", "five_cards, best_four"),
    (FOUR, {"prime": "C"}, "prime", "A, B"),
]


@pytest.mark.section("679a.12(h)")
@pytest.mark.section("682a.12(g)")
@pytest.mark.reading("G6")
@pytest.mark.reading("F12")
@pytest.mark.parametrize(("game", "choice", "name", "words"), OFFERS)
def test_a_paytable_that_is_not_offered_is_refused(
    game: dict[str, Any], choice: dict[str, object], name: str, words: str
) -> None:
    error = refusal(game, paytables={**game["paytables"], **choice})
    assert (error.code, error.field) == ("not_offered", f"paytables.{name}")
    assert words in error.message


@pytest.mark.parametrize(
    ("game", "wagers", "left_out"),
    [
        (POKER, {"ante": 10, "play": 10}, "ante_bonus"),
        (POKER, {"pair_plus": 10}, "pair_plus"),
        (POKER, {"pair_plus": 10, "six_card_bonus": 10}, "six_card_bonus"),
        (PRIME, {"ante": 10, "play": 10}, "bad_beat"),
        (PRIME, {"ante": 10, "play": 10, "pair_bonus": 10}, "pair_bonus"),
        (PRIME, {"ante": 10, "play": 10, "all_six": 10}, "all_six"),
        (FOUR, {"ante": 10, "raise": 10}, "bad_beat"),
        (FOUR, {"ante": 10, "raise": 10, "prime": 10}, "prime"),
        (FOUR, {"ante": 10, "raise": 10, "aces_bonus": 10}, "aces_bonus"),
        (FOUR, {"ante": 10, "raise": 10, "all_six": 10}, "all_six"),
    ],
)
def test_a_wager_whose_paytable_is_not_chosen_is_not_offered(
    game: dict[str, Any], wagers: dict[str, int], left_out: str
) -> None:
    chosen = {name: choice for name, choice in game["paytables"].items() if name != left_out}
    error = refusal(game, {"wagers": wagers}, paytables=chosen)
    assert error.code == "not_offered"
    assert left_out in error.message
    assert f"{chapters()[game['game']].chapter}.12" in error.message


SPARE = {"ante": 10, "play": 10}
CARDS = [
    (
        POKER,
        {"wagers": {"pair_plus": 10}, "folded": True},
        {},
        "nothing_folded",
        "positions[0].folded",
    ),
    *(
        (
            POKER,
            {"wagers": {"ante": 10, wager: 100}, "folded": True, "cards": None},
            {},
            "cards_missing",
            "positions[0].cards",
        )
        for wager in (
            "five_of_six_progressive",
            "five_card_hand_bonus",
            "five_card_hand_bonus_dealer",
            "six_card_bonus",
        )
    ),
    *(
        (
            POKER,
            {"wagers": {**SPARE, wager: 100}},
            {"community": None},
            "community_missing",
            "community",
        )
        for wager in (
            "five_card_progressive",
            "five_card_hand_bonus",
            "five_card_hand_bonus_dealer",
        )
    ),
    (
        POKER,
        {"wagers": {"ante": 10, "five_card_progressive": 100}, "folded": True},
        {"community": None},
        "community_missing",
        "community",
    ),
    (
        POKER,
        {"wagers": {**SPARE, "five_card_hand_bonus_dealer": 100}},
        {"meters": {}},
        "unknown_meter",
        "positions[0].wagers.five_card_hand_bonus_dealer",
    ),
    *(
        (POKER, None, {"draw": {"lucky_position": position}}, "bad_position", "draw.lucky_position")
        for position in (0, 8)
    ),
    *(
        (POKER, {"cards": ["As", "Kd", card]}, {}, "bad_card", "positions[0].cards")
        for card in ("10s", "qs")
    ),
    (POKER, {"cards": ["As", "Kd"]}, {}, "wrong_cards", "positions[0].cards"),
    (POKER, {"cards": ["As", "Kd", "9s", "8s"]}, {}, "wrong_cards", "positions[0].cards"),
    (POKER, {"cards": None}, {}, "cards_missing", "positions[0].cards"),
    (POKER, {"cards": ["As", "As", "9s"]}, {}, "card_twice", "positions[0].cards"),
    (POKER, {"cards": ["2c", "Kd", "9s"]}, {}, "card_twice", "dealer"),
    (POKER, None, {"dealer": None}, "cards_missing", "dealer"),
    (POKER, None, {"dealer": ["2c", "3d"]}, "wrong_cards", "dealer"),
    (POKER, None, {"community": ["Js", "9h"]}, "card_twice", "community"),
    (POKER, None, {"dealer": ["2c", "3d", "9h", "4d"]}, "wrong_cards", "dealer"),
    (FOUR, None, {"dealer": ["2c", "3d", "9h", "Qs", "Qd"]}, "wrong_cards", "dealer"),
    (FOUR, {"cards": ["As", "Kd", "9s", "4c"]}, {}, "wrong_cards", "positions[0].cards"),
    (FOUR, None, {"all_six_card": "As"}, "card_twice", "all_six_card"),
    (
        FOUR,
        {"wagers": {"ante": 10, "raise": 10, "all_six": 10}},
        {},
        "cards_missing",
        "all_six_card",
    ),
    (
        PRIME,
        {"wagers": {**SPARE, "pair_bonus": 10}},
        {},
        "cards_missing",
        "positions[0].fourth_card",
    ),
    (PRIME, {"fourth_card": "9h"}, {}, "card_twice", "dealer"),
    (PRIME, {"fourth_card": "As"}, {}, "card_twice", "positions[0].fourth_card"),
    (PRIME, {"fourth_card": "1s"}, {}, "bad_card", "positions[0].fourth_card"),
    (PRIME, None, {"pair_bonus_community_card": "As"}, "card_twice", "pair_bonus_community_card"),
    (PRIME, None, {"all_six_card": "4s"}, "wrong_field", "all_six_card"),
    (PRIME, None, {"community": ["4s", "5s"]}, "wrong_field", "community"),
    (PRIME, None, {"meters": {"progressive": METER}}, "wrong_field", "meters"),
    (POKER, None, {"pair_bonus_community_card": "4s"}, "wrong_field", "pair_bonus_community_card"),
    (FOUR, {"fourth_card": "4s"}, {}, "wrong_field", "positions[0].fourth_card"),
    (FOUR, None, {"draw": {"magic_card": "4s"}}, "wrong_field", "draw"),
]


@pytest.mark.section("649a.8(d)")
@pytest.mark.section("679a.8(c)")
@pytest.mark.section("682a.8(c)")
@pytest.mark.reading("T8")
@pytest.mark.parametrize(("game", "at", "fields", "code", "field"), CARDS)
def test_cards_missing_or_twice_are_refused(
    game: dict[str, Any],
    at: dict[str, Any] | None,
    fields: dict[str, Any],
    code: str,
    field: str,
) -> None:
    error = refusal(game, at, **fields)
    assert (error.code, error.field) == (code, field)


@pytest.mark.section("649a.2(a)")
@pytest.mark.section("679a.2(a)")
@pytest.mark.section("682a.2(a)")
@pytest.mark.parametrize(("game", "most"), [(POKER, 7), (PRIME, 6), (FOUR, 6)])
def test_no_more_positions_than_the_table_has(game: dict[str, Any], most: int) -> None:
    at = {**game["positions"][0], "position": most}
    settle_line(json.dumps({**game, "positions": [at]}).encode())
    for position in (most + 1, 0, -1):
        error = refusal(game, {"position": position})
        assert (error.code, error.field) == ("bad_position", "positions[0].position")
        assert ".2(a)" in error.message
    twice = [*game["positions"], {**game["positions"][0], "cards": None, "wagers": {}}]
    assert refusal(game, positions=twice).code == "position_twice"
