import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.model.kept import Kept
from tests.model.pit import Pit
from tests.model.running import Running, operating
from tests.model.tampering import play_a_while
from tests.redis_versions import emptied
from tests.restore.stores import Kept as Copy
from tests.servers import RedisServer, eventually_async

_SETTINGS = {
    "maxmemory": "0",
    "min-replicas-to-write": "0",
    "save": "",
    "appendonly": "yes",
    "appendfsync": "always",
    "maxmemory-policy": "noeviction",
}


@pytest.fixture
async def pit(request: pytest.FixtureRequest, redis: Redis) -> AsyncIterator[Pit]:
    pit = await Pit.opened(redis)
    yield pit
    if left_sound.__name__ in request.fixturenames:
        assert (await pit.audit()).problems == ()


@pytest.fixture
def left_sound() -> None:
    """Have an audit of `pit` find nothing after the test."""


_PLAYED: list[tuple[Copy, dict[str, int]]] = []


@pytest.fixture
async def played(redis: Redis) -> Pit:
    """Return a link on which an event of each kind happened. Redis copies it after the first."""
    pit = Pit(redis)
    if _PLAYED:
        copy, seqs = _PLAYED[0]
        await copy.put_back(redis)
        pit.seq.update(seqs)
        await pit.open()
    else:
        await pit.open()
        await play_a_while(pit)
        _PLAYED.append((await Copy.of(redis), dict(pit.seq)))
    return pit


@pytest.fixture
async def keeping_pit(keeping_redis: Redis) -> Pit:
    return await Pit.opened(keeping_redis)


@pytest.fixture
async def keeping_played(keeping_pit: Pit) -> Pit:
    await play_a_while(keeping_pit)
    return keeping_pit


@pytest.fixture
async def link(keeping_played: Pit, tmp_path: Path) -> AsyncIterator[Running]:
    await keeping_played.void(table="T-2", round_id="R3")  # the other table is held for its wins
    async with operating(keeping_played, tmp_path) as link:
        yield link


@pytest.fixture(scope="session")
def keeping_server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
async def keeping_redis(keeping_server: RedisServer) -> AsyncIterator[Redis]:
    async with emptied(keeping_server) as client:
        yield client
        if not keeping_server.running:
            keeping_server.start()
        await client.config_set("rdb-key-save-delay", "0")
        await end_the_writing_of_the_file(keeping_server)
        for setting, value in _SETTINGS.items():
            await client.config_set(setting, value)
        # If a test has turned its file off, Redis rewrites it now. Until that is done, a kill would
        # lose everything.
        await eventually_async(lambda: keeps(client), what="the append-only file")


async def end_the_writing_of_the_file(server: RedisServer) -> None:
    """End the child that writes the file. If Redis needs the file, it starts another child."""
    tasks = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    for child in (await asyncio.to_thread(tasks.read_text)).split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGUSR1)


async def keeps(redis: Redis) -> bool:
    info = await redis.info("persistence")
    return not (info["aof_rewrite_in_progress"] or info["aof_rewrite_scheduled"])


@pytest.fixture
async def kept(redis: Redis, tmp_path: Path) -> Kept:
    return await Kept.opened(redis, tmp_path)
