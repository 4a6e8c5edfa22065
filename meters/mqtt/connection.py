"""The service's connection to the MQTT broker, for both versions of the protocol.

MQTT only transports messages; the table's outbox and the service's reply guarantee that no event
is lost. If a connection loses a message, the table sends its event again, or the next heartbeat
replaces the message.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from meters.wire.messages import EVENT_BYTES_MAX

KEEPALIVE_S: Final = 15
"""The client sends something at least this often. If the broker receives nothing for one and a half
times this time, it ends the connection."""
ANSWER_WITHIN_S: Final = 10.0
"""Longest wait for the broker's answer to a subscription or a publication."""
UNSENT_BYTES_MAX: Final = 67_108_864
"""If more bytes are unsent, the connection is given up: sending never waits, and must not fill the
memory."""
GOODBYE_WITHIN_S: Final = 1.0
"""Longest wait at the end of a connection until the last bytes are sent."""
WAITING_MAX: Final = 8
"""Limit on the waiting messages of one topic. A table sends one event at a time, and sometimes a
hello."""
HELD_OFF_S: Final = 0.2
"""After a lane has dropped a message, it drops all messages for this time."""
BYTES_MAX: Final = 67_108_864
"""Limit on the waiting bytes of all topics together."""


class BrokerError(Exception):
    """The broker cannot be reached or refuses something, or the connection is lost."""


class TooLongError(BrokerError):
    pass


class UnsupportedVersionError(BrokerError):
    pass


class Message(msgspec.Struct, frozen=True, gc=False):
    """Message from the broker. The reply to an event returns its `correlation`."""

    topic: str
    payload: bytes
    retain: bool
    correlation: bytes | None = None


Receive = Callable[[Message], object]
"""Function that receives each message at its arrival, such as `MessageQueue.put`."""


class MessageQueue:
    """Messages from the broker that wait to be processed, in lanes that are served in turn.

    A lane is a queue, by default of one topic. A table sends one event at a time, so a flood on one
    topic delays only its own lane. Messages that do not fit are dropped: the table repeats them.

    Only one task may wait for a batch. `waited_s` is how long the oldest message of the last batch
    waited.
    """

    def __init__(self) -> None:
        self._lanes: dict[str, deque[tuple[Message, float]]] = {}
        self._bytes = 0
        self._held_off: dict[str, float] = {}
        self._clock_s = asyncio.get_running_loop().time
        self._changed = asyncio.Event()
        self._ended: BrokerError | None = None
        self.waited_s = 0.0

    def empty(self) -> bool:
        return not self._lanes

    def __len__(self) -> int:
        return sum(map(len, self._lanes.values()))

    def put(self, message: Message, lane: str | None = None) -> bool:
        """Add a message; return False if it was dropped."""
        name, size = message.topic if lane is None else lane, len(message.payload)
        waiting = self._lanes.get(name)
        now_s = self._clock_s()
        if self._held_off and now_s < self._held_off.get(name, 0.0):
            return False
        if (waiting and len(waiting) >= WAITING_MAX) or self._bytes + size > BYTES_MAX:
            self._held_off[name] = now_s + HELD_OFF_S
            return False
        self._bytes += size
        if waiting is None:
            waiting = self._lanes[name] = deque()
        waiting.append((message, now_s))
        self._changed.set()
        return True

    def end(self, error: BrokerError) -> None:
        """Make every present and later wait for a batch fail with this error."""
        self._ended = self._ended or error
        self._changed.set()

    async def batch(self, size_max: int) -> list[Message]:
        """Wait for a message. Return the first message of each of up to `size_max` lanes."""
        while not self._lanes and self._ended is None:
            self._changed.clear()
            await self._changed.wait()
        if self._ended is not None:
            raise self._ended
        return self.turn(size_max)

    def turn(self, size_max: int) -> list[Message]:
        lanes, turn, first_s = self._lanes, [], math.inf
        for name in list(lanes)[:size_max]:
            lane = lanes.pop(name)
            message, arrived_s = lane.popleft()
            first_s = min(first_s, arrived_s)
            self._bytes -= len(message.payload)
            turn.append(message)
            if lane:
                lanes[name] = lane  # behind all other lanes
        self.waited_s = self._clock_s() - first_s
        return turn


class BrokerConnection(Protocol):
    """Connection that receives messages in batches and sends without waiting.

    If the broker refuses something, or the connection is lost, every method that waits raises a
    `BrokerError`.
    """

    @property
    def mqtt(self) -> str: ...

    @property
    def unsent_bytes(self) -> int: ...

    async def batch(self, size_max: int) -> list[Message]:
        """Wait for a message. Return the first message of each of up to `size_max` lanes."""
        ...

    def post(
        self, topic: str, payload: bytes, *, retain: bool = False, expires_s: int | None = None
    ) -> None:
        """Publish JSON with QoS 1, without waiting.

        After `expires_s` seconds, the broker deletes the message, except over MQTT 3.1.1.
        """
        ...

    def reply(self, topic: str, payload: bytes, correlation: bytes | None = None) -> None:
        """Publish the reply to an event, without waiting.

        QoS 0 suffices: a table repeats its event until it has the reply.
        """
        ...

    async def publish(self, topic: str, payload: bytes) -> None:
        """Publish with QoS 1, and wait until the broker has the message."""
        ...

    async def subscribe(self, *patterns: str) -> None: ...

    async def unsubscribe(self, pattern: str) -> None: ...


async def prove_size(broker: BrokerConnection, topic: str) -> None:
    """Prove that a broker accepts the longest event, or raise a `TooLongError`.

    The broker checks the length before it checks who publishes. Over MQTT 3.1.1, this is no
    proof: a broker drops a message that is too long without an error. `topic` must have no
    subscribers.
    """
    try:
        await broker.publish(topic, b"{}".ljust(EVENT_BYTES_MAX))
    except TooLongError:
        raise TooLongError(
            f"the broker refuses an event of {EVENT_BYTES_MAX:,} bytes, the longest possible: raise"
            " its message_size_limit and max_packet_size to those of deploy/mosquitto.conf"
        ) from None
    except BrokerError:
        """The broker accepts the length, but does not let this client publish on this topic."""
