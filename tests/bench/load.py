"""Tables that play against services of their own, what is measured meanwhile, and the books."""

import asyncio
import gc
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Final, NamedTuple

import msgspec
from redis.asyncio import Redis

from bonus.errors import UserError
from meters.ledger.redis_layout import LinkKeys
from meters.mqtt.connection import BrokerError
from meters.service.ledger_auditing import FOLLOWED_EVERY_S
from meters.wire import topics
from meters.wire.messages import CONTROLLER_BEAT, LedgerSeal
from tests.bench.audit_lag import Lag, LagSample, lag_of
from tests.bench.client import LoadClient
from tests.bench.events import EventWriter
from tests.bench.floor import LINKS, MYSTERY, bench_floor_text
from tests.bench.latency import LatencyWatch
from tests.bench.machine import auditor_of, cpu_seconds, read_bytes
from tests.bench.place import Place, a_place
from tests.bench.traffic import NoAnswerError, Table, Tally, Traffic
from tests.processes import Pitlink
from tests.servers import free_port

ReportStep = Callable[[str], None]
Books = dict[str, Any]

SEED: Final = 649
_SAMPLE_EVERY_S: Final = 1.0
_LOOK_EVERY_S: Final = 0.5
_REST_S: Final = FOLLOWED_EVERY_S + 1.0
_REST_SHARE: Final = 0.1
"""Share of a core that the auditors use at most when they have read everything."""
_RESTS_WITHIN_S: Final = 600.0
_SEAL: Final = msgspec.json.Decoder(LedgerSeal)


class Measured(NamedTuple):
    """Events, or rounds, and the CPU seconds of each process."""

    events: int
    elapsed_s: float
    cpu_s: Mapping[str, float]

    @property
    def rate(self) -> float:
        return self.events / self.elapsed_s

    def __or__(self, other: "Measured") -> "Measured":
        cpu_s = {name: used + other.cpu_s[name] for name, used in self.cpu_s.items()}
        return Measured(self.events + other.events, self.elapsed_s + other.elapsed_s, cpu_s)


class Load:
    """The tables of a floor, on one connection to each broker.

    `pids` has the processes that are measured, and `ledgers` each link with its Redis.
    """

    def __init__(
        self,
        tables: int,
        pids: Mapping[str, int],
        links: Sequence[str] = LINKS,
        ledgers: Sequence[tuple[Redis, str]] = (),
    ) -> None:
        self.traffic = Traffic(tables, EventWriter(SEED), self._see, links)
        self.interruptions: dict[str, int] = {}
        self.pids = {"load": os.getpid(), **pids}
        self._auditors = {name: pid for name, pid in pids.items() if name.startswith("auditor")}
        self._sealed = dict.fromkeys(links, 0)
        self._ledgers = ledgers
        self._watch: LatencyWatch | None = None

    @asynccontextmanager
    async def connected(self, *ports: int) -> AsyncIterator[None]:
        seen = [topics.table_in("+", "+"), topics.controller("+"), topics.meter("+", "+")]
        async with AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(LoadClient(port, "bench-load", self.traffic.hear))
                for port in ports
            ]
            for client in clients:
                await client.subscribe(*seen, topics.ledger("+"))
            self.traffic.use(clients)
            # The objects that exist now stay, so the garbage collector need not scan them again.
            gc.collect()
            gc.freeze()
            yield

    def _see(self, topic: str, payload: bytes, at_s: float) -> None:
        *_, link, kind = topic.split("/")
        if kind == "controller":
            beat = CONTROLLER_BEAT.decode(payload)
            if beat.state != "operable":
                self.interruptions[beat.reason] = self.interruptions.get(beat.reason, 0) + 1
        elif kind == "ledger":
            self._sealed[link] = _SEAL.decode(payload).entries
        elif self._watch is not None:
            self._watch.see(topic, payload, at_s)

    def cpu_since(self, before: Mapping[str, float]) -> dict[str, float]:
        return {name: now - before[name] for name, now in cpu_seconds(self.pids).items()}

    async def windows(self, seconds: float) -> tuple[Measured, Measured]:
        """Have all tables send wagers at once, then void them, until `seconds` have passed.

        Return what was measured while they sent wagers, and while they sent voids.
        """

        async def window(send: Callable[[Table], None]) -> tuple[int, float]:
            before = self.traffic.accepted
            took_s = await self.traffic.each_sends(self.traffic.tables, send)
            return self.traffic.accepted - before, took_s

        wagers, voids = self.traffic.send_wagers, self.traffic.send_void
        return await measure_windows(
            self.pids, seconds, partial(window, wagers), partial(window, voids)
        )

    async def play(
        self, seconds: float, end: Callable[[Table], None], rounds_per_s: float | None = None
    ) -> Measured:
        """Have the tables play, at a pace or as fast as they are answered; count their events.

        `end` sends the event that ends a round.
        """
        traffic, before = self.traffic, self.traffic.accepted
        cpu_before, began_s = cpu_seconds(self.pids), time.monotonic()
        end_s = began_s + seconds

        def go_on(table: Table, kind: str, at_s: float) -> None:
            if kind == "wagers":
                end(table)
            elif rounds_per_s is None and at_s < end_s:
                traffic.send_wagers(table)

        if rounds_per_s is None:
            took_s = await traffic.each_sends(traffic.tables, traffic.send_wagers, go_on)
        else:
            traffic.answered = go_on
            await traffic.begin_rounds(traffic.tables, rounds_per_s, seconds)
            took_s = time.monotonic() - began_s
        return Measured(traffic.accepted - before, took_s, self.cpu_since(cpu_before))

    async def rounds(self, seconds: float) -> Measured:
        """Have every table play whole rounds as fast as it is answered; count the rounds."""
        tallies = self.traffic.tallies.values()
        before = sum(tally.rounds for tally in tallies)
        played = await self.play(seconds, self.traffic.send_result)
        return played._replace(events=sum(tally.rounds for tally in tallies) - before)

    async def sustain(self, seconds: float, rounds_per_s: float | None) -> tuple[Measured, Lag]:
        """Have the tables play, and measure how far the audit is behind them meanwhile.

        The auditor begins with everything read. The CPU time of the auditors, and of Redis, is
        measured until everything is read again.
        """
        await self.rest()
        cpu_before, samples = cpu_seconds(self.pids), [await self._sample()]
        sampling = asyncio.create_task(self._keep_sampling(samples))
        try:
            played = await self.play(seconds, self.traffic.send_void, rounds_per_s)
        finally:
            sampling.cancel()
            await asyncio.wait({sampling})
        samples.append(await self._sample())
        await self.rest()
        until_rest_s = {
            name: used
            for name, used in self.cpu_since(cpu_before).items()
            if name.startswith(("auditor", "redis"))
        }
        lag = lag_of(samples, await self._sample())
        return played._replace(cpu_s={**played.cpu_s, **until_rest_s}), lag

    async def _keep_sampling(self, samples: list[LagSample]) -> None:
        while True:
            await asyncio.sleep(_SAMPLE_EVERY_S)
            samples.append(await self._sample())

    async def _sample(self) -> LagSample:
        entries = [
            int(await redis.hget(LinkKeys(link).meters, "entries") or 0)
            for redis, link in self._ledgers
        ]
        read = sum(read_bytes(pid) for pid in self._auditors.values())
        return LagSample(time.monotonic(), sum(entries), sum(self._sealed.values()), read)

    async def rest(self) -> None:
        """Wait until the auditors have read everything: for a while, they need hardly any CPU.

        Raises:
            UserError: they do not end.
        """
        end_s, seen = time.monotonic() + _RESTS_WITHIN_S, deque[tuple[float, float]]()
        while True:
            now_s, used_s = time.monotonic(), sum(cpu_seconds(self._auditors).values())
            seen.append((now_s, used_s))
            while now_s - seen[0][0] > _REST_S:
                since_s, before_s = seen.popleft()
                if used_s - before_s < _REST_SHARE * (now_s - since_s):
                    return
            if now_s > end_s:
                raise UserError(f"an auditor was busy for {_RESTS_WITHIN_S:.0f} s without an event")
            await asyncio.sleep(_LOOK_EVERY_S)

    async def latency(
        self, tables: int, rounds_per_s: float, seconds: float
    ) -> tuple[float, dict[str, list[float]]]:
        """Measure rounds that begin at a steady pace; return also the pace that was reached."""
        self._watch = watch = LatencyWatch(self.traffic)
        pace = await watch.run(self.traffic.tables[:tables], rounds_per_s, seconds)
        return pace, watch.times_s


async def measure_windows(
    pids: Mapping[str, int], seconds: float, *windows: Callable[[], Awaitable[tuple[int, float]]]
) -> tuple[Measured, Measured]:
    """Repeat two windows in turn until the first has taken `seconds`. Measure each of them."""
    nothing = Measured(0, 0.0, dict.fromkeys(pids, 0.0))
    found = [nothing, nothing]
    while found[0].elapsed_s < seconds:
        for number, window in enumerate(windows):
            before = cpu_seconds(pids)
            events, took_s = await window()
            used = {name: now - before[name] for name, now in cpu_seconds(pids).items()}
            found[number] |= Measured(events, took_s, used)
    return found[0], found[1]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How the links of a floor are served.

    Links take turns in tables. With several `servers`, links also take turns in them: each is a
    broker and a Redis with `services` of its own.
    """

    tables: int
    links: Sequence[str] = LINKS
    servers: int = 1
    services: int = 1
    validate_from: int = 0
    must_hit_by: bool = False


@asynccontextmanager
async def playing(arrangement: Arrangement, books: list[Books]) -> AsyncIterator[Load]:
    """Run an arrangement, and yield its tables. Afterwards, compare the books, and append them.

    Raises:
        UserError: a part does not answer. The message has the end of a service's log.
    """
    links, places, services = arrangement.links, list[Place](), list[Pitlink]()
    pids, ledgers = dict[str, int](), list[tuple[Redis, str]]()
    async with AsyncExitStack() as stack:
        for number in range(arrangement.servers):
            which = slice(number, None, arrangement.servers)
            text = partial(
                bench_floor_text,
                tables=arrangement.tables,
                links=links,
                which=which,
                validate_from=arrangement.validate_from,
                must_hit_by=arrangement.must_hit_by,
            )
            place = await stack.enter_async_context(a_place(text))
            places.append(place)
            ledgers += [(place.redis, link) for link in links[which]]
            pids[_numbered("mosquitto", len(places))] = place.broker.pid
            pids[_numbered("redis", len(places))] = place.server.pid
            for one in range(arrangement.services):
                http = f"127.0.0.1:{free_port()}" if one else ""
                service, _ = stack.enter_context(place.service(http))
                services.append(service)
                pids[_numbered("service", len(services))] = service.process.pid
                pids[_numbered("auditor", len(services))] = auditor_of(service.process.pid)
        load = Load(arrangement.tables, pids, links, ledgers)
        try:
            async with load.connected(*(place.broker.port for place in places)):
                yield load
        except (NoAnswerError, BrokerError) as error:
            logs = "\n".join(service.errors[-1_000:] for service in services)
            raise UserError(f"{error}\n{logs}") from None
        audits = [msgspec.json.decode(place.run("audit", "--json")) for place in places]
        books.append(
            {
                **compare_books(load.traffic.tallies, audits, must_hit_by=arrangement.must_hit_by),
                **load.traffic.counts,
                "interruptions": load.interruptions,
                "ledger_entries": sum(audit["entries"] for audit in audits),
            }
        )


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"


def cpu_us(measured: Sequence[Measured]) -> dict[str, float]:
    """Return the CPU time of each process by event, in microseconds: the median of the passes."""
    return {
        name: round(median(one.cpu_s[name] / one.events for one in measured) * 1e6, 1)
        for name in measured[0].cpu_s
    }


def percentile_ms(seconds: Sequence[float], percent: int) -> float:
    """Return a percentile: one of the measured times (nearest rank).

    >>> percentile_ms([0.001, 0.003, 0.002], 50)
    2.0
    """
    place = -(-percent * len(seconds) // 100)
    return round(sorted(seconds)[place - 1] * 1_000, 2) if seconds else 0.0


def compare_books(
    tallies: Mapping[str, Tally], audits: Sequence[Mapping[str, Any]], *, must_hit_by: bool = False
) -> dict[str, bool]:
    """Compare the load's own books, which it has from the replies alone, with the audits'."""
    counted = [tally.counted for tally in tallies.values()]
    held = {
        link: {name: meter["amount_micros"] for name, meter in one["meters"].items()}
        for audit in audits
        for link, one in audit["links"].items()
    }
    totals = [(audit["totals"]["wagers"], audit["totals"]["rounds"]) for audit in audits]
    return {
        "balanced": all(audit["balanced"] for audit in audits),
        "meters_equal": held
        == {
            link: tally.meters_micros | ({MYSTERY: tally.mystery_micros} if must_hit_by else {})
            for link, tally in tallies.items()
        },
        "counts_equal": _sums(totals) == _sums(counted),
    }


def _sums(pairs: Sequence[tuple[int, int]]) -> list[int]:
    return [sum(each) for each in zip(*pairs, strict=True)]


def nothing_lost(books: Mapping[str, Any]) -> bool:
    """Return whether every event was accepted exactly once, or held, and the books agree."""
    agree = books["balanced"] and books["meters_equal"] and books["counts_equal"]
    answered = books["events_accepted"] + books["events_held"]
    return bool(agree and books["events_sent"] == answered)
