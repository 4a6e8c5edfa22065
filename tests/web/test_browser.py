"""The signage page in a real browser: a patron sees the current number, or none."""

import asyncio
import dataclasses
import itertools
import re
import time
from collections.abc import Awaitable, Callable

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from meters.floor.floor_file import parse_floor
from meters.floor.themes import read_theme
from meters.http.page_files import SHARED, Assets
from meters.web import display_state
from meters.web.signage import Signage
from tests.browsers import stop_clock
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.mqtt.relay import Relay
from tests.waiting import eventually_async
from tests.web.floor_hand import FloorRoom
from tests.web.signage_page import (
    CREEPING,
    MAIN,
    OTHER,
    as_time_passes,
    drawn,
    falls_silent,
    hold_time,
    is_heard,
    is_live,
    is_lost,
    is_unavailable,
    opened,
    shows,
    was_not_reloaded,
)
from tests.web.stand import Stand, row


@pytest_asyncio.fixture(loop_scope="session")
async def held(page: Page) -> Page:
    await hold_time(page)
    return page


@pytest.mark.duty("D1", proof=True)
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
    stand.displays.put_meter(
        msgspec.structs.replace(row(600_000, 204, floor=stand.floor), wager=500)
    )
    await expect(page.locator(f"{MAIN} .wager")).to_have_text("$5 wager")
    await page.reload()
    await shows(page, "$6,000.00")
    assert asked
    assert all(url.startswith(stand.url) for url in asked)
    assert refused == []


async def test_a_rise_creeps_past_the_nine_and_is_never_above_the_amount(
    page: Page, stand: Stand
) -> None:
    """The digits turn upward for five to ten seconds, and stop at the true amount."""
    stand.put(112_368, 1)
    await opened(page, stand)
    await shows(page, "$1,123.68")
    creeping = asyncio.create_task(page.evaluate(CREEPING, MAIN))
    began_s = time.monotonic()
    stand.put(112_372, 2)
    seen = [float(at) for at in await creeping]
    assert 5 < time.monotonic() - began_s < 12
    assert 112_368 - 0.01 < seen[0] < 112_370
    assert max(seen) < 112_372 + 0.01
    assert seen[-1] == pytest.approx(112_372, abs=0.01)
    assert all(later >= earlier - 0.01 for earlier, later in itertools.pairwise(seen))
    assert len({round(at, 1) for at in seen}) > 20, "it creeps, and does not jump"


async def test_no_beat_for_four_seconds_marks_the_meters(page: Page, stand: Stand) -> None:
    stand.put(112_362, 1)
    await hold_time(page)
    await opened(page, stand)
    await is_heard(page)
    stand.hush()
    stand.put(112_400, 2)
    await is_heard(page, "$1,124.00")
    assert 4_000 < await falls_silent(page) <= 4_500
    await is_lost(page)
    stand.put(112_500, 3)
    stand.keep_beating()
    await is_heard(page, "$1,125.00")
    assert await was_not_reloaded(page)


@pytest.mark.duty("D14", proof=True)
async def test_what_is_inoperable_has_no_number_and_what_is_closed_keeps_it(
    page: Page, stand: Stand
) -> None:
    """What is closed accepts no wagers but still has its money, until heartbeats are missing."""
    shut = page.locator(f'{MAIN} .note[data-kind="closed"]')
    label = page.locator(f"{MAIN} .amount")
    stand.put(112_362, 1)
    stand.put(720_000, 1, link="pit-2")
    await opened(page, stand)
    await shows(page, "$7,200.00", OTHER)
    stand.keep_beating(pit_2="inoperable")
    await is_unavailable(page, OTHER, within_s=5)
    await shows(page, "$1,123.62")
    await is_live(page)
    stand.keep_beating(pit_2="inoperable", tcp_main="inoperable")
    await is_unavailable(page, within_s=5)
    await expect(page.locator("html")).to_have_attribute("data-connection", "")
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
        await expect(page.locator(f"{OTHER} .note")).to_be_hidden()
        await page.reload()
        await expect(label).to_have_attribute("aria-label", "$1,123.62 Closed")
        if what == "link":
            stand.keep_beating()
    stand.hush()
    await is_unavailable(page, within_s=5)
    await expect(shut).to_be_hidden()


@pytest.mark.slow
async def test_a_page_from_before_an_upgrade_reloads(
    page: Page, stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.put(112_362, 1)
    await opened(page, stand)
    newer = dataclasses.replace(Assets.load(("meters.web", SHARED)), version="0123456789ab")
    monkeypatch.setattr(Assets, "load", lambda _: newer)
    older = await page.locator("html").get_attribute("data-version")
    await stand.stop()
    await stand.start()
    stand.keep_beating()
    html = page.locator("html")
    await expect(html).not_to_have_attribute("data-version", older or "", timeout=20_000)
    await is_live(page)
    await stand.stop()


async def test_a_restart_within_four_seconds_blanks_nothing(held: Page, stand: Stand) -> None:
    stand.put(112_362, 1)
    await opened(held, stand)
    await is_heard(held)
    await held.evaluate(
        """(meter) => {
          const watched = document.querySelector(meter);
          window.states = [];
          new MutationObserver(() => window.states.push(watched.dataset.state))
            .observe(watched, { attributeFilter: ["data-state"] });
        }""",
        MAIN,
    )

    async def lost() -> bool:
        return await held.locator("html").get_attribute("data-connection") == "lost"

    await stand.stop()
    await as_time_passes(held, lost, "the lost stream")
    assert await drawn(held) == "$1,123.62"
    await stand.start()
    stand.put(112_400, 2)
    stand.keep_beating()
    await is_heard(held, "$1,124.00")
    assert await held.evaluate("window.states") == []
    assert await was_not_reloaded(held)


@pytest.mark.duty("D15", proof=True)
async def test_a_lower_version_is_ignored(page: Page, stand: Stand) -> None:
    stand.put(151_234, 500)
    await hold_time(page)
    await opened(page, stand)
    await is_heard(page, "$1,512.34")
    await stand.stop()
    assert 4_000 < await falls_silent(page) <= 4_500
    await stand.start()
    stand.put(151_000, 499)
    stand.keep_beating()
    await is_heard(page, "$1,512.34")
    stand.put(151_300, 501)
    await is_heard(page, "$1,513.00")
    assert await was_not_reloaded(page)


@pytest.mark.slow
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
    """A browser alone stops after an error answer. The page tries again.

    It then shows a meter of the restarted service, though its version is lower.
    """
    stand.put(112_362, 1)
    await opened(page, stand)
    await stand.stop()
    monkeypatch.setattr(display_state, "WATCHERS_MAX", 0)
    await stand.start()
    stand.put(112_777, 2)
    stand.keep_beating()
    await is_lost(page)
    await is_unavailable(page)
    monkeypatch.undo()
    await shows(page, "$1,127.77", within_s=20)
    assert await was_not_reloaded(page)
    await stand.stop()
    await stand.start()
    stand.put(100_000, 1)
    stand.keep_beating()
    amount = page.locator(f"{MAIN} .amount")
    await expect(amount).to_have_attribute("aria-label", "$1,000.00", timeout=25_000)
    await shows(page, "$1,000.00")


@pytest.mark.duty("D3")
@pytest.mark.parametrize("limit", [None, 1_000_000])
def test_a_limit_of_a_meter_is_shown_to_patrons(limit: int | None) -> None:
    floor = parse_floor(
        floor_text(link_text("one", meter_text("progressive", limit=limit), table_text("T-1")))
    )
    displays, themes = display_state.DisplayState(), {"gold": read_theme("gold")}
    pages = Signage(floor, displays, "v", None, themes, languages=("en",))
    page = pages.page(floor.link, None)
    assert ("up to $10,000<" in page) == (limit is not None)


WITHIN_MS = 5_000
GIVEN_UP_MS = 16_000


async def test_a_stream_that_is_cut_or_stands_still(held: Page, stand: Stand) -> None:
    """If it stands still, no error occurs. Only the silence shows it, and so does its end."""
    stand.put(112_362, 1)
    async with Relay(stand.port).running() as relay:
        await held.goto(f"http://127.0.0.1:{relay.port}/signage")
        await held.evaluate("window.neverReloaded = true")
        await is_heard(held)
        for _ in range(2):
            relay.behavior = "reset"
            relay.cut()
            assert await falls_silent(held) <= WITHIN_MS
            relay.behavior = "carry"
            await is_heard(held)
        relay.stall()
        assert await falls_silent(held) <= WITHIN_MS
        stand.put(113_000, 2)
        relay.flow()
        await is_heard(held, "$1,130.00")
        assert await was_not_reloaded(held)
        await held.close()


@pytest.mark.slow
async def test_a_connection_that_died_without_a_word_is_opened_again(
    held: Page, stand: Stand
) -> None:
    stand.put(112_362, 1)
    async with Relay(stand.port).running() as relay:
        await held.goto(f"http://127.0.0.1:{relay.port}/signage")
        await is_heard(held)
        accepted = relay.accepted

        async def connects() -> bool:
            return relay.accepted > accepted

        relay.swallow()
        assert await falls_silent(held) <= WITHIN_MS
        # The browser first tries its idle connections, which are dead too.
        await as_time_passes(held, connects, "a new connection", step_ms=GIVEN_UP_MS)
        stand.put(113_000, 2)
        await is_heard(held, "$1,130.00")
        await held.close()


@pytest.mark.slow
async def test_a_controller_that_fell_silent_before_the_page_was_loaded(
    held: Page, stand: Stand
) -> None:
    """A heartbeat is valid for four seconds after it was sent, not after it was received."""
    stand.put(112_362, 1)
    stand.hush()
    stand.beat("tcp-main")
    await eventually_async(
        lambda: stand.displays.links("tcp-main")[0].age_ms > 2500, what="a beat that has grown old"
    )
    await held.goto(f"{stand.url}/signage/tcp-main")
    await falls_silent(held)
    assert await held.evaluate("performance.now()") <= 2_500


AMOUNT = f"{MAIN} .amount"
MARK = f"{MAIN} .unavailable"
SCRIPTS = re.compile(r"/assets/.*\.js$")
ODOMETER = re.compile("signage_odometer.js")
ASSETS = re.compile(r"/assets/")
Answer = Callable[[Route], Awaitable[None]]
DISPLAYS = ["/signage", "/signage/tcp-main", "/signage/tcp-main/pays"]


async def is_expired(page: Page) -> None:
    await expect(page.locator(MARK)).to_be_visible()
    await expect(page.locator(MARK)).to_have_css("opacity", re.compile(r"^(1|0\.99)"))
    for what in (AMOUNT, f"{MAIN} .note"):
        await expect(page.locator(what)).to_be_hidden()


async def fail(route: Route) -> None:
    await route.fulfill(status=502, body="Bad Gateway")


async def empty(route: Route) -> None:
    await route.fulfill(content_type="text/javascript", body="export {};")


@pytest.mark.slow
@pytest.mark.duty("D1", proof=True)
async def test_amounts_disappear_if_the_script_stops(room: FloorRoom) -> None:
    """They do on each display, and on the floor page."""
    room.stand.put(112_362, 1)
    room.stand.hit()
    for path in (*DISPLAYS, ""):
        page = await room.page("desk")
        await page.clock.install()
        amount, mark = page.locator(AMOUNT), page.locator(MARK)
        if path:
            await opened(page, room.stand, path)
            await expect(page.locator(f"{MAIN} .note")).to_be_visible()
        else:
            await room.sign_in(page, "Sue", "meters")
            amount, mark = (page.locator(f".now .{it}").first for it in ("expires", "expired"))
        await expect(amount).to_be_visible()
        await expect(mark).to_be_hidden()
        await stop_clock(page)
        await (is_expired(page) if path else expect(mark).to_be_visible())
        await expect(amount).to_be_hidden()
        await page.clock.resume()
        await expect(amount).to_be_visible()
        await expect(mark).to_be_hidden()
        await page.close()


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
        for what in (AMOUNT, f"{MAIN} .note"):
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
    await is_live(page)
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
    await is_live(page)
    await shows(page, "$1,123.62")
