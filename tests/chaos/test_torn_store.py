"""Stores whose append-only file is torn, and what the link then reports.

Redis itself decides whether it starts with the rest of the file. If it does, the ledger mark
outside the store and the audit show what is missing. The outcomes are those in
`deploy/docs/recover/faults.md`.
"""

import fcntl
import os
import re
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis

from meters.store.ledger_mark import LedgerMark
from tests.model.pit import Pit, event_bytes
from tests.model.running import running
from tests.model.tampering import play_a_while
from tests.servers import RedisServer

WAGERS: Final = {"positions": [{"position": 3, "wagers": {"progressive": 100}}]}
VOID: Final = event_bytes(6, "void", "R3", reason="misdeal")
"""Seq of the next event of a table without a hold, after `play_a_while`."""


@pytest.fixture
async def client(redis_server: RedisServer) -> AsyncIterator[Redis]:
    client = Redis.from_url(redis_server.url)
    yield client
    await client.aclose()


def incr(server: RedisServer) -> Path:
    return next((server.home / "appendonlydir").glob("*.incr.aof"))


def base(server: RedisServer) -> Path:
    return next((server.home / "appendonlydir").glob("*.base.rdb"))


def last_step(data: bytes) -> int:
    """Return where the last step of the ledger begins. Health checks can have written after it."""
    return data.rfind(b"*1\r\n$5\r\nMULTI", 0, data.rfind(b"}:ledger"))


def cut(place: Callable[[bytes], int]) -> Callable[[RedisServer], None]:
    def tear(server: RedisServer) -> None:
        data = incr(server).read_bytes()
        incr(server).write_bytes(data[: place(data)])

    return tear


def inside_a_number(data: bytes) -> int:
    return [found.end() for found in re.finditer(rb"\r\n\d{5,}\r\n", data)][-1] - 4


def after_the_first_steps(data: bytes) -> int:
    return [found.end() for found in re.finditer(rb"\*1\r\n\$4\r\nEXEC\r\n", data)][1]


def lose_the_manifest(server: RedisServer) -> None:
    next((server.home / "appendonlydir").glob("*.manifest")).unlink()


def lose_the_directory(server: RedisServer) -> None:
    shutil.rmtree(server.home / "appendonlydir")


BEHIND: Final[dict[str, tuple[Callable[[RedisServer], None], bool]]] = {
    # Redis encloses the effects of a script in MULTI and EXEC.
    "inside the last step": (cut(lambda data: data.index(b"tallies", last_step(data)) + 20), False),
    "inside a number": (cut(inside_a_number), False),
    "between two steps": (cut(last_step), False),
    "early": (cut(after_the_first_steps), False),
    "the manifest lost": (lose_the_manifest, True),
    "everything lost": (lose_the_directory, True),
}
"""Damage to the file, and whether Redis is empty after it."""


@pytest.mark.parametrize("name", BEHIND)
async def test_a_store_that_lost_what_was_answered_stops_the_link(
    name: str, redis_server: RedisServer, client: Redis, tmp_path: Path
) -> None:
    """This holds even right after the answer: the mark is written before the answer is sent."""
    tear, empty = BEHIND[name]
    pit = Pit(client)
    await pit.open()
    await play_a_while(pit)
    async with running(pit, tmp_path) as link:
        await link.comes_up()
        assert await link.take("T-2", VOID)
        redis_server.kill()
    had = LedgerMark(tmp_path, pit.link.id).seen.entries
    tear(redis_server)
    redis_server.start()
    kept = (await pit.store.snapshot()).last_entry
    assert kept < had
    assert (kept == 0) is empty
    async with running(Pit(client), tmp_path) as again:
        reason = await again.goes_down(f"Redis holds {kept} ledger entries and has held {had}")
        assert reason.index("`pitlink restore`") < reason.index("to start again without them")
        assert await again.take("T-2", VOID) == []
        assert (await pit.store.snapshot()).last_entry == kept


async def unchecked() -> None:
    """Skip the heartbeat's check of the store."""


@pytest.mark.duty("D10")
async def test_duty_d10_the_mark_is_on_disk_when_the_answer_is_given(
    client: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No heartbeat comes between, so no answered event can be lost unnoticed."""
    pit = Pit(client)
    async with running(pit, tmp_path) as link:
        await link.comes_up()
        monkeypatch.setattr(link.service, "_check", unchecked)
        for seq, event in enumerate(("wagers", "void"), start=1):
            fields = WAGERS if event == "wagers" else {"reason": "misdeal"}
            assert await link.take("T-1", event_bytes(seq, event, "R1", **fields))
            last = (await pit.store.snapshot()).last_entry
            assert LedgerMark(tmp_path, pit.link.id).seen.entries == last


async def test_nothing_is_answered_while_the_mark_cannot_be_written(
    client: Redis, tmp_path: Path
) -> None:
    """The data directory is full or gone. The table repeats its event, which counts once."""
    pit = Pit(client)
    async with running(pit, tmp_path) as link:
        await link.comes_up()
        # This is one step, because the link may be about to write a mark.
        (tmp_path / "marks").rename(tmp_path / "marks-that-were")
        (tmp_path / "marks").write_text("no directory")
        event = event_bytes(1, "wagers", "R1", **WAGERS)
        assert await link.take("T-1", event) == []
        counted = (await pit.store.snapshot()).last_entry
        await link.goes_down("the ledger mark cannot be written: ")
        assert await link.take("T-1", event) == []
        (tmp_path / "marks").unlink()
        await link.comes_up()
        assert len(await link.take("T-1", event)) == 1
        assert (await pit.audit()).totals.wagers == 1
        assert LedgerMark(tmp_path, pit.link.id).seen.entries >= counted


async def wager_and_kill(server: RedisServer, client: Redis, home: Path) -> None:
    async with running(Pit(client), home) as link:
        await link.comes_up()
        assert await link.take("T-1", event_bytes(1, "wagers", "R1", **WAGERS))
        server.kill()


async def test_a_step_that_was_never_answered_may_be_torn_off(
    redis_server: RedisServer, client: Redis, tmp_path: Path
) -> None:
    """A crash in the middle of a write leaves half a step. Redis drops it, and nothing is lost."""
    await wager_and_kill(redis_server, client, tmp_path)
    held = incr(redis_server).read_bytes()
    step = held[held.rfind(b"*1\r\n$5\r\nMULTI") :]
    incr(redis_server).write_bytes(held + step[: len(step) // 2])
    redis_server.start()
    pit = Pit(client)
    async with running(pit, tmp_path) as again:
        await again.comes_up()
        assert (await pit.audit()).balanced
        assert await again.take("T-1", event_bytes(2, "void", "R1", reason="misdeal"))


def spoil_the_middle(server: RedisServer) -> None:
    data = incr(server).read_bytes()
    step = data.index(b"*1\r\n$5\r\nMULTI", len(data) // 2)
    incr(server).write_bytes(data[:step] + b"\xff" * 64 + data[step:])


def lose_the_file(server: RedisServer) -> None:
    incr(server).unlink()


def cut_the_base(server: RedisServer) -> None:
    data = base(server).read_bytes()
    base(server).write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize("tear", [spoil_the_middle, lose_the_file, cut_the_base])
async def test_redis_does_not_start_on_a_file_that_it_cannot_read(
    tear: Callable[[RedisServer], None], redis_server: RedisServer, client: Redis
) -> None:
    """An operator has to decide what to do. No link operates meanwhile."""
    pit = Pit(client)
    await pit.open()
    await play_a_while(pit)
    redis_server.kill()
    tear(redis_server)
    with pytest.raises(OSError, match="ended at its start"):
        redis_server.start()


async def test_a_number_that_was_altered_is_found_by_the_audit(
    redis_server: RedisServer, client: Redis, tmp_path: Path
) -> None:
    await wager_and_kill(redis_server, client, tmp_path)
    data = incr(redis_server).read_bytes()
    seeded, account = 1_000_000_000 + 140_000, b"meter:progressive\r\n$10\r\n"
    assert data.count(account + b"%d\r\n" % seeded) == 1
    altered = data.replace(account + b"%d" % seeded, account + b"%d" % (seeded + 10_000))
    incr(redis_server).write_bytes(altered)
    redis_server.start()
    async with running(Pit(client), tmp_path) as again:
        await again.goes_down("meter:progressive", "+10000")


async def test_two_services_that_share_a_directory_never_turn_the_mark_back(tmp_path: Path) -> None:
    one, other = LedgerMark(tmp_path, "pit"), LedgerMark(tmp_path, "pit")
    one.note(9, "0000000000000000000000000000000000000009")
    other.note(7, "0000000000000000000000000000000000000007")
    assert LedgerMark(tmp_path, "pit").seen.entries == 9
    other.note(11, "000000000000000000000000000000000000000b")
    one.note(10, "000000000000000000000000000000000000000a")
    assert LedgerMark(tmp_path, "pit").seen.entries == 11


def test_the_mark_is_written_in_place_and_keeps_its_size(tmp_path: Path) -> None:
    """A mark of another size is replaced once."""
    mark = LedgerMark(tmp_path, "pit")
    mark.note(1, "1" * 40)
    mark.path.write_bytes(mark.path.read_bytes().rstrip())
    mark.note(2, "2" * 40)
    made = mark.path.stat()
    for entries, seal in ((9, ""), (10, "a" * 64), (10**15, "")):
        mark.note(entries, f"{entries:040}")
        if seal:
            mark.note_seal(entries, seal)
        assert LedgerMark(tmp_path, "pit").seen == mark.seen
    now = mark.path.stat()
    assert (now.st_ino, now.st_size) == (made.st_ino, made.st_size) == (made.st_ino, 512)
    assert mark.seen.sealed == 10
    assert [path.name for path in mark.path.parent.glob("*.new")] == []


def test_a_mark_is_not_read_while_it_is_written(tmp_path: Path) -> None:
    """Another process holds the lock for the moment in which it writes."""
    mark = LedgerMark(tmp_path, "pit")
    mark.note(1, "1" * 40)
    whole = mark.path.read_bytes()
    lock = os.open(mark.path.with_suffix(".lock"), os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    mark.path.write_bytes(b"half of it")

    def finish() -> None:
        mark.path.write_bytes(whole)
        os.close(lock)

    writer = threading.Timer(0.01, finish)
    writer.start()
    assert LedgerMark(tmp_path, "pit").seen.entries == 1
    writer.join()
