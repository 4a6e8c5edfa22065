"""Old ledger entries are compressed in Redis, and are the same entries for every reader."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, cast

import pytest
import zstandard
from redis.asyncio import Redis

import meters.store.old_entries
from meters.ledger.chain import ENTRY_FIELDS
from meters.store.old_entries import compress_entries
from meters.store.stored_entries import Entry, StreamEntry, pack_block, unpack_block
from tests.model.kept import Kept
from tests.model.pit import PROGRESSIVE, Pit

pytestmark = pytest.mark.duty("D10", "D17")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meters.store.old_entries, "PLAIN_ENTRIES", 3)
    monkeypatch.setattr(meters.store.old_entries, "BLOCK_ENTRIES", 4)


async def _compress(pit: Pit) -> int:
    return await compress_entries(pit.store)


async def _stream(redis: Redis, key: str) -> list[StreamEntry]:
    return cast("list[StreamEntry]", await redis.xrange(key))


async def _read(pit: Pit, count: int) -> list[Entry]:
    found: list[Entry] = []
    while page := await pit.store.entries(found[-1][0] if found else 0, count):
        found += page
    return found


@pytest.fixture
async def played(played: Pit) -> Pit:
    pit = played
    for number in range(4, 9):
        await pit.void(table="T-2", round_id=f"R{number - 1}")
        await pit.wagers({2: PROGRESSIVE}, table="T-2", round_id=f"R{number}")
    return pit


async def test_readers_get_the_same_entries(played: Pit) -> None:
    """They do whatever the pages are, and nothing is compressed twice."""
    before = await _read(played, 1_000)
    numbers, acts = [number for number, _ in before], await played.store.acts(None, 100)
    assert numbers == [*range(1, len(before) + 1)]
    compressed = await _compress(played)
    assert await played.store.acts(None, 100) == acts
    assert 0 < compressed <= len(before) - 3
    assert len(await _stream(played.redis, played.store.keys.ledger)) < len(before)
    for count in (1, 2, 3, 4, 5, 9, 1_000):
        assert await _read(played, count) == before
    asked = [3, 999, 1, len(before), compressed, compressed + 1]
    due = [before[number - 1] for number in asked if number <= len(before)]
    assert await played.store.entries_at(asked) == due
    assert (await played.audit()).problems == ()
    assert await _compress(played) == 0


async def test_two_processes_compress_each_entry_once(played: Pit) -> None:
    before = await _read(played, 1_000)
    done = await asyncio.gather(*(_compress(played) for _ in range(4)))
    blocks = await _stream(played.redis, played.store.keys.ledger_blocks)
    assert sum(done) == sum(len(unpack_block(row)) for row in blocks)
    assert await _read(played, 5) == before


async def test_readers_miss_no_entry_while_others_compress(played: Pit) -> None:
    before = await _read(played, 1_000)
    *read, _ = await asyncio.gather(*(_read(played, 2) for _ in range(9)), _compress(played))
    assert read == [before] * 9


@pytest.mark.slow
async def test_a_week_is_archived_trimmed_and_audited(kept: Kept) -> None:
    """No block has entries of two gaming days, so whole blocks are deleted with their day."""
    await kept.week(4, rounds=3)
    whole = await kept.audit()
    result = await kept.run(live_days=2)
    assert result.compressed > 0
    keys = kept.pit.store.keys
    blocks = await _stream(kept.pit.redis, keys.ledger_blocks)
    ends = [unpack_block(row)[-1] for row in blocks]
    assert any(fields["kind"] == b"reading" for _, fields in ends)
    assert (await kept.live())[0] == result.trimmed_to + 1
    after = await kept.audit()
    assert (after.problems, after.totals) == ((), whole.totals)
    # Later the entry about the archived day is itself in a block.
    await kept.week(3, rounds=3)
    later = await kept.run(live_days=0)
    assert later.trimmed > 0
    assert (await kept.live())[0] == later.trimmed_to + 1
    assert (await kept.audit()).problems == ()
    await kept.days.keep(timedelta(days=1))
    await kept.run(live_days=0, lost=True)
    assert (await kept.audit()).problems == ()


async def test_a_gap_is_not_compressed_and_the_audit_names_it(played: Pit) -> None:
    rows = await _stream(played.redis, played.store.keys.ledger)
    await played.redis.xdel(played.store.keys.ledger, rows[6][0])
    await _compress(played)
    (last, *_) = rows[6][0].split(b"-")
    blocks = await _stream(played.redis, played.store.keys.ledger_blocks)
    assert all(unpack_block(row)[-1][0] < int(last) for row in blocks)
    assert any("some are missing" in one for one in (await played.audit()).problems)


Change = Callable[[StreamEntry, list[Entry]], tuple[bytes, dict[bytes, bytes]]]


def _packed(first: int, entries: Sequence[Entry]) -> dict[bytes, bytes]:
    return {
        b"first": b"%d" % first,
        b"entries": pack_block([{name: one[name] for name in ENTRY_FIELDS} for _, one in entries]),
    }


def _altered(entries: Sequence[Entry]) -> list[Entry]:
    number, fields = entries[1]
    return [entries[0], (number, fields | {"by": b"mallory"}), *entries[2:]]


@pytest.mark.duty("D19")
@pytest.mark.parametrize(
    "change",
    [
        lambda row, entries: (row[0], _packed(entries[0][0], _altered(entries))),
        lambda row, entries: (row[0], _packed(entries[0][0], entries[1:])),
        lambda row, entries: (row[0], _packed(entries[1][0], entries[1:])),
        lambda row, entries: (row[0], _packed(entries[0][0], entries[::-1])),
        lambda row, _: (row[0], {**row[1], b"entries": b""}),
        lambda row, _: (row[0], {**row[1], b"entries": row[1][b"entries"][:-5]}),
        lambda row, _: (row[0], {**row[1], b"first": b"x"}),
        lambda row, _: (row[0], {**row[1], b"more": b"x"}),
        lambda row, _: (row[0], {b"first": row[1][b"first"]}),
        lambda row, _: (row[0].replace(b"-0", b"-1"), dict(row[1])),
    ],
)
async def test_a_damaged_block_is_found(played: Pit, change: Change) -> None:
    await _compress(played)
    key = played.store.keys.ledger_blocks
    rows = await _stream(played.redis, key)
    assert len(rows) > 2
    await played.redis.delete(key)
    for place, row in enumerate(rows):
        entry, fields = change(row, unpack_block(row)) if place == 1 else row
        await played.redis.xadd(key, cast("dict[Any, Any]", fields), id=entry)
    finding = await played.audit()
    assert finding.problems
    await _compress(played)
    assert (await played.audit()).problems


async def _put_first(pit: Pit, entry: bytes, fields: dict[bytes, bytes]) -> None:
    key = pit.store.keys.ledger
    rows = await _stream(pit.redis, key)
    await pit.redis.delete(key)
    for row_id, row in [(entry, fields), *rows]:
        await pit.redis.xadd(key, cast("dict[Any, Any]", row), id=row_id)


@pytest.mark.duty("D19")
@pytest.mark.parametrize("place", [b"%d-0", b"%d-1"])
@pytest.mark.parametrize("back", [0, 2])
async def test_an_entry_that_a_block_has_too_is_not_read_and_is_found(
    played: Pit, place: bytes, back: int
) -> None:
    await _compress(played)
    before = await _read(played, 1_000)
    blocks = await _stream(played.redis, played.store.keys.ledger_blocks)
    number, fields = unpack_block(blocks[-1])[-1 - back]
    forged = {name.encode(): value for name, value in fields.items()} | {b"by": b"mallory"}
    await _put_first(played, place % number, forged)
    assert await played.store.entries(number - 1, 1) == [before[number - 1]]
    assert await played.store.entries_at([number]) == [before[number - 1]]
    assert any("the compressed entries end" in one for one in (await played.audit()).problems)
    assert await _compress(played) == 0


async def test_a_block_that_would_fill_the_memory_is_not_unpacked(played: Pit) -> None:
    huge = zstandard.ZstdCompressor().compress(bytes(1 << 28))
    damaged = unpack_block((b"4-0", {b"first": b"1", b"entries": huge}))
    assert damaged == [(4, {"first": b"1", "entries": huge})]


async def test_a_lost_block_is_found(played: Pit) -> None:
    await _compress(played)
    key = played.store.keys.ledger_blocks
    rows = await _stream(played.redis, key)
    await played.redis.xdel(key, rows[1][0])
    assert any("some are missing" in one for one in (await played.audit()).problems)
    await played.redis.delete(key)
    assert (await played.audit()).problems
