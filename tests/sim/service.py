"""A process of the meter service that dies and comes back, and people's requests to it."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

from meters.floor.floor_file import Floor
from meters.floor.server_addresses import parse_broker_url
from meters.service.meter_service import Connect, MeterService, ServeOptions
from meters.service.pace import Pace
from tests.sim.auditor import SimulatedAuditor
from tests.sim.disk import ServiceDisk
from tests.sim.loop import Process
from tests.sim.redis_wire import troubled_redis
from tests.sim.world import World

_PACE: Final = Pace(audited_again=20, checkpoint_every=10)
"""Small numbers, because the ledger of a run is far shorter than the ledger of a floor."""
_BACK_S: Final = (0.1, 10.0)
_NOWHERE: Final = parse_broker_url("mqtt://simulated:1883")


class SimulatedService:
    def __init__(
        self,
        world: World,
        name: str,
        floor: Floor,
        server: Path,
        *,
        connect: Connect,
        wrote: Callable[[], None],
    ) -> None:
        self.name = name
        self.running: MeterService | None = None
        self._world = world
        self._floor, self._server, self._connect, self._wrote = floor, server, connect, wrote
        self._chance = world.chance(f"service/{name}")
        self.process = Process(world.loop, name)
        self._main: asyncio.Task[None] | None = None
        self.auditor = SimulatedAuditor(world, f"{name}-audit", floor, server)

    def start(self) -> None:
        self.process = self.process.again(ServiceDisk(self._world))
        self.process.died.add_done_callback(lambda _: self._down())
        self.auditor.start(self.process)
        self._main = self.process.spawn(self._run())

    async def _run(self) -> None:
        redis = troubled_redis(self._server, self._world, self._wrote)
        # A simulated person approves the first floor file. The staff of the simulation validates.
        options = ServeOptions(auto_floor=True, pace=_PACE)
        carry_out = self.auditor.carry_out
        service = MeterService(self._floor, redis, options, self._connect, carry_out)
        self.running = service
        try:
            async with asyncio.TaskGroup() as group:
                await service.work(lambda: _NOWHERE, group)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._world.fail(f"{self.name} ended: {error!r}")

    def kill(self) -> None:
        """Kill it; it starts again after a while."""
        self.process.kill()

    async def stop(self) -> None:
        """Stop it cleanly; it starts again after a while."""
        process, main = self.process, self._main
        while main is not None and process.alive and not main.done():
            # The client library can lose a cancellation that coincides with an answer.
            main.cancel()
            await asyncio.wait({main, process.died}, timeout=1.0)
        process.kill()

    def _down(self) -> None:
        self.running = None
        self._world.loop.outside(self._chance.uniform(*_BACK_S), self.start)

    def ask(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Have it do what somebody asks for over HTTP; the request dies with the service."""
        return self.process.spawn(work)
