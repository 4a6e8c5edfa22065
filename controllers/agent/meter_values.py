"""Values of a table's meters, as received from the service."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from meters.wire.messages import MeterValue

DOUBT_AFTER_S: Final = 5.0
"""Seconds for which a meter's newest value stays valid after a lower version number arrived.

Within this time, the value with the lower version number can simply be late. After this time, the
newest value is in doubt.
"""


class MeterValues:
    """Newest value of each meter that a table feeds.

    Each change of a meter raises the version number of its value. The newest value is the one with
    the highest version number received so far. A value with a lower version number is never shown.
    If only such values arrive, the service's Redis has lost the newest value. The meter's value is
    then unknown. It is known again when a value arrives whose version number is at least the
    highest received so far (duty D1).

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
        """Newest value of each meter, by meter id. A meter whose value is unknown is left out."""
        now_s = self._clock_s()
        return {
            meter: value
            for meter, value in self._values.items()
            if now_s - self._doubted_at_s.get(meter, now_s) < DOUBT_AFTER_S
        }

    def hear(self, value: MeterValue) -> bool:
        """Record a meter value; return whether it is the newest value of this meter."""
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
