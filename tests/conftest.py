"""Fixtures that more than one room of the tests uses."""

import logging
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
import structlog
from playwright.async_api import Browser

from tests.browsers import SharedBrowser
from tests.servers import Mosquitto, RedisServer

# Children of the tests hear signals as a program started by hand does, also where the tests run in
# the background of a script, which has them ignore SIGINT: a signal with a handler is reset.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD})

# What runs inside a test logs as a service does unless told otherwise, not every event.
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))


_AT_THE_BROWSER = {"journey", "panel", "web"}
"""Rooms whose tests share a browser, and so the event loop that talks to it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in _AT_THE_BROWSER and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


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
