"""The page of a panel on which a round of its table is settled by hand."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from bonus.settling.settle_round import settle_line
from tests.panel.stand import KEY, PanelStand, serving
from tests.panel.test_access import own
from tests.servers import Mosquitto
from tests.web.settle_hand import FLOOR, ROUNDS, enter, expected_lines, shown_lines, tap

PATH = "/api/v1/settlements"


TABLE = "TCP-03"


@pytest_asyncio.fixture(loop_scope="session")
async def stand(mosquitto: Mosquitto, tmp_path: Path) -> AsyncIterator[PanelStand]:
    made = PanelStand(mosquitto.url, tmp_path / "table.sqlite", TABLE, floor_text=FLOOR)
    async with serving(made) as stand:
        yield stand


@pytest.mark.slow
async def test_the_dealer_settles_a_whole_round(stand: PanelStand, browser: Browser) -> None:
    """The page is that of the service, where a round of each game is entered."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, has_touch=True)
    page = await context.new_page()
    await page.goto(f"{stand.url}/?key={KEY}")
    await page.get_by_role("link", name="Settle by hand").first.tap()
    await expect(page.locator("#table option")).to_have_count(1)
    await enter(page, stand.table, ROUNDS[stand.table])
    await tap(page, "Settle")
    assert await shown_lines(page) == expected_lines(ROUNDS[stand.table])
    assert stand.agent.table_state.round is None
    await context.close()


@pytest.mark.duty("D20")
async def test_settling_needs_the_panels_key_and_its_own_page(stand: PanelStand) -> None:
    given = ROUNDS[stand.table]
    body = msgspec.json.encode(given)
    async with stand.client(key="") as stranger:
        assert (await stranger.get("/settle")).status_code == 401
        answer = await stranger.post(PATH, content=body, headers=own(stand))
        assert answer.status_code == 401
    async with stand.client() as tablet:
        assert (await tablet.get("/settle")).status_code == 200
        foreign = own(stand, origin="http://evil.example", sec_fetch_site="cross-site")
        assert (await tablet.post(PATH, content=body, headers=foreign)).status_code == 403
        answer = await tablet.post(PATH, content=body, headers=own(stand))
        assert answer.status_code == 200
        assert answer.content == msgspec.json.encode(settle_line(body))
        wrong = msgspec.json.encode(given | {"dealer": ["Qc"]})
        answer = await tablet.post(PATH, content=wrong, headers=own(stand))
        assert answer.status_code == 400
        error = answer.json()["error"]
        assert (error["code"], error["field"]) == ("wrong_cards", "dealer")
