"""Latency of an event at a steady pace: until its reply, and until a display shows it."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from bonus.wagers import MICROS_PER_CENT
from meters.wire import topics
from meters.wire.messages import METER_VALUE
from tests.bench.traffic import Table, Tally, Traffic

_SHOWN: Final = "progressive"
"""The meter that is watched. Every event adds to it."""
_LOOK_EVERY_S: Final = 0.001
_LAST_VALUE_WITHIN_S: Final = 1.0


@dataclass(slots=True)
class _Display:
    """The value that one link's meter shows, and the accepted wagers that it does not show yet."""

    amount_cents: int = 0
    seen_s: float = 0.0
    awaited: deque[tuple[int, float]] = field(default_factory=deque)


class LatencyWatch:
    """Collects in `times_s` the seconds from events to their replies and to values that cover them.

    The replies of a link come in the order in which it applied the events. So the load's own books
    know at each reply what the meter held after that event, and the first value that is not below
    it is the first that covers the event. If a percentage of the meter was won, the values fall,
    and the events that wait at that moment are not measured.
    """

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._displays = {topics.meter(link, _SHOWN): _Display() for link in traffic.tallies}
        self._display_of = {
            id(tally): self._displays[topics.meter(link, _SHOWN)]
            for link, tally in traffic.tallies.items()
        }
        self.times_s: dict[str, list[float]] = {
            "wagers_to_reply": [],
            "result_to_reply": [],
            "wagers_to_meter_seen": [],
        }

    def see(self, topic: str, payload: bytes, at_s: float) -> None:
        display = self._displays.get(topic)
        if display is None:
            return
        display.amount_cents = METER_VALUE.decode(payload).amount
        display.seen_s = at_s
        while display.awaited and display.awaited[0][0] <= display.amount_cents:
            _, sent_s = display.awaited.popleft()
            self.times_s["wagers_to_meter_seen"].append(at_s - sent_s)

    def note_answer(self, table: Table, kind: str, at_s: float) -> None:
        self.times_s[f"{kind}_to_reply"].append(at_s - table.sent_s)
        if kind == "wagers":
            self._await_display(table.tally, table.sent_s)
            self._traffic.send_result(table)
        elif self._traffic.won:
            self._traffic.won = False
            for display in self._displays.values():
                display.awaited.clear()

    def _await_display(self, tally: Tally, sent_s: float) -> None:
        display = self._display_of[id(tally)]
        cents = tally.meter_micros(_SHOWN) // MICROS_PER_CENT
        if display.seen_s >= sent_s and display.amount_cents >= cents:
            # The value arrived before the reply.
            self.times_s["wagers_to_meter_seen"].append(display.seen_s - sent_s)
        else:
            display.awaited.append((cents, sent_s))

    async def run(self, tables: Sequence[Table], rounds_per_s: float, seconds: float) -> float:
        """Begin rounds at a steady pace until all are over; return the rounds begun a second."""
        self._traffic.answered = self.note_answer
        pace = await self._traffic.begin_rounds(tables, rounds_per_s, seconds)
        end = time.monotonic() + _LAST_VALUE_WITHIN_S
        while any(display.awaited for display in self._displays.values()):
            if time.monotonic() > end:
                break
            await asyncio.sleep(_LOOK_EVERY_S)
        return pace
