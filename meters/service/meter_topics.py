"""The meter topics of a link as the broker has them, and when this service publishes on them.

Several services publish the same meters. The broker puts what they say in one order, and each of
them hears it. So the one that spoke last goes on to speak, and another leaves the topic to it as
long as it keeps up; nobody says a value of which it has heard a newer one since it was read; and
each has one value of a meter under way at most, so that none waits in a queue until it is old.
"""

import asyncio
import secrets
from dataclasses import dataclass
from typing import Final

from meters.wire.messages import METER_VALUE, UNREADABLE, MeterValue

_jitter: Final = secrets.SystemRandom()
SPEAKS_FOR_S: Final = 0.5
"""So long after its last value another service is taken to go on speaking."""
PATIENCE_S: Final = (0.2, 0.4)
"""So long it may take to say what we have read; chance says which of several speaks next."""
BACK_WITHIN_S: Final = 1.0
"""A value that the broker has not given back for so long is not waited for."""


@dataclass(frozen=True, slots=True)
class _HeardValue:
    """The last value heard on a topic; `speaks` where it is another service's that goes on."""

    value: MeterValue
    number: int
    at_s: float
    speaks: bool
    ours: bool


@dataclass(frozen=True, slots=True)
class _UnderWay:
    """A value that we published and that the broker has not given back."""

    value: MeterValue
    payload: bytes
    at_s: float


class MeterTopics:
    """What one link's meter topics hold.

    A service that hears nothing, as with a broker that it has for itself, publishes at once.

    Attributes:
        heard: how many values were heard; noted before the books are read, it says which of them
            the reading does not know of.
    """

    def __init__(self) -> None:
        self.heard = 0
        self._hears = False
        self._last: dict[str, _HeardValue] = {}
        self._under_way: dict[str, _UnderWay] = {}
        self._behind: dict[str, tuple[int, float]] = {}
        self._waiting: set[str] = set()

    def forget(self) -> None:
        """Forget what the topics hold: the connection is another, or they are to be told again."""
        self._hears = False
        self._last.clear()
        self._under_way.clear()
        self._behind.clear()
        self._waiting.clear()

    def hear(self, payload: bytes, *, retained: bool) -> bool:
        """Take in a value from a topic, ours or another's; whether to look at the books again."""
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
            return False  # what we have under way comes after it
        if (behind := self._behind.get(meter)) is not None and value.version >= behind[0]:
            del self._behind[meter]
        went_back = before is not None and value.version < before.value.version
        return went_back or inoperable

    def newest(self, value: MeterValue) -> MeterValue:
        """The newer of a value and the one that the topic holds."""
        last = self._last.get(value.meter)
        return last.value if last is not None and last.value.version > value.version else value

    def wait_s(self, value: MeterValue, since: int, *, urgent: bool = False) -> float | None:
        """For how many seconds a value waits before it is published; None where it need not be.

        Args:
            value: what the books hold.
            since: how many values had been heard when they were read.
            urgent: it waits for nobody.
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
        """Note that a value was published by us."""
        self._under_way[value.meter] = _UnderWay(value, payload, _now_s())
        self._behind.pop(value.meter, None)

    def ours(self, meter: str) -> MeterValue | None:
        """The value of a meter that we published last, where nobody has spoken since."""
        if (under_way := self._under_way.get(meter)) is not None:
            return under_way.value
        last = self._last.get(meter)
        return last.value if last is not None and last.ours else None


def same(value: MeterValue, other: MeterValue | None) -> bool:
    """Whether a meter's value is another one, whatever the moment."""
    return other is not None and (value.version, value.state) == (other.version, other.state)


def _now_s() -> float:
    return asyncio.get_running_loop().time()
