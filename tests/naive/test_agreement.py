"""Random rounds, settled twice: by the text alone and by the real code."""

import json
from random import Random

import pytest

from tests.naive.produced import settle_by_pitlink
from tests.naive.rounds import random_round
from tests.naive.settle import settle
from tests.naive.shapes import Meter, Round, Settlement

GAMES = ("three_card_poker", "three_card_prime", "four_card_prime")
CHUNKS = 20
ROUNDS_IN_A_CHUNK = 5_000
ROUNDS_IN_A_QUICK_RUN = 500


def check_agreement(game: str, chunk: int, rounds: int) -> None:
    """Rounds of a game from the seed that belongs to a chunk, each settled twice."""
    rng = Random(f"{game} {chunk}")
    for number in range(rounds):
        played = random_round(game, rng)
        by_text = settle(played)
        produced = settle_by_pitlink(played)
        if by_text != produced:
            pytest.fail(
                f"round {number} of chunk {chunk}:\n{difference(played, by_text, produced)}"
            )


def difference(played: Round, by_text: Settlement, produced: Settlement) -> str:
    """The round, and what only one of its settlements says."""
    ours = [json.dumps(line, sort_keys=True) for line in by_text["lines"]]
    theirs = [json.dumps(line, sort_keys=True) for line in produced["lines"]]
    told = [json.dumps(played)]
    told += [f"text only:    {line}" for line in ours if line not in theirs]
    told += [f"pitlink only: {line}" for line in theirs if line not in ours]
    if sorted(ours) == sorted(theirs) and ours != theirs:
        told += ["the same lines in another order:", *ours, "pitlink:", *theirs]
    if by_text["meters"] != produced["meters"]:
        told += [f"meters by text: {by_text['meters']}", f"pitlink: {produced['meters']}"]
    return "\n".join(told)


@pytest.mark.section("649a.11(c)", "679a.11(c)", "679a.11(d)", "682a.11(d)", "682a.11(e)")
@pytest.mark.parametrize("game", GAMES)
def test_some_random_rounds_agree(game: str) -> None:
    check_agreement(game, CHUNKS, ROUNDS_IN_A_QUICK_RUN)


@pytest.mark.slow
@pytest.mark.section("649a.12", "679a.12", "682a.12", "649a.13", "679a.13", "682a.13")
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("game", GAMES)
def test_all_random_rounds_agree(game: str, chunk: int) -> None:
    check_agreement(game, chunk, ROUNDS_IN_A_CHUNK)


def test_a_difference_is_shown() -> None:
    played: Round = {"game": "three_card_poker", "positions": []}
    meters: dict[str, Meter] = {"progressive": {"amount": 1}}
    shown = difference(
        played,
        {"lines": [{"item": "ante"}, {"item": "play"}], "meters": meters},
        {"lines": [{"item": "play"}, {"item": "raise"}], "meters": {}},
    )
    assert 'text only:    {"item": "ante"}' in shown
    assert 'pitlink only: {"item": "raise"}' in shown
    assert '"play"' not in shown
    assert "meters by text: {'progressive': {'amount': 1}}" in shown


def test_another_order_is_shown() -> None:
    shown = difference(
        {"game": "three_card_poker", "positions": []},
        {"lines": [{"item": "ante"}, {"item": "play"}], "meters": {}},
        {"lines": [{"item": "play"}, {"item": "ante"}], "meters": {}},
    )
    assert "another order" in shown
