"""The card pad stays in its place, whole, in every state of the entry of hands."""

from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.controllers.scripted import ScriptedService
from tests.panel.stand import Hand
from tests.panel.test_browser_owed import ENVY_OF_IT, FLUSH, WAITS, settle
from tests.panel.test_browser_round import CLAIM, COLLECTED, WAGERS

pytestmark = pytest.mark.slow


SIZES: Final = ((1280, 800), (1280, 720), (1024, 768))
ONE_LINE_PX: Final = 56
CUT: Final = """() => [...document.querySelectorAll(".meter p")].filter((text) =>
  text.scrollWidth > text.clientWidth).map((text) => text.textContent)"""
HANDS: Final = ("As Ks Qs", "2h 5d Jc", "2s 4d Jd", "3s 5h Js", "4c 6h Qd", "4h 6c Qh")
OUT_OF_SIGHT: Final = """(selector) => [...document.querySelectorAll(selector)].filter((node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  const shows = (up) => node.contains(document.elementFromPoint(x + width / 2, y + up));
  return !shows(2) || !shows(height - 2);
}).map((node) => node.id || node.textContent)"""
KEYS: Final = """() => [...document.querySelectorAll(".key")].map((key) => {
  const { x, y, width, height } = key.getBoundingClientRect();
  const over = document.elementFromPoint(x + width / 2, y + height / 2)?.closest(".key");
  return [key.id, x, y, width, height, key === over || document.getElementById("main").inert];
})"""


class PadBoxes:
    """Boxes of the keys and of *No winners* at each size; the same in all states."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._first: dict[tuple[int, int], object] = {}
        self._no_win: dict[tuple[int, int], object] = {}

    async def check(self, state: str, *, message: bool = False) -> None:
        """Check that all keys are on the screen, uncovered, and where they were at first.

        Also check *No winners*, if it is there, that no text of a meter is cut, and that each
        *Undo* of a position is visible without scrolling, unless there is a `message` above them.
        """
        no_win = self._page.locator("#no-win")
        for width, height in SIZES:
            await self._page.set_viewport_size({"width": width, "height": height})
            keys = await self._page.evaluate(KEYS)
            assert len(keys) == 52, (state, width, height)
            for name, x, y, wide, high, uncovered in keys:
                inside = x >= 0 and y >= 0 and x + wide <= width and y + high <= height
                assert inside, (state, name, width, height)
                assert uncovered, (state, name, width, height)
                assert min(wide, high) >= 47.5, (state, name, width, height)
            assert self._first.setdefault((width, height), keys) == keys, (state, width, height)
            assert await self._page.evaluate(CUT) == [], (state, width, height)
            if not message:
                hidden = await self._page.evaluate(OUT_OF_SIGHT, ".seat .undo")
                assert hidden == [], (state, width, height)
            if await no_win.count():
                box = await no_win.bounding_box()
                first = self._no_win.setdefault((width, height), box)
                assert first == box, (state, width, height)


async def test_the_pad_is_whole_and_never_moves(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    boxes = PadBoxes(page)
    service.settlement = WAITS
    service.draw = {"magic_card": "Ts", "lucky_position": 3}
    await service.meter(12_345_678, 1, state="pending")
    await hand.says("A win is pending")
    every = [(f"Position {each} Progressive", f"Position {each} Five-Card Progressive")
             for each in range(1, 8)]  # fmt: skip
    await hand.wager(*(name for names in every for name in names))
    await hand.lock(14)
    await expect(hand.heading("Dealer's hand")).to_be_visible()
    await boxes.check("before any card")
    await hand.type("Dealer's hand", "2c 3d 9c")
    await expect(hand.heading("Hand of position 7")).to_be_visible()
    await boxes.check("the dealer's hand is entered")
    await hand.touch("ace of hearts", "king of hearts")
    await boxes.check("cards are picked")
    await hand.touch("Clear", "Same player…")
    await boxes.check("same player")
    await hand.touch("Same player…")
    for position, cards in zip(range(7, 1, -1), HANDS, strict=True):
        await hand.type(f"Hand of position {position}", cards)
        if position == 7:
            await hand.type("Community cards", "Th Jh")
            await boxes.check("the community cards are entered")
    await hand.touch("Position 7 fold, cards stay", "Position 1 fold")
    await boxes.check("hands are entered, two folds")
    await hand.says("All required cards are entered.")
    await boxes.check("all is entered")
    service.answering = False
    await hand.touch("Settle the round")
    await hand.says("Waiting for the service")
    service.refuse, service.answering = "bad_result", True
    await hand.says("The service refused the result")
    await boxes.check("the result is refused", message=True)
    service.state, service.reason = "closed", "the reason of the test"
    await hand.says("SHUT: Link closed")
    await boxes.check("the link is closed", message=True)


async def test_the_pad_stays_with_an_earlier_round_listed(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    boxes = PadBoxes(page)
    line = page.locator("#earlier-open")

    async def line_is_low() -> None:
        box = await line.bounding_box()
        assert box is not None
        assert box["height"] <= ONE_LINE_PX

    await hand.wager("Position 3 Progressive")
    await hand.lock(1)
    await expect(hand.heading("Dealer's hand")).to_be_visible()
    await boxes.check("no earlier round")
    await hand.void()
    service.settlement = WAITS
    await settle(hand, 3, "9s 8s 7s")
    await hand.touch("Next round")
    await line_is_low()
    await hand.wager("Position 1 Progressive")
    await hand.lock(1)
    await expect(hand.heading("Dealer's hand")).to_be_visible()
    await line_is_low()
    await boxes.check("an earlier round")
    await line.click()
    await expect(page.locator("#earlier li.earlier")).to_be_visible()
    await line_is_low()
    await boxes.check("the earlier round is open")
    await line.click()
    await hand.touch("Last settlement")
    await hand.says("Settlement of round R2")
    await boxes.check("the last settlement")


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
PLACES: Final = """() => [
  ...document.querySelectorAll(".digits button, .entry > *")
].map((node) => {
  const { x, y } = node.getBoundingClientRect();
  return [node.id, x, y];
})"""


async def check_in_sight(page: Page, selector: str, count: int) -> None:
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
    await hand.touch(f"Show losing wagers ({LOST})")
    await expect(page.locator('.line[data-state="nothing"]')).to_have_count(LOST)
    await hand.touch("Why: position 7 Progressive")
    await hand.says("649a.12(j)(1): the payouts of this wager.")
    await hand.touch(f"Hide losing wagers ({LOST})")
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
