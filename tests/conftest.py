"""Fixtures that more than one room of the tests uses."""

import logging
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
import structlog
from playwright.async_api import Browser
from redis.asyncio import Redis

from tests.browsers import SharedBrowser
from tests.redis_versions import IN_MEMORY, emptied
from tests.servers import Mosquitto, RedisServer

# Children of the tests hear signals as a program started by hand does, also where the tests run in
# the background of a script, which has them ignore SIGINT: a signal with a handler is reset.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD})

# What runs inside a test logs as a service does unless told otherwise, not every event.
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))


_AT_THE_BROWSER = {"journey", "panel", "web"}
"""Rooms whose tests share a browser, and so the event loop that talks to it.

Their fixtures that are coroutines name it too: ``pytest_asyncio.fixture(loop_scope="session")``.
"""

_COUNTED_ONCE = {"odds"}
"""Rooms whose tests find what one of them has counted, unless another worker counts it too."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in _AT_THE_BROWSER and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
    if workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")):
        items[:] = slow_files_first(items, workers)


def slow_files_first(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """Give each worker its share of the slow tests, and have it begin with them.

    Each worker is given as many tests in a row, and who has done theirs takes from the end of
    another's: a slow test there would be begun when all else is done. Files stay whole, since
    their tests share servers, and so do rooms whose tests share what takes long to count.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        whole = item.path.parent if item.path.parent.name in _COUNTED_ONCE else item.path
        files.setdefault(whole, []).append(item)
    slow = {path: _count_slow(tests) for path, tests in files.items()}
    shares: list[list[Path]] = [[] for _ in range(workers)]
    for path in sorted(filter(slow.__getitem__, files), key=slow.__getitem__, reverse=True):
        min(shares, key=lambda share: sum(slow[each] for each in share)).append(path)
    quick = [item for path, tests in files.items() if not slow[path] for item in tests]
    ordered: list[pytest.Item] = []
    for number, share in enumerate(shares):
        begins = [item for path in share for item in files[path]]
        size = (len(items) - len(ordered)) // (workers - number)
        fill = max(0, size - len(begins))
        ordered += begins + quick[:fill]
        del quick[:fill]
    return ordered + quick


def _count_slow(tests: Sequence[pytest.Item]) -> int:
    return sum(test.get_closest_marker("slow") is not None for test in tests)


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A directory with a short path, since a Unix socket cannot have a long one."""
    path = Path(tempfile.mkdtemp(prefix="plt-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    """A redis-server for this test alone: it may be killed and started again."""
    with RedisServer() as server:
        yield server


@pytest.fixture
def mosquitto() -> Iterator[Mosquitto]:
    """A mosquitto for this test alone: it may be killed and started again."""
    with Mosquitto() as server:
        yield server


@pytest.fixture(scope="session")
def memory_server() -> Iterator[RedisServer]:
    """A redis-server in memory for all tests of one worker: it is emptied, and never restarted."""
    with RedisServer(options=IN_MEMORY) as server:
        yield server


@pytest.fixture
async def redis(memory_server: RedisServer) -> AsyncIterator[Redis]:
    """A connection to a Redis that is empty."""
    async with emptied(memory_server) as client:
        yield client


@pytest.fixture(scope="session")
def shared_redis_server() -> Iterator[RedisServer]:
    """A redis-server for all tests of one worker: use keys of your own, and leave it running."""
    with RedisServer() as server:
        yield server


@pytest.fixture(scope="session")
def shared_mosquitto() -> Iterator[Mosquitto]:
    """A mosquitto for all tests of one worker: use topics of your own, and leave it running."""
    with Mosquitto() as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_browser() -> AsyncIterator[SharedBrowser]:
    """A real browser for all tests of one worker."""
    async with SharedBrowser() as shared:
        yield shared


@pytest_asyncio.fixture(loop_scope="session")
async def browser(shared_browser: SharedBrowser) -> AsyncIterator[Browser]:
    """A real browser with no page open; what the test opens is closed after it."""
    browser = await shared_browser.connected()
    yield browser
    for context in browser.contexts:
        await context.close()
