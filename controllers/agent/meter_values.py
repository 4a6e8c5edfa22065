"""The values of the meters that a table feeds, as they come in."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from meters.wire.messages import MeterValue

DOUBT_AFTER_S: Final = 5.0
"""A lower version may be late; with nothing newer for so long, the higher one is not current."""


class MeterValues:
    """The last value of each meter; a lower version than the last is never shown.

    Where only a lower version still comes, the service's books are not those that the last value
    was read from, and nobody knows the meter until a version comes that is no lower (duty D1).

    The clock never goes back.

    Attributes:
        meters: those ids.
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
        """The last value of each meter that has one and is not in doubt, by its id."""
        now_s = self._clock_s()
        return {
            meter: value
            for meter, value in self._values.items()
            if now_s - self._doubted_at_s.get(meter, now_s) < DOUBT_AFTER_S
        }

    def hear(self, value: MeterValue) -> bool:
        """Take in a value; returns whether it is the newest of its meter."""
        if value.meter not in self.meters:
            return False
        last = self._values.get(value.meter)
        if last is not None and value.version < last.version:
            self._doubted_at_s.setdefault(value.meter, self._clock_s())
            return False
        self._doubted_at_s.pop(value.meter, None)
        # A link that closes says so in another state of the same version, no earlier; what comes
        # long after is not late, but of a clock that was set back.
        now_s = self._clock_s()
        recent = now_s - self._heard_at_s.get(value.meter, now_s) < DOUBT_AFTER_S
        if last is not None and recent and (value.version, value.at) < (last.version, last.at):
            return False
        self._values[value.meter] = value
        self._heard_at_s[value.meter] = now_s
        return True
