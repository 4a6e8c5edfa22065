"""The settlement under test. Only this file of the room uses the real code."""

import json
from typing import TypedDict

import msgspec

from bonus.rounds import RoundError
from bonus.settling.settle_round import settle_line
from tests.naive.shapes import Line, Meter, RefusedError, Round, Settlement
from tests.naive.tables_649a import METER_OF


class _Ruled(TypedDict):
    rule: str


class _RuledLines(TypedDict):
    lines: list[_Ruled]


class _Settled(TypedDict, total=False):
    lines: list[Line]
    meters: dict[str, Meter]


CHAPTERS = {"three_card_poker": "649a.", "three_card_prime": "679a.", "four_card_prime": "682a."}

NAMED = frozenset(METER_OF) | {"progressive_envy", "five_card_envy", "five_of_six_envy"}


def settle_by_pitlink(played: Round) -> Settlement:
    """Settle a round as ``pitlink settle`` does, without naming the rules.

    Hands are named where the wager feeds a meter: there the name goes into claims and books.
    """
    try:
        answer = msgspec.json.encode(settle_line(json.dumps(played).encode()))
    except RoundError as error:
        raise RefusedError(error.code) from None
    rules = [line["rule"] for line in msgspec.json.decode(answer, type=_RuledLines)["lines"]]
    assert all(rule.startswith(CHAPTERS[played["game"]]) for rule in rules), rules
    settled = msgspec.json.decode(answer, type=_Settled)
    for line in settled["lines"]:
        if line["item"] not in NAMED:
            line.pop("hand", None)
    return {"lines": settled["lines"], "meters": settled.get("meters", {})}
