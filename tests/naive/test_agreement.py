"""Random rounds, settled twice: by the text alone and by the real code."""

from typing import Any, Final

import pytest

from tests.naive.agreement import GAMES, ROUNDS_IN_A_CHUNK, disagreement, first_disagreement

CHUNKS = 4
"""These chunks contain every kind of line of every paytable; `python -m tests naive` adds more."""
ROUNDS_IN_A_QUICK_RUN = 200


@pytest.mark.section("649a.11(c)", "679a.11(c)", "679a.11(d)", "682a.11(d)", "682a.11(e)")
@pytest.mark.parametrize("game", GAMES)
def test_some_random_rounds_agree(game: str) -> None:
    assert first_disagreement(game, CHUNKS, ROUNDS_IN_A_QUICK_RUN) is None


@pytest.mark.slow
@pytest.mark.section("649a.12", "679a.12", "682a.12", "649a.13", "679a.13", "682a.13")
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("game", GAMES)
def test_all_random_rounds_agree(game: str, chunk: int) -> None:
    assert first_disagreement(game, chunk, ROUNDS_IN_A_CHUNK) is None


_ANTE_AND_PLAY: Final = {"ante": 1_000, "play": 1_000}
_ENVY: Final[dict[str, Any]] = {
    "game": "three_card_poker",
    "paytables": {"ante_bonus": "b-A", "progressive": "A"},
    "positions": [
        {
            "position": 3,
            "cards": ["Ah", "Kh", "Qh"],
            "wagers": {**_ANTE_AND_PLAY, "progressive": 100},
        },
        {
            "position": 2,
            "cards": ["9s", "6d", "Qc"],
            "wagers": {**_ANTE_AND_PLAY, "progressive": 100},
        },
    ],
    "dealer": ["2c", "3d", "4h"],
    "meters": {"progressive": {"wager": 100, "amount": 151_234}},
}
_ON_DEALER: Final = {**_ANTE_AND_PLAY, "five_card_hand_bonus_dealer": 100}
_DIVIDED: Final[dict[str, Any]] = {
    "game": "three_card_poker",
    "paytables": {"ante_bonus": "b-A"},
    "positions": [
        {"position": 3, "cards": ["2s", "7s", "9d"], "wagers": _ON_DEALER},
        {"position": 2, "cards": ["9s", "6d", "Qc"], "wagers": _ON_DEALER},
    ],
    "dealer": ["As", "Ks", "Qs"],
    "community": ["Js", "Ts"],
    "meters": {"five_card_hand_bonus": {"wager": 100, "amount": 1_200_000, "reserve": 30_000}},
}
_LIMITED: Final[dict[str, Any]] = {
    "game": "three_card_prime",
    "paytables": {"bad_beat": "A", "payout_limit": 5_000_000},
    "positions": [
        {
            "position": 3,
            "cards": ["9s", "9h", "Kc"],
            "wagers": {"ante": 2_000_000, "play": 2_000_000},
        },
        {
            "position": 2,
            "cards": ["5s", "5h", "Kd"],
            "wagers": {"ante": 2_000_000, "play": 2_000_000},
        },
    ],
    "dealer": ["2c", "3d", "Qh"],
}


@pytest.mark.parametrize("played", [_ENVY, _DIVIDED, _LIMITED], ids=["envy", "divided", "limited"])
def test_lines_that_depend_on_other_positions_are_not_repeated(played: dict[str, Any]) -> None:
    """The same hands and wagers come again: for one player, for two, and for one alone."""
    upper, lower = played["positions"]
    every = [
        {**played, "positions": positions}
        for positions in (
            [{**upper, "patron": "p"}, {**lower, "patron": "p"}],
            [{**upper, "patron": "p"}, {**lower, "patron": "q"}],
            [upper],
        )
    ]
    for one in (*every, *reversed(every), *every):
        assert disagreement(one) is None
