"""Random rounds, settled twice: by the text alone and by the real code."""

import pytest

from tests.naive.agreement import GAMES, ROUNDS_IN_A_CHUNK, first_disagreement

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
