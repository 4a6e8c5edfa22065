"""Edge cases of `pitlink settle` for cents, names and subsections."""

import json
from typing import Any

import pytest

from bonus.settling.rounds import RoundError
from bonus.settling.settle import settle_line

PRIME: dict[str, Any] = {
    "game": "three_card_prime",
    "paytables": {"bad_beat": "A", "pair_bonus": "A", "all_six": "A", "payout_limit": 5_000_000},
    "dealer": ["2c", "3d", "Qh"],
}
FOUR: dict[str, Any] = {
    "game": "four_card_prime",
    "paytables": {"bad_beat": "A", "prime": "A", "aces_bonus": "A", "all_six": "A"},
}
POKER: dict[str, Any] = {"game": "three_card_poker", "paytables": {"ante_bonus": "b-A"}}
Lines = list[dict[str, Any]]


def settled(game: dict[str, Any], *positions: dict[str, Any], **fields: Any) -> Lines:  # noqa: ANN401
    """Return the lines of a settled round."""
    played = {**game, "positions": positions, **fields}
    answer = settle_line(json.dumps(played).encode())
    lines: Lines = json.loads(json.dumps([_fields(line) for line in answer.lines]))
    return lines


def _fields(line: object) -> dict[str, Any]:
    names = ("position", "item", "outcome", "hand", "wagered", "paid", "returned", "rule")
    return {name: getattr(line, name) for name in names}


def at(position: int, cards: str, wagers: dict[str, int], **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a position."""
    return {"position": position, "cards": cards.split(), "wagers": wagers, **fields}


@pytest.mark.reading("P8")
@pytest.mark.section("679a.13(d)")
def test_reading_p8_a_card_exposed_before_anybody_played_returns_the_antes() -> None:
    """There is no Play or fold yet. Players without an optional wager need not show cards."""
    lines = settled(
        PRIME,
        at(3, "As Ks 9s", {"ante": 500, "prime": 100}),
        {"position": 2, "wagers": {"ante": 700}},
        irregularity="dealer_exposed",
    )
    assert [(line["item"], line["outcome"], line["paid"], line["returned"]) for line in lines] == [
        ("ante", "returned", 0, 500),
        ("prime", "paid", 300, 100),
        ("ante", "returned", 0, 700),
    ]
    assert {line["rule"] for line in lines if line["item"] == "ante"} == {"679a.13(d)"}


@pytest.mark.reading("F10")
@pytest.mark.section("682a.13(d)")
def test_reading_f10_a_card_exposed_before_the_raise_needs_no_dealers_hand() -> None:
    lines = settled(
        FOUR,
        at(3, "As Ad 9s 4s 2s", {"ante": 500, "aces_bonus": 100}),
        irregularity="dealer_exposed",
    )
    assert [(line["item"], line["outcome"], line["rule"]) for line in lines] == [
        ("ante", "returned", "682a.13(d)"),
        ("aces_bonus", "paid", "682a.12(e)"),
    ]


@pytest.mark.section("679a.13(d)")
def test_a_live_wager_needs_its_cards_though_the_dealers_was_exposed() -> None:
    with pytest.raises(RoundError) as refused:
        settled(
            PRIME,
            {"position": 3, "wagers": {"ante": 500, "prime": 100}},
            irregularity="dealer_exposed",
        )
    assert (refused.value.code, refused.value.field) == ("cards_missing", "positions[0].cards")


@pytest.mark.reading("G6")
@pytest.mark.section("679a.12(h)")
def test_reading_g6_a_line_that_the_limit_cuts_names_it_and_one_that_just_fits_does_not() -> None:
    just = settled(PRIME, at(3, "As Ks 9h", {"ante": 2_500_000, "play": 2_500_000}))
    assert [(line["paid"], line["rule"]) for line in just] == [
        (2_500_000, "679a.12(a)"),
        (2_500_000, "679a.12(b)"),
    ]
    over = settled(PRIME, at(3, "As Ks 9h", {"ante": 2_500_001, "play": 2_500_001}))
    assert [(line["paid"], line["rule"]) for line in over] == [
        (2_500_001, "679a.12(a)"),
        (2_499_999, "679a.12(h)"),
    ]


@pytest.mark.reading("T9")
def test_reading_t9_a_patron_called_3_is_not_who_plays_position_3() -> None:
    lines = settled(
        {**POKER, "paytables": {"pair_plus": "A", "progressive": "A"}},
        at(5, "As Ks Qs", {"pair_plus": 10}, patron="3"),
        at(3, "2h 5s Jc", {"pair_plus": 10, "progressive": 100}),
        dealer=["2c", "7d", "9h"],
        meters={"progressive": {"wager": 100, "amount": 151_234}},
    )
    assert [line["position"] for line in lines if line["item"] == "progressive_envy"] == [3]


@pytest.mark.reading("T28")
def test_reading_t28_a_void_of_more_than_the_reserve_holds_is_refused() -> None:
    with pytest.raises(RoundError) as refused:
        settled(
            {**POKER, "paytables": {"pair_plus": "A"}},
            at(5, "As Ks Qs", {"pair_plus": 10, "five_card_hand_bonus": 100}),
            irregularity="void",
            meters={"five_card_hand_bonus": {"wager": 100, "amount": 500, "reserve": 7}},
        )
    assert refused.value.code == "bad_meter"


@pytest.mark.parametrize(
    "paytables",
    [
        b'{"ante_bonus":"\xff"}',
        b'{"ante_bonus":"\xed\xa0\x80"}',
        b'{"\xff":"b-A"}',
        b'{"a":[]}',
        b"[]",
    ],
)
def test_choices_that_are_no_text_are_refused(paytables: bytes) -> None:
    line = b'{"game":"three_card_poker","positions":[],"dealer":["2c","3d","4h"],"paytables":'
    with pytest.raises(RoundError) as refused:
        settle_line(line + paytables + b"}")
    assert refused.value.code in {"not_json", "malformed"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"paytables": {"mini_royal": {"pair_plus": 10**40}}}, "not_offered"),
        ({"paytables": {"mini_royal": {"pair_plus": 10**6}}}, "not_offered"),
        ({"meters": {"progressive": {"wager": 100, "amount": 10**30}}}, "malformed"),
        ({"meters": {"five_card_hand_bonus": {"wager": 10**12, "amount": 1}}}, "malformed"),
    ],
)
def test_no_sum_leaves_53_bits(fields: dict[str, Any], code: str) -> None:
    with pytest.raises(RoundError) as refused:
        settled(POKER, dealer=["2c", "7d", "9h"], **fields)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("game", "wagers", "words"),
    [
        ("three_card_pokr", {"ante": 1}, "is three_card_poker meant?"),
        ("three_card_poker", {"pairplus": 1}, "is pair_plus meant?"),
    ],
)
def test_a_name_that_is_nearly_right_is_suggested(
    game: str, wagers: dict[str, int], words: str
) -> None:
    with pytest.raises(RoundError, match=words[:-1]):
        settled({**POKER, "game": game}, at(1, "As Ks Qs", wagers), dealer=["2c", "7d", "9h"])
