"""Accessibility of the floor page: axe-core on each view and dialog, touch and keyboard."""

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.web.floor_hand import (
    ROYAL,
    FloorRoom,
    check_accessible,
    claim_card,
    dialog,
    go,
    press,
    resize,
    type_sign_in,
)
from tests.web.stand import CLAIM, SMALL

pytestmark = pytest.mark.slow

SMALLEST_PX = 44

# Finds pressable elements that are smaller than a thumb.
TOO_SMALL = """(least) => [...document.querySelectorAll("button, a[href], summary, input, select")]
  .map((it) => it.matches(".choice input") ? it.closest("label") : it)
  .filter((it) => it.checkVisibility())
  .map((it) => [it.textContent || it.name, it.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0 && (box.height < least || box.width < least))
  .map(([name]) => name)"""

MOVING = """[...document.querySelectorAll("*")].filter((it) => {
  const { animationName, transitionDuration } = getComputedStyle(it);
  return animationName !== "none" || transitionDuration !== "0s";
}).length"""
WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest_asyncio.fixture(loop_scope="session")
async def room(room: FloorRoom) -> FloorRoom:
    """Return a room in which one win waits for validation, and one for payment."""
    room.stand.claims.put(ROYAL)
    await room.stand.claims.decide(CLAIM.claim, "validate", "Flo")
    return room


async def check_view(page: Page) -> None:
    """Check a view: axe-core, sizes for touch, and no sideways scrolling."""
    await check_accessible(page)
    assert await page.evaluate(TOO_SMALL, SMALLEST_PX) == []
    assert not await page.evaluate(WIDER)


@pytest.mark.parametrize("size", ["phone", "tablet", "upright", "desk"])
async def test_every_view(room: FloorRoom, size: str) -> None:
    page = await room.page(size, bypass_csp=True)
    await page.goto(f"{room.stand.url}/floor")
    await expect(page.locator(".sign-in")).to_be_visible()
    await check_view(page)
    await type_sign_in(page, "Ada", "264907")
    await expect(page.get_by_role("alert")).to_be_visible()
    await check_view(page)
    await type_sign_in(page, "Ada")
    await expect(page.locator(".claim")).to_have_count(3)
    await check_view(page)
    await go(page, "Wins")
    await expect(page.locator(".wins li").first).to_be_visible()
    await page.locator(".further summary").click()
    await check_view(page)
    await go(page, "Links")
    await room.stand.links.close("pit-2", "Sue", "New paytable")
    await expect(page.locator(".link").last).to_contain_text("Closed by Sue")
    closed = page.locator('[data-link="pit-2"]')
    await closed.get_by_text("What was done, the latest first").click()
    await expect(page.locator(".entries li")).to_be_visible()
    await closed.get_by_text("Accounting meters").first.click()
    await expect(page.locator(".seal").first).to_be_visible()
    await check_view(page)
    await go(page, "People")
    await expect(page.locator(".log li").first).to_be_visible()
    await check_view(page)
    await page.context.set_offline(True)
    await expect(page.locator(".line")).to_be_visible()
    await check_view(page)


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
