"""Hands that the dealer declared to win nothing: which wagers are settled without the cards."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bonus.cards import DECK, card_name
from bonus.settling.rounds import RoundError
from bonus.settling.settle import settle_line
from bonus.settling.settlement_lines import Line, Outcome
from tests.rules.test_checks import FOUR, POKER, PRIME

METERS = {
    "progressive": 100,
    "five_card_progressive": 100,
    "five_of_six_progressive": 100,
    "five_card_hand_bonus": 100,
}
ALL = {"ante": 10, "play": 10, "pair_plus": 10, "six_card_bonus": 10, **METERS}
QUALIFIES = ["Qc", "3d", "9h"]
DECLARED = {"position": 3, "no_win": True}


def settle(game: dict[str, Any], *positions: dict[str, Any], **fields: Any) -> list[Line]:  # noqa: ANN401
    text = {**game, "positions": list(positions), **fields}
    return list(settle_line(json.dumps(text).encode()).lines)


def refusal(game: dict[str, Any], *positions: dict[str, Any], **fields: Any) -> RoundError:  # noqa: ANN401
    with pytest.raises(RoundError) as refused:
        settle(game, *positions, **fields)
    return refused.value


def test_each_wager_on_the_hand_is_collected_without_naming_a_hand() -> None:
    lines = settle(POKER, {**DECLARED, "wagers": ALL}, dealer=QUALIFIES)
    assert sorted(line.item for line in lines) == sorted(ALL)
    assert {(line.outcome, line.hand, line.paid, line.returned) for line in lines} == {
        (Outcome.COLLECTED, None, 0, 0)
    }


@pytest.mark.parametrize(
    ("game", "wagers", "fields"),
    [
        (
            PRIME,
            {"ante": 10, "play": 10, "prime": 10, "pair_bonus": 10, "all_six": 10},
            {"dealer": QUALIFIES},
        ),
        (
            FOUR,
            {"ante": 10, "raise": 30, "prime": 10, "aces_bonus": 10, "all_six": 10},
            {"all_six_card": "8d"},
        ),
    ],
    ids=["three card prime", "four card prime"],
)
def test_it_is_so_in_the_other_games(
    game: dict[str, Any], wagers: dict[str, int], fields: dict[str, Any]
) -> None:
    lines = settle(game, {**DECLARED, "wagers": wagers}, **fields)
    assert {line.item: line.outcome for line in lines} == dict.fromkeys(wagers, Outcome.COLLECTED)


@given(st.data())
def test_a_declared_hand_is_settled_as_a_hand_that_wins_nothing(data: st.DataObject) -> None:
    """The lines are those of the round with the cards, except that no hand is named."""
    cards = [card_name(card) for card in data.draw(st.permutations(DECK))]
    wagers = dict.fromkeys(data.draw(st.sets(st.sampled_from(sorted(METERS)))), 100)
    wagers |= {"ante": 10, "play": 10, "pair_plus": 10, "six_card_bonus": 10}
    other = {"position": 5, "cards": cards[3:6], "wagers": ALL}
    fields = {"dealer": cards[6:9], "community": cards[9:11]}
    lines = settle(POKER, {"position": 3, "cards": cards[:3], "wagers": wagers}, other, **fields)
    own = [line for line in lines if line.position == 3 and line.envy_of is None]
    if any(line.outcome is not Outcome.COLLECTED for line in own):
        return
    declared = settle(POKER, {**DECLARED, "wagers": wagers}, other, **fields)
    told = [(line.position, line.item, line.outcome, line.paid, line.rule) for line in declared]
    assert told == [
        (line.position, line.item, line.outcome, line.paid, line.rule) for line in lines
    ]


def test_other_hands_still_pay_the_position() -> None:
    """The Envy Bonus of another hand, and the wager on the dealer's hand."""
    wagers = {"pair_plus": 10, "progressive": 100, "five_card_hand_bonus_dealer": 100}
    winner = {"position": 5, "cards": ["As", "Ks", "Qs"], "wagers": {"pair_plus": 10}}
    lines = settle(
        POKER, {**DECLARED, "wagers": wagers}, winner,
        dealer=["Jc", "Td", "Th"], community=["Js", "Ts"], draw={"lucky_position": "dealer"},
    )  # fmt: skip
    won = {line.item: line.hand for line in lines if line.position == 3 and line.paid}
    assert won == {
        "five_card_hand_bonus_dealer": "full_house",
        "lucky_bonus": None,
        "progressive_envy": "mini_royal_spades",
    }


def test_the_hand_brings_no_envy_bonus() -> None:
    """The cards that were left out would bring one to the other player."""
    other = {"position": 5, "cards": ["2c", "7d", "9s"], "wagers": {"pair_plus": 10, **METERS}}
    lines = settle(POKER, {**DECLARED, "wagers": {}}, other, dealer=QUALIFIES)
    assert not [line for line in lines if line.envy_of is not None]


REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    ("cards", {"cards": ["2h", "4s", "8d"]}, {}, "no_win_with_cards", "positions[0].no_win"),
    ("folded", {"folded": True, "wagers": {"ante": 10}}, {}, "no_win_folded",
     "positions[0].no_win"),
    ("the dealer does not qualify", {}, {"dealer": ["2c", "3d", "9h"]}, "no_win_wins",
     "positions[0].no_win"),
    ("the Lucky position", {}, {"draw": {"lucky_position": 3}}, "no_win_wins",
     "positions[0].no_win"),
    ("a community card is the Magic Card", {}, {"draw": {"magic_card": "Js"}}, "no_win_wins",
     "positions[0].no_win"),
    ("the Magic Card can be in the hand", {}, {"draw": {"magic_card": "4h"}}, "cards_missing",
     "positions[0].cards"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("position", "fields", "code", "field"), [case[1:] for case in REFUSED],
    ids=[case[0] for case in REFUSED],
)  # fmt: skip
def test_what_the_other_cards_decide_is_not_declared(
    position: dict[str, Any], fields: dict[str, Any], code: str, field: str
) -> None:
    made = {**DECLARED, "wagers": ALL, **position}
    refused = refusal(POKER, made, **{"dealer": QUALIFIES, **fields})
    assert (refused.code, refused.field) == (code, field)


def test_the_magic_card_in_another_hand_is_not_in_this_one() -> None:
    other = {"position": 5, "cards": ["4h", "7d", "9s"], "wagers": {"pair_plus": 10}}
    lines = settle(
        POKER, {**DECLARED, "wagers": ALL}, other, dealer=QUALIFIES, draw={"magic_card": "4h"}
    )
    assert not [line for line in lines if line.position == 3 and line.paid]


def test_the_all_six_of_a_dealers_three_of_a_kind_is_not_declared() -> None:
    refused = refusal(
        PRIME, {**DECLARED, "wagers": {"prime": 10, "ante": 10, "play": 10, "all_six": 10}},
        dealer=["9c", "9d", "9h"],
    )  # fmt: skip
    assert refused.code == "no_win_wins"
