"""Which of several services of a link publishes now.

Readers see only one controller for a link, and any service of the link can send the controller's
heartbeat. So while another service operates the link, a service that cannot operate the link is
silent. If this service hears no other one, it reports its failure. By then or soon after, the
tables accept no more progressive wagers (duty D13).

Several services publish the same meters. The broker puts their messages in one order, and each
service receives all of them. The service that published last is the publisher. The other services
publish nothing as long as the publisher sends each new value in time. If a service receives a newer
value than it has read from Redis, it does not publish the older value. Before a service publishes
the next value of a meter, it waits a short time until the broker has sent back the last value. So
no old values queue at the broker: the next value is always the newest.
"""

import asyncio
import secrets
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Final

from bonus.json_input import UNREADABLE
from meters.wire.messages import CONTROLLER_BEAT, METER_VALUE, MeterValue

_jitter: Final = secrets.SystemRandom()
SPEAKS_FOR_S: Final = 0.5
"""Time for which another service counts as the publisher after its last value."""
PATIENCE_S: Final = (0.2, 0.4)
"""Time, at random between these limits, to wait for the publisher after a new value was read. So
only one service becomes the next publisher."""
BACK_WITHIN_S: Final = 1.0
"""Longest wait until the broker sends a published value back."""
HEARD_FOR_S: Final = 3.0
"""Time for which a heartbeat of another service counts. The tables use the same time."""

_OWN_KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class _HeardValue:
    """The last value received on a meter's topic.

    `speaks` is true if another service that operates the link has just published the value. `ours`
    is true if this service published it.
    """

    value: MeterValue
    number: int
    at_s: float
    speaks: bool
    ours: bool


@dataclass(frozen=True, slots=True)
class _UnderWay:
    """A value that this service has published and that the broker has not sent back."""

    value: MeterValue
    payload: bytes
    at_s: float


@dataclass(slots=True)
class _Turn:
    """The topic of one meter.

    `behind` is a version that no other service has published yet, and the time at which this
    service publishes it.
    """

    last: _HeardValue | None = None
    under_way: _UnderWay | None = None
    behind: tuple[int, float] | None = None
    waiting: bool = False


class MeterTurns:
    """Values on the meter topics of one link.

    With an embedded broker, a service receives no values, and publishes immediately. `heard` is
    the number of values received so far. A caller notes this number before it reads the link's
    state: any value received later can be newer than the state.
    """

    def __init__(self) -> None:
        self.heard = 0
        self._hears = False
        self._turns: defaultdict[str, _Turn] = defaultdict(_Turn)

    def forget(self) -> None:
        """Have all meters published again: the broker can have lost its retained messages."""
        self._hears = False
        self._turns.clear()

    def hear(self, payload: bytes, *, retained: bool) -> bool:
        """Note a value heard from the broker; return True if this service must read Redis again."""
        try:
            value = METER_VALUE.decode(payload)
        except UNREADABLE:
            return False
        self.heard += 1
        self._hears = True
        turn = self._turns[value.meter]
        before, under_way = turn.last, turn.under_way
        ours = under_way is not None and under_way.payload == payload
        inoperable = value.state == "inoperable"
        speaks = not (ours or retained or inoperable)
        turn.last = _HeardValue(value, self.heard, _now_s(), speaks, ours)
        if ours:
            turn.under_way = None
            waiting, turn.waiting = turn.waiting, False
            return waiting
        if under_way is not None:
            return False  # the value that this service has sent follows this one
        if turn.behind is not None and value.version >= turn.behind[0]:
            turn.behind = None
        went_back = before is not None and value.version < before.value.version
        return went_back or inoperable

    def newest(self, value: MeterValue) -> MeterValue:
        last = self._turns[value.meter].last
        return last.value if last is not None and last.value.version > value.version else value

    def wait_s(self, value: MeterValue, since: int, *, urgent: bool = False) -> float | None:
        """Return the seconds to wait before a value is published; None if it need not be published.

        `since` is the number `heard` before the value was read. An `urgent` value does not wait.
        """
        turn, now_s = self._turns[value.meter], _now_s()
        last, under_way = turn.last, turn.under_way
        on_topic = under_way.value if under_way is not None else last.value if last else None
        if on_topic is not None and same(value, on_topic):
            turn.behind = None
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
            turn.behind = turn.behind or (value.version, now_s + patience_s)
            wait_s = turn.behind[1] - now_s
        if wait_s > 0:
            turn.waiting = True
            return wait_s
        return 0.0

    def note_posted(self, value: MeterValue, payload: bytes) -> None:
        turn = self._turns[value.meter]
        turn.under_way, turn.behind = _UnderWay(value, payload, _now_s()), None

    def ours(self, meter: str) -> MeterValue | None:
        """Return the last value of a meter, if this service published it."""
        turn = self._turns[meter]
        if turn.under_way is not None:
            return turn.under_way.value
        last = turn.last
        return last.value if last is not None and last.ours else None


def same(value: MeterValue, other: MeterValue | None) -> bool:
    return other is not None and (value.version, value.state) == (other.version, other.state)


class OtherServices:
    def __init__(self) -> None:
        self._own: deque[bytes] = deque(maxlen=_OWN_KEPT)
        self._heard_s: float | None = None
        self._listening_since_s: float | None = None

    def listen_first(self) -> None:
        """Begin to listen: it is not known yet whether another service runs."""
        self._listening_since_s = _now_s()

    def listen_again(self) -> None:
        self._heard_s = None
        self.listen_first()

    def note_own(self, payload: bytes) -> None:
        self._own.append(payload)

    def hear(self, payload: bytes, *, retained: bool) -> bool:
        """Process a heartbeat. Return True if it says that another service cannot operate the link.

        A retained heartbeat can have any age, so it does not prove that a service runs.
        """
        if retained or payload in self._own:
            return False
        try:
            beat = CONTROLLER_BEAT.decode(payload)
        except UNREADABLE:
            return False
        if beat.state == "inoperable":
            return True
        self._heard_s = _now_s()
        return False

    @property
    def operate(self) -> bool:
        """True if a heartbeat of another service that operates the link was heard recently."""
        return self._heard_s is not None and _now_s() - self._heard_s < HEARD_FOR_S

    @property
    def may_operate(self) -> bool:
        """True if another service operates the link, or if this is not known yet."""
        since_s = self._listening_since_s
        return self.operate or (since_s is not None and _now_s() - since_s < HEARD_FOR_S)

    @property
    def are_known(self) -> bool:
        """True if this service has listened long enough to know the other services."""
        return self.operate or not self.may_operate


def _now_s() -> float:
    return asyncio.get_running_loop().time()
