"""One run: a floor starts, faults come and end, and then all must be well again."""

import asyncio
import gc
import json
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import structlog
from structlog.typing import EventDict, WrappedLogger

from meters.floor.key_bundle import HIDDEN_VALUE_SECRETS_FILE
from meters.process.private_files import make_directory, write_private
from meters.wire import topics
from tests.model.pit import SERVICES_SECRET
from tests.servers import RedisServer
from tests.sim.agent_reports import AgentReports, hold_history
from tests.sim.checker import Checker
from tests.sim.clocks import under_control
from tests.sim.faults import Faults
from tests.sim.floor import model_floor_of, simulated_floor
from tests.sim.foreign import ForeignTable
from tests.sim.loop import VirtualLoop
from tests.sim.report import Report
from tests.sim.service import SimulatedService
from tests.sim.staff import Staff
from tests.sim.table import SimulatedTable
from tests.sim.watch import LOOK_EVERY_S, Watch
from tests.sim.wire import Broker, service_connections, table_clients
from tests.sim.world import SimulationError, World

SERVICES: Final = 2
TROUBLE_WITHIN_S: Final = 1_500.0
"""Longest time under faults, in seconds, for runs in which tables make little progress."""
WELL_WITHIN_S: Final = 180.0
"""Time after the last fault within which every table must play again, in seconds."""
_LAST_ROUNDS: Final = 2
_MEMORY: Final = Path("/dev/shm")  # noqa: S108  (the disks are simulated: real ones only slow it down)
_OURS: Final = (3, 2, 3, 0)
"""How many of the three tables have our agent, by the seed. The others have another maker's."""


class Came(msgspec.Struct, frozen=True):
    report: Report
    failure: str | None
    trace: tuple[str, ...]


class Simulation:
    def __init__(self, world: World, server: RedisServer) -> None:
        self._world = world
        played = model_floor_of(world.seed)
        homes = [world.home / f"serve-{each}" for each in range(SERVICES)]
        for home in homes:
            make_directory(home)
            write_private(home / HIDDEN_VALUE_SECRETS_FILE, f"{SERVICES_SECRET}\n")
        floors = [simulated_floor(home, played) for home in homes]
        self._link = floors[0].link[0]
        self._broker = Broker(world)
        self._checker = Checker(world, self._link, server.socket_path, played)
        self._services = [
            SimulatedService(
                world,
                f"serve-{each}",
                floor,
                server.socket_path,
                connect=service_connections(world, self._broker),
                wrote=self._checker.check,
            )
            for each, floor in enumerate(floors)
        ]
        reports = AgentReports(world, self._checker)
        connect = table_clients(world, self._broker)
        ours = _OURS[world.seed % len(_OURS)]
        self._tables = [
            SimulatedTable(world, self._link, table, connect, reports)
            for table in self._link.table[:ours]
        ]
        books = played.second_books().tables
        self._foreign = [
            ForeignTable(world, self._link, table, connect, books[table.id])
            for table in self._link.table[ours:]
        ]
        self._broker.altered = frozenset(
            topics.table_out(self._link.id, table.name) for table in self._foreign
        )
        self._everyone: tuple[SimulatedTable | ForeignTable, ...] = (*self._tables, *self._foreign)
        self._watch = Watch(world, self._checker)
        self._broker.listeners.append(self._watch.check)
        self._staff = Staff(world, self._link, played, self._services, self._checker)
        self._faults = Faults(
            world,
            broker=self._broker,
            server=server,
            services=self._services,
            tables=self._tables,
            checker=self._checker,
        )

    async def run(self, steps: int) -> None:
        for service in self._services:
            service.start()
        for table in self._tables:
            table.start()
        loop = self._world.loop
        others = [
            loop.create_task(work)
            for work in (
                self._faults.trouble(),
                self._staff.decide(),
                self._staff.decide_by_two(),
                self._staff.settle_envy(),
                self._staff.decide_asks(),
                self._staff.keep_links(),
                self._look(),
                *(table.deal() for table in self._everyone),
                *(table.withdraw() for table in self._tables),
                *(table.listen() for table in self._foreign),
            )
        ]
        ended = loop.create_task(self._go_through(steps))
        await asyncio.wait({ended, *others}, return_when=asyncio.FIRST_COMPLETED)
        for task in (ended, *others):
            if task.done():
                task.result()
        await ended
        for task in others:
            task.cancel()

    async def _go_through(self, steps: int) -> None:
        world = self._world
        while self._answers < steps and world.now_s < TROUBLE_WITHIN_S:  # noqa: ASYNC110  (its own time)
            await asyncio.sleep(LOOK_EVERY_S)
        world.note("calm")
        world.weather.calm = True
        self._faults.end()
        await self._staff.reopen()
        before = {table.name: table.rounds for table in self._everyone}
        deadline_s = world.now_s + WELL_WITHIN_S
        while problems := self._not_well():
            if world.now_s > deadline_s:
                world.fail(f"{WELL_WITHIN_S:.0f} s after the last fault: {problems}")
            if self._checker.books.closed:  # by somebody who had to wait long for an answer
                await self._staff.reopen()
            for table in self._everyone:
                table.may_rest = table.rounds >= before[table.name] + _LAST_ROUNDS
            await asyncio.sleep(LOOK_EVERY_S)
        self._checker.check(whole=True)
        for ours in self._tables:
            await ours.close()
        for table in self._everyone:
            history, lost = table.history(), table.lost
            hold_history(world, self._checker, table.name, history, lost=lost)

    @property
    def _answers(self) -> int:
        return sum(table.answers for table in self._everyone)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            self._watch.look(self._services, self._tables)

    def _not_well(self) -> Sequence[str]:
        problems = [f"{each.name} is down" for each in self._services if each.running is None]
        problems += [
            f"{service.name}: {reason}"
            for service in self._services
            if service.running is not None
            for reason in service.running.inoperable().values()
        ]
        problems += [
            table.standing for table in self._everyone if not (table.resting and table.idle)
        ]
        if problems:
            return problems
        return [*self._not_shown(), *self._undecided(), *self._not_promoted()]

    def _not_promoted(self) -> Sequence[str]:
        books = self._checker.books
        return [
            f"promotion {name} was not added"
            for name, one in books.promotions.items()
            if one.ends == "24:00" and name not in books.promoted
        ]

    def _undecided(self) -> Sequence[str]:
        return [
            f"{claim} is {state}"
            for claim, state in self._checker.claims.items()
            if state == "pending"
        ]

    def _not_shown(self) -> Sequence[str]:
        problems = []
        for meter, version in self._checker.versions.items():
            retained = self._broker.retained(topics.meter(self._link.id, meter)) or b""
            if f'"version":{version},'.encode() not in retained:
                problems.append(f"{meter} is at {version}, retained is {retained!r}")
            for service in self._services:
                assert service.running is not None
                rows = {row.meter: row for row in service.running._displays.rows()}
                row = rows.get(meter)
                if row is None or row.version != version or row.state not in {"open", "pending"}:
                    problems.append(f"{service.name} shows {row}, {meter} is at {version}")
        return problems

    def report(self) -> Report:
        wagers = [entry for entry in self._checker.entries if entry["kind"] == "wagers"]
        return Report(
            seed=self._world.seed,
            digest=self._world.digest,
            seconds=self._world.now_s,
            faults=dict(self._world.weather.faults),
            counts={
                "events": self._world.events,
                "answers": self._answers,
                "rounds": sum(table.rounds for table in self._everyone),
                "wagers": sum(len(json.loads(entry["event"])["positions"]) for entry in wagers),
                "entries": len(self._checker.entries),
                "claims": len(self._checker.claims),
                "corrections": self._checker.asks.applied,
                "checks": self._checker.checks,
                "replies": self._watch.replies,
                "acts": self._staff.acts,
            },
        )


def simulate(seed: int, steps: int) -> Came:
    """Run one seed. The process has to end soon after it, because the garbage stays."""
    gc.disable()  # dead code must not be cleaned up: its `finally` would run
    if _MEMORY.is_dir():
        tempfile.tempdir = str(_MEMORY)
    loop = VirtualLoop()
    asyncio.set_event_loop(loop)
    with tempfile.TemporaryDirectory(prefix="plt-", ignore_cleanup_errors=True) as home:
        world = World(seed, Path(home), loop)
        _listen_to_logs(world)
        with RedisServer() as server, under_control(world):
            simulation = Simulation(world, server)
            failure = None
            try:
                loop.run_until_complete(simulation.run(steps))
            except (SimulationError, RuntimeError):
                failure = _why(world)
            except BaseException as error:
                failure = f"{type(error).__name__}: {error}"
            return Came(simulation.report(), failure or _why(world), tuple(world.trace))


def _why(world: World) -> str | None:
    error = world.failed.exception() if world.failed.done() else None
    return None if error is None else str(error)


def _listen_to_logs(world: World) -> None:
    """Put log entries into the trace. An unexpected exception in the log ends the run."""

    def take(_logger: WrappedLogger, level: str, fields: EventDict) -> EventDict:
        text = " ".join(f"{name}={value}" for name, value in fields.items() if name != "exc_info")
        world.note(f"[{level}] {text}")
        if fields.get("exc_info") and fields.get("event") != "outbox not written":
            world.fail(f"an exception was logged: {text}")
        raise structlog.DropEvent

    wrapper = structlog.make_filtering_bound_logger(logging.INFO)
    structlog.configure(processors=[take], wrapper_class=wrapper)
