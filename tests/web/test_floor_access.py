"""Accessibility of the floor page: axe-core on each view and dialog, touch and keyboard."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.browsers import check_accessible, check_fits
from tests.mqtt.stand import Stand
from tests.staff import PIN, Colleague, hire
from tests.web.floor_hand import (
    ROYAL,
    SIZES,
    FloorRoom,
    claim_card,
    dialog,
    go,
    press,
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
    await expect(page.locator(".claim")).to_have_count(3)
    await check_sizes()
    await go(page, "Wins")
    await expect(page.locator(".wins li").first).to_be_visible()
    await page.locator(".further summary").click()
    await check_sizes()
    await go(page, "Links")
    await room.stand.links.close("pit-2", "Sue", "New paytable")
    await expect(page.locator(".link").last).to_contain_text("Closed by Sue")
    closed = page.locator('[data-link="pit-2"]')
    await closed.get_by_text("What was done, the latest first").click()
    await expect(page.locator(".entries li")).to_be_visible()
    await closed.get_by_text("Accounting meters").first.click()
    await expect(page.locator(".seal").first).to_be_visible()
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

    await press(claim_card(page, ROYAL), "Validate")
    await check_dialog()
    await press(claim_card(page, ROYAL), "Reject")
    await dialog(page).get_by_text("Another reason").click()
    await check_dialog()
    await press(claim_card(page), "Pay")
    await check_dialog()
    await go(page, "Wins")
    await page.locator(".wins .row").first.click()
    await check_dialog()
    await go(page, "Links")
    for act in ("Close the link", "Adjust"):
        await press(page.locator(".link").first, act)
        await check_dialog()
    await room.stand.links.close("pit-2", "Sue", "New paytable")
    await press(page.locator(".link").last, "Change a parameter")
    await check_dialog()


@pytest.mark.slow
async def test_a_win_is_validated_by_the_keyboard_alone_and_nothing_moves(room: FloorRoom) -> None:
    """The pages of these tests are for people who want no motion."""
    page = await room.signed_in("Flo", size="desk")
    await expect(page.locator(".claim")).to_have_count(3)
    assert await page.evaluate(MOVING) == 0
    card = claim_card(page, SMALL)
    button = card.get_by_role("button", name="Validate")
    await expect(button).to_be_visible()
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await button.evaluate("(it) => it === document.activeElement"):
            break
    await expect(button).to_be_focused()
    await page.keyboard.press("Enter")
    confirm = dialog(page).get_by_role("button", name="Validate")
    await expect(confirm).to_be_enabled()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await expect(confirm).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(card).to_have_count(0)
    assert ("c2", "validate", "Flo") in room.acts


PLACES: Final = """() => [...document.querySelectorAll(".presses button")].map((button) => {
  const { x, y, width, height } = button.getBoundingClientRect();
  return [x, y, width, height];
})"""
SIDES: Final = """(selector) => {
  const { left, right } = document.querySelector(selector).getBoundingClientRect();
  return [left, right];
}"""


async def places_with(page: Page, label: str) -> object:
    await expect(page.locator(".sound")).to_have_text(label)
    return await page.evaluate(PLACES)


@pytest.mark.slow
async def test_the_head_stays_and_ends_where_the_content_ends(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    for width in (390, 1024, 1366, 1920):
        await page.set_viewport_size({"width": width, "height": 768})
        places = await places_with(page, "Sound on")
        # After a reload, nobody has touched the page.
        await page.reload()
        assert await places_with(page, "Tap for sound") == places, width
        await page.locator(".sound").click()
        assert await places_with(page, "Sound on") == places, width
        await page.locator(".sound").click()
        assert await places_with(page, "Sound off") == places, width
        await page.locator(".sound").click()
        if width > 1000:
            left, right = await page.evaluate(SIDES, "main > .claims")
            assert (await page.evaluate(SIDES, ".top nav"))[0] == left, width
            assert (await page.evaluate(SIDES, ".presses > :last-child"))[1] == right, width


VIEWS: Final = ("Waiting", "Wins", "Links", "People")
REASON: Final = "Redis has maxmemory-policy allkeys-lru; it must be noeviction"


def bar(page: Page) -> Locator:
    return page.locator(".inoperable")


def fail(room: FloorRoom, reasons: Mapping[str, str]) -> None:
    room.stand.health.reasons = dict(reasons)
    room.stand.bell.ring()


@pytest.mark.slow
@pytest.mark.duty("D14")
async def test_every_view_names_an_inoperable_link_until_it_operates(room: FloorRoom) -> None:
    page = await room.signed_in("Ada", bypass_csp=True)
    await expect(page.locator(".claim").first).to_be_visible()
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
        await page.goto(f"{stand.service.url}/floor#links")
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
