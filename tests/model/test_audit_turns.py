"""An audit of a service that serves tables: it takes a short time in each turn of the loop."""

import asyncio
from collections import Counter
from collections.abc import Mapping

import pytest
from redis.asyncio import Redis

from meters.books.audit import LinkAudit
from meters.books.ledger_mark import Mark
from meters.books.ledger_replay import Replay
from tests.model.pit import PROGRESSIVE, Pit

ROUNDS = 30


@pytest.mark.duty("D19")
async def test_other_tasks_run_between_the_entries_of_a_page(
    keeping_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    pit = Pit(keeping_redis)
    await pit.open()
    for number in range(ROUNDS):
        await pit.wagers({3: PROGRESSIVE}, round_id=f"R{number}")
        await pit.void(round_id=f"R{number}")
    turn, entries = 0, Counter[int]()
    apply_entry = Replay.apply_entry

    def counted(
        replay: Replay, number: int, fields: Mapping[str, bytes], seen: Mark | None = None
    ) -> None:
        entries[turn] += 1
        apply_entry(replay, number, fields, seen)

    async def take_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(Replay, "apply_entry", counted)
    turning = asyncio.create_task(take_turns())
    finding = await LinkAudit(pit.store).run()
    turning.cancel()
    await asyncio.wait({turning})
    assert finding.balanced
    assert entries.total() == finding.entries > 2 * ROUNDS
    assert max(entries.values()) <= 3
