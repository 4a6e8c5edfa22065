"""Heartbeat of the service; without it, a table accepts no progressive wager (duty D13)."""

import math
from typing import Final

from controllers.table.device_events import DeviceRefusal
from meters.wire.messages import ControllerBeat

SILENCE_S: Final = 3.0
"""Silence after which the table accepts no new progressive wager."""

_DUE_EVERY_S: Final = 1.0


class Heartbeat:
    """Record of the heartbeats that a table received from the service.

    Times are those of a monotonic clock of the table's agent. The broker keeps a copy of the last
    heartbeat (an MQTT retained message), which has the state of the link but does not prove that
    the service is alive: it can have stopped long ago. Only a heartbeat that is not this copy, and
    whose number differs from the one before, proves it.

    Attributes:
        missed: number of heartbeats that did not arrive when they were due.
    """

    def __init__(self, silence_s: float = SILENCE_S) -> None:
        self._silence_s = silence_s
        self._last: ControllerBeat | None = None
        self._lived_at_s: float | None = None
        self.missed = 0

    def hear(self, beat: ControllerBeat, *, retained: bool, now_s: float) -> bool:
        """Record a heartbeat; return whether it proves that the service is alive."""
        known = self._last is not None and self._last.beat == beat.beat
        self._last = beat
        if retained or known:
            return False
        if self._lived_at_s is not None:
            self.missed += max(0, round((now_s - self._lived_at_s) / _DUE_EVERY_S) - 1)
        self._lived_at_s = now_s
        return True

    def age_s(self, now_s: float) -> float:
        """Return the seconds since the last proof of life; infinite without one."""
        return math.inf if self._lived_at_s is None else now_s - self._lived_at_s

    def fault(self, now_s: float) -> DeviceRefusal | None:
        last, lived_at_s = self._last, self._lived_at_s
        if last is None or lived_at_s is None:
            return DeviceRefusal(
                "link_down", "the link is down: no heartbeat of the controller has arrived yet"
            )
        if now_s - lived_at_s >= self._silence_s:
            silent_s = int(now_s - lived_at_s)
            return DeviceRefusal(
                "link_down", f"the link is down: no heartbeat for {silent_s} seconds"
            )
        if last.state != "operable":
            reason = last.reason or "no reason given"
            return DeviceRefusal(last.state, f"the link is {last.state}: {reason}")
        return None
