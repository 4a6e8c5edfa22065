"""Long run of a signage page: thousands of updates, jackpots and lost streams, and their cost.

`python -m tests.web.soak --minutes 10` prints the page's heap, nodes and listeners every half
minute, each after a garbage collection.
"""

import argparse
import asyncio
import time
from dataclasses import dataclass
from typing import Final

from playwright.async_api import CDPSession, Page, expect

from tests.browsers import chromium
from tests.web.stand import Stand

_SHOWN_EVERY_S: Final = 30.0
_CUT_EVERY: Final = 1500
_KEPT_OPEN: Final = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """Size of a page after a garbage collection."""

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
        """Stop the server, and start it again."""
        self.cuts += 1
        await self.stand.stop()
        await self.stand.start()
        self.stand.keep_beating()


async def cost(cdp: CDPSession) -> Cost:
    """Return the size of the page now."""
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


async def soak(page: Page, stand: Stand, minutes: float) -> None:
    """Run for a number of minutes, and print the cost at intervals."""
    cdp = await page.context.new_cdp_session(page)
    await page.goto(stand.url + "/signage")
    driver = Driver(stand)
    began = shown = time.monotonic()
    print("minutes  updates  hits  cuts  heap kB  nodes  listeners  documents", flush=True)  # noqa: T201
    while time.monotonic() - began < minutes * 60:
        driver.step()
        if driver.steps % _CUT_EVERY == 0:
            await driver.cut()
        if time.monotonic() - shown >= _SHOWN_EVERY_S:
            shown = time.monotonic()
            held = await cost(cdp)
            line = (
                f"{(shown - began) / 60:7.1f}  {driver.steps * 3:7}  {driver.hits:4}"
                f"  {driver.cuts:4}  {held.heap_bytes / 1000:7.0f}  {held.nodes:5}"
                f"  {held.listeners:9}  {held.documents:9}"
            )
            print(line, flush=True)  # noqa: T201
        await asyncio.sleep(0.03)


async def _main(minutes: float) -> None:
    stand = Stand()
    await stand.start()
    stand.keep_beating()
    async with chromium() as browser:
        page = await browser.new_page(viewport={"width": 1920, "height": 1080})
        await soak(page, stand, minutes)
    await stand.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    asyncio.run(_main(parser.parse_args().minutes))
