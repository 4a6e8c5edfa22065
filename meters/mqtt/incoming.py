"""Messages from the broker that wait to be processed, in one queue for each topic.

The queues are served in turn. A table sends one event at a time, and repeats it until it has a
reply, so more than a few waiting messages of one topic are a flood: it delays only its own topic.
Messages that do not fit in the queue are dropped, and the table sends its event again.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import Final

from meters.mqtt.connection import BrokerError, Message

WAITING_MAX: Final = 8
"""Largest number of waiting messages of one topic. A table in play has one message, and sometimes
also a hello (an agent's first message)."""
HELD_OFF_S: Final = 0.2
"""Seconds for which a full lane (queue) accepts no more messages. In this time, the messages of a
flood are only read, and then dropped."""
BYTES_MAX: Final = 67_108_864
"""Largest number of waiting bytes of all topics together."""

Lane = Callable[[str], str]
"""Function that returns the lane of a topic: the name of its queue."""


class Arrivals:
    """Messages in lanes, which are served in turn. Each lane, and all lanes together, are limited.

    A lane is a queue of messages, by default of one topic; `lane` returns the lane of a topic. One
    task at a time waits for a batch. `dropped` is called with the topic of each dropped message.
    `aside` processes a message that must not wait, and returns False for any other. `took` is
    called for each batch, with the seconds for which its oldest message has waited.
    """

    def __init__(
        self,
        lane: Lane = lambda topic: topic,
        dropped: Callable[[str], None] = lambda _: None,
        aside: Callable[[Message], bool] = lambda _: False,
        took: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._lanes: dict[str, deque[tuple[Message, float]]] = {}
        self._took = took
        self._lane = lane
        self._dropped = dropped
        self._aside = aside
        self._bytes = 0
        self._held_off: dict[str, float] = {}
        self._clock_s = asyncio.get_running_loop().time
        self._changed = asyncio.Event()
        self._ended: BrokerError | None = None

    def empty(self) -> bool:
        return not self._lanes

    def __len__(self) -> int:
        return sum(map(len, self._lanes.values()))

    def put(self, message: Message) -> None:
        """Add a message, unless there are too many already."""
        if self._aside(message):
            return
        topic, size = message.topic, len(message.payload)
        name = self._lane(topic)
        lane = self._lanes.get(name)
        now_s = self._clock_s()
        if self._held_off and now_s < self._held_off.get(name, 0.0):
            self._dropped(topic)
            return
        if (lane and len(lane) >= WAITING_MAX) or self._bytes + size > BYTES_MAX:
            self._held_off[name] = now_s + HELD_OFF_S
            self._dropped(topic)
            return
        self._bytes += size
        if lane is None:
            lane = self._lanes[name] = deque()
        lane.append((message, now_s))
        self._changed.set()

    def end(self, error: BrokerError) -> None:
        """Let the task that waits for a batch, and every later one, fail with this error."""
        self._ended = self._ended or error
        self._changed.set()

    async def batch(self, size_max: int) -> list[Message]:
        """Wait for a message. Return it, with one waiting message from each other lane.

        Raises:
            BrokerError: no more messages can arrive.
        """
        while not self._lanes and self._ended is None:
            self._changed.clear()
            await self._changed.wait()
        if self._ended is not None:
            raise self._ended
        return self.turn(size_max)

    def turn(self, size_max: int) -> list[Message]:
        """Return the first message of each lane, from up to `size_max` lanes."""
        lanes, turn, first_s = self._lanes, [], math.inf
        for name in list(lanes)[:size_max]:
            lane = lanes.pop(name)
            message, arrived_s = lane.popleft()
            first_s = min(first_s, arrived_s)
            self._bytes -= len(message.payload)
            turn.append(message)
            if lane:
                lanes[name] = lane  # behind all other lanes
        self._took(self._clock_s() - first_s)
        return turn
