"""Data in the present layout after a restore: kept replies, and several entries together."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver
from meters.books.stored_entries import Entry
from meters.books.stored_tables import REPLIES_KEPT
from meters.restore.store_writing import StoreWriter
from tests.model.days import Days
from tests.model.pit import PROGRESSIVE
from tests.restore.pit import KeptPit
from tests.restore.test_restoring import Copy
from tests.stored_tables import stored_table

pytestmark = pytest.mark.duty("D11")


async def _each(entries: Sequence[Entry]) -> AsyncIterator[Entry]:
    for entry in entries:
        yield entry


async def test_no_reply_that_redis_had_dropped_comes_back(redis: Redis, tmp_path: Path) -> None:
    """A refused event has no entry. In the place of its reply there was an older one."""
    pit = KeptPit(redis, tmp_path)
    await pit.open()
    for number in range(REPLIES_KEPT // 2 + 2):
        await pit.wagers({1: PROGRESSIVE}, round_id=f"R{number}")
        await pit.void(round_id=f"R{number}")
    assert (await pit.void(round_id="R-x")).status == "refused"
    await pit.wagers({1: PROGRESSIVE}, round_id="R-open")
    await pit.void(table="T-2", round_id="R-x")
    was = (await stored_table(pit.store, "T-1")).replies
    copy = await Copy.of(pit)
    await pit.lost_and_restored(copy)
    made = (await stored_table(pit.store, "T-1")).replies
    assert made.keys() <= was.keys()


async def test_a_day_is_trimmed_if_the_entry_about_it_is_among_others(
    redis: Redis, tmp_path: Path
) -> None:
    pit = KeptPit(redis, tmp_path)
    days, archive = Days(pit), ArchiveFiles(tmp_path / "archive", pit.link.id)
    await days.open()
    await pit.open()
    for number in range(4):
        await pit.wagers({1: PROGRESSIVE}, round_id=f"R{number}")
        await pit.void(round_id=f"R{number}")
        await days.keep(timedelta(days=1))
    await Archiver(pit.store, archive, 100).run(lambda *_: None)
    every, keys = await pit.store.entries(0, 1_000), pit.store.keys
    await redis.delete(keys.ledger)
    writer = StoreWriter(redis, keys)
    written = [number async for number in writer.write_ledger(_each(every), len(every))]
    assert written[-1] == len(every)
    assert await redis.xlen(keys.ledger) < len(every) / 2
    assert await pit.store.entries(0, 1_000) == every
    await Archiver(pit.store, archive, 1).run(lambda *_: None)
    checkpoint = await pit.store.checkpoint()
    assert checkpoint.entries
    assert await pit.store.entries(0, 1_000) == every[checkpoint.entries :]
    assert (await pit.audit()).problems == ()
