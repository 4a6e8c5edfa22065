"""Elements that the dealer reads or touches in a step: on the screen without scrolling."""

from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.controllers.scripted import ScriptedService
from tests.panel.stand import Hand
from tests.panel.test_browser_no_win import WAGERS
from tests.panel.test_browser_owed import ENVY_OF_IT, FLUSH
from tests.panel.test_browser_pad import SIZES
from tests.panel.test_browser_round import CLAIM, COLLECTED

pytestmark = pytest.mark.slow

LOST: Final = 13
ENVY_CASE: Final[dict[str, object]] = {
    "lines": [
        *({**COLLECTED, "position": each, "item": "progressive"} for each in (7, 6, 5)),
        {**FLUSH, "position": 4},
        *({**ENVY_OF_IT, "position": each, "envy_of": 4} for each in (7, 6, 5, 3, 2, 1)),
        *({**COLLECTED, "position": each, "item": "progressive"} for each in (3, 2, 1)),
        *({**COLLECTED, "position": each} for each in range(7, 0, -1)),
    ],
    "claims": [{**CLAIM, "position": 4, "item": "progressive", "amount": 7_000}],
}
OUT_OF_SIGHT: Final = """(selector) => [...document.querySelectorAll(selector)].filter((node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  const shows = (up) => node.contains(document.elementFromPoint(x + width / 2, y + up));
  return !shows(2) || !shows(height - 2);
}).map((node) => node.id || node.textContent)"""
PLACES: Final = """() => [
  ...document.querySelectorAll(".digits button, .entry > *")
].map((node) => {
  const { x, y } = node.getBoundingClientRect();
  return [node.id, x, y];
})"""


async def check_in_sight(page: Page, selector: str, count: int) -> None:
    """Check that so many elements are whole on the screen at each size."""
    await expect(page.locator(selector)).to_have_count(count)
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        assert await page.evaluate("scrollY") == 0
        assert await page.evaluate(OUT_OF_SIGHT, selector) == [], (width, height)


async def test_all_that_is_paid_in_a_round_with_six_envy_bonuses_is_in_sight(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    service.settlement = ENVY_CASE
    await hand.wager(*WAGERS)
    await hand.lock(14)
    await hand.type("Dealer's hand", "2c 3d 9c")
    await hand.touch("Position 4 hand")
    await hand.type("Hand of position 4", "9s 8s 7s")
    await hand.touch("No other winners", "Settle the round")
    await check_in_sight(page, ".line, #next-round", 8)
    await hand.touch(f"Show lost wagers ({LOST})")
    await expect(page.locator('.line[data-state="nothing"]')).to_have_count(LOST)
    await hand.touch("Why: position 7 Progressive")
    await hand.says("649a.12(j)(1): the payouts of this wager.")
    await hand.touch(f"Hide lost wagers ({LOST})")
    await expect(page.locator(".line")).to_have_count(7)


@pytest.mark.section("649a.8(b)")
async def test_a_wrong_count_moves_nothing_and_is_in_sight(hand: Hand, page: Page) -> None:
    await hand.wager(*WAGERS)
    await hand.touch("Lock-out: no more bets")
    await expect(hand.heading("Count the value chips")).to_be_visible()
    await expect(page.get_by_text("Five Card Hand Bonus wagers are electronic")).to_have_count(0)
    before = await page.evaluate(PLACES)
    await hand.count(13)
    await hand.says("Each of positions 1, 2, 3, 4, 5, 6, 7: 2 (Progressive, 5 of 6 Progressive)")
    assert await page.evaluate(PLACES) == before
    await check_in_sight(page, ".digits button, .entry > *, .differs li", 11 + 2 + 1)


async def test_every_light_is_in_sight_while_a_void_rounds_wagers_go_back(
    hand: Hand, page: Page
) -> None:
    await hand.wager(*WAGERS)
    await hand.lock(14)
    await hand.void()
    await hand.says("Give back")
    await check_in_sight(page, ".light, #returned li, #lockout", 7 * 5 + 1 + 1)
