"""Messages from the broker that wait to be processed, in one queue for each topic.

The queues are served in turn. A table sends one event at a time, and repeats it until it has a
reply. So more than a few waiting messages of one topic are a flood. A flood delays only messages of
its own topic. Messages that do not fit in the queue are dropped. A table whose event is dropped
sends it again.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import Final

import aiomqtt

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


class Arrivals(asyncio.Queue[aiomqtt.Message]):
    """Queue that serves its lanes in turn. It limits each lane, and all lanes together.

    A lane is a queue of messages, usually of one topic.

    Args:
        lane: a function that returns the lane of a topic. By default each topic has its own lane.
        dropped: a function that is called with the topic of each dropped message.
        aside: a function that processes a message that must not wait; it returns False for any
            other message.
        took: a function that is called for each batch, with the seconds for which the oldest
            message of the batch has waited.
    """

    def __init__(
        self,
        lane: Lane = lambda topic: topic,
        dropped: Callable[[str], None] = lambda _: None,
        aside: Callable[[aiomqtt.Message], bool] = lambda _: False,
        took: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._lanes: dict[str, deque[tuple[aiomqtt.Message, float]]] = {}
        self._first_s = math.inf
        self._took = took
        self._lane = lane
        self._dropped = dropped
        self._aside = aside
        self._bytes = 0
        self._held_off: dict[str, float] = {}
        self._clock_s = asyncio.get_running_loop().time
        super().__init__()

    def empty(self) -> bool:
        """Check if no message waits."""
        return not self._lanes

    def qsize(self) -> int:
        """Return the number of waiting messages."""
        return sum(map(len, self._lanes.values()))

    def turn(self, first: aiomqtt.Message, size_max: int) -> list[aiomqtt.Message]:
        """Return a batch: the message `first`, and one waiting message from each other lane.

        The batch has up to `size_max` messages. The next message in the lane of `first` comes
        before messages of lanes that began to wait later. So a batch can have two messages of one
        table.
        """
        others = len(self._lanes) - (self._lane(first.topic.value) in self._lanes)
        turn = [first, *(self.get_nowait() for _ in range(min(others, size_max - 1)))]
        self._took(self._clock_s() - self._first_s)
        self._first_s = math.inf
        return turn

    def _put(self, item: aiomqtt.Message) -> None:
        if self._aside(item):
            return
        topic = item.topic.value
        name = self._lane(topic)
        lane = self._lanes.get(name)
        size = len(item.payload)
        if self._held_off and self._clock_s() < self._held_off.get(name, 0.0):
            self._dropped(topic)
            return
        if (lane and len(lane) >= WAITING_MAX) or self._bytes + size > BYTES_MAX:
            self._held_off[name] = self._clock_s() + HELD_OFF_S
            self._dropped(topic)
            return
        self._bytes += size
        if lane is None:
            lane = self._lanes[name] = deque()
        lane.append((item, self._clock_s()))

    def _get(self) -> aiomqtt.Message:
        name = next(iter(self._lanes))
        lane = self._lanes.pop(name)
        item, arrived_s = lane.popleft()
        self._first_s = min(self._first_s, arrived_s)
        if lane:
            self._lanes[name] = lane  # behind all other lanes
        self._bytes -= len(item.payload)
        return item
