"""A web side for each test, and pages where the test wants one."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.servers import RedisServer
from tests.web.floor_hand import FloorRoom, floor_room
from tests.web.stand import Stand


@pytest_asyncio.fixture(loop_scope="session")
async def stand() -> AsyncIterator[Stand]:
    """The web side, serving and beating for every link."""
    stand = Stand()
    await stand.start()
    stand.keep_beating()
    yield stand
    await stand.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def staffed(shared_redis_server: RedisServer) -> AsyncIterator[Stand]:
    """A stand where people can sign in."""
    stand = Stand(redis=shared_redis_server)
    await stand.start()
    await stand.add_staff()
    yield stand
    await stand.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page as large as a wall, on which every error of its own is a failure."""
    page = await browser.new_page(viewport={"width": 1920, "height": 1080})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert errors == []


@pytest_asyncio.fixture(loop_scope="session")
async def room(shared_redis_server: RedisServer, browser: Browser) -> AsyncIterator[FloorRoom]:
    """A stand with its staff, and pages of theirs."""
    async with floor_room(shared_redis_server, browser) as room:
        yield room
