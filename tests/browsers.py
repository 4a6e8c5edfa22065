"""The real browser of the tests: the distribution's Chromium, driven by Playwright."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from playwright.async_api import Browser, async_playwright

from tests.waiting import require

_ARGUMENTS: Final = (
    "--no-sandbox",
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A Chromium; without one the test is skipped, and fails in CI."""
    path = os.environ.get("CHROMIUM") or require("chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        yield browser
        await browser.close()
