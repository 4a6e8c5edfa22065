"""Two sets of books, one real and one simple, under any sequence of events on a floor.

The runs are the same every time. `PITLINK_MODEL_PROFILE=long` tries many more floors, other ones
each time, and prints what repeats a failure.
"""

import os
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

import meters.books.ledger_blocks
from tests.model.machine import Floor
from tests.model.model_floor import MIXED, POKER, ModelFloor
from tests.servers import RedisServer
from tests.sim.breaking import break_code

_CHECKS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

_SHORT: Final = settings(
    max_examples=4,
    stateful_step_count=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=_CHECKS,
)
_DEFAULT: Final = settings(_SHORT, max_examples=65)
_LONG: Final = settings(
    _SHORT, max_examples=3_000, stateful_step_count=100, derandomize=False, print_blob=True
)


@pytest.mark.duty("D6", "D2")
@pytest.mark.section("649a.12(e)(4)")
@pytest.mark.reading("T15")
@pytest.mark.parametrize("floor", [POKER, MIXED], ids=["poker", "mixed"])
@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(_SHORT, id="short"),
        pytest.param(
            _LONG if os.environ.get("PITLINK_MODEL_PROFILE") == "long" else _DEFAULT,
            id="default",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_two_sets_of_books_agree_to_the_micro(
    memory_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    floor: ModelFloor,
    profile: settings,
) -> None:
    # Then `pitlink archive` also compresses the few entries of a short run.
    monkeypatch.setattr(meters.books.ledger_blocks, "PLAIN_ENTRIES", 5)
    monkeypatch.setattr(meters.books.ledger_blocks, "BLOCK_ENTRIES", 4)
    run_state_machine_as_test(_machine(memory_server, floor), settings=profile)


@pytest.mark.parametrize(
    ("floor", "defect", "found"),
    [
        (POKER, "a copy in the same batch is refused", "seq_passed"),
        (MIXED, "the rate of a tier is one basis point too high", "keystone_major"),
        (MIXED, "the percentage of a tier is taken from another meter", "keystone_major"),
    ],
)
def test_a_defect_is_found(
    memory_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    floor: ModelFloor,
    defect: str,
    found: str,
) -> None:
    break_code(defect, monkeypatch.setattr)
    machine = _machine(memory_server, floor)
    with pytest.raises(AssertionError, match=found):
        run_state_machine_as_test(machine, settings=settings(_DEFAULT, phases=[Phase.generate]))


def _machine(server: RedisServer, floor: ModelFloor) -> type[Floor]:
    return type("FloorOnThisRedis", (Floor,), {"url": server.url, "floor": floor})
