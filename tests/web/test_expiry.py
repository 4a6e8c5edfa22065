"""No amount stays on a page that cannot keep it current: not without scripts, nor if they stop."""

import re
from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Browser, Page, Route, expect

from tests.browsers import stop_clock
from tests.waiting import eventually_async
from tests.web.floor_hand import FloorRoom
from tests.web.signage_page import MAIN, opened, shows
from tests.web.stand import Stand

AMOUNT = f"{MAIN} .amount"
MARK = f"{MAIN} .unavailable"
SCRIPTS = re.compile(r"/assets/.*\.js$")
ODOMETER = re.compile("signage_odometer.js")
ASSETS = re.compile(r"/assets/")
Answer = Callable[[Route], Awaitable[None]]
DISPLAYS = ["/signage", "/signage/tcp-main", "/signage/tcp-main/pays"]


async def is_expired(page: Page) -> None:
    """Wait until no amount, note or state is seen, and the meter is marked."""
    await expect(page.locator(MARK)).to_be_visible()
    await expect(page.locator(MARK)).to_have_css("opacity", re.compile(r"^(1|0\.99)"))
    for what in (AMOUNT, f"{MAIN} .note", ".connection"):
        await expect(page.locator(what)).to_be_hidden()


async def fail(route: Route) -> None:
    await route.fulfill(status=502, body="Bad Gateway")


async def empty(route: Route) -> None:
    await route.fulfill(content_type="text/javascript", body="export {};")


@pytest.mark.slow
@pytest.mark.duty("D1")
@pytest.mark.parametrize("path", DISPLAYS)
async def test_amounts_disappear_if_the_script_stops(page: Page, stand: Stand, path: str) -> None:
    stand.put(112_362, 1)
    stand.hit()
    await page.clock.install()
    await opened(page, stand, path)
    await expect(page.locator(AMOUNT)).to_be_visible()
    await expect(page.locator(f"{MAIN} .note")).to_be_visible()
    await expect(page.locator(MARK)).to_be_hidden()
    await stop_clock(page)
    await is_expired(page)
    await page.clock.resume()
    await expect(page.locator(AMOUNT)).to_be_visible()
    await expect(page.locator(MARK)).to_be_hidden()


@pytest.mark.slow
async def test_amounts_disappear_if_the_scripts_never_come(browser: Browser, stand: Stand) -> None:
    """The pages cannot be loaded again either."""
    stand.put(112_362, 1)
    context = await browser.new_context()
    await context.route(SCRIPTS, fail)
    pages = [await context.new_page() for _ in DISPLAYS]
    for page, path in zip(pages, DISPLAYS, strict=True):
        await page.goto(stand.url + path)
        assert await page.locator(AMOUNT).is_visible()
        await page.route("**/signage**", fail)
    for page in pages:
        await is_expired(page)


async def test_there_is_no_amount_without_javascript(browser: Browser, stand: Stand) -> None:
    stand.put(112_362, 1)
    stand.hit()
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    for path in DISPLAYS:
        await page.goto(stand.url + path)
        assert await page.locator(MARK).is_visible()
        for what in (AMOUNT, f"{MAIN} .note", ".connection"):
            assert not await page.locator(what).is_visible(), (path, what)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failing", "answer"),
    [(ODOMETER, fail), (ASSETS, fail), (ODOMETER, empty)],
    ids=["one", "all", "empty"],
)
async def test_a_page_that_lacks_a_file_is_loaded_again(
    browser: Browser, stand: Stand, failing: re.Pattern[str], answer: Answer
) -> None:
    """One file answers 502, or all of them, as while a service restarts behind a proxy."""
    stand.put(112_362, 1)
    page = await browser.new_page()
    loads: list[str] = []
    page.on("load", lambda _: loads.append(page.url))
    await page.route(failing, answer)
    await page.goto(f"{stand.url}/signage")
    await eventually_async(lambda: len(loads) == 2, within_s=30, what="another try")
    await page.unroute(failing)
    await expect(page.locator(".connection")).to_have_text("Live")
    await shows(page, "$1,123.62")
    assert len(loads) == 3


@pytest.mark.slow
async def test_a_page_whose_file_never_comes_is_loaded_again(page: Page, stand: Stand) -> None:
    stand.put(112_362, 1)
    await page.add_init_script(
        "const wait = setTimeout;"
        " window.setTimeout = (act, ms) => wait(act, ms === 60000 ? 500 : ms);"
    )
    await page.route(ODOMETER, lambda _: None, times=1)
    await page.goto(f"{stand.url}/signage", wait_until="commit")
    await expect(page.locator(".connection")).to_have_text("Live")
    await shows(page, "$1,123.62")


@pytest.mark.slow
async def test_floor_amounts_disappear_if_the_script_stops(room: FloorRoom) -> None:
    page = await room.page("desk")
    await page.clock.install()
    await room.sign_in(page, "Sue", "links")
    amount = page.locator(".meter .expires").first
    await expect(amount).to_be_visible()
    await expect(page.locator(".meter .expired").first).to_be_hidden()
    await stop_clock(page)
    await expect(amount).to_be_hidden()
    await expect(page.locator(".meter .expired").first).to_be_visible()
    await page.clock.resume()
    await expect(amount).to_be_visible()
