"""Every parser survives bad input: a seeded part of the long run, and what a failure shows."""

import pytest

from tests.fuzz.run import TARGETS, FoundError, fuzz, input_of, shares
from tests.fuzz.service_targets import EVENTS
from tests.fuzz.target import Target, pure


@pytest.mark.parametrize("inputs", [1_000, pytest.param(30_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
async def test_a_target_survives_its_share(target: Target, inputs: int) -> None:
    """The inputs are those over all targets. The long run is ``python -m tests fuzz``."""
    share = shares(inputs, [*TARGETS.values()])[target.name]
    tally = await fuzz(target, share, seed=0)
    assert tally.inputs == share > 0
    assert input_of(target, 1, 1) == input_of(target, 1, 1)


async def test_an_input_that_fails_is_reported_with_its_number() -> None:
    def check(data: bytes) -> None:
        assert b"void" not in data

    weak = Target("weak", EVENTS, pure(check))
    with pytest.raises(FoundError, match=r"--seed 5 --first (\d+) --inputs 1") as found:
        await fuzz(weak, 1_000, 5)
    number = int(str(found.value).split("--first ")[1].split()[0])
    assert b"void" in input_of(weak, 5, number)
