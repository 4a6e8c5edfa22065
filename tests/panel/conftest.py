from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.controllers.scripted import ScriptedService, running
from tests.panel.stand import Hand, PanelStand, serving
from tests.servers import Mosquitto


@pytest_asyncio.fixture(loop_scope="session")
async def service(mosquitto: Mosquitto) -> AsyncIterator[ScriptedService]:
    async with running(ScriptedService(mosquitto.url)) as service:
        yield service


@pytest_asyncio.fixture(loop_scope="session")
async def panel(
    mosquitto: Mosquitto, service: ScriptedService, tmp_path: Path
) -> AsyncIterator[PanelStand]:
    async with serving(PanelStand(mosquitto.url, tmp_path / "T-1.sqlite")) as stand:
        assert await stand.agent.wait_live(20)
        yield stand


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """Yield a page of tablet size. Any error on the page fails the test."""
    page = await browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(30_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert errors == []


@pytest_asyncio.fixture(loop_scope="session")
async def hand(page: Page, panel: PanelStand) -> Hand:
    hand = Hand(page, panel.url)
    await hand.open()
    return hand
