"""Fixtures: a web side for each test, and pages in a browser."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.servers import RedisServer
from tests.web.floor_hand import FloorRoom, floor_room
from tests.web.stand import STAFF, Stand


@pytest_asyncio.fixture(loop_scope="session")
async def stand() -> AsyncIterator[Stand]:
    """Yield the web side, serving and publishing heartbeats for every link."""
    async with Stand().running(beating=True) as stand:
        yield stand


@pytest_asyncio.fixture(loop_scope="session")
async def staffed(shared_redis_server: RedisServer) -> AsyncIterator[Stand]:
    async with Stand(redis=shared_redis_server).running(*STAFF) as stand:
        yield stand


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """Yield a page as large as a wall display. Any error on the page fails the test."""
    page = await browser.new_page(viewport={"width": 1920, "height": 1080})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert errors == []


@pytest_asyncio.fixture(loop_scope="session")
async def room(shared_redis_server: RedisServer, browser: Browser) -> AsyncIterator[FloorRoom]:
    async with floor_room(shared_redis_server, browser) as room:
        yield room
