"""Checks of whether the controller is alive (duty D13)."""

import pytest

from controllers.agent.link_reception import Heartbeat
from meters.wire.messages import ControllerBeat

LIVE, OLD = False, True
"""A heartbeat that has just come, and one that the broker has kept."""


def beat(number: int, state: str = "operable", reason: str = "") -> ControllerBeat:
    assert state in {"operable", "inoperable", "closed"}
    return ControllerBeat(state=state, reason=reason, beat=number, at="2026-11-20T02:14:07Z")  # type: ignore[arg-type]


HEARD = {
    "nothing was heard": ([], 0.0, "link_down"),
    "for just less than three seconds nothing more": ([(1, LIVE, 10.0)], 12.99, None),
    "for three seconds nothing more": ([(1, LIVE, 10.0)], 13.0, "link_down"),
    "after silence another": ([(1, LIVE, 10.0), (2, LIVE, 20.0)], 22.9, None),
    "an old one is no life": ([(7, OLD, 10.0)], 10.0, "link_down"),
    "a live one after an old one": ([(7, OLD, 10.0), (8, LIVE, 10.5)], 10.5, None),
    "an old one prolongs no life": ([(7, LIVE, 10.0), (9, OLD, 12.9)], 13.0, "link_down"),
    "the same again is no life": ([(7, OLD, 10.0), (7, LIVE, 10.1)], 10.1, "link_down"),
    "a restarted controller counts from 1": ([(7000, LIVE, 10.0), (1, LIVE, 20.0)], 20.0, None),
}


@pytest.mark.parametrize(("heard", "now_s", "code"), HEARD.values(), ids=HEARD)
def test_a_controller_is_alive_for_three_seconds_after_each_new_heartbeat(
    heard: list[tuple[int, bool, float]], now_s: float, code: str | None
) -> None:
    heartbeat = Heartbeat()
    for number, retained, at_s in heard:
        heartbeat.hear(beat(number), retained=retained, now_s=at_s)
    fault = heartbeat.fault(now_s)
    assert (None if fault is None else fault.code) == code


@pytest.mark.parametrize("state", ["inoperable", "closed"])
def test_a_live_controller_that_is_not_operable_locks_out_with_its_reason(state: str) -> None:
    heartbeat = Heartbeat()
    heartbeat.hear(beat(1, state, "the store is full"), retained=False, now_s=10.0)
    fault = heartbeat.fault(10.0)
    assert fault is not None
    assert fault.code == state
    assert "the store is full" in fault.message
    heartbeat.hear(beat(2), retained=False, now_s=11.0)
    assert heartbeat.fault(11.0) is None
