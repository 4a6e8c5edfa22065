"""What a table knows of its link: the service's heartbeat and the values of its meters."""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from controllers.table.device_events import DeviceRefusal
from meters.wire.messages import ControllerBeat, MeterValue

SILENCE_S: Final = 3.0

_DUE_EVERY_S: Final = 1.0


class Heartbeat:
    """Record of the heartbeats that a table received from the service.

    The broker keeps a copy of the last heartbeat (an MQTT retained message). The copy has the state
    of the link, but can be old. So only other heartbeats, with a new number, prove that the service
    is alive.

    `missed` counts the heartbeats that did not arrive when they were due. All times are of a
    monotonic clock.
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
        return math.inf if self._lived_at_s is None else now_s - self._lived_at_s

    def fault(self, now_s: float) -> DeviceRefusal | None:
        last, lived_at_s = self._last, self._lived_at_s
        if last is None or lived_at_s is None:
            return DeviceRefusal(
                "link_down", "the link is down: no heartbeat of the service has arrived yet"
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


DOUBT_AFTER_S: Final = 5.0
"""How long a meter's newest value stays valid after a value with a lower version number arrived.

During this time, the value with the lower number can simply be late. Afterwards, the newest value
is in doubt.
"""


class MeterValues:
    """Newest value of each meter that a table feeds.

    Each change of a meter raises the version number of its value. A value with a lower number than
    the highest received is never shown. If only values with lower numbers arrive for
    `DOUBT_AFTER_S` seconds, the service's Redis has lost the newest value. Then the table shows no
    value of the meter until a value with at least the highest number arrives (duty D1).
    """

    def __init__(
        self, meters: Iterable[str] = (), *, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self.meters = tuple(meters)
        self._clock_s = clock_s
        self._values: dict[str, MeterValue] = {}
        self._doubted_at_s: dict[str, float] = {}
        self._heard_at_s: dict[str, float] = {}

    @property
    def values(self) -> Mapping[str, MeterValue]:
        now_s = self._clock_s()
        return {
            meter: value
            for meter, value in self._values.items()
            if now_s - self._doubted_at_s.get(meter, now_s) < DOUBT_AFTER_S
        }

    def hear(self, value: MeterValue) -> bool:
        """Record a value; return whether it is the newest of this meter."""
        if value.meter not in self.meters:
            return False
        last = self._values.get(value.meter)
        if last is not None and value.version < last.version:
            self._doubted_at_s.setdefault(value.meter, self._clock_s())
            return False
        self._doubted_at_s.pop(value.meter, None)
        # When a link closes, the service publishes another state of its meters, with the same
        # version number, and the same or a later time. If a message with an earlier time arrives
        # long afterwards, the message is not late: the service's clock was set back.
        now_s = self._clock_s()
        recent = now_s - self._heard_at_s.get(value.meter, now_s) < DOUBT_AFTER_S
        if last is not None and recent and (value.version, value.at) < (last.version, last.at):
            return False
        self._values[value.meter] = value
        self._heard_at_s[value.meter] = now_s
        return True
