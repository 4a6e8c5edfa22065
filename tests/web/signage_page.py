from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from playwright.async_api import Page, expect

from tests.browsers import hold_clock
from tests.waiting import LONG_S, eventually_async
from tests.web.stand import Stand

MAIN = '[data-link="tcp-main"] [data-meter="progressive"]'
OTHER = '[data-link="pit-2"] [data-meter="progressive"]'

# Reads the digits from the positions of the drums, not from the values that they were given.
DRAWN = """(meter) => [
    ...document.querySelector(meter).querySelectorAll(".amount span:not(.cents)"),
  ]
  .map((cell) => {
    const signs = { dollar: "$", comma: ",", point: "." };
    if (signs[cell.className]) return signs[cell.className];
    const drum = cell.firstElementChild;
    const shift = new DOMMatrix(getComputedStyle(drum).transform).m42;
    const at = (-shift * 11) / drum.getBoundingClientRect().height;
    return Math.abs(at - Math.round(at)) < 0.02 ? String(Math.round(at) % 10) : "?";
  }).join("")"""

# Returns the amounts in cents, with fractions, that the drums show in the frames until they are
# still again.
CREEPING = """(meter) => new Promise((done) => {
  const strips = () => [...document.querySelectorAll(meter + " .digit > i")].reverse();
  const at = (strip) => {
    const shift = new DOMMatrix(getComputedStyle(strip).transform).m42;
    return (-shift * 11) / strip.getBoundingClientRect().height;
  };
  const seen = [];
  const look = () => {
    const [cents, ...above] = strips().map(at);
    let below = cents;
    seen.push(above.reduce((sum, each, place) => {
      const digit = Math.round(each - Math.max(0, below - 9));
      below = each;
      return sum + digit * 10 ** (place + 1);
    }, cents));
    const isStill = seen.length > 20 && new Set(seen.slice(-20)).size === 1;
    if (isStill && seen.at(-1) !== seen[0]) done(seen);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""

# Records on the page's own clock when the last heartbeat that it received was sent.
ALONE = "delete window.SharedWorker"
"""The page has a stream of its own: a shared one would not have the held time of the page."""

# The time of the style sheet cannot be held, so nothing expires by it.
HEARING = """
delete window.SharedWorker;
const held = new CSSStyleSheet();
held.replaceSync(".expires, .expired { animation: none !important; }");
document.adoptedStyleSheets = [held];
const listen = EventSource.prototype.addEventListener;
EventSource.prototype.addEventListener = function (name, handle) {
  listen.call(this, name, (event) => {
    if (name === "controller") {
      window.spokenAt = performance.now() - JSON.parse(event.data).age_ms;
    }
    handle(event);
  });
};
window.spokenAt = null;
"""
BEGAN: Final = datetime(2026, 11, 20, 2, 14, tzinfo=UTC)
LITTLE_MS: Final = 10
"""Milliseconds of page time for each look: so few that a waiting test never causes a silence of
four seconds."""

MUCH_MS: Final = 250


async def drawn(page: Page, meter: str = MAIN) -> str:
    return str(await page.evaluate(DRAWN, meter))


async def shows(page: Page, text: str, meter: str = MAIN, within_s: float = 30) -> None:
    async def look() -> bool:
        return await drawn(page, meter) == text

    await eventually_async(look, within_s=within_s, what=f"{meter} at {text}")
    await expect(page.locator(f"{meter} .amount")).to_have_attribute("aria-label", text)


async def is_live(page: Page, within_s: float = LONG_S) -> None:
    """Wait until a link of a page is in play."""
    html = page.locator("html")
    await expect(html).to_have_attribute("data-connection", "live", timeout=within_s * 1000)


async def is_lost(page: Page) -> None:
    """Wait until a page has noticed that it receives nothing."""
    await expect(page.locator("html")).to_have_attribute("data-connection", "lost")


async def is_unavailable(page: Page, meter: str = MAIN, within_s: float = 10) -> None:
    where = page.locator(meter)
    timeout = within_s * 1000
    await expect(where).to_have_attribute("data-state", "unavailable", timeout=timeout)
    await expect(
        page.locator(f"{meter} .unavailable, .absent").locator("visible=true")
    ).to_have_count(1)
    await expect(where.locator(".amount span")).to_have_count(0)
    label = await where.locator(".amount").get_attribute("aria-label")
    assert label == "Temporarily unavailable"


async def opened(page: Page, stand: Stand, path: str = "/signage") -> None:
    """Open a page, and mark it so that a reload can be noticed."""
    await page.goto(stand.url + path)
    await is_live(page)
    await page.evaluate("window.neverReloaded = true")


async def hold_time(page: Page) -> None:
    """Let the test control the time of pages opened from now on, so a busy machine ages nothing.

    Amounts do not creep, which would take many looks.

    Drawing and network traffic continue by themselves.
    """
    await page.emulate_media(reduced_motion="reduce")
    await hold_clock(page, BEGAN + timedelta(seconds=1))
    await page.add_init_script(HEARING)


async def as_time_passes(
    page: Page, look: Callable[[], Awaitable[bool]], what: str, step_ms: int = LITTLE_MS
) -> None:
    async def looked() -> bool:
        await page.clock.run_for(step_ms)
        return await look()

    await eventually_async(looked, within_s=30, what=what)


async def is_heard(page: Page, amount: str = "$1,123.62") -> None:
    async def look() -> bool:
        live = await page.locator("html").get_attribute("data-connection") == "live"
        heard = await page.evaluate("window.spokenAt !== null")
        return live and heard and await drawn(page) == amount

    await as_time_passes(page, look, f"{amount} shown", step_ms=10 * LITTLE_MS)


async def falls_silent(page: Page, step_ms: int = MUCH_MS) -> float:
    """Let held time pass until the meter is marked; return its last heartbeat's age in ms."""
    mark = page.locator(f'{MAIN}[data-state="unavailable"]')

    async def look() -> bool:
        return await mark.count() == 1

    await as_time_passes(page, look, "the mark", step_ms)
    old_ms = await page.evaluate("performance.now() - window.spokenAt")
    await is_unavailable(page)
    return float(old_ms)


async def was_not_reloaded(page: Page) -> bool:
    return bool(await page.evaluate("window.neverReloaded === true"))
