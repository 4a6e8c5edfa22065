"""What has arrived from the broker and waits to be taken: each topic by itself, in turn.

A table has one event under way, and repeats it until it is answered. More of one topic than a few
messages is a flood: it waits behind itself alone, and what no longer fits is let go. The table's
own repeat makes that good, if the table is one.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import Final

import aiomqtt

WAITING_MAX: Final = 8
"""So many messages of one topic wait; a table that plays has one, and at times a hello."""
HELD_OFF_S: Final = 0.2
"""For so long nothing more is taken of a lane that has overflowed: a flood costs its reading."""
BYTES_MAX: Final = 67_108_864
"""So much waits in all."""

Lane = Callable[[str], str]
"""Which messages wait in one line, by their topic."""


class Arrivals(asyncio.Queue[aiomqtt.Message]):
    """A queue that gives each lane one message in turn, and holds no more than it says.

    Args:
        lane: the lane of a topic; each its own unless given.
        dropped: is told the topic of each message that is let go.
        aside: takes a message that is not to wait, and says whether it was one.
        took: is told with each turn for how many seconds its first message had waited.
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
        """Whether nothing waits."""
        return not self._lanes

    def qsize(self) -> int:
        """How many messages wait."""
        return sum(map(len, self._lanes.values()))

    def turn(self, first: aiomqtt.Message, size_max: int) -> list[aiomqtt.Message]:
        """A message that was taken, with as many more as other lanes have any, in turn.

        Up to `size_max` in all. What came meanwhile in the lane of the first has its turn before
        the lanes that came later: a batch may have two messages of a table.
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
            self._lanes[name] = lane  # behind all others
        self._bytes -= len(item.payload)
        return item
