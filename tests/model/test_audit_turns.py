"""An audit of a service that serves tables: it takes a short time in each turn of the loop.

It also waits while events of tables are in work.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from redis.asyncio import Redis

from meters.audit.link_audit import LinkAudit
from meters.ledger.checkpoint import Mark
from meters.ledger.ledger_replay import Replay
from meters.service import pace as pacing
from meters.service.ledger_auditing import LedgerAuditing
from meters.service.pace import BatchesInWork, Pace
from tests.model.pit import PROGRESSIVE, Pit
from tests.model.running import operating, running
from tests.mqtt.events import encode, void, wagers
from tests.servers import eventually_async

ROUNDS = 30


@pytest.fixture
async def waited_for(keeping_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> Pit:
    """Return a link whose audit waits for the events in work, however long they take."""
    monkeypatch.setattr(pacing, "WAIT_MAX_S", 600.0)
    return await Pit.opened(keeping_redis)


@pytest.mark.duty("D19")
async def test_other_tasks_run_between_the_entries_of_a_page(
    keeping_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    pit = await Pit.opened(keeping_redis)
    await _play(pit, "A")
    entries = Counter[int]()
    apply_entry = Replay.apply_entry

    def counted(
        replay: Replay, number: int, fields: Mapping[str, bytes], seen: Mark | None = None
    ) -> None:
        entries[turns.taken] += 1
        apply_entry(replay, number, fields, seen)

    monkeypatch.setattr(Replay, "apply_entry", counted)
    turns = Turns()
    finding = await LinkAudit(pit.store).run()
    await turns.end()
    assert finding.balanced
    assert entries.total() == finding.entries > 2 * ROUNDS
    assert max(entries.values()) <= 3


@pytest.mark.duty("D19")
async def test_audit_of_a_link_in_operation_waits_for_the_events_in_work(
    waited_for: Pit, tmp_path: Path
) -> None:
    async with operating(waited_for, tmp_path, pace=Pace()) as link:
        sealed = link.service.seen.sealed
        applied = asyncio.Event()
        batch = asyncio.create_task(_until(applied))
        link.batches.add(batch)
        await _play(waited_for, "B")
        link.service.auditing.hurry()
        gives_way = asyncio.create_task(link.batches.give_way())
        for _ in range(ROUNDS):
            await waited_for.redis.ping()
        assert link.service.seen.sealed == sealed
        assert not gives_way.done()
        applied.set()
        await eventually_async(
            lambda: link.service.seen.sealed >= sealed + 2 * ROUNDS, what="an audit to the end"
        )
        assert gives_way.done()


@pytest.mark.duty("D19")
async def test_audit_that_is_far_behind_does_not_wait(waited_for: Pit, tmp_path: Path) -> None:
    """Otherwise the link would have to wait long for the audit after a failure."""
    applied = asyncio.Event()
    batch = asyncio.create_task(_until(applied))
    async with operating(waited_for, tmp_path, pace=Pace(behind_max=ROUNDS)) as link:
        sealed = link.service.seen.sealed
        link.batches.add(batch)
        for seq in range(1, 2 * ROUNDS, 2):
            await link.take("T-1", encode(wagers(seq, f"R{seq}")))
            await link.take("T-1", encode(void(seq + 1, f"R{seq}")))
        link.service.auditing.hurry()
        last = link.service.store.head.entry
        await eventually_async(
            lambda: link.service.auditing.behind < ROUNDS, what="an audit that is not far behind"
        )
        assert last >= sealed + 2 * ROUNDS
        assert not link.batches.none
        applied.set()
        await batch


@pytest.mark.duty("D19")
async def test_audit_that_is_far_behind_takes_more_entries_in_each_turn(
    waited_for: Pit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would fall further behind for as long as the tables send too many events."""
    pace = Pace(behind_max=1, slice_s=600.0, slice_max_s=600.0)
    async with operating(waited_for, tmp_path, pace=pace) as link:
        auditing = link.service.auditing
        monkeypatch.setattr(LedgerAuditing, "behind", 2)
        await auditing._pause()
        turns = Turns()
        for _ in range(ROUNDS):
            await auditing._pause()
        assert turns.taken == 0
        auditing._pace = replace(pace, slice_max_s=0.0)
        await auditing._pause()
        assert turns.taken > 0
        await turns.end()


async def test_audit_goes_on_slowly_if_events_are_always_in_work() -> None:
    batches, applied = BatchesInWork(), asyncio.Event()
    batch = asyncio.create_task(_until(applied))
    batches.add(batch)
    await batches.give_way()
    assert not batches.none
    applied.set()
    await batch
    await eventually_async(lambda: batches.none, what="no batch in work")


@pytest.mark.duty("D11")
async def test_audit_of_a_link_that_does_not_operate_waits_for_no_events(
    waited_for: Pit, tmp_path: Path
) -> None:
    """The tables of this link wait for the audit. The events in work are those of other links."""
    await _play(waited_for, "C")
    applied = asyncio.Event()
    batch = asyncio.create_task(_until(applied))
    async with running(waited_for, tmp_path, pace=Pace()) as link:
        link.batches.add(batch)
        await link.comes_up()
        assert not link.batches.none
        applied.set()
        await batch


async def _play(pit: Pit, name: str) -> None:
    for number in range(ROUNDS):
        await pit.wagers({3: PROGRESSIVE}, round_id=f"{name}{number}")
        await pit.void(round_id=f"{name}{number}")


async def _until(event: asyncio.Event) -> None:
    await event.wait()


class Turns:
    """Number of turns of the loop, as another task sees them while it runs."""

    def __init__(self) -> None:
        self.taken = 0
        self._task = asyncio.create_task(self._take())

    async def _take(self) -> None:
        while True:
            self.taken += 1
            await asyncio.sleep(0)

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})
