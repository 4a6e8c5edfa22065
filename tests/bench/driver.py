"""The load: a separate process that plays the tables and measures what its parent orders.

Run as ``python -m tests.bench.driver``. It reads one order per line from standard input and writes
one finding per line to standard output. It ends when its input ends.
"""

import asyncio
import contextlib
import gc
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import msgspec
import uvloop

from meters.wire import topics
from meters.wire.messages import CONTROLLER_BEAT, ControllerBeat
from tests.bench.client import LoadClient
from tests.bench.cpu import cpu_seconds, used_since
from tests.bench.events import EventWriter
from tests.bench.floor import LINKS
from tests.bench.latency import LatencyWatch
from tests.bench.orders import (
    ORDER,
    Failed,
    Finding,
    Finish,
    Finished,
    Measure,
    Measured,
    MeasureLatency,
    Order,
    Ready,
    Start,
)
from tests.bench.packets import PacketError
from tests.bench.pipe import PipeLoad
from tests.bench.traffic import NoAnswerError, Table, Traffic

_OPERABLE_WITHIN_S: Final = 60.0
_LINE_BYTES_MAX: Final = 1 << 20
_EVERY_REPLY: Final = f"{topics.ROOT}/+/table/+/in"


class Load:
    def __init__(self, start: Start) -> None:
        self._start = start
        self._pids = {"load": os.getpid(), **start.pids}
        self._traffic = Traffic(start.tables, EventWriter(start.seed), self._see)
        self._pipe = PipeLoad(EventWriter(start.seed))
        self._watch: LatencyWatch | None = None
        self._operable: set[str] = set()
        self._interruptions: dict[str, int] = {}
        self._all_operable = asyncio.Event()

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Connect to both brokers, once all links operate and the pipe listens."""
        client = await LoadClient.connect(
            self._start.port,
            "bench-load",
            subscribe=[_EVERY_REPLY, topics.controller("+"), topics.meter("+", "+")],
            deliver=self._traffic.deliver,
        )
        with contextlib.closing(client):
            self._traffic.use(client)
            try:
                async with asyncio.timeout(_OPERABLE_WITHIN_S):
                    await self._all_operable.wait()
            except TimeoutError:
                missing = ", ".join(sorted(set(LINKS) - self._operable))
                raise NoAnswerError(f"not in operation in time: {missing}") from None
            pipe = self._pipe.connected(self._start.pipe_port, self._start.pipe_redis)
            async with pipe:
                yield

    def _see(self, topic: bytes, payload: bytes, at_s: float) -> None:
        """Handle messages that are not replies: a controller's state, or a meter's value."""
        if topic.endswith(b"/controller"):
            self._note_state(topic.decode().split("/")[2], CONTROLLER_BEAT.decode(payload))
        elif self._watch is not None:
            self._watch.see(topic, payload, at_s)

    def _note_state(self, link: str, beat: ControllerBeat) -> None:
        if beat.state == "operable":
            self._operable.add(link)
        elif link in self._operable:
            self._operable.remove(link)
            self._interruptions[beat.reason] = self._interruptions.get(beat.reason, 0) + 1
        if len(self._operable) == len(LINKS):
            self._all_operable.set()

    async def carry_out(self, order: Order) -> Finding:
        """Measure what an order asks for."""
        match order:
            case Measure(what="wagers"):
                return await self._wagers(order)
            case Measure(what="pipe"):
                tables = self._traffic.tables[: order.tables]
                return await self._windows(order.seconds, lambda: self._pipe.window(tables))
            case Measure():
                return await self._rounds(order)
            case MeasureLatency():
                self._watch = LatencyWatch(self._traffic)
                tables = self._traffic.tables[: order.tables]
                return await self._watch.run(tables, order.rounds_per_s, order.seconds)
            case Finish():
                return self._finished()
            case Start():
                raise NoAnswerError("started already")

    async def _wagers(self, order: Measure) -> Measured:
        """Measure windows of wagers. Each window's rounds are voided outside the time measured."""
        traffic = self._traffic
        tables = traffic.tables[: order.tables]

        async def window() -> tuple[int, float]:
            before = traffic.accepted
            took_s = await traffic.each_sends(tables, traffic.send_wagers)
            return traffic.accepted - before, took_s

        async def voids() -> None:
            await traffic.each_sends(tables, traffic.send_void)

        return await self._windows(order.seconds, window, voids)

    async def _windows(
        self,
        seconds: float,
        window: Callable[[], Awaitable[tuple[int, float]]],
        afterwards: Callable[[], Awaitable[None]] | None = None,
    ) -> Measured:
        """Repeat a window, which returns its events and its seconds, until `seconds` were timed."""
        events, elapsed_s, used_s = 0, 0.0, dict.fromkeys(self._pids, 0.0)
        while elapsed_s < seconds:
            before = cpu_seconds(self._pids)
            window_events, window_s = await window()
            for name, used in used_since(before, self._pids).items():
                used_s[name] += used
            events += window_events
            elapsed_s += window_s
            if afterwards is not None:
                await afterwards()
        return Measured(events=events, elapsed_s=elapsed_s, cpu_s=used_s)

    async def _rounds(self, order: Measure) -> Measured:
        """Have every table play round after round; the time ends when the last round is over."""
        traffic = self._traffic
        tables = traffic.tables[: order.tables]
        before_rounds, before_claims = traffic.counted_rounds()
        began = time.monotonic()
        end = began + order.seconds

        def go_on(table: Table, kind: str, at_s: float) -> None:
            if kind == "wagers":
                traffic.send_result(table)
            elif at_s < end:
                traffic.send_wagers(table)

        cpu_before = cpu_seconds(self._pids)
        took_s = await traffic.each_sends(tables, traffic.send_wagers, go_on)
        used_s = used_since(cpu_before, self._pids)
        rounds, claims = traffic.counted_rounds()
        return Measured(
            events=rounds - before_rounds,
            elapsed_s=took_s,
            cpu_s=used_s,
            claims=claims - before_claims,
        )

    def _finished(self) -> Finished:
        traffic = self._traffic
        return Finished(
            sent=traffic.sent,
            accepted=traffic.accepted,
            repeated=traffic.repeated,
            held=traffic.held,
            refusals=traffic.refusals,
            interruptions=self._interruptions,
            links={link: tally.books() for link, tally in traffic.tallies.items()},
        )


async def drive() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LINE_BYTES_MAX)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    start = ORDER.decode(await reader.readline())
    if not isinstance(start, Start):
        sys.exit("the first order must be to start")
    load = Load(start)
    try:
        async with load.connected():
            _report(Ready())
            # The objects that exist now stay, so the garbage collector need not scan them
            # repeatedly.
            gc.collect()
            gc.freeze()
            while line := await reader.readline():
                _report(await load.carry_out(ORDER.decode(line)))
    except (NoAnswerError, PacketError, OSError) as error:
        _report(Failed(reason=str(error)))


def _report(finding: Finding) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(finding) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    uvloop.run(drive())
