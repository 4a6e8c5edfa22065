"""The checker reads only what may have changed, and finds every change."""

import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import redis.asyncio
from redis import Redis

from meters.books.store import LinkStore
from meters.redis_client.link_keys import LinkKeys
from tests.model.model_floor import POKER
from tests.servers import RedisServer
from tests.sim.breaking import DEFECTS, broken_code
from tests.sim.checker import AUDIT_EVERY, Checker
from tests.sim.floor import simulated_floor
from tests.sim.loop import VirtualLoop
from tests.sim.world import World


class Checked:
    def __init__(self, server: RedisServer, home: Path, loop: VirtualLoop) -> None:
        self._world = World(1, home, loop)
        link = simulated_floor(home).link[0]
        self._checker = Checker(self._world, link, server.socket_path, POKER)
        self.close = self._checker.close
        self._checker.check()
        assert self.problem is None

    @property
    def checks(self) -> int:
        return self._checker.checks

    @property
    def problem(self) -> str | None:
        failed = self._world.failed
        return str(failed.exception()) if failed.done() else None

    def check(self, times: int = 1) -> str | None:
        for _ in range(times):
            self._checker.check()
        return self.problem


@pytest.fixture
async def checked(redis_server: RedisServer, tmp_path: Path) -> AsyncIterator[Checked]:
    async with redis.asyncio.Redis.from_url(redis_server.url) as client:
        await LinkStore(client, simulated_floor(tmp_path).link[0]).open("service")
    with (
        contextlib.closing(VirtualLoop()) as loop,
        contextlib.closing(Checked(redis_server, tmp_path, loop)) as checked,
    ):
        yield checked


@pytest.fixture
def line(redis_server: RedisServer) -> Iterator[Redis]:
    with redis_server.client() as client:
        yield client


def test_if_nothing_was_written_nothing_is_read(checked: Checked, line: Redis) -> None:
    before = checked.checks
    assert checked.check(times=3) is None
    assert checked.checks == before
    line.set("another", "1")
    assert checked.check() is None
    assert checked.checks == before + 1


def test_a_balance_that_changed_without_an_entry_is_found_immediately(
    checked: Checked, line: Redis
) -> None:
    line.hincrby(LinkKeys("model").accounts, "meter:high", 10_000)
    assert "all accounts sum to 10000" in (checked.check() or "")


def test_a_difference_that_only_the_audit_finds_is_found_soon(
    checked: Checked, line: Redis
) -> None:
    line.zadd(LinkKeys("model").acts, {"77": 77})
    for written in range(AUDIT_EVERY):
        line.set("another", written)
        checked.check()
    assert "the index of acts has '77'" in (checked.problem or "")


@pytest.mark.parametrize("defect", DEFECTS)
def test_every_defect_can_be_put_into_the_present_code(defect: str) -> None:
    assert broken_code(defect)
