"""Deliberate defects of what people decide: each is found by the test that exists for it."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import pytest
from redis.asyncio import Redis

from tests.law import test_rounds
from tests.law.law_rounds import all_cases
from tests.model import test_no_win as declared
from tests.model import test_reopening as reopening
from tests.model.pit import STRICT, Pit
from tests.sim.breaking import break_code

Test = Callable[..., Any]


def _refused_declarations() -> Test:
    """Return the test that a hand is not declared to win nothing if other cards decide it."""
    (case,) = [case for case in all_cases() if "is not declared" in case.title]
    return partial(test_rounds.test_a_round_is_settled_as_the_law_says, case)


FOUND_BY: Final[Mapping[str, Test]] = {
    "one person rejects a large win": reopening.test_a_hand_pay_is_rejected_only_by_two_people,
    "a reopened win takes the reseed of the meter": (
        reopening.test_the_meter_keeps_its_reseed_when_a_win_is_reopened
    ),
    "Envy Bonuses of a reopened win are taken back although they are decided": (
        reopening.test_envy_bonuses_that_were_paid_stay_paid
    ),
    "a hand is declared although all hands are required": (
        declared.test_a_house_that_requires_all_hands_refuses_it
    ),
    "a hand that wins with any cards is declared to win nothing": _refused_declarations(),
    "a declared hand decides about the Magic Card": _refused_declarations(),
}


async def _run(test: Test, pit: Pit) -> None:
    """Run a test on a link, and audit the link after it."""
    named = inspect.signature(test).parameters
    result = test(**{name: pit for name in ("strict", "pit") if name in named})
    if inspect.isawaitable(result):
        await result
    assert (await pit.audit()).problems == ()


@pytest.mark.parametrize(("defect", "test"), FOUND_BY.items(), ids=FOUND_BY)
async def test_a_defect_is_found(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, defect: str, test: Test
) -> None:
    """The test passes in its own file, without the defect."""
    break_code(defect, monkeypatch.setattr)
    pit = await Pit.opened(redis, STRICT)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        await _run(test, pit)
