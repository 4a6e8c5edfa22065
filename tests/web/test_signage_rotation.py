"""Rotation on a screen that cannot show all meters together, or should not."""

from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import CDPSession, Page, expect

from tests.waiting import eventually_async
from tests.web.conftest import Sides
from tests.web.signage_page import MAIN, OTHER, is_live, opened, shows
from tests.web.stand import FLOOR, Stand
from tests.web.test_signage_boxes import FLOOR as CROWDED

BONUS = '[data-meter="five_card_hand_bonus"]'


def put_all(stand: Stand, version: int = 1) -> None:
    for link in stand.floor.link:
        for meter in link.meter:
            stand.put(112_362 + version * 37, version, link=link.id, meter=meter.meter_id)


@pytest_asyncio.fixture(loop_scope="session")
async def turning(page: Page, sides: Sides, request: pytest.FixtureRequest) -> Stand:
    stand = await sides(f"{FLOOR}\n[signage]\n{request.param}")
    put_all(stand)
    await opened(page, stand)
    return stand


async def sees(page: Page, *meters: str) -> None:
    await expect(page.locator(".meter:visible")).to_have_count(len(meters))
    for meter in meters:
        await expect(page.locator(f"{meter}:visible")).to_have_count(1)


@pytest.mark.parametrize("turning", [""], indirect=True)
async def test_what_fits_is_shown_together(page: Page, turning: Stand) -> None:
    await sees(page, MAIN, BONUS, OTHER)
    await expect(page.locator(".pause")).to_be_hidden()


@pytest.mark.slow
@pytest.mark.parametrize("turning", ['rotate = "links"\nrotate_seconds = 3'], indirect=True)
async def test_links_take_turns_if_the_floor_file_says_so(page: Page, turning: Stand) -> None:
    for _ in range(2):
        await sees(page, MAIN, BONUS)
        await expect(page.locator("h2:visible")).to_have_text("Three Card Poker Jackpot")
        await sees(page, OTHER)
        await expect(page.locator("h2:visible")).to_have_text("Pit 2")


@pytest.mark.slow
@pytest.mark.parametrize("turning", ['rotate = "meters"\nrotate_seconds = 3'], indirect=True)
async def test_a_meter_comes_into_view_with_what_is_current_and_a_viewer_can_hold_it(
    page: Page, turning: Stand
) -> None:
    """A meter that is not visible does not animate. Its value is there when its turn comes.

    The rotation can be stopped, with the keyboard alone (WCAG 2.2.2).
    """
    await expect(page.locator(f"{OTHER}:visible")).to_have_count(0)
    turning.put(200_000, 2, link="pit-2")
    await expect(page.locator(f"{OTHER}:visible")).to_have_count(1, timeout=15_000)
    await shows(page, "$2,000.00", OTHER, within_s=1)
    button = page.locator(".pause")
    await page.keyboard.press("Tab")
    await expect(button).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(button).to_have_text("Resume rotation")
    held = await page.locator(".meter:visible").get_attribute("data-meter")
    seen = await page.evaluate(
        """() => new Promise((done) => {
          const seen = new Set();
          const until = performance.now() + 4000;
          const look = () => {
            seen.add(document.querySelector(".meter:not([hidden])").dataset.meter);
            if (performance.now() > until) done([...seen]); else setTimeout(look, 100);
          };
          look();
        })"""
    )
    assert seen == [held]
    await page.keyboard.press("Enter")
    await expect(page.locator(f"{BONUS}:visible")).to_have_count(1)


@pytest.mark.parametrize("turning", ['rotate = "meters"\nrotate_seconds = 600'], indirect=True)
async def test_a_touch_shows_the_next_view_and_a_hit_brings_its_meter_up(
    page: Page, turning: Stand
) -> None:
    for meter in (BONUS, MAIN, OTHER):
        await sees(page, meter)
        await page.locator(".floor").click()
    await sees(page, BONUS)
    turning.hit(meter="progressive")
    await expect(page.locator(f"{MAIN}:visible")).to_have_count(1)
    await expect(page.locator(f"{BONUS}:visible")).to_have_count(0)


@pytest.mark.slow
async def test_a_crowded_floor_takes_turns_and_a_phone_scrolls_instead(
    page: Page, sides: Sides
) -> None:
    stand = await sides(CROWDED)
    put_all(stand)
    await opened(page, stand)
    meters = sum(len(link.meter) for link in stand.floor.link)
    await expect(page.locator(".meter:visible")).not_to_have_count(meters)
    await page.set_viewport_size({"width": 390, "height": 844})
    await expect(page.locator(".meter:visible")).to_have_count(meters)


STEPS: Final = 1500
HELD: Final = ("Documents", "Nodes", "JSEventListeners", "JSHeapUsedSize")


async def held(cdp: CDPSession) -> list[int]:
    """Return what the page holds, once what it no longer needs is removed."""
    await cdp.send("Performance.enable")
    for _ in range(2):  # the second collection removes what the first one finalized
        await cdp.send("HeapProfiler.collectGarbage")
    answer = await cdp.send("Performance.getMetrics")
    found = {each["name"]: int(each["value"]) for each in answer["metrics"]}
    return [found[name] for name in HELD]


@pytest.mark.slow
async def test_nodes_and_listeners_do_not_grow(page: Page, stand: Stand) -> None:
    """Every meter rises, jackpots arrive and are decided; then the stream is cut."""
    await page.goto(stand.url + "/signage")
    cdp = await page.context.new_cdp_session(page)
    version = hits = 0

    async def run() -> None:
        nonlocal version, hits
        for _ in range(STEPS):
            version += 1
            put_all(stand, version)
            if version % 10 == 0:
                hits += 1
                stand.hit(claim=f"c{hits}", amount=150_000 + hits)
                await page.evaluate("() => new Promise(requestAnimationFrame)")
            if version % 10 == 5 and hits > 3:
                event = ("validated", "paid", "rejected")[hits % 3]
                stand.hit(event, claim=f"c{hits - 3}")
        await stand.stop()
        await stand.start()
        stand.keep_beating()
        put_all(stand, version)
        for number in range(1, hits + 1):
            stand.hit("rejected", claim=f"c{number}")
        await is_live(page, within_s=30)
        await expect(page.locator(".celebration")).to_be_hidden(timeout=30_000)
        await expect(page.locator('.note:not([data-kind=""])')).to_have_count(0, timeout=30_000)

    await run()
    first = await held(cdp)
    for _ in range(3):
        await run()
    assert hits > 400

    async def no_more() -> bool:
        documents, nodes, listeners, heap = (
            later - before for later, before in zip(await held(cdp), first, strict=True)
        )
        assert max(documents, listeners) <= 0
        assert nodes <= 30
        assert heap <= first[-1] * 0.5
        return True

    # A repeated collection removes the rest if the first did not: a stream ends by itself.
    await eventually_async(no_more, within_s=30, what="no more held than before")
