"""A display that runs for months holds no more after many jackpots than after a few."""

from dataclasses import dataclass
from typing import Final

import pytest
from playwright.async_api import CDPSession, Page, expect

from tests.waiting import eventually_async
from tests.web.stand import Stand

STEPS: Final = 1500
_KEPT_OPEN: Final = 3


@dataclass(frozen=True, slots=True)
class Cost:
    heap_bytes: int
    nodes: int
    listeners: int
    documents: int


class Driver:
    """Plays a floor on the displays: every meter rises, jackpots arrive and are decided."""

    def __init__(self, stand: Stand) -> None:
        self.stand = stand
        self.steps = 0
        self.hits = 0
        self.cuts = 0

    def step(self) -> None:
        """Update every meter once; in one step of ten add a jackpot, a decision, or both."""
        self.steps += 1
        version = self.steps
        for link in self.stand.floor.link:
            for meter in link.meter:
                amount = 100_000 + (version * 37) % 900_000
                self.stand.put(amount, version, link=link.id, meter=meter.meter_id)
        if version % 10 == 0:
            self.hits += 1
            self.stand.hit(claim=f"c{self.hits}", amount=150_000 + self.hits)
        if version % 10 == 5 and self.hits > _KEPT_OPEN:
            event = ("validated", "paid", "rejected")[self.hits % 3]
            self.stand.hit(event, claim=f"c{self.hits - _KEPT_OPEN}")

    async def cut(self) -> None:
        self.cuts += 1
        await self.stand.stop()
        await self.stand.start()
        self.stand.keep_beating()


async def cost(cdp: CDPSession) -> Cost:
    await cdp.send("Performance.enable")
    for _ in range(2):  # the second collection removes what the first one finalized
        await cdp.send("HeapProfiler.collectGarbage")
    answer = await cdp.send("Performance.getMetrics")
    found = {each["name"]: int(each["value"]) for each in answer["metrics"]}
    return Cost(
        heap_bytes=found["JSHeapUsedSize"],
        nodes=found["Nodes"],
        listeners=found["JSEventListeners"],
        documents=found["Documents"],
    )


async def settled(page: Page, driver: Driver) -> None:
    """Decide every jackpot, and wait until the page has no trace of them."""
    for number in range(1, driver.hits + 1):
        driver.stand.hit("rejected", claim=f"c{number}")
    await expect(page.locator(".connection")).to_have_text("Live", timeout=30_000)
    await expect(page.locator(".celebration")).to_be_hidden(timeout=30_000)
    await expect(page.locator('.note:not([data-kind=""])')).to_have_count(0, timeout=30_000)


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
