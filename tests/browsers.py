"""Real browser for the tests: the distribution's Chromium without windows, driven by Playwright.

It draws and runs pages as Chromium does, and takes little more than half the processor time.
"""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from typing import Final, Self

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import (
    Browser,
    CDPSession,
    Error,
    Locator,
    Page,
    Playwright,
    async_playwright,
    expect,
)

from tests.waiting import LONG_S, require

# Tests wait for what a page shows with the same bound as for everything else. Playwright's own
# bound is only five seconds.
expect.set_options(timeout=LONG_S * 1_000)

_ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_START_WITHIN_MS: Final = 120_000

WIDER: Final = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
# Finds pressable elements that are smaller than a thumb.
_TOO_SMALL: Final = """(least) => [
  ...document.querySelectorAll("button, a[href], summary, input, select"),
].map((it) => it.matches(".choice input") ? it.closest("label") : it)
  .filter((it) => it.checkVisibility())
  .map((it) => [it.textContent || it.name, it.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0 && (box.height < least || box.width < least))
  .map(([name]) => name)"""


class SharedBrowser:
    """Chromium that many tests share: started on first use, and again if it has died."""

    def __init__(self) -> None:
        self._up = AsyncExitStack()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    async def connected(self) -> Browser:
        """Return the browser. Without a Chromium, skip the test, or fail it in CI."""
        path = os.environ.get("CHROMIUM") or require("chromium-headless-shell")
        if self._playwright is None:
            self._playwright = await self._up.enter_async_context(async_playwright())
        if self._browser is None or not self._browser.is_connected():
            self._browser = await self._playwright.chromium.launch(
                executable_path=path, args=list(_ARGUMENTS), timeout=_START_WITHIN_MS
            )
        return self._browser

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._browser is not None:
            await self._browser.close()
        await self._up.aclose()


@asynccontextmanager
async def faultless_page(browser: Browser, width: int, height: int) -> AsyncIterator[Page]:
    """Yield a page of a size. Any error on the page fails the test."""
    page = await browser.new_page(viewport={"width": width, "height": height})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert errors == []


class Finger:
    """A finger on a page, or a mouse button, with separate calls for down and up."""

    def __init__(self, page: Page, kind: str) -> None:
        self._page = page
        self._kind = kind
        self._touching: CDPSession | None = None

    async def down(self, at: Locator) -> None:
        box = await at.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        if self._kind == "mouse":
            await self._page.mouse.move(x, y)
            await self._page.mouse.down()
        else:
            await self._touch("touchStart", {"x": x, "y": y})

    async def up(self) -> None:
        if self._kind == "mouse":
            await self._page.mouse.up()
        else:
            await self._touch("touchEnd")

    async def _touch(self, kind: str, *points: dict[str, float]) -> None:
        # A session that ends lifts its fingers.
        if self._touching is None:
            self._touching = await self._page.context.new_cdp_session(self._page)
        await self._touching.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)}
        )


async def hold_clock(page: Page, at: datetime) -> None:
    """Stop the clock of pages opened from now on at a moment, until the test lets it run."""
    # Between the two calls the clock runs by itself, and a clock cannot be stopped in its past.
    await page.clock.install(time=at - timedelta(minutes=1))
    await page.clock.pause_at(at)


async def stop_clock(page: Page) -> None:
    """Stop the page's clock a moment from now; try again if a slow machine missed that moment."""
    while True:
        soon = await page.evaluate("Date.now() / 1000 + 1")
        try:
            await page.clock.pause_at(soon)
        except Error as error:
            if "to the past" not in error.message:
                raise
        else:
            return


async def sees(where: Locator, *texts: str) -> None:
    for text in texts:
        await expect(where).to_contain_text(text)


async def check_accessible(page: Page, where: str = "") -> None:
    """Check the page with axe-core. Its browser context must have `bypass_csp`."""
    results = await Axe().run(page)
    assert results.violations_count == 0, f"{where}: {results.generate_report()}"


async def check_fits(page: Page, least_px: float, where: str = "") -> None:
    assert await page.evaluate(_TOO_SMALL, least_px) == [], where
    assert not await page.evaluate(WIDER), where
