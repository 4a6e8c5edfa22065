import contextlib
import gc
import importlib
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
from hypothesis import Phase, settings
from playwright.async_api import Browser
from redis.asyncio import Redis

from tests.browsers import SharedBrowser
from tests.redis_versions import IN_MEMORY, emptied
from tests.servers import Mosquitto, RedisServer

# A program that is started at a terminal receives signals. The tests' child processes must receive
# them too, even if a script runs the tests in the background, which makes them ignore SIGINT. A
# signal with a handler is reset in a child process.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD})

# A run with a known defect must only find the defect: its shortest example would take minutes.
settings.register_profile("unshrunk", phases=[Phase.explicit, Phase.reuse, Phase.generate])

# Code inside a test logs what a service logs by default, not every event.
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))


# Thousands of tests are collected, and none of them is garbage: a collector that looks for some
# takes a third of the time.
gc.disable()


def pytest_collection(session: pytest.Session) -> None:
    """Let each worker begin with other files: in a new clone, no file is compiled yet.

    Workers that collect in the same order would each compile every file. An error of a file is
    reported where pytest collects it.
    """
    number = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    home = Path(__file__).parent
    if workers > 1 and session.config.args == [home.name]:
        for path in sorted(home.rglob("test_*.py"))[int(number) :: workers]:
            name = ".".join(path.relative_to(home.parent).with_suffix("").parts)
            with contextlib.suppress(Exception, pytest.skip.Exception):
                importlib.import_module(name)


def pytest_collection_finish() -> None:
    """Collect garbage again, but never look through the collected tests."""
    gc.freeze()
    gc.enable()


_AT_THE_BROWSER = {"journey", "panel", "web"}
"""Packages whose tests share a browser, and therefore the event loop that talks to it.

Their coroutine fixtures name the loop too: ``pytest_asyncio.fixture(loop_scope="session")``.
"""

_COUNTED_ONCE = {"odds", "submission"}
"""Packages whose tests share counts that take long. A second worker would have to count again."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in _AT_THE_BROWSER and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
    if workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")):
        items[:] = slow_files_first(items, workers)


def slow_files_first(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """Divide the slow tests among the workers, and let each worker begin with its slow tests.

    Each worker receives a run of consecutive tests, and a worker that has finished takes tests from
    the end of another worker's run. A slow test at the end of a run would begin when everything
    else is done. Files stay whole because their tests share servers. So do packages whose tests
    share counts that take long.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        whole = item.path.parent if item.path.parent.name in _COUNTED_ONCE else item.path
        files.setdefault(whole, []).append(item)
    slow = {
        path: sum(test.get_closest_marker("slow") is not None for test in tests)
        for path, tests in files.items()
    }
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


@pytest.fixture
def short_path() -> Iterator[Path]:
    """Yield a directory with a short path, because the path of a Unix socket is limited."""
    path = Path(tempfile.mkdtemp(prefix="plt-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    """Yield a redis-server for this test alone; the test may kill and restart it."""
    with RedisServer() as server:
        yield server


@pytest.fixture
def mosquitto() -> Iterator[Mosquitto]:
    """Yield a mosquitto for this test alone; the test may kill and restart it."""
    with Mosquitto() as server:
        yield server


@pytest.fixture(scope="session")
def memory_server() -> Iterator[RedisServer]:
    """Yield an in-memory redis-server for all tests of a worker. Each test begins with it empty."""
    with RedisServer(options=IN_MEMORY) as server:
        yield server


@pytest.fixture
async def redis(memory_server: RedisServer) -> AsyncIterator[Redis]:
    async with emptied(memory_server) as client:
        yield client


@pytest.fixture(scope="session")
def shared_redis_server() -> Iterator[RedisServer]:
    """Yield a redis-server for all tests of a worker: use your own keys and leave it running."""
    with RedisServer() as server:
        yield server


@pytest.fixture(scope="session")
def shared_mosquitto() -> Iterator[Mosquitto]:
    """Yield a mosquitto for all tests of a worker: use your own topics and leave it running."""
    with Mosquitto() as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_browser() -> AsyncIterator[SharedBrowser]:
    async with SharedBrowser() as shared:
        yield shared


@pytest_asyncio.fixture(loop_scope="session")
async def browser(shared_browser: SharedBrowser) -> AsyncIterator[Browser]:
    """Yield a real browser with no page open, and close what the test opened."""
    browser = await shared_browser.connected()
    yield browser
    for context in browser.contexts:
        await context.close()
