"""Random faults, drawn about every second: each process may die or lose its connection."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from typing import Final

from tests.servers import RedisServer
from tests.sim.checker import Checker
from tests.sim.service import SimulatedService
from tests.sim.table import SimulatedTable
from tests.sim.wire import Broker
from tests.sim.world import World

_DOWN_S: Final = (0.5, 15.0)
_SILENT_S: Final = (1.0, 20.0)
_CLOCK_SET_S: Final = (0.5, 5.0, 3_600.0, 86_400.0)


class Faults:
    def __init__(
        self,
        world: World,
        *,
        broker: Broker,
        server: RedisServer,
        services: Sequence[SimulatedService],
        tables: Sequence[SimulatedTable],
        checker: Checker,
    ) -> None:
        self._world = world
        self._broker, self._server, self._checker = broker, server, checker
        self._services = services
        self._killed: Mapping[str, Sequence[SimulatedService | SimulatedTable]] = {
            "service": services, "agent": tables,
        }  # fmt: skip
        self._chance = world.chance("faults")
        self._under_way: set[asyncio.Task[None]] = set()

    async def trouble(self) -> None:
        strikes = self._world.weather.strikes
        while True:
            await asyncio.sleep(self._chance.uniform(0.0, 2.0))
            for kind, everyone in self._killed.items():
                if everyone and strikes(f"{kind} killed"):
                    self._note(f"{kind} killed", who := self._chance.choice(everyone))
                    who.kill()
                if everyone and strikes(f"{kind} stopped"):
                    self._note(f"{kind} stopped", who := self._chance.choice(everyone))
                    self._start(who.stop())
            self._trouble_network()
            self._trouble_redis()
            if strikes("clock set"):
                self._set_a_clock()

    def _trouble_network(self) -> None:
        strikes, sessions = self._world.weather.strikes, self._broker.sessions
        if sessions and strikes("connection cut"):
            session = self._chance.choice(sessions)
            self._world.note(f"connection cut: {session.identifier}")
            self._broker.cut(session)
        if sessions and strikes("connection silent"):
            session = self._chance.choice(sessions)
            self._world.note(f"connection silent: {session.identifier}")
            session.silent = True
            for_s = self._chance.uniform(*_SILENT_S)
            # A client that receives nothing at all for so long is disconnected by its keep-alive.
            self._world.loop.outside(for_s, self._broker.cut, session)
        if self._broker.up and strikes("broker down"):
            self._world.note("broker down")
            self._broker.go_down()
            self._world.loop.outside(self._chance.uniform(*_DOWN_S), self._broker_up)

    def _broker_up(self) -> None:
        self._broker.up = True
        self._world.note("broker up")

    def _trouble_redis(self) -> None:
        strikes = self._world.weather.strikes
        for kind, refuse in (
            ("redis down", self._redis_down),
            ("redis full", partial(self._configure, "maxmemory")),
            ("redis refuses writes", partial(self._configure, "min-replicas-to-write")),
        ):
            if self._server.running and strikes(kind):
                self._world.note(kind)
                refuse()

    def _redis_down(self) -> None:
        if self._chance.random() < 0.5:
            self._server.kill()
        else:
            self._server.stop()
        self._world.loop.outside(self._chance.uniform(0.0, 8.0), self._redis_up)

    def _redis_up(self) -> None:
        if not self._server.running:
            self._server.start()
            self._checker.reconnect()
            self._world.note("redis up")

    def _configure(self, name: str) -> None:
        self._set(name, "1")
        self._world.loop.outside(self._chance.uniform(*_DOWN_S), self._set, name, "0")

    def _set(self, name: str, value: str) -> None:
        if self._server.running:
            with self._server.client() as redis:
                redis.config_set(name, value)
            self._world.note(f"redis {name} {value}")

    def _set_a_clock(self) -> None:
        who = self._chance.choice([who for each in self._killed.values() for who in each])
        by_s = self._chance.choice(_CLOCK_SET_S) * self._chance.choice((-1, 1))
        who.process.skew_s += by_s
        self._note(f"clock set by {by_s} s", who)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = self._world.loop.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    def _note(self, kind: str, who: SimulatedService | SimulatedTable) -> None:
        self._world.note(f"{kind}: {who.name}")

    def end(self) -> None:
        for service in self._services:
            service.auditor.kill()  # it can be late
        self._broker.up = True
        self._redis_up()
        for name in ("maxmemory", "min-replicas-to-write"):
            self._set(name, "0")
        for session in self._broker.sessions:
            if session.silent:
                self._broker.cut(session)
