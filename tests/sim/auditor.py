"""The auditor of a simulated service: it dies, lags and lies."""

import asyncio
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from meters.audit.auditor import AuditOrder, AuditorReport, LinkAuditor
from meters.floor.floor_file import Floor
from meters.ledger.link_state import MeterBalances
from meters.service.auditor_client import AuditorError
from meters.store.link_store import LinkStore
from tests.sim.disk import ServiceDisk
from tests.sim.loop import Process
from tests.sim.redis_wire import troubled_redis
from tests.sim.world import World

_LATE_S: Final = (1.0, 250.0)
_BACK_S: Final = (0.5, 3.0)
_FALSE_SEAL: Final = "f" * 64


class SimulatedAuditor:
    def __init__(self, world: World, name: str, floor: Floor, server: Path) -> None:
        self.name = name
        self.process = Process(world.loop, name)
        self.process.kill()
        self._world, self._floor, self._server = world, floor, server
        self._chance = world.chance(f"auditor/{name}")
        self._auditors: dict[str, LinkAuditor] = {}
        self._service: Process | None = None

    def start(self, service: Process) -> None:
        """Run until the service dies; if it is killed alone, start again."""
        self._service = service
        service.died.add_done_callback(lambda _: self.kill())
        self._start(service)

    def _start(self, service: Process) -> None:
        if not service.alive:
            return
        self.process = self.process.again(ServiceDisk(self._world))
        self._auditors = {}
        back_s = self._chance.uniform(*_BACK_S)
        self.process.died.add_done_callback(
            lambda _: self._world.loop.outside(back_s, self._start, service)
        )

    def kill(self) -> None:
        self.process.kill()

    async def carry_out(self, order: AuditOrder) -> AuditorReport:
        process = self.process
        if not process.alive:
            raise AuditorError("the auditor is dead")
        if order.seen.seal == _FALSE_SEAL:
            self._world.fail("the seal of a lying auditor was noted")
        done: asyncio.Future[AuditorReport] = self._world.loop.create_future()
        process.spawn(self._work(order, done))
        either: list[asyncio.Future[Any]] = [done, process.died]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not done.done():
            raise AuditorError("the auditor died")
        return done.result()

    async def _work(self, order: AuditOrder, done: "asyncio.Future[AuditorReport]") -> None:
        if not self._auditors:
            redis = troubled_redis(self._server, self._world, lambda: None)
            data = Path(self._floor.service.data)
            stores = [LinkStore(redis, link) for link in self._floor.link]
            self._auditors = {store.link.id: LinkAuditor(store, data) for store in stores}
        strikes = self._world.weather.strikes
        if strikes("auditor killed"):
            self.kill()
        if strikes("auditor late"):
            await asyncio.sleep(self._chance.uniform(*_LATE_S))
        report = await self._auditors[order.link].carry_out(order)
        if strikes("auditor lies"):
            report = self._lie(order, report)
        self._world.note(f"audited to {report.entries}: {report.problems or report.failure}")
        if not done.done():
            done.set_result(report)

    def _lie(self, order: AuditOrder, report: AuditorReport) -> AuditorReport:
        """Return that all is well without the proof, or with a meter of one micro more or less."""
        told = report.replayed
        if told is None or self._chance.random() < 0.5:
            false = AuditorReport(order.number, entries=order.entry, stored=order.entry)
            return replace(false, seal=_FALSE_SEAL)
        meter = self._chance.choice(sorted(told.micros))
        wrong = {**told.micros, meter: told.micros[meter] + self._chance.choice((-1, 1))}
        other = MeterBalances(told.entry, told.chain, wrong)
        return replace(report, problems=(), seal=_FALSE_SEAL, replayed=other)
