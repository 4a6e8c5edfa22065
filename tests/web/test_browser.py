"""The signage page in a real browser: what a patron sees is what is current, or no number."""

import dataclasses
import itertools
import json

import pytest
from playwright.async_api import Browser, Page, expect

from meters import board as board_module
from meters.wire.pages.files import SHARED, Assets
from tests.waiting import eventually_async
from tests.web.stand import Stand

MAIN = '[data-link="tcp-main"] [data-meter="progressive"]'
OTHER = '[data-link="pit-2"] [data-meter="progressive"]'

# What the drums show, read from where they stand, not from what they were told.
DRAWN = """(meter) => [...document.querySelector(meter).querySelectorAll(".amount span")]
  .map((cell) => {
    const signs = { dollar: "$", comma: ",", point: "." };
    if (signs[cell.className]) return signs[cell.className];
    const drum = cell.firstElementChild;
    const shift = new DOMMatrix(getComputedStyle(drum).transform).m42;
    const at = (-shift * 20) / drum.getBoundingClientRect().height;
    return Math.abs(at - Math.round(at)) < 0.02 ? String(Math.round(at) % 10) : "?";
  }).join("")"""

# Where the last drum stands, frame by frame, until it has stood still for a while.
TURNING = """(meter) => new Promise((done) => {
  const drum = [...document.querySelectorAll(meter + " .digit i")].at(-1);
  const seen = [];
  const look = () => {
    const shift = new DOMMatrix(getComputedStyle(drum).transform).m42;
    seen.push((-shift * 20) / drum.getBoundingClientRect().height);
    const moved = seen.some((at) => Math.abs(at - seen[0]) > 0.01);
    const last = seen.slice(-20);
    if (moved && last.every((at) => at === last[0])) done(seen);
    else if (seen.length > 600) done(seen);
    else requestAnimationFrame(look);
  };
  look();
})"""


async def drawn(page: Page, meter: str = MAIN) -> str:
    return str(await page.evaluate(DRAWN, meter))


async def shows(page: Page, text: str, meter: str = MAIN, within_s: float = 10) -> None:
    """Wait until a meter's drums show an amount, and it is said so to those who do not see."""

    async def look() -> bool:
        return await drawn(page, meter) == text

    await eventually_async(look, within_s=within_s, what=f"{meter} at {text}")
    await expect(page.locator(f"{meter} .amount")).to_have_attribute("aria-label", text)


async def is_unavailable(page: Page, meter: str = MAIN, within_s: float = 10) -> None:
    """Wait until a meter is plainly marked, with no trace of its number."""
    where = page.locator(meter)
    mark = where.locator(".unavailable")
    await expect(mark).to_be_visible(timeout=within_s * 1000)
    await expect(mark).to_have_text("Temporarily unavailable")
    await expect(where.locator(".amount span")).to_have_count(0)
    label = await where.locator(".amount").get_attribute("aria-label")
    assert label == "Temporarily unavailable"


async def opened(page: Page, stand: Stand, path: str = "/signage") -> None:
    """Open a page, and mark it so that a reload shows."""
    await page.goto(stand.url + path)
    await expect(page.locator(".pulse")).to_have_text("Live")
    await page.evaluate("window.neverReloaded = true")


async def was_not_reloaded(page: Page) -> bool:
    return bool(await page.evaluate("window.neverReloaded === true"))


async def test_the_number_moves_without_a_reload(page: Page, stand: Stand) -> None:
    stand.put(112_362, 1)
    await opened(page, stand)
    await shows(page, "$1,123.62")
    stand.put(112_402, 2)
    await shows(page, "$1,124.02")
    stand.put(1_000_000, 3)
    await shows(page, "$10,000.00")
    assert await was_not_reloaded(page)


async def test_a_stream_of_changes_ends_at_the_last(page: Page, stand: Stand) -> None:
    await opened(page, stand)
    for version in range(1, 200):
        stand.put(112_000 + version * 7, version)
    stand.put(113_407, 200)
    await shows(page, "$1,134.07")


async def test_the_drums_turn_upward_past_the_nine(page: Page, stand: Stand) -> None:
    stand.put(112_368, 1)
    await opened(page, stand)
    await shows(page, "$1,123.68")
    turning = page.evaluate(TURNING, MAIN)
    stand.put(112_372, 2)
    seen = [float(at) for at in await turning]
    assert seen[0] == pytest.approx(8, abs=0.02)
    assert seen[-1] == pytest.approx(12, abs=0.02)
    assert all(later >= earlier - 0.001 for earlier, later in itertools.pairwise(seen))
    assert any(8.1 < at < 11.9 for at in seen)


async def test_a_new_cycle_starts_at_its_reseed(page: Page, stand: Stand) -> None:
    stand.put(151_234, 5)
    await opened(page, stand)
    await shows(page, "$1,512.34")
    stand.put(100_000, 6, cycle=2, state="pending")
    await shows(page, "$1,000.00")
    stand.put(100_025, 7, cycle=2, state="pending")
    await shows(page, "$1,000.25")


async def test_an_award_in_the_same_cycle_is_shown_too(page: Page, stand: Stand) -> None:
    """What is lower is still what is current; it is shown anew, without turning back."""
    stand.put(151_234, 5)
    await opened(page, stand)
    await shows(page, "$1,512.34")
    stand.put(136_111, 6)
    await shows(page, "$1,361.11")


async def test_reduced_motion_is_honoured(browser: Browser, stand: Stand) -> None:
    stand.put(112_362, 1)
    page = await browser.new_page(reduced_motion="reduce")
    await opened(page, stand)
    stand.put(112_999, 2)
    await shows(page, "$1,129.99")
    assert await page.locator(f"{MAIN} .amount.rolling").count() == 0


async def test_no_beat_for_four_seconds_marks_the_meters(page: Page, stand: Stand) -> None:
    stand.put(112_362, 1)
    await opened(page, stand)
    await shows(page, "$1,123.62")
    stand.hush()
    stand.put(112_400, 2)
    await shows(page, "$1,124.00", within_s=3)
    await is_unavailable(page, within_s=6)
    await expect(page.locator(".pulse")).to_have_text("Reconnecting")
    stand.put(112_500, 3)
    stand.keep_beating()
    await shows(page, "$1,125.00", within_s=3)
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


async def test_a_stopped_server_marks_the_meters_until_it_is_back(page: Page, stand: Stand) -> None:
    stand.put(112_362, 1)
    await opened(page, stand)
    await shows(page, "$1,123.62")
    await stand.stop()
    await is_unavailable(page, within_s=2)
    await stand.start()
    stand.put(112_777, 2)
    stand.keep_beating()
    await shows(page, "$1,127.77", within_s=20)
    await expect(page.locator(".pulse")).to_have_text("Live")
    assert await was_not_reloaded(page)


async def test_a_page_that_is_turned_away_comes_again(
    page: Page, stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser gives up on its own where the answer is an error; the page does not."""
    stand.put(112_362, 1)
    await opened(page, stand)
    await stand.stop()
    monkeypatch.setattr(board_module, "WATCHERS_MAX", 0)
    await stand.start()
    stand.put(112_777, 2)
    stand.keep_beating()
    async with page.expect_response(lambda answer: answer.status == 503, timeout=20_000):
        pass
    await is_unavailable(page)
    monkeypatch.undo()
    await shows(page, "$1,127.77", within_s=20)
    assert await was_not_reloaded(page)


async def test_an_inoperable_link_shows_no_number(page: Page, stand: Stand) -> None:
    stand.put(112_362, 1)
    stand.put(720_000, 1, link="pit-2")
    await opened(page, stand)
    await shows(page, "$7,200.00", OTHER)
    stand.keep_beating(pit_2="inoperable")
    await is_unavailable(page, OTHER)
    await shows(page, "$1,123.62")
    stand.keep_beating(tcp_main="closed")
    await is_unavailable(page)
    await shows(page, "$7,200.00", OTHER)


@pytest.mark.parametrize("state", ["closed", "inoperable"])
async def test_a_meter_that_is_not_open_shows_no_number(
    page: Page, stand: Stand, state: str
) -> None:
    stand.put(112_362, 1)
    await opened(page, stand)
    await shows(page, "$1,123.62")
    stand.put(112_362, 1, state="closed" if state == "closed" else "inoperable")
    await is_unavailable(page)


@pytest.mark.parametrize("decision", ["validated", "rejected", "paid"])
async def test_a_hit_is_marked_pending_until_it_is_decided(
    page: Page, stand: Stand, decision: str
) -> None:
    """Duty D8: the table, the amount won, that it is pending, and the new value."""
    stand.put(151_234, 5)
    await opened(page, stand)
    note = page.locator(f"{MAIN} .note")
    await expect(note).to_be_hidden()
    stand.put(100_000, 6, cycle=2, state="pending")
    stand.hit(amount=151_234)
    await expect(note).to_be_visible()
    await expect(note).to_have_text("Table TCP-03 wins $1,512.34")
    mark = await note.evaluate("(note) => getComputedStyle(note, '::before').content")
    assert mark == json.dumps("Pending verification")
    await shows(page, "$1,000.00")
    await page.reload()
    await expect(note).to_have_text("Table TCP-03 wins $1,512.34")
    await expect(page.locator(".pulse")).to_have_text("Live")
    stand.put(100_000, 7, cycle=2)
    stand.hit(decision, amount=151_234)
    await expect(note).to_be_hidden()


async def test_several_hits_show_the_highest(page: Page, stand: Stand) -> None:
    stand.put(100_000, 5)
    await opened(page, stand)
    note = page.locator(f"{MAIN} .note")
    stand.hit(claim="c1", amount=2_500, table="TCP-01")
    stand.hit(claim="c2", amount=151_234)
    await expect(note).to_have_text("Table TCP-03 wins $1,512.34 · 1 more")
    stand.hit("paid", claim="c2")
    await expect(note).to_have_text("Table TCP-01 wins $25.00")


async def test_a_reload_shows_what_is_current(page: Page, stand: Stand) -> None:
    stand.put(112_362, 1)
    await opened(page, stand)
    stand.put(112_900, 2)
    await page.reload()
    await shows(page, "$1,129.00", within_s=2)


async def test_without_javascript_the_amounts_are_there(browser: Browser, stand: Stand) -> None:
    stand.put(112_362, 1)
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(stand.url + "/signage")
    amount = page.locator(f"{MAIN} .amount")
    await expect(amount).to_have_attribute("aria-label", "$1,123.62")
    await expect(amount).to_be_visible()
    await expect(page.locator(".pulse")).to_contain_text("As of")
    await context.close()


async def test_a_page_from_before_an_upgrade_reloads(
    page: Page, stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.put(112_362, 1)
    await opened(page, stand)
    newer = dataclasses.replace(Assets.load(("meters.web", SHARED)), version="0123456789ab")
    monkeypatch.setattr(Assets, "load", lambda _: newer)
    await stand.stop()
    await stand.start()
    stand.keep_beating()
    html = page.locator("html")
    await expect(html).to_have_attribute("data-version", "0123456789ab", timeout=20_000)


async def test_a_lower_version_is_ignored(page: Page, stand: Stand) -> None:
    stand.put(151_234, 500)
    await opened(page, stand)
    await shows(page, "$1,512.34")
    await stand.stop()
    await is_unavailable(page)
    await stand.start()
    stand.put(151_000, 499)
    stand.keep_beating()
    await expect(page.locator(".pulse")).to_have_text("Live", timeout=20_000)
    await shows(page, "$1,512.34", within_s=2)
    stand.put(151_300, 501)
    await shows(page, "$1,513.00")
    assert await was_not_reloaded(page)


async def test_a_meter_made_anew_is_shown_though_its_version_is_lower(
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


@pytest.mark.parametrize(
    ("width", "height"), [(1920, 1080), (3840, 2160), (1024, 768), (390, 844), (1080, 1920)]
)
async def test_everything_has_its_place(
    browser: Browser, stand: Stand, width: int, height: int
) -> None:
    """No number is cut, covers another, or makes the page scroll sideways."""
    stand.put(123_456_789, 1)
    stand.put(1_098_765, 1, meter="five_card_hand_bonus")
    stand.put(724_500, 1, link="pit-2")
    stand.hit(amount=123_456_789)
    page = await browser.new_page(viewport={"width": width, "height": height})
    await opened(page, stand)
    await expect(page.locator(f"{MAIN} .note")).to_be_visible()
    assert await page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    boxes = []
    for part in (".amount", ".name", ".note"):
        for each in await page.locator(part).all():
            box = await each.bounding_box() if await each.is_visible() else None
            if box is not None:
                boxes.append(box)
    assert len(boxes) == 7
    for number, one in enumerate(boxes):
        assert one["x"] >= 0
        assert one["x"] + one["width"] <= width + 0.5
        for other in boxes[number + 1 :]:
            apart = (
                one["x"] + one["width"] <= other["x"] + 0.5
                or other["x"] + other["width"] <= one["x"] + 0.5
                or one["y"] + one["height"] <= other["y"] + 0.5
                or other["y"] + other["height"] <= one["y"] + 0.5
            )
            assert apart, (one, other)


async def test_the_page_asks_nobody_else(page: Page, stand: Stand) -> None:
    asked: list[str] = []
    refused: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: refused.append(message.text))
    stand.put(112_362, 1)
    await opened(page, stand)
    await shows(page, "$1,123.62")
    assert asked
    assert all(url.startswith(stand.url) for url in asked)
    assert refused == []
