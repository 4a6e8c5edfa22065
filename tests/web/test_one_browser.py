"""One browser needs one event stream for all its displays, and one for all its floor pages.

A browser opens only six connections to a server that speaks HTTP/1.1.
"""

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.waiting import eventually_async
from tests.web.floor_hand import FloorRoom, claim_card, press_on
from tests.web.signage_page import OTHER, is_live, is_lost, is_unavailable, shows

FAILS_ONCE = """
const Shared = SharedWorker, steady = performance.now.bind(performance);
let made = 0;
window.ahead = 0;
performance.now = () => steady() + window.ahead;
window.SharedWorker = class extends Shared {
  constructor(url) { super(made++ ? url : "/assets/none.js"); }
};
"""
PATHS = ["/signage", "/signage/tcp-main", "/signage/tcp-main/pays", "/signage/pit-2"]


@pytest_asyncio.fixture(loop_scope="session")
async def room(room: FloorRoom) -> FloorRoom:
    room.stand.put(112_362, 1)
    room.stand.put(500_000, 1, link="pit-2")
    return room


async def streams(room: FloorRoom, displays: int, staff: int) -> None:
    shown = room.stand.displays

    def count() -> bool:
        return (shown.watchers(staff=False), shown.watchers(staff=True)) == (displays, staff)

    await eventually_async(count, what=f"{displays} and {staff} streams")


@pytest.mark.slow
async def test_eight_displays_and_two_floor_pages_work_in_one_browser(room: FloorRoom) -> None:
    stand = room.stand
    first = await room.signed_in("Flo")
    second = await first.context.new_page()
    await second.goto(f"{stand.url}/floor")
    displays = [await first.context.new_page() for _ in range(8)]
    for number, page in enumerate(displays):
        await page.goto(stand.url + PATHS[number % len(PATHS)])
    for page in displays:
        await is_live(page)
    await streams(room, 1, 1)
    await press_on(second, "Validate")
    for page in (first, second):
        await expect(await claim_card(page)).to_contain_text("Validated by Flo")
    # They go on when others are closed.
    await displays[0].close()
    stand.put(112_399, 2)
    stand.put(500_100, 2, link="pit-2")
    await shows(displays[1], "$1,123.99")
    await shows(displays[3], "$5,001.00", OTHER)
    await streams(room, 1, 1)
    for page in (*displays[1:], first, second):
        await page.close()
    await streams(room, 0, 0)


async def test_every_display_notices_a_lost_stream_and_returns(room: FloorRoom) -> None:
    stand = room.stand
    first = await room.page("desk")
    pages = [first, *[await first.context.new_page() for _ in range(3)]]
    for page in pages:
        await page.goto(f"{stand.url}/signage")
        await is_live(page)
    stand.displays.close()
    for page in pages:
        await is_lost(page)
        await is_unavailable(page)
    await stand.stop()
    await stand.start()
    stand.keep_beating()
    stand.put(112_400, 3)
    for page in pages:
        await is_live(page)
        await shows(page, "$1,124.00")
    await streams(room, 1, 0)


@pytest.mark.parametrize(
    "script", ["delete window.SharedWorker", FAILS_ONCE], ids=["none", "fails"]
)
async def test_a_browser_without_the_shared_worker_has_a_stream_for_each_page(
    room: FloorRoom, script: str
) -> None:
    """Pages share a stream again after the worker could not be loaded."""
    stand = room.stand
    first = await room.page("desk")
    pages = (first, await first.context.new_page())
    for page in pages:
        await page.add_init_script(script)
        await page.goto(f"{stand.url}/signage")
        await is_live(page)
    await streams(room, 2, 0)
    if script == FAILS_ONCE:
        for page in pages:
            await page.evaluate("window.ahead = 100000")
        await streams(room, 1, 0)
    stand.put(112_399, 2)
    for page in pages:
        await shows(page, "$1,123.99")
