"""A web side for each test, and a browser where the test wants one."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page

from tests.web.stand import Stand


@pytest.fixture
async def stand() -> AsyncIterator[Stand]:
    """The web side, serving and beating for every link."""
    stand = Stand()
    await stand.start()
    stand.keep_beating()
    yield stand
    await stand.stop()


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page as large as a wall, on which every error of its own is a failure."""
    page = await browser.new_page(viewport={"width": 1920, "height": 1080})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert errors == []
