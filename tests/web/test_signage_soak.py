"""A display that runs for months holds no more after many jackpots than after a few."""

import pytest
from playwright.async_api import Page

from tests.waiting import eventually_async
from tests.web.soak import Driver, cost, settled
from tests.web.stand import Stand

STEPS = 1500


@pytest.mark.slow
async def test_nodes_and_listeners_do_not_grow(page: Page, stand: Stand) -> None:
    await page.goto(stand.url + "/signage")
    cdp = await page.context.new_cdp_session(page)
    driver = Driver(stand)

    async def run() -> None:
        for number in range(STEPS):
            driver.step()
            if number % 10 == 0:
                await page.evaluate("() => new Promise(requestAnimationFrame)")
        await driver.cut()
        driver.step()
        await settled(page, driver)

    await run()
    first = await cost(cdp)
    for _ in range(3):
        await run()
    assert driver.hits > 400

    async def no_more() -> bool:
        last = await cost(cdp)
        assert last.listeners <= first.listeners
        assert last.documents <= first.documents
        assert last.nodes <= first.nodes + 30
        assert last.heap_bytes <= first.heap_bytes * 1.5
        return True

    # A repeated collection removes the rest if the first did not: a stream ends by itself.
    await eventually_async(no_more, within_s=30, what="no more held than before")
