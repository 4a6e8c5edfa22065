"""Every parser survives bad input: a seeded part of the long run, and Hypothesis."""

from random import Random
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.junk import mutated
from tests.fuzz.run import TARGETS, FoundError, fuzz, input_of, shares
from tests.fuzz.service_targets import EVENTS, check_event, check_status, check_topic
from tests.fuzz.target import Target, pure
from tests.fuzz.text_targets import (
    ROUNDS,
    check_address,
    check_card,
    check_name,
    check_settle,
)
from tests.sim.breaking import break_code

INPUTS: Final = 30_000
"""Inputs over all targets, by their shares. The long run is ``python -m tests fuzz``."""
SMALL: Final = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
async def test_a_target_survives_its_share(target: Target) -> None:
    share = shares(INPUTS, [*TARGETS.values()])[target.name]
    tally = await fuzz(target, share, seed=0)
    assert tally.inputs == share > 10


@SMALL
@given(st.randoms(use_true_random=False))
def test_any_event_is_judged_or_refused(random: Random) -> None:
    check_event(mutated(random, EVENTS))


@SMALL
@given(st.randoms(use_true_random=False))
def test_any_round_is_settled_or_refused(random: Random) -> None:
    check_settle(mutated(random, ROUNDS))


@SMALL
@given(st.binary(max_size=80) | st.text(max_size=40).map(lambda text: text.encode()))
def test_any_bytes_are_survived(data: bytes) -> None:
    check_event(data)
    check_status(data)
    check_topic(data)
    check_settle(data)
    check_address(data)
    check_card(data)
    check_name(data)
    assert input_of(TARGETS["wire"], 1, 1) == input_of(TARGETS["wire"], 1, 1)


async def test_a_copy_that_is_refused_in_its_batch_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_code("a copy in the same batch is refused", monkeypatch.setattr)
    with pytest.raises(FoundError, match=r"a copy of .* got .*seq_passed"):
        await fuzz(TARGETS["intake"], 200, 0)


async def test_an_input_that_fails_is_reported_with_its_number() -> None:
    def check(data: bytes) -> None:
        assert b"void" not in data

    weak = Target("weak", EVENTS, pure(check))
    with pytest.raises(FoundError, match=r"--seed 5 --first (\d+) --inputs 1") as found:
        await fuzz(weak, 1_000, 5)
    number = int(str(found.value).split("--first ")[1].split()[0])
    assert b"void" in input_of(weak, 5, number)
