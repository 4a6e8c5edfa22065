"""Accessibility of the floor page: axe-core on each view and dialog, touch and keyboard."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.browsers import check_accessible, check_fits, sees
from tests.mqtt.stand import Stand
from tests.staff import PIN, Colleague, hire
from tests.web.floor_hand import (
    ROYAL,
    SIZES,
    FloorRoom,
    account,
    claim_card,
    claim_row,
    dialog,
    go,
    opened,
    press,
    press_on,
    resize,
    type_sign_in,
)
from tests.web.stand import CLAIM, SMALL

SMALLEST_PX = 44

MOVING = """[...document.querySelectorAll("*")].filter((it) => {
  const { animationName, transitionDuration } = getComputedStyle(it);
  return animationName !== "none" || transitionDuration !== "0s";
}).length"""


@pytest_asyncio.fixture(loop_scope="session")
async def room(room: FloorRoom) -> FloorRoom:
    room.stand.claims.put(ROYAL)
    await room.stand.claims.decide(CLAIM.claim, "validate", "Flo")
    return room


async def check_view(page: Page) -> None:
    await check_accessible(page)
    await check_fits(page, SMALLEST_PX)


@pytest.mark.slow
async def test_every_view(room: FloorRoom) -> None:
    page = await room.page("tablet", "/floor", bypass_csp=True)

    async def check_sizes() -> None:
        for size in SIZES:
            await resize(page, size)
            await check_view(page)

    await expect(page.locator(".sign-in")).to_be_visible()
    await check_sizes()
    await type_sign_in(page, "Ada", "264907")
    await expect(page.get_by_role("alert")).to_be_visible()
    await check_sizes()
    await type_sign_in(page, "Ada")
    await expect(page.locator(".list .row")).to_have_count(3)
    await check_sizes()
    await claim_card(page, ROYAL)
    for mode in ("light", "dark"):
        await page.emulate_media(color_scheme=mode)
        await check_sizes()
    await go(page, "Wins")
    await expect(page.locator(".wins li").first).to_be_visible()
    await page.locator(".further summary").click()
    await check_sizes()
    await account(page)
    await check_sizes()
    await page.keyboard.press("Escape")
    await go(page, "Meters")
    await room.stand.links.close("pit-2", "Sue", "New paytable")
    await expect(page.locator(".link").last).to_contain_text("Closed by Sue")
    await check_sizes()
    await page.locator(".link").last.get_by_role("link", name="Progressive").click()
    for tab, there in (("Accounting", ".facts"), ("Link log", ".entries li")):
        await press(page.locator(".of-meter"), tab)
        await expect(page.locator(f".of-meter {there}").first).to_be_visible()
        await check_sizes()
    await go(page, "People")
    await expect(page.locator(".log li").first).to_be_visible()
    await check_sizes()
    await page.context.set_offline(True)
    await expect(page.locator(".line")).to_be_visible()
    await check_sizes()


@pytest.mark.slow
async def test_every_dialog(room: FloorRoom) -> None:
    page = await room.signed_in("Sue", bypass_csp=True)

    async def check_dialog() -> None:
        await expect(dialog(page)).to_be_visible()
        confirms = dialog(page).locator("[type=submit]")
        if await confirms.count():
            await expect(confirms).to_be_enabled()
        for size in ("phone", "tablet"):
            await resize(page, size)
            await check_view(page)
        await page.keyboard.press("Escape")
        await expect(dialog(page)).to_have_count(0)

    await press_on(page, "Reject", ROYAL)
    await dialog(page).get_by_text("Another reason").click()
    await check_dialog()
    await sees(await claim_card(page), "Number of the payout slip")
    for size in ("tablet", "phone"):
        await resize(page, size)
        await check_view(page)
    await go(page, "Meters")
    await press(page.locator(".link").first, "Close the link")
    await check_dialog()
    await page.locator(".link").last.get_by_role("link", name="Progressive").click()
    await press(page.locator(".of-meter"), "Adjust")
    await check_dialog()
    await room.stand.links.close("pit-2", "Sue", "New paytable")
    await press(page.locator(".of-meter"), "Change a parameter")
    await check_dialog()


@pytest.mark.slow
async def test_a_win_is_validated_by_the_keyboard_alone_and_nothing_moves(room: FloorRoom) -> None:
    """The pages of these tests are for people who want no motion."""
    page = await room.signed_in("Flo", size="desk")
    await expect(page.locator(".list .row")).to_have_count(3)
    assert await page.evaluate(MOVING) == 0
    row = claim_row(page, SMALL).get_by_role("link")
    await tab_to(page, row)
    await page.keyboard.press("Enter")
    validate = opened(page, SMALL).get_by_role("button", name="Validate")
    await tab_to(page, validate)
    await expect(validate).to_be_enabled()
    await page.keyboard.press("Enter")
    await expect(claim_row(page, SMALL)).to_have_count(0)
    assert ("c2", "validate", "Flo") in room.acts


async def tab_to(page: Page, where: Locator) -> None:
    await expect(where).to_be_visible()
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await where.evaluate("(it) => it === document.activeElement"):
            break
    await expect(where).to_be_focused()


BOXES: Final = """() => [".app > .head", "nav", ".acts-bar"].map((part) => {
  const { left, top, right, bottom } = document.querySelector(part).getBoundingClientRect();
  return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
})"""


@pytest.mark.slow
async def test_the_head_the_ways_and_the_acts_stay_in_sight(room: FloorRoom) -> None:
    """A phone shows the list or what is open of it; its head has room for the list alone."""
    page = await room.signed_in("Flo", size="desk")
    pane = opened(page, ROYAL)
    await claim_row(page, ROYAL).get_by_role("link").click()
    for width, height in (
        (320, 640),
        (390, 844),
        (800, 1280),
        (1024, 768),
        (1366, 768),
        (1920, 1080),
    ):
        await page.set_viewport_size({"width": width, "height": height})
        await expect(pane).to_be_visible()
        await expect(claim_row(page, ROYAL)).to_be_visible(visible=width > 700)
        await page.locator(".detail .body").evaluate("(it) => it.scrollTo(0, it.scrollHeight)")
        assert (await page.evaluate(BOXES))[0 if width > 700 else 1 :].count(False) == 0, width
    # Enlarged four times, everything scrolls, so that bars do not fill the screen.
    await page.set_viewport_size({"width": 320, "height": 256})
    await check_fits(page, SMALLEST_PX)


VIEWS: Final = ("Inbox", "Floor", "Wins", "Meters", "History", "Find", "People")
REASON: Final = "Redis has maxmemory-policy allkeys-lru; it must be noeviction"


def bar(page: Page) -> Locator:
    return page.locator(".inoperable")


def fail(room: FloorRoom, reasons: Mapping[str, str]) -> None:
    room.stand.health.reasons = dict(reasons)
    room.stand.bell.ring()


@pytest.mark.slow
@pytest.mark.duty("D14", proof=True)
async def test_every_view_names_an_inoperable_link_until_it_operates(room: FloorRoom) -> None:
    page = await room.signed_in("Ada", bypass_csp=True)
    await expect(page.locator(".list .row").first).to_be_visible()
    await expect(bar(page)).to_be_hidden()
    fail(room, {"pit-2": REASON})
    for view in VIEWS:
        await go(page, view)
        await expect(bar(page)).to_have_text(f"Inoperable: Pit 2. {REASON}.")
        await expect(bar(page).and_(page.get_by_role("status"))).to_be_visible()
        for size in ("phone", "tablet", "desk"):
            await resize(page, size)
            await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            await expect(bar(page)).to_be_in_viewport()
            await check_view(page)
    fail(room, {})
    await expect(bar(page)).to_be_hidden()
    # A failed read is repeated. A change without an event is noticed: with two services, another
    # one can answer than the one that sends the events.
    await page.route("**/readyz", lambda route: route.abort(), times=1)
    fail(room, {"pit-2": REASON})
    await expect(bar(page)).to_contain_text("Pit 2")
    room.stand.health.reasons = {"new-link": REASON}
    await expect(bar(page)).to_have_text(f"Inoperable: new-link. {REASON}.")
    room.stand.health.reasons = {}
    await expect(bar(page)).to_be_hidden()


async def test_links_with_one_reason_are_one_line_for_a_dealer_too(room: FloorRoom) -> None:
    """A dealer has no right to read the links themselves."""
    fail(room, {"tcp-main": "no broker", "pit-2": "no broker"})
    page = await room.signed_in("Dana")
    lines = bar(page).locator("p")
    await expect(lines).to_have_text(["Inoperable: Three Card Poker Jackpot, Pit 2. No broker."])
    fail(room, {"tcp-main": "no broker", "pit-2": REASON})
    await expect(lines).to_have_text(
        ["Inoperable: Three Card Poker Jackpot. No broker.", f"Inoperable: Pit 2. {REASON}."]
    )


@pytest.mark.slow
@pytest.mark.duty("D14")
async def test_the_bar_has_the_words_of_the_links_and_outlives_redis(
    tmp_path: Path, page: Page
) -> None:
    with Stand(tmp_path) as stand:
        hire(stand.service.config, "Flo", "floorperson")
        Colleague(stand.service.url, "Flo")  # chooses their own PIN
        await page.goto(f"{stand.service.url}/floor#meters")
        await type_sign_in(page, "Flo", PIN)
        await expect(page.locator(".link")).to_have_count(2)
        await expect(bar(page)).to_be_hidden()
        stand.mosquitto.kill()
        await expect(bar(page)).to_contain_text("No broker.")
        await expect(page.locator(".link .notice").first).to_have_text("No broker.")
        stand.mosquitto.start()
        await expect(bar(page)).to_be_hidden()
        stand.redis.kill()
        await expect(bar(page)).to_contain_text("Redis does not answer")
        await expect(page.locator(".line")).to_contain_text("What you see may be old")
        stand.redis.start()
        await expect(bar(page)).to_be_hidden()
        await expect(page.locator(".line")).to_be_hidden()


async def test_only_what_is_in_the_views_scrolls(room: FloorRoom) -> None:
    """A page that is 1 px too high has a second scroll bar beside that of its view."""
    page = await room.signed_in("Flo", "floor")
    for size in SIZES:
        await resize(page, size)
        over = "() => { const { scrollHeight, clientHeight } = document.documentElement;"
        assert await page.evaluate(f"{over} return scrollHeight - clientHeight; }}") == 0, size
