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
from tests.bench.books import Tally
from tests.bench.floor import LINKS
from tests.bench.orders import LatencyMeasured, Percentiles
from tests.bench.traffic import Table, Traffic

_SHOWN: Final = "progressive"
"""The meter that is watched. Every event adds to it."""
_MS_PER_S: Final = 1_000
_LAST_VALUE_WITHIN_S: Final = 1.0


@dataclass(slots=True)
class _Display:
    """The value that one link's meter shows, and the accepted wagers that it does not show yet."""

    amount_cents: int = 0
    seen_s: float = 0.0
    awaited: deque[tuple[int, float]] = field(default_factory=deque)


class LatencyWatch:
    """Collects the times of events and of the meter values that cover them.

    The replies of a link come in the order in which it applied the events. So the load's own books
    know at each reply what the meter held after that event, and the first value that is not below
    it is the first that covers the event. If a percentage of the meter was won, the values fall,
    and the events that wait at that moment are not measured.
    """

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._displays = {topics.meter(link, _SHOWN).encode(): _Display() for link in LINKS}
        self._display_of = {
            id(traffic.tallies[link]): self._displays[topics.meter(link, _SHOWN).encode()]
            for link in LINKS
        }
        self._reply_s: dict[str, list[float]] = {"wagers": [], "result": []}
        self._seen_s: list[float] = []

    def see(self, topic: bytes, payload: bytes, at_s: float) -> None:
        display = self._displays.get(topic)
        if display is None:
            return
        display.amount_cents = METER_VALUE.decode(payload).amount
        display.seen_s = at_s
        while display.awaited and display.awaited[0][0] <= display.amount_cents:
            _, sent_s = display.awaited.popleft()
            self._seen_s.append(at_s - sent_s)

    def note_answer(self, table: Table, kind: str, at_s: float) -> None:
        """Record an accepted event. After wagers, send the result immediately."""
        self._reply_s[kind].append(at_s - table.sent_s)
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
            self._seen_s.append(display.seen_s - sent_s)
        else:
            display.awaited.append((cents, sent_s))

    async def run(
        self, tables: Sequence[Table], rounds_per_s: int, seconds: float
    ) -> LatencyMeasured:
        """Begin rounds at a steady pace, table after table, and wait until all are over."""
        self._traffic.answered = self.note_answer
        began = time.monotonic()
        rounds = max(1, round(rounds_per_s * seconds))
        for number in range(rounds):
            await asyncio.sleep(began + number / rounds_per_s - time.monotonic())
            table = tables[number % len(tables)]
            if table.waits_for:
                await self._traffic.settled()
            self._traffic.send_wagers(table)
            self._traffic.client.flush()
        took_s = time.monotonic() - began
        await self._traffic.settled()
        end = time.monotonic() + _LAST_VALUE_WITHIN_S
        while any(display.awaited for display in self._displays.values()):
            if time.monotonic() > end:
                break
            await asyncio.sleep(1 / _MS_PER_S)
        return self.measured(rounds / took_s)

    def measured(self, rounds_per_s: float) -> LatencyMeasured:
        return LatencyMeasured(
            rounds_per_s=round(rounds_per_s, 1),
            wagers_reply=percentiles(self._reply_s["wagers"]),
            result_reply=percentiles(self._reply_s["result"]),
            wagers_meter_seen=percentiles(self._seen_s),
        )


def percentiles(seconds: Sequence[float]) -> Percentiles:
    """Return the median and the 99th percentile, each a time that was measured (nearest rank).

    >>> percentiles([0.001, 0.003, 0.002])
    Percentiles(p50_ms=2.0, p99_ms=3.0, samples=3)
    """
    if not seconds:
        return Percentiles(p50_ms=0.0, p99_ms=0.0, samples=0)
    ordered = sorted(seconds)

    def rank(percent: int) -> float:
        place = -(-percent * len(ordered) // 100)
        return round(ordered[place - 1] * _MS_PER_S, 2)

    return Percentiles(p50_ms=rank(50), p99_ms=rank(99), samples=len(ordered))
