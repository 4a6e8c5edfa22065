"""The auditor: a process that dies, freezes, lags or lies (duties D10, D19)."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace as replace_struct

from meters.audit.auditor import AuditOrder, AuditorReport, LinkAuditor
from meters.floor.floor_file import Floor
from meters.ledger.checkpoint import Mark
from meters.ledger.link_state import MeterBalances
from meters.service.auditor_client import AuditorError, AuditorProcess
from tests.model.pit import PROGRESSIVE, Pit
from tests.model.running import SOON, Running, operating, running
from tests.model.tampering import move_balance
from tests.servers import RedisServer, eventually_async

pytestmark = pytest.mark.duty("D10", "D19")

LinkWith = Callable[
    [Callable[[AuditorReport], AuditorReport]], AbstractAsyncContextManager[Running]
]

_LATE: Final = replace(SOON, audited_within_s=0.5)


def _order(pit: Pit, entry: int) -> AuditOrder:
    seen = Mark(pit.link.id)
    return AuditOrder(0, pit.link.id, seen, entry, compares=True, again=10, checkpoint_every=100)


def _floor(pit: Pit, server: RedisServer, data: Path) -> Floor:
    service = replace_struct(pit.floor.service, redis=server.url, data=str(data))
    return replace_struct(pit.floor, service=service)


@asynccontextmanager
async def _auditor(
    pit: Pit, server: RedisServer, data: Path, *, silent_s: float = 10.0
) -> AsyncIterator[tuple[AuditorProcess, list[float]]]:
    shown: list[float] = []
    auditor = AuditorProcess(_floor(pit, server, data), shown.append, silent_s=silent_s)
    task = asyncio.create_task(auditor.run())
    try:
        yield auditor, shown
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _pid(auditor: AuditorProcess) -> int:
    assert auditor._process is not None
    return auditor._process.pid


async def _started(shown: list[float], times: int = 1) -> None:
    await eventually_async(lambda: shown.count(1) >= times, what="an auditor")


async def _reports_until_its_end(auditor: AuditorProcess, order: AuditOrder) -> None:
    while True:  # a report that was on its way can still arrive
        await auditor.carry_out(order)


def _there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_the_process_reports_what_the_ledger_makes_of_the_meters(
    keeping_played: Pit, keeping_server: RedisServer, tmp_path: Path
) -> None:
    pit = keeping_played
    held = await pit.store.meter_balances()
    async with _auditor(pit, keeping_server, tmp_path) as (auditor, shown):
        await _started(shown)
        report = await auditor.carry_out(_order(pit, held.entry))
        assert (report.problems, report.failure) == ((), "")
        assert report.entries == report.stored == held.entry
        assert report.replayed == held
        await move_balance(pit, f"meter:{PROGRESSIVE}", 1)
        report = await auditor.carry_out(_order(pit, held.entry))
        assert "+1" in "; ".join(report.problems)
        assert report.replayed == held, "the ledger alone decides it"


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_dead_or_frozen_process_is_replaced(
    keeping_played: Pit, keeping_server: RedisServer, tmp_path: Path, sign: signal.Signals
) -> None:
    pit = keeping_played
    entry = (await pit.store.meter_balances()).entry
    silent_s = 3.0 if sign is signal.SIGSTOP else 60.0
    async with _auditor(pit, keeping_server, tmp_path, silent_s=silent_s) as (auditor, shown):
        await _started(shown)
        first = _pid(auditor)
        os.kill(first, sign)
        with pytest.raises(AuditorError):
            await _reports_until_its_end(auditor, _order(pit, entry))
        await _started(shown, 2)
        assert shown == [1, 0, 1]
        assert _pid(auditor) != first
        assert (await auditor.carry_out(_order(pit, entry))).problems == ()
    assert not _there(first)


async def test_the_process_ends_with_its_service(
    keeping_played: Pit, keeping_server: RedisServer, tmp_path: Path
) -> None:
    """Also if the service was killed: its end closes the pipe."""
    async with _auditor(keeping_played, keeping_server, tmp_path) as (auditor, shown):
        await _started(shown)
        pid = _pid(auditor)
        process = auditor._process
        assert process is not None
        assert process.stdin is not None
        os.kill(pid, signal.SIGTERM)  # systemd sends it to all processes at once
        assert (await auditor.carry_out(_order(keeping_played, 0))).problems == ()
        process.stdin.close()
        assert await process.wait() == 0


@pytest.fixture
def link_with(
    keeping_played: Pit, tmp_path: Path
) -> Callable[
    [Callable[[AuditorReport], AuditorReport]], contextlib.AbstractAsyncContextManager[Running]
]:
    """Return a link whose auditor's reports are changed on their way."""
    auditor = LinkAuditor(keeping_played.store, tmp_path)

    def start(
        change: Callable[[AuditorReport], AuditorReport],
    ) -> AbstractAsyncContextManager[Running]:
        async def carry_out(order: AuditOrder) -> AuditorReport:
            report = await auditor.carry_out(order)
            return change(report) if order.compares else report

        return running(keeping_played, tmp_path, pace=_LATE, carry_out=carry_out)

    return start


def _says_all_is_well(report: AuditorReport) -> AuditorReport:
    return AuditorReport(report.number, entries=report.entries, stored=report.stored, seal="f" * 64)


def _forgets_a_micro(report: AuditorReport) -> AuditorReport:
    told = report.replayed
    assert told is not None
    micros = {**told.micros, PROGRESSIVE: told.micros[PROGRESSIVE] - 1}
    return replace_struct(report, replayed=MeterBalances(told.entry, told.chain, micros))


def _has_another_ledger(report: AuditorReport) -> AuditorReport:
    told = report.replayed
    assert told is not None
    return replace_struct(report, replayed=MeterBalances(told.entry, "0" * 40, told.micros))


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        (_says_all_is_well, "did not report the state at entry"),
        (_forgets_a_micro, "micros on progressive, Redis has"),
        (_has_another_ledger, "has another entry"),
    ],
)
async def test_a_link_with_a_lying_auditor_does_not_begin_to_operate(
    link_with: LinkWith, lie: Callable[[AuditorReport], AuditorReport], said: str
) -> None:
    async with link_with(lie) as link:
        await eventually_async(lambda: said in (link.service.problem or ""), what="the lie")
        assert link.service.seen.sealed == 0


async def test_a_link_operates_on_while_its_auditor_is_replaced_but_not_without_one(
    link_with: LinkWith,
) -> None:
    dead = False

    def unless_dead(report: AuditorReport) -> AuditorReport:
        if dead:
            raise AuditorError("the auditor does not run: it was killed")
        return report

    async with link_with(unless_dead) as link:
        await link.comes_up()
        audits = link.service.auditing
        dead = True
        audited_s = audits._audited_s
        await link.goes_down("no audit has ended for")
        assert asyncio.get_running_loop().time() - audited_s >= _LATE.audited_within_s
        dead = False
        await link.comes_up()


async def test_a_slow_auditor_stops_the_link(keeping_played: Pit, tmp_path: Path) -> None:
    """An audit that does not end is no audit."""
    auditor, going_on = LinkAuditor(keeping_played.store, tmp_path), asyncio.Event()
    going_on.set()

    async def carry_out(order: AuditOrder) -> AuditorReport:
        await going_on.wait()
        return await auditor.carry_out(order)

    async with operating(keeping_played, tmp_path, pace=_LATE, carry_out=carry_out) as link:
        going_on.clear()
        await link.goes_down("no audit has ended for")
        going_on.set()
        await link.comes_up()
