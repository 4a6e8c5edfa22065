"""Checks of whether the controller is alive (duty D13)."""

import pytest

from controllers.agent.heartbeat import Heartbeat
from meters.wire.messages import ControllerBeat


def beat(number: int, state: str = "operable", reason: str = "") -> ControllerBeat:
    assert state in {"operable", "inoperable", "closed"}
    return ControllerBeat(state=state, reason=reason, beat=number, at="2026-11-20T02:14:07Z")  # type: ignore[arg-type]


def code_of(heartbeat: Heartbeat, now_s: float) -> str | None:
    fault = heartbeat.fault(now_s)
    return None if fault is None else fault.code


def test_three_seconds_of_silence_lock_out() -> None:
    heartbeat = Heartbeat()
    assert code_of(heartbeat, 0.0) == "link_down"
    heartbeat.hear(beat(1), retained=False, now_s=10.0)
    assert code_of(heartbeat, 10.0) is None
    assert code_of(heartbeat, 12.99) is None
    assert code_of(heartbeat, 13.0) == "link_down"
    heartbeat.hear(beat(2), retained=False, now_s=20.0)
    assert code_of(heartbeat, 22.9) is None


def test_a_retained_beat_is_no_life() -> None:
    heartbeat = Heartbeat()
    heartbeat.hear(beat(7), retained=True, now_s=10.0)
    assert code_of(heartbeat, 10.0) == "link_down"
    heartbeat.hear(beat(8), retained=False, now_s=10.5)
    assert code_of(heartbeat, 10.5) is None


def test_a_retained_beat_does_not_prolong_life() -> None:
    heartbeat = Heartbeat()
    heartbeat.hear(beat(7), retained=False, now_s=10.0)
    heartbeat.hear(beat(9), retained=True, now_s=12.9)
    assert code_of(heartbeat, 13.0) == "link_down"


def test_the_same_beat_again_is_no_life() -> None:
    heartbeat = Heartbeat()
    heartbeat.hear(beat(7), retained=True, now_s=10.0)
    heartbeat.hear(beat(7), retained=False, now_s=10.1)
    assert code_of(heartbeat, 10.1) == "link_down"


def test_a_restarted_controller_counts_from_the_start() -> None:
    heartbeat = Heartbeat()
    heartbeat.hear(beat(7000), retained=False, now_s=10.0)
    heartbeat.hear(beat(1), retained=False, now_s=20.0)
    assert code_of(heartbeat, 20.0) is None


@pytest.mark.parametrize("state", ["inoperable", "closed"])
def test_a_live_controller_that_is_not_operable_locks_out_with_its_reason(state: str) -> None:
    heartbeat = Heartbeat()
    heartbeat.hear(beat(1, state, "the store is full"), retained=False, now_s=10.0)
    fault = heartbeat.fault(10.0)
    assert fault is not None
    assert fault.code == state
    assert "the store is full" in fault.message
    heartbeat.hear(beat(2), retained=False, now_s=11.0)
    assert code_of(heartbeat, 11.0) is None
