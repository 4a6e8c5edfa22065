"""Rotation on a screen that cannot show all meters together, or should not."""

from dataclasses import dataclass
from typing import Final

import pytest
from playwright.async_api import CDPSession, Page, expect

from tests.floor_text import link_text, meter_text
from tests.waiting import eventually_async
from tests.web.signage_page import MAIN, OTHER, opened, shows, standing
from tests.web.stand import FLOOR, Stand

BONUS = '[data-meter="five_card_hand_bonus"]'
LINKS = '[signage]\nrotate = "links"\nrotate_seconds = 3'
METERS = '[signage]\nrotate = "meters"\nrotate_seconds = 3'

SIZES = (
    (1920, 1080), (3840, 2160), (1080, 1920), (2560, 720), (1024, 768), (800, 480), (480, 800),
)  # fmt: skip
DIVIDE = """async () => {
  const address = document.querySelector("script[src]").src.replace("signage.js", "");
  const { Rotation } = await import(address + "signage_rotation.js");
  const rotation = new Rotation(document.querySelector(".floor"),
    document.createElement("button"));
  rotation.arrange();
  return rotation.views.map((view) => {
    rotation.reveal(view);
    const cells = view.map((meter) => meter.querySelector(".digit").clientHeight);
    return [view.length, Math.min(...cells),
      document.documentElement.scrollHeight <= window.innerHeight];
  });
}"""

# This link has so many meters that no wall can show all of them in three-inch numerals.
CROWDED = FLOOR + "".join(
    link_text(
        f"l{number}",
        *(meter_text("five_card_progressive", id=f"m{at}") for at in range(5)),
        name=f"Link {number}",
    )
    for number in range(3)
)


def put_all(stand: Stand, version: int = 1) -> None:
    for link in stand.floor.link:
        for meter in link.meter:
            stand.put(112_362 + version, version, link=link.id, meter=meter.meter_id)


async def test_what_fits_is_shown_together(page: Page, stand: Stand) -> None:
    put_all(stand)
    await opened(page, stand)
    await expect(page.locator(".meter:visible")).to_have_count(3)
    await expect(page.locator(".pause")).to_be_hidden()


@pytest.mark.slow
async def test_links_take_turns_if_the_floor_file_says_so(page: Page) -> None:
    async with standing(LINKS) as stand:
        put_all(stand)
        await opened(page, stand)
        for _ in range(2):
            await expect(page.locator(f"{MAIN}:visible")).to_have_count(1)
            await expect(page.locator(f"{BONUS}:visible")).to_have_count(1)
            await expect(page.locator(f"{OTHER}:visible")).to_have_count(0)
            await expect(page.locator("h2:visible")).to_have_text("Three Card Poker Jackpot")
            await expect(page.locator(f"{OTHER}:visible")).to_have_count(1)
            await expect(page.locator(".meter:visible")).to_have_count(1)
            await expect(page.locator("h2:visible")).to_have_text("Pit 2")


@pytest.mark.slow
async def test_a_meter_that_comes_into_view_shows_what_is_current(page: Page) -> None:
    """A meter that is not visible does not animate. Its value is there when its turn comes."""
    async with standing(METERS) as stand:
        put_all(stand)
        await opened(page, stand)
        await expect(page.locator(f"{OTHER}:visible")).to_have_count(0)
        stand.put(200_000, 2, link="pit-2")
        await expect(page.locator(f"{OTHER}:visible")).to_have_count(1, timeout=15_000)
        await shows(page, "$2,000.00", OTHER, within_s=1)


@pytest.mark.slow
async def test_a_hit_brings_its_meter_up_immediately(page: Page) -> None:
    async with standing('[signage]\nrotate = "meters"\nrotate_seconds = 600') as stand:
        put_all(stand)
        await opened(page, stand)
        await expect(page.locator(f"{MAIN}:visible")).to_have_count(1)
        stand.hit(meter="five_card_hand_bonus")
        await expect(page.locator(f"{BONUS}:visible")).to_have_count(1)
        await expect(page.locator(f"{MAIN}:visible")).to_have_count(0)
        await expect(page.locator(".celebration")).to_be_hidden(timeout=15_000)
        await expect(page.locator(f"{BONUS} .note")).to_be_visible()


@pytest.mark.slow
async def test_a_viewer_can_hold_a_view(page: Page) -> None:
    """The rotation can be stopped, with the keyboard alone (WCAG 2.2.2)."""
    async with standing(METERS) as stand:
        put_all(stand)
        await opened(page, stand)
        button = page.locator(".pause")
        await page.keyboard.press("Tab")
        await expect(button).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(button).to_have_text("Resume rotation")
        held = await page.locator(".meter:visible").get_attribute("data-meter")
        seen = await page.evaluate(
            """() => new Promise((done) => {
              const seen = new Set();
              const until = performance.now() + 4000;
              const look = () => {
                seen.add(document.querySelector(".meter:not([hidden])").dataset.meter);
                if (performance.now() > until) done([...seen]); else setTimeout(look, 100);
              };
              look();
            })"""
        )
        assert seen == [held]
        await page.keyboard.press("Enter")
        await expect(page.locator(f"{BONUS}:visible")).to_have_count(1)


@pytest.mark.slow
async def test_a_crowded_floor_is_read_from_thirty_feet_and_divided_for_each_screen(
    page: Page,
) -> None:
    """Every meter has its turn, no view scrolls, and numerals are a ninth of the shorter side."""
    async with standing(floor=CROWDED, signage="[signage]\nrotate_seconds = 600") as stand:
        put_all(stand)
        await opened(page, stand)
        await expect(page.locator(".meter:visible")).not_to_have_count(18)
        for width, height in SIZES:
            await page.set_viewport_size({"width": width, "height": height})
            views = await page.evaluate(DIVIDE)
            assert len(views) > 1
            assert sum(count for count, _, _ in views) == 18
            for count, cell, fits in views:
                assert fits, (width, height)
                assert cell * 0.84 >= min(width, height) / 9 - 2, (width, height, count, cell)
        # A phone scrolls instead.
        await page.set_viewport_size({"width": 390, "height": 844})
        await expect(page.locator(".meter:visible")).to_have_count(18)


async def test_a_touch_shows_the_next_view(page: Page) -> None:
    async with standing('[signage]\nrotate = "meters"\nrotate_seconds = 600') as stand:
        put_all(stand)
        await opened(page, stand)
        for meter in (MAIN, BONUS, OTHER, MAIN):
            await expect(page.locator(f"{meter}:visible")).to_have_count(1)
            await expect(page.locator(".meter:visible")).to_have_count(1)
            await page.locator(".floor").click()


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
