"""The head of the floor page in a real browser: its buttons stay, and are above the content."""

from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.web.floor_hand import FloorRoom

pytestmark = pytest.mark.slow

PLACES: Final = """() => [...document.querySelectorAll(".presses button")].map((button) => {
  const { x, y, width, height } = button.getBoundingClientRect();
  return [x, y, width, height];
})"""
SIDES: Final = """(selector) => {
  const { left, right } = document.querySelector(selector).getBoundingClientRect();
  return [left, right];
}"""


async def places_with(page: Page, label: str) -> object:
    """Return the boxes of the buttons, once the sound switch has a label."""
    await expect(page.locator(".sound")).to_have_text(label)
    return await page.evaluate(PLACES)


@pytest.mark.parametrize("size", ["phone", "tablet", "desk"])
async def test_the_buttons_stay_whatever_the_sound_switch_says(room: FloorRoom, size: str) -> None:
    page = await room.signed_in("Flo", size=size)
    places = await places_with(page, "Sound on")
    # After a reload, nobody has touched the page.
    await page.reload()
    assert await places_with(page, "Tap for sound") == places
    await page.locator(".sound").click()
    assert await places_with(page, "Sound on") == places
    await page.locator(".sound").click()
    assert await places_with(page, "Sound off") == places


@pytest.mark.parametrize("width", [1024, 1366, 1920])
async def test_the_head_ends_where_the_content_ends(room: FloorRoom, width: int) -> None:
    page = await room.signed_in("Flo", size="desk")
    await page.set_viewport_size({"width": width, "height": 768})
    await expect(page.locator(".claim").first).to_be_visible()
    left, right = await page.evaluate(SIDES, "main > .claims")
    assert (await page.evaluate(SIDES, ".top nav"))[0] == left
    assert (await page.evaluate(SIDES, ".presses > :last-child"))[1] == right
