"""The signage page in a real browser: a patron sees the current number, or none."""

import dataclasses
import itertools
from typing import Final

import msgspec
import pytest
from playwright.async_api import Browser, Page, expect

from meters.displays import display_state
from meters.floor.floor_file import parse_floor
from meters.http.static_files import Assets
from meters.web.signage.page import Signage
from meters.web.theme import PAGES
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.waiting import eventually_async
from tests.web.signage_page import (
    LITTLE_MS,
    MAIN,
    OTHER,
    TURNING,
    falls_silent,
    hold_time,
    is_heard,
    is_unavailable,
    opened,
    shows,
    was_not_reloaded,
)
from tests.web.stand import Stand, jackpot, row

SIZES: Final = (
    (1920, 1080), (3840, 2160), (1080, 1920), (2560, 720), (1920, 360), (1024, 768), (390, 844),
)  # fmt: skip
# All elements are measured at one moment, because meters may be taking turns.
MISPLACED: Final = """() => {
  const shown = (parts) => [...document.querySelectorAll(parts)]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }))
    .map((each) => each.getBoundingClientRect())
    .filter((box) => box.width > 0 && box.height > 0);
  const boxes = shown(".amount, .name, .note"), meters = shown(".meter").length;
  const found = [];
  if (!meters || boxes.length !== 2 * meters + 1) found.push(`${boxes.length} of ${meters}`);
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push("it scrolls sideways");
  boxes.forEach((one, number) => {
    if (one.left < 0 || one.right > innerWidth + 0.5) found.push(one.toJSON());
    for (const other of boxes.slice(number + 1)) {
      const apart = one.right <= other.left + 0.5 || other.right <= one.left + 0.5
        || one.bottom <= other.top + 0.5 || other.bottom <= one.top + 0.5;
      if (!apart) found.push([one.toJSON(), other.toJSON()]);
    }
  });
  return found;
}"""


@pytest.mark.duty("D1")
async def test_the_number_moves_without_a_reload(page: Page, stand: Stand) -> None:
    """It follows many changes, an award, a new cycle and another wager, and asks nobody else.

    A lower amount of the same cycle is the current one: it appears at once.
    """
    asked: list[str] = []
    refused: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: refused.append(message.text))
    stand.put(112_362, 1)
    await opened(page, stand)
    await shows(page, "$1,123.62")
    for version in range(2, 200):
        stand.put(112_000 + version * 7, version)
    stand.put(1_000_000, 200)
    await shows(page, "$10,000.00")
    stand.put(936_111, 201)
    await shows(page, "$9,361.11")
    stand.put(100_000, 202, cycle=2, state="pending")
    await shows(page, "$1,000.00")
    stand.put(100_025, 203, cycle=2, state="pending")
    await shows(page, "$1,000.25")
    assert await was_not_reloaded(page)
    await expect(page.locator(f"{MAIN} .wager")).to_have_text("$1 wager")
    stand.board.put_meter(msgspec.structs.replace(row(600_000, 204, floor=stand.floor), wager=500))
    await expect(page.locator(f"{MAIN} .wager")).to_have_text("$5 wager")
    await page.reload()
    await shows(page, "$6,000.00")
    assert asked
    assert all(url.startswith(stand.url) for url in asked)
    assert refused == []


async def test_the_drums_turn_upward_past_the_nine(page: Page, stand: Stand) -> None:
    stand.put(112_368, 1)
    await opened(page, stand)
    await shows(page, "$1,123.68")
    # An animation that has begun pauses until the test looks at it.
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("Animation.enable")
    await cdp.send("Animation.setPlaybackRate", {"playbackRate": 0})
    stand.put(112_372, 2)
    seen = [float(at) for at in await eventually_async(lambda: page.evaluate(TURNING, MAIN))]
    assert seen[0] == pytest.approx(8, abs=0.02)
    assert seen[-1] == pytest.approx(2, abs=0.02)
    # After the nine the drum enters the second set of numerals; at the end it jumps back to the
    # first.
    turned = [at for at in seen if at >= 8 - 0.02]
    assert all(later >= earlier - 0.001 for earlier, later in itertools.pairwise(turned))
    assert seen[: len(turned)] == turned
    assert any(8.1 < at < 11.9 for at in seen)


async def test_reduced_motion_is_honored(browser: Browser, stand: Stand) -> None:
    stand.put(112_362, 1)
    page = await browser.new_page(reduced_motion="reduce")
    await opened(page, stand)
    stand.put(112_999, 2)
    await shows(page, "$1,129.99")
    moving = "document.getAnimations().filter((one) => !one.animationName?.startsWith('expire'))"
    assert await page.evaluate(f"{moving}.length") == 0


async def test_no_beat_for_four_seconds_marks_the_meters(page: Page, stand: Stand) -> None:
    stand.put(112_362, 1)
    await hold_time(page)
    await opened(page, stand)
    await is_heard(page)
    stand.hush()
    stand.put(112_400, 2)
    await is_heard(page, "$1,124.00")
    assert 4_000 < await falls_silent(page) <= 4_500
    await expect(page.locator(".connection")).to_have_text("Reconnecting")
    stand.put(112_500, 3)
    stand.keep_beating()
    await is_heard(page, "$1,125.00")
    assert await was_not_reloaded(page)


async def test_one_silent_link_leaves_the_other_as_it_is(page: Page, stand: Stand) -> None:
    stand.put(112_362, 1)
    stand.put(720_000, 1, link="pit-2")
    await opened(page, stand)
    stand.hush()

    async def look() -> bool:
        stand.beat("pit-2")
        return await page.locator(f"{MAIN} .unavailable").is_visible()

    await eventually_async(look, within_s=8, what="the mark on the silent link")
    await shows(page, "$7,200.00", OTHER, within_s=1)


@pytest.mark.slow
async def test_a_page_that_is_turned_away_comes_again(
    page: Page, stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser alone stops after an error answer. The page tries again."""
    stand.put(112_362, 1)
    await opened(page, stand)
    await stand.stop()
    monkeypatch.setattr(display_state, "WATCHERS_MAX", 0)
    await stand.start()
    stand.put(112_777, 2)
    stand.keep_beating()
    await expect(page.locator(".connection")).to_have_text("Reconnecting")
    await is_unavailable(page)
    monkeypatch.undo()
    await shows(page, "$1,127.77", within_s=20)
    assert await was_not_reloaded(page)


async def test_what_is_inoperable_has_no_number_and_what_is_closed_keeps_it(
    page: Page, stand: Stand
) -> None:
    """What is closed accepts no wagers but still has its money, until heartbeats are missing."""
    shut, label = page.locator(f"{MAIN} .shut"), page.locator(f"{MAIN} .amount")
    stand.put(112_362, 1)
    stand.put(720_000, 1, link="pit-2")
    await opened(page, stand)
    await shows(page, "$7,200.00", OTHER)
    stand.keep_beating(pit_2="inoperable")
    await is_unavailable(page, OTHER, within_s=5)
    await shows(page, "$1,123.62")
    await expect(page.locator(".connection")).to_have_text("Live")
    stand.keep_beating(pit_2="inoperable", tcp_main="inoperable")
    await is_unavailable(page, within_s=5)
    await expect(page.locator(".connection")).to_be_empty()
    stand.keep_beating()
    await shows(page, "$1,123.62")
    stand.put(112_362, 1, state="inoperable")
    await is_unavailable(page, within_s=5)
    stand.put(112_362, 2)
    await shows(page, "$1,123.62")
    for what in ("link", "meter"):
        await expect(shut).to_be_hidden()
        if what == "link":
            stand.keep_beating(tcp_main="closed")
        else:
            stand.put(112_362, 3, state="closed")
        await expect(shut).to_be_visible()
        await expect(shut).to_have_text("Closed")
        await expect(label).to_have_attribute("aria-label", "$1,123.62 Closed")
        await expect(page.locator(f"{OTHER} .shut")).to_be_hidden()
        await page.reload()
        await expect(label).to_have_attribute("aria-label", "$1,123.62 Closed")
        if what == "link":
            stand.keep_beating()
    stand.hush()
    await is_unavailable(page, within_s=5)
    await expect(shut).to_be_hidden()


async def test_a_page_from_before_an_upgrade_reloads(
    page: Page, stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.put(112_362, 1)
    await opened(page, stand)
    newer = dataclasses.replace(Assets.load(PAGES), version="0123456789ab")
    monkeypatch.setattr(Assets, "load", lambda _: newer)
    older = await page.locator("html").get_attribute("data-version")
    await stand.stop()
    await stand.start()
    stand.keep_beating()
    html = page.locator("html")
    await expect(html).not_to_have_attribute("data-version", older or "", timeout=20_000)
    await expect(page.locator(".connection")).to_have_text("Live")


@pytest.mark.duty("D15")
async def test_a_lower_version_is_ignored(page: Page, stand: Stand) -> None:
    """A higher version that comes later is shown."""
    stand.put(151_234, 500)
    await hold_time(page)
    await opened(page, stand)
    await is_heard(page, "$1,512.34")
    await stand.stop()
    assert await falls_silent(page, LITTLE_MS) < 4_000, "the lost stream is enough"
    await stand.start()
    stand.put(151_000, 499)
    stand.keep_beating()
    await is_heard(page, "$1,512.34")
    stand.put(151_300, 501)
    await is_heard(page, "$1,513.00")
    assert await was_not_reloaded(page)


@pytest.mark.slow
async def test_a_meter_of_a_restarted_service_is_shown_though_its_version_is_lower(
    page: Page, stand: Stand
) -> None:
    stand.put(151_234, 500)
    await opened(page, stand)
    await shows(page, "$1,512.34")
    await stand.stop()
    await stand.start()
    stand.put(100_000, 1)
    stand.keep_beating()
    amount = page.locator(f"{MAIN} .amount")
    await expect(amount).to_have_attribute("aria-label", "$1,000.00", timeout=25_000)
    await shows(page, "$1,000.00")


async def test_everything_has_its_place(page: Page, stand: Stand) -> None:
    """No number is cut off, covers another, or makes the page scroll sideways, at any size."""
    stand.put(123_456_789, 1)
    stand.put(1_098_765, 1, meter="five_card_hand_bonus")
    stand.put(724_500, 1, link="pit-2")
    await opened(page, stand)
    stand.board.put_jackpot("tcp-main", jackpot(amount=123_456_789), news=False)
    await expect(page.locator(f"{MAIN} .note")).to_be_visible()

    async def nothing_is_wrong() -> bool:
        assert await page.evaluate(MISPLACED) == [], f"{width} x {height}"
        return True

    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        await eventually_async(nothing_is_wrong, what=f"everything in its place: {width}")


@pytest.mark.duty("D3")
@pytest.mark.parametrize("limit", [None, 1_000_000])
def test_a_limit_of_a_meter_is_shown_to_patrons(limit: int | None) -> None:
    floor = parse_floor(
        floor_text(link_text("one", meter_text("progressive", limit=limit), table_text("T-1")))
    )
    pages = Signage(floor, display_state.DisplayState(), "v", None)
    page = pages.page(floor.link, None)
    assert ("up to $10,000<" in page) == (limit is not None)
