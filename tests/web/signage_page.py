"""What the tests of signage share: a floor's displays, and what a patron sees on one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Page, expect

from tests.waiting import eventually_async
from tests.web.stand import FLOOR, Stand

MAIN = '[data-link="tcp-main"] [data-meter="progressive"]'
OTHER = '[data-link="pit-2"] [data-meter="progressive"]'

# What the drums show, read from where they stand, not from what they were told.
DRAWN = """(meter) => [...document.querySelector(meter).querySelectorAll(".amount span")]
  .map((cell) => {
    const signs = { dollar: "$", comma: ",", point: "." };
    if (signs[cell.className]) return signs[cell.className];
    const drum = cell.firstElementChild;
    const shift = new DOMMatrix(getComputedStyle(drum).transform).m42;
    const at = (-shift * 20) / drum.getBoundingClientRect().height;
    return Math.abs(at - Math.round(at)) < 0.02 ? String(Math.round(at) % 10) : "?";
  }).join("")"""

# Where the last drum stands, frame by frame, until it has stood still for a while.
TURNING = """(meter) => new Promise((done) => {
  const drum = [...document.querySelectorAll(meter + " .digit i")].at(-1);
  const seen = [];
  const look = () => {
    const shift = new DOMMatrix(getComputedStyle(drum).transform).m42;
    seen.push((-shift * 20) / drum.getBoundingClientRect().height);
    const moved = seen.some((at) => Math.abs(at - seen[0]) > 0.01);
    const last = seen.slice(-20);
    if (moved && last.length === 20 && last.every((at) => at === last[0])) done(seen);
    else if (seen.length > 600) done(seen);
    else requestAnimationFrame(look);
  };
  look();
})"""


@asynccontextmanager
async def standing(signage: str = "", floor: str = FLOOR) -> AsyncIterator[Stand]:
    """A floor with such a section on signage, served and beating."""
    stand = Stand(f"{floor}\n{signage}")
    await stand.start()
    stand.keep_beating()
    yield stand
    await stand.stop()


async def drawn(page: Page, meter: str = MAIN) -> str:
    return str(await page.evaluate(DRAWN, meter))


async def shows(page: Page, text: str, meter: str = MAIN, within_s: float = 10) -> None:
    """Wait until a meter's drums show an amount, and it is said so to those who do not see."""

    async def look() -> bool:
        return await drawn(page, meter) == text

    await eventually_async(look, within_s=within_s, what=f"{meter} at {text}")
    await expect(page.locator(f"{meter} .amount")).to_have_attribute("aria-label", text)


async def is_unavailable(page: Page, meter: str = MAIN, within_s: float = 10) -> None:
    """Wait until a meter is plainly marked, with no trace of its number."""
    where = page.locator(meter)
    mark = where.locator(".unavailable")
    await expect(mark).to_be_visible(timeout=within_s * 1000)
    await expect(mark).to_have_text("Temporarily unavailable")
    await expect(where.locator(".amount span")).to_have_count(0)
    label = await where.locator(".amount").get_attribute("aria-label")
    assert label == "Temporarily unavailable"


async def opened(page: Page, stand: Stand, path: str = "/signage") -> None:
    """Open a page, and mark it so that a reload shows."""
    await page.goto(stand.url + path)
    await expect(page.locator(".pulse")).to_have_text("Live")
    await page.evaluate("window.neverReloaded = true")


async def was_not_reloaded(page: Page) -> bool:
    return bool(await page.evaluate("window.neverReloaded === true"))
