"""Meter topics of a link at the broker, and the rules for when this service publishes there.

Several services publish the same meters. The broker puts their messages in one order, and each
service receives all of them. The service that published last is the publisher, and the others
publish nothing as long as it sends each new value in time. A service that receives a newer value
than it has read from Redis does not publish the one that it has read. Before a service publishes
the next value of a meter, the broker must have sent back the last one, so that no value waits in a
queue until it is old.
"""

import asyncio
import secrets
from dataclasses import dataclass
from typing import Final

from meters.wire.messages import METER_VALUE, UNREADABLE, MeterValue

_jitter: Final = secrets.SystemRandom()
SPEAKS_FOR_S: Final = 0.5
"""Seconds for which another service counts as the publisher after its last value."""
PATIENCE_S: Final = (0.2, 0.4)
"""Shortest and longest time, in seconds, to wait for the publisher after this service has read a
new value. Each service waits a random time between these two, so only one service becomes the next
publisher."""
BACK_WITHIN_S: Final = 1.0
"""Longest time, in seconds, to wait until the broker sends a published value back."""


@dataclass(frozen=True, slots=True)
class _HeardValue:
    """Last value received on a meter's topic. `speaks` is true if another service published it."""

    value: MeterValue
    number: int
    at_s: float
    speaks: bool
    ours: bool


@dataclass(frozen=True, slots=True)
class _UnderWay:
    """Value that this service has published and that the broker has not sent back."""

    value: MeterValue
    payload: bytes
    at_s: float


class MeterTopics:
    """Values on the meter topics of one link.

    A service that receives no values from the topics publishes immediately, for example if it is
    the only one at its broker. `heard` is the number of values received so far. A caller notes it
    before it reads the link's state from Redis: any value received later can be newer than that
    state.
    """

    def __init__(self) -> None:
        self.heard = 0
        self._hears = False
        self._last: dict[str, _HeardValue] = {}
        self._under_way: dict[str, _UnderWay] = {}
        self._behind: dict[str, tuple[int, float]] = {}
        self._waiting: set[str] = set()

    def forget(self) -> None:
        """Forget the values on the topics, so that all meters are published again."""
        self._hears = False
        self._last.clear()
        self._under_way.clear()
        self._behind.clear()
        self._waiting.clear()

    def hear(self, payload: bytes, *, retained: bool) -> bool:
        """Process a value from a topic; return True if Redis must be read again."""
        try:
            value = METER_VALUE.decode(payload)
        except UNREADABLE:
            return False
        self.heard += 1
        self._hears = True
        meter, under_way = value.meter, self._under_way.get(value.meter)
        before = self._last.get(meter)
        ours = under_way is not None and under_way.payload == payload
        inoperable = value.state == "inoperable"
        speaks = not (ours or retained or inoperable)
        self._last[meter] = _HeardValue(value, self.heard, _now_s(), speaks, ours)
        if ours:
            del self._under_way[meter]
            waiting = meter in self._waiting
            self._waiting.discard(meter)
            return waiting
        if under_way is not None:
            return False  # the value that this service has sent follows this one
        if (behind := self._behind.get(meter)) is not None and value.version >= behind[0]:
            del self._behind[meter]
        went_back = before is not None and value.version < before.value.version
        return went_back or inoperable

    def newest(self, value: MeterValue) -> MeterValue:
        """Return the newer of two values: the given one, or the one on the meter's topic."""
        last = self._last.get(value.meter)
        return last.value if last is not None and last.value.version > value.version else value

    def wait_s(self, value: MeterValue, since: int, *, urgent: bool = False) -> float | None:
        """Return the seconds to wait before a value is published; None if it need not be published.

        `since` is the number of values that were received from the topics before `value` was read
        from Redis. An `urgent` value does not wait for another service.
        """
        meter, now_s = value.meter, _now_s()
        last, under_way = self._last.get(meter), self._under_way.get(meter)
        on_topic = under_way.value if under_way is not None else last.value if last else None
        if on_topic is not None and same(value, on_topic):
            self._behind.pop(meter, None)
            return None
        if last is not None and last.value.version > value.version and last.number > since:
            return None
        if urgent:
            return 0.0
        wait_s = 0.0
        if under_way is not None and self._hears:
            wait_s = under_way.at_s + BACK_WITHIN_S - now_s
        elif last is not None and last.speaks and now_s - last.at_s < SPEAKS_FOR_S:
            patience_s = _jitter.uniform(*PATIENCE_S)
            _, until_s = self._behind.setdefault(meter, (value.version, now_s + patience_s))
            wait_s = until_s - now_s
        if wait_s > 0:
            self._waiting.add(meter)
            return wait_s
        return 0.0

    def note_posted(self, value: MeterValue, payload: bytes) -> None:
        self._under_way[value.meter] = _UnderWay(value, payload, _now_s())
        self._behind.pop(value.meter, None)

    def ours(self, meter: str) -> MeterValue | None:
        """Return the last value of a meter if this service published it."""
        if (under_way := self._under_way.get(meter)) is not None:
            return under_way.value
        last = self._last.get(meter)
        return last.value if last is not None and last.ours else None


def same(value: MeterValue, other: MeterValue | None) -> bool:
    """Check if two values of a meter have the same version and state. Their times can differ."""
    return other is not None and (value.version, value.state) == (other.version, other.state)


def _now_s() -> float:
    return asyncio.get_running_loop().time()
