"""Random rounds settled twice, by the text alone and by the real code, until the two differ."""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final, cast

from tests.naive.produced import settle_by_pitlink
from tests.naive.rounds import random_round
from tests.naive.settle import settle
from tests.naive.shapes import RefusedError, Round, Settlement

GAMES: Final = ("three_card_poker", "three_card_prime", "four_card_prime")
ROUNDS_IN_A_CHUNK: Final = 5_000
REPEATED_EVERY: Final = 4
"""One of so many rounds is settled by the real code three times."""


def first_disagreement(game: str, chunk: int, rounds: int) -> str | None:
    """Return the first difference in so many rounds of a game, or None; `chunk` is their seed."""
    rng = Random(f"{game} {chunk}")
    for number in range(rounds):
        # pitlink keeps the lines of a position's wagers and hands, for when they come again.
        times = 3 if number % REPEATED_EVERY == 0 else 1
        if differs := disagreement(random_round(game, rng), times):
            return f"round {number} of chunk {chunk}:\n{differs}"
    return None


def disagreement(played: Mapping[str, Any], times: int = 1) -> str | None:
    boxes = [{"folded": False, **box} for box in played["positions"]]
    whole = cast("Round", {**played, "positions": boxes})
    by_text = outcome(settle, cast("Round", {"dealer": [], **whole}))
    for _ in range(times):
        produced = outcome(settle_by_pitlink, whole)
        if by_text != produced:
            return difference(whole, by_text, produced)
    return None


def outcome(settler: Callable[[Round], Settlement], played: Round) -> Settlement:
    """Return the settlement of a round, or the code of its refusal as its only line."""
    try:
        return settler(played)
    except RefusedError as error:
        return {"lines": [{"outcome": f"refused: {error}"}], "meters": {}}


def difference(played: Round, by_text: Settlement, produced: Settlement) -> str:
    ours = [json.dumps(line, sort_keys=True) for line in by_text["lines"]]
    theirs = [json.dumps(line, sort_keys=True) for line in produced["lines"]]
    report = [json.dumps(played)]
    report += [f"text only:    {line}" for line in ours if line not in theirs]
    report += [f"pitlink only: {line}" for line in theirs if line not in ours]
    if sorted(ours) == sorted(theirs) and ours != theirs:
        report += ["the same lines in another order:", *ours, "pitlink:", *theirs]
    if by_text["meters"] != produced["meters"]:
        report += [f"meters by text: {by_text['meters']}", f"pitlink: {produced['meters']}"]
    return "\n".join(report)
