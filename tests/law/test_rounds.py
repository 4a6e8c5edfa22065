"""The rounds of the law, settled through the public interface and by the text alone."""

import json
from typing import Any

import msgspec
import pytest

from bonus.rounds import RoundError
from bonus.settling.settle_round import settle_line
from tests.law.law_rounds import Case, Stated, all_cases, rounds_of
from tests.naive.agreement import disagreement

_SAID = ("position", "item", "outcome", "wagered", "paid", "returned", "percent", "paid_from",
         "envy_of", "on", "hand", "rule")  # fmt: skip


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.id)
def test_a_round_is_settled_as_the_law_says(case: Case) -> None:
    for line, stated in rounds_of(case):
        if stated.refused:
            check_refusal(line, stated)
        else:
            check_settlement(line, stated)


def check_settlement(line: str, stated: Stated) -> None:
    settled: dict[str, Any] = msgspec.to_builtins(settle_line(json.dumps(stated.played).encode()))
    differs = disagreement(stated.played)
    assert differs is None, f"{line}\n{differs}"
    found = [each for each in settled["lines"] if stated.only in {None, each["item"]}]
    assert [(each["position"], each["item"]) for each in found] == [
        (each["position"], each["item"]) for each in stated.lines
    ], f"{line}\nsettled: {_shown(found)}"
    for each, expected in zip(found, stated.lines, strict=True):
        real = {name: each.get(name) for name in expected}
        assert real == expected, f"{line}\nsettled: {_shown(found)}"
    held = stated.played.get("meters", {})
    for name, meter in settled.get("meters", {}).items():
        said = {key: cents for key, cents in held[name].items() if key in meter}
        expected = said | stated.left.get(name, {})
        assert {key: meter[key] for key in expected} == expected, f"{line}\n{name}: {meter}"


def check_refusal(line: str, stated: Stated) -> None:
    with pytest.raises(RoundError) as refused:
        settle_line(json.dumps(stated.played).encode())
    code, *named = stated.refused
    error = refused.value
    assert error.code == code, line
    for each in named:
        assert each == error.field or each in error.message, (
            f"{line}\nrefused: {error.field}: {error.message}"
        )


def _shown(lines: list[dict[str, Any]]) -> str:
    return "\n".join(
        " ".join(f"{name}={line[name]}" for name in _SAID if line.get(name) is not None)
        for line in lines
    )
