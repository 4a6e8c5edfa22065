from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.browsers import faultless_page
from tests.controllers.floors import FLOOR
from tests.controllers.scripted import ScriptedService, running
from tests.panel.stand import Hand, PanelStand, serving
from tests.servers import Mosquitto


@pytest_asyncio.fixture(loop_scope="session")
async def service(mosquitto: Mosquitto) -> AsyncIterator[ScriptedService]:
    async with running(ScriptedService(mosquitto.url)) as service:
        yield service


@pytest.fixture
def floor() -> str:
    """Return the text of the floor file; a module with another floor has its own fixture."""
    return FLOOR


@pytest_asyncio.fixture(loop_scope="session")
async def panel(
    mosquitto: Mosquitto, service: ScriptedService, tmp_path: Path, floor: str
) -> AsyncIterator[PanelStand]:
    outbox = tmp_path / "T-1.sqlite"
    async with serving(PanelStand(mosquitto.url, outbox, floor_text=floor)) as stand:
        assert await stand.agent.wait_live(20)
        yield stand


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """Yield a page of tablet size."""
    async with faultless_page(browser, 1280, 800) as page:
        page.set_default_timeout(30_000)
        yield page


@pytest_asyncio.fixture(loop_scope="session")
async def hand(page: Page, panel: PanelStand) -> Hand:
    hand = Hand(page, panel.url)
    await hand.open()
    return hand
