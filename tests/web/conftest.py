from collections.abc import AsyncIterator, Awaitable, Callable

import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.browsers import faultless_page
from tests.servers import RedisServer
from tests.web.floor_hand import FloorRoom
from tests.web.stand import FLOOR, STAFF, Stand

Sides = Callable[[str], Awaitable[Stand]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def every_side(shared_redis_server: RedisServer) -> AsyncIterator[Sides]:
    started: dict[str, Stand] = {}

    async def side(floor_text: str) -> Stand:
        if floor_text not in started:
            started[floor_text] = Stand(floor_text, shared_redis_server)
        await started[floor_text].reset(*STAFF)
        started[floor_text].keep_beating()
        return started[floor_text]

    yield side
    for stand in started.values():
        await stand.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def sides(every_side: Sides) -> AsyncIterator[Sides]:
    """Yield a floor's web side on call: started once a worker, and as new for each test."""
    used: list[Stand] = []

    async def side(floor_text: str) -> Stand:
        used.append(await every_side(floor_text))
        return used[-1]

    yield side
    for stand in used:
        stand.hush()


@pytest_asyncio.fixture(loop_scope="session")
async def stand(sides: Sides) -> Stand:
    return await sides(FLOOR)


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """Yield a page as large as a wall display."""
    async with faultless_page(browser, 1920, 1080) as page:
        yield page


@pytest_asyncio.fixture(loop_scope="session")
async def room(stand: Stand, browser: Browser) -> AsyncIterator[FloorRoom]:
    room = FloorRoom(stand, browser)
    yield room
    await room.leave()
