"""Fixtures: a link on a Redis, and a Redis that syncs every write."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

import meters.service.ledger_auditing
import meters.service.link
from tests.model.kept import Kept
from tests.model.pit import Pit
from tests.redis_versions import emptied
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
async def pit(redis: Redis) -> Pit:
    """Return a link whose meters have just been seeded."""
    pit = Pit(redis)
    await pit.open()
    return pit


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run heartbeats and audits many times a second.

    On a busy machine Redis may answer late without being gone. The wait for Redis stays long,
    because otherwise the link would stop and record that in its ledger.
    """
    monkeypatch.setattr(meters.service.link, "BEAT_S", 0.02)
    monkeypatch.setattr(meters.service.link, "CHECK_WITHIN_S", 60.0)
    monkeypatch.setattr(meters.service.ledger_auditing, "AUDIT_EVERY_S", 0.02)
    monkeypatch.setattr(meters.service.ledger_auditing, "_AUDIT_AGAIN_S", 0.02)


@pytest.fixture(scope="session")
def keeping_server() -> Iterator[RedisServer]:
    """Yield a redis-server that syncs every write."""
    with RedisServer() as server:
        yield server


@pytest.fixture
async def keeping_redis(keeping_server: RedisServer) -> AsyncIterator[Redis]:
    """Yield a connection to it, emptied and with its settings restored."""
    async with emptied(keeping_server) as client:
        yield client
        if not keeping_server.running:
            keeping_server.start()
        for setting, value in _SETTINGS.items():
            await client.config_set(setting, value)
        # If a test has turned its file off, Redis rewrites it now. Until that is done, a kill would
        # lose everything.
        await eventually_async(lambda: keeps(client), what="the append-only file")


async def keeps(redis: Redis) -> bool:
    """Return whether everything that Redis has is in its append-only file."""
    info = await redis.info("persistence")
    return not (info["aof_rewrite_in_progress"] or info["aof_rewrite_scheduled"])


@pytest.fixture
async def kept(redis: Redis, tmp_path: Path) -> Kept:
    kept = Kept(Pit(redis), tmp_path / "archive")
    await kept.pit.store.open("service")
    await kept.open()
    return kept
