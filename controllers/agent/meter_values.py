"""The received values of the meters that a table feeds."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from meters.wire.messages import MeterValue

DOUBT_AFTER_S: Final = 5.0
"""Seconds after which a lower version means that the higher one is not current.

Before that, the lower version may only be late.
"""


class MeterValues:
    """The last value of each meter; a version lower than the last is never shown.

    If only lower versions arrive, the service's store has lost the last value. The meter is then
    unknown until a version arrives that is not lower (duty D1).

    `clock_s` must be a monotonic clock.

    Attributes:
        meters: ids of the meters.
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
        """Last value of each meter, by id, without meters whose value is in doubt."""
        now_s = self._clock_s()
        return {
            meter: value
            for meter, value in self._values.items()
            if now_s - self._doubted_at_s.get(meter, now_s) < DOUBT_AFTER_S
        }

    def hear(self, value: MeterValue) -> bool:
        """Record a value; return whether it is the newest of its meter."""
        if value.meter not in self.meters:
            return False
        last = self._values.get(value.meter)
        if last is not None and value.version < last.version:
            self._doubted_at_s.setdefault(value.meter, self._clock_s())
            return False
        self._doubted_at_s.pop(value.meter, None)
        # A link that closes publishes another state with the same version and no earlier time. A
        # message with an earlier time that arrives long afterwards is not late: the service's clock
        # was set back.
        now_s = self._clock_s()
        recent = now_s - self._heard_at_s.get(value.meter, now_s) < DOUBT_AFTER_S
        if last is not None and recent and (value.version, value.at) < (last.version, last.at):
            return False
        self._values[value.meter] = value
        self._heard_at_s[value.meter] = now_s
        return True
