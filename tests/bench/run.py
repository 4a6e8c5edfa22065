"""Run of the benchmark: start the parts, measure the phases in turn, and compare the books."""

import asyncio
import contextlib
import gc
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Final, NamedTuple

import msgspec

from bonus.errors import UserError
from meters.mqtt.connection import BrokerError
from meters.wire import topics
from meters.wire.messages import CONTROLLER_BEAT
from tests.bench.client import LoadClient
from tests.bench.events import EventWriter
from tests.bench.floor import POSITIONS, WAGERS_AN_EVENT, bench_floor_text
from tests.bench.latency import LatencyWatch
from tests.bench.machine import cpu_seconds, this_machine
from tests.bench.place import a_place
from tests.bench.traffic import NoAnswerError, Table, Tally, Traffic

ReportStep = Callable[[str], None]
Times = dict[str, list[float]]

TEN_TIMES: Final = 10
PACES: Final = {"latency": 200, "busy_latency": 1_000}
"""Paces at which latency is measured, in rounds a second."""

_SEED: Final = 649
_ONE_WINDOW_S: Final = 0.001
_LOOK_EVERY_S: Final = 0.5
_IDLE_SHARE: Final = 0.1
_IDLE_WITHIN_S: Final = 120.0
_PROCESSES: Final = ("load", "mosquitto", "service", "redis")

METHOD: Final = (
    "A window of wagers: every table sends one wagers event at once, and the time runs from the"
    " first publish to the last reply; then the rounds are voided, which does not count."
    " Whole rounds: every table plays wagers and result in turn, as fast as it is answered."
    " Latency: when all this is audited, rounds begin at a steady pace, and each result is sent as"
    " soon as the wagers are answered; a meter is seen when the first retained value that covers"
    " the wagers arrives (values are published every 100 ms at most). Phases alternate; each figure"
    " is the median of the passes."
    " Redis syncs every write; its append-only file is not rewritten meanwhile."
)


class Measured(NamedTuple):
    events: int
    elapsed_s: float
    cpu_s: Mapping[str, float]

    @property
    def rate(self) -> float:
        return self.events / self.elapsed_s


@dataclass(frozen=True, slots=True)
class Plan:
    tables: int
    seconds: float
    passes: int


QUICK: Final = Plan(tables=40, seconds=0.3, passes=1)
"""Less than a minute in total. It shows that the benchmark works, but measures little."""


class Load:
    def __init__(self, tables: int, pids: Mapping[str, int]) -> None:
        self.traffic = Traffic(tables, EventWriter(_SEED), self._see)
        self.interruptions: dict[str, int] = {}
        self._pids = {"load": os.getpid(), **pids}
        self._watch: LatencyWatch | None = None

    @contextlib.asynccontextmanager
    async def connected(self, port: int) -> AsyncIterator[None]:
        seen = [topics.table_in("+", "+"), topics.controller("+"), topics.meter("+", "+")]
        async with LoadClient(port, "bench-load", self.traffic.hear) as client:
            await client.subscribe(*seen)
            self.traffic.use(client)
            # The objects that exist now stay, so the garbage collector need not scan them again.
            gc.collect()
            gc.freeze()
            yield

    def _see(self, topic: str, payload: bytes, at_s: float) -> None:
        if topic.endswith("/controller"):
            beat = CONTROLLER_BEAT.decode(payload)
            if beat.state != "operable":
                self.interruptions[beat.reason] = self.interruptions.get(beat.reason, 0) + 1
        elif self._watch is not None:
            self._watch.see(topic, payload, at_s)

    async def wagers(self, tables: int, seconds: float) -> Measured:
        """Measure windows of wagers. Each window's rounds are voided outside the time measured."""
        traffic, playing = self.traffic, self.traffic.tables[:tables]
        events, elapsed_s, used_s = 0, 0.0, dict.fromkeys(self._pids, 0.0)
        while elapsed_s < seconds:
            cpu_before, before = cpu_seconds(self._pids), traffic.accepted
            elapsed_s += await traffic.each_sends(playing, traffic.send_wagers)
            for name, used in self._used_since(cpu_before).items():
                used_s[name] += used
            events += traffic.accepted - before
            await traffic.each_sends(playing, traffic.send_void)
        return Measured(events, elapsed_s, used_s)

    def _used_since(self, before: Mapping[str, float]) -> dict[str, float]:
        return {name: now - before[name] for name, now in cpu_seconds(self._pids).items()}

    async def rounds(self, tables: int, seconds: float) -> Measured:
        """Have every table play round after round; the time ends when the last round is over."""
        traffic, before = self.traffic, sum(tally.rounds for tally in self.traffic.tallies.values())
        end_s = time.monotonic() + seconds

        def go_on(table: Table, kind: str, at_s: float) -> None:
            if kind == "wagers":
                traffic.send_result(table)
            elif at_s < end_s:
                traffic.send_wagers(table)

        cpu_before = cpu_seconds(self._pids)
        took_s = await traffic.each_sends(traffic.tables[:tables], traffic.send_wagers, go_on)
        rounds = sum(tally.rounds for tally in traffic.tallies.values()) - before
        return Measured(rounds, took_s, self._used_since(cpu_before))

    async def idle(self) -> None:
        """Wait until the service has audited what it accepted: it audits while the tables pause."""
        end_s, cpu_before, used_s = time.monotonic() + _IDLE_WITHIN_S, cpu_seconds(self._pids), 1.0
        while used_s > _IDLE_SHARE * _LOOK_EVERY_S and time.monotonic() < end_s:
            await asyncio.sleep(_LOOK_EVERY_S)
            used_s = self._used_since(cpu_before)["service"]
            cpu_before = cpu_seconds(self._pids)

    async def latency(self, tables: int, rounds_per_s: int, seconds: float) -> tuple[float, Times]:
        """Measure rounds that begin at a steady pace; return also the pace that was reached."""
        self._watch = watch = LatencyWatch(self.traffic)
        pace = await watch.run(self.traffic.tables[:tables], rounds_per_s, seconds)
        return pace, watch.times_s


async def run_bench(plan: Plan, report_step: ReportStep) -> dict[str, Any]:
    """Raise UserError, with the end of the service's log, if a part does not answer."""
    began, tables = time.monotonic(), plan.tables * TEN_TIMES
    report_step("starting the parts")
    async with a_place(partial(bench_floor_text, tables=tables)) as place:
        with place.service() as (service, _):
            pids = {"mosquitto": place.broker.pid, "redis": place.server.pid}
            load = Load(tables, pids | {"service": service.process.pid})
            try:
                async with load.connected(place.broker.port):
                    report_step("warming up")
                    await load.wagers(tables, _ONE_WINDOW_S)
                    passes = [
                        await _measure(load, plan, f"pass {number + 1}: ", report_step)
                        for number in range(plan.passes)
                    ]
            except (NoAnswerError, BrokerError) as error:
                raise UserError(f"{error}\n{service.errors[-1_000:]}") from None
            report_step("comparing the books")
            audit = msgspec.json.decode(place.run("audit", "--json"))
    books = {
        **compare_books(load.traffic.tallies, audit),
        **load.traffic.counts,
        "interruptions": load.interruptions,
        "ledger_entries": audit["entries"],
    }
    return {
        "machine": this_machine(),
        "settings": {
            **msgspec.to_builtins(plan),
            "positions_a_table": POSITIONS,
            "wagers_an_event": WAGERS_AN_EVENT,
        },
        **make_figures(plan, passes),
        "claims_opened": sum(tally.claims for tally in load.traffic.tallies.values()),
        "books": books,
        "nothing_lost": nothing_lost(books),
        "duration_s": round(time.monotonic() - began, 1),
        "method": METHOD,
    }


async def _measure(load: Load, plan: Plan, of: str, report_step: ReportStep) -> dict[str, Any]:
    tables, seconds, found = plan.tables, plan.seconds, dict[str, Any]()
    report_step(f"{of}wagers from {tables:,} tables")
    found["wagers"] = await load.wagers(tables, seconds)
    report_step(f"{of}whole rounds")
    found["rounds"] = await load.rounds(tables, seconds)
    report_step(f"{of}wagers from {tables * TEN_TIMES:,} tables")
    found["ten_times_tables"] = await load.wagers(tables * TEN_TIMES, seconds)
    # A floor at such a pace has no backlog of audits; the phases above leave one.
    report_step(f"{of}waiting for the audit")
    await load.idle()
    for name, pace in PACES.items():
        report_step(f"{of}latency at {pace:,} rounds a second")
        found[name] = await load.latency(tables, pace, seconds)
    return found


def make_figures(plan: Plan, passes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of each phase: the medians of the passes."""

    def figures(name: str, what: str) -> dict[str, Any]:
        measured: list[Measured] = [one[name] for one in passes]
        return {
            f"{what}s_per_s": round(median(one.rate for one in measured)),
            f"{what}s_per_s_by_pass": [round(one.rate) for one in measured],
            f"cpu_us_per_{what}": {
                process: round(median(one.cpu_s[process] / one.events for one in measured) * 1e6, 1)
                for process in _PROCESSES
            },
        }

    def wagers(name: str, tables: int) -> dict[str, Any]:
        rate = median(one[name].rate for one in passes)
        per_s = round(rate * WAGERS_AN_EVENT)
        return {"tables": tables, "wagers_per_s": per_s} | figures(name, "event")

    return {
        "wagers": wagers("wagers", plan.tables),
        "rounds": figures("rounds", "round"),
        **{name: _latencies([one[name] for one in passes]) for name in PACES},
        "ten_times_tables": wagers("ten_times_tables", plan.tables * TEN_TIMES),
        # A slow machine slows both phases of a pass.
        "ten_times_to_wagers_ratio": round(
            median(one["ten_times_tables"].rate / one["wagers"].rate for one in passes), 3
        ),
    }


def _latencies(passes: Sequence[tuple[float, Times]]) -> dict[str, Any]:
    return {
        "rounds_per_s": round(median(pace for pace, _ in passes), 1),
        **{
            name: {
                "p50_ms": round(median(percentile_ms(one[name], 50) for _, one in passes), 2),
                "p99_ms": round(median(percentile_ms(one[name], 99) for _, one in passes), 2),
                "samples": sum(len(one[name]) for _, one in passes),
            }
            for name in passes[0][1]
        },
    }


def percentile_ms(seconds: Sequence[float], percent: int) -> float:
    """Return a percentile: one of the measured times (nearest rank).

    >>> percentile_ms([0.001, 0.003, 0.002], 50)
    2.0
    """
    place = -(-percent * len(seconds) // 100)
    return round(sorted(seconds)[place - 1] * 1_000, 2) if seconds else 0.0


def compare_books(tallies: Mapping[str, Tally], audit: Mapping[str, Any]) -> dict[str, bool]:
    """Compare the load's own books, which it has from the replies alone, with the audit's."""
    totals, links = audit["totals"], audit["links"].items()
    counted = [tally.counted for tally in tallies.values()]
    held = {
        link: {name: meter["amount_micros"] for name, meter in one["meters"].items()}
        for link, one in links
    }
    due = {link: tally.meters_micros for link, tally in tallies.items()}
    return {
        "balanced": audit["balanced"],
        "meters_equal": held == due,
        "counts_equal": [totals["wagers"], totals["rounds"]]
        == [sum(each) for each in zip(*counted, strict=True)],
    }


def nothing_lost(books: Mapping[str, Any]) -> bool:
    """Return whether every event was accepted exactly once, or held, and the books agree."""
    agree = books["balanced"] and books["meters_equal"] and books["counts_equal"]
    answered = books["events_accepted"] + books["events_held"]
    return bool(agree and books["events_sent"] == answered)
