import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from meters.wire.messages import MeterValue

DOUBT_AFTER_S: Final = 5.0
"""How long a meter's newest value stays valid after a lower version number arrived.

Within this time, the lower one can simply be late. After it, the newest value is in doubt.
"""


class MeterValues:
    """Newest value of each meter that a table feeds.

    Each change of a meter raises the version number of its value, and a value with a lower number
    than the highest received is never shown. If only such values arrive, the service's Redis has
    lost the newest, and the meter's value is unknown until one with at least the highest number
    arrives (duty D1).

    `clock_s` must be a monotonic clock.
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
        """Newest value by meter id, without meters whose value is unknown."""
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
        # version number and with the same or a later time. If a message with an earlier time
        # arrives long afterwards, the message is not late: the service's clock was set back.
        now_s = self._clock_s()
        recent = now_s - self._heard_at_s.get(value.meter, now_s) < DOUBT_AFTER_S
        if last is not None and recent and (value.version, value.at) < (last.version, last.at):
            return False
        self._values[value.meter] = value
        self._heard_at_s[value.meter] = now_s
        return True
