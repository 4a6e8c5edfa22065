"""A display says within five seconds that its numbers are not current, for every cause.

The seconds are those of the display's own clock, which the tests control, so a busy machine makes
no display late. The display recovers by itself.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.mqtt.relay import Relay
from tests.waiting import dies_with_us, eventually_async
from tests.web.signage_page import (
    LITTLE_MS,
    as_time_passes,
    falls_silent,
    hold_time,
    is_heard,
    opened,
    was_not_reloaded,
)
from tests.web.stand import Stand

WITHIN_MS = 5_000
GIVEN_UP_MS = 16_000


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Yield the address of a service in a separate process."""
    process = await asyncio.create_subprocess_exec(
        *dies_with_us([sys.executable, "-m", "tests.web.signage_server"]),
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(30):
        line = await process.stdout.readline()
    try:
        yield process, line.decode().strip()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest_asyncio.fixture(loop_scope="session")
async def page(page: Page) -> Page:
    await hold_time(page)
    return page


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
async def test_a_service_that_is_killed_ended_or_frozen(page: Page, number: signal.Signals) -> None:
    async with serving() as (process, url):
        await page.goto(f"{url}/signage")
        await is_heard(page)
        process.send_signal(number)
        assert await falls_silent(page) <= WITHIN_MS
        if number == signal.SIGSTOP:
            process.send_signal(signal.SIGCONT)
            await is_heard(page)


async def test_a_stream_that_is_cut_or_stands_still(page: Page, stand: Stand) -> None:
    """If it stands still, no error occurs. Only the silence shows it, and so does its end."""
    stand.put(112_362, 1)
    async with Relay(stand.port).running() as relay:
        await page.goto(f"http://127.0.0.1:{relay.port}/signage")
        await page.evaluate("window.neverReloaded = true")
        await is_heard(page)
        for _ in range(2):
            relay.behavior = "reset"
            relay.cut()
            assert await falls_silent(page, LITTLE_MS) <= WITHIN_MS
            relay.behavior = "carry"
            await is_heard(page)
        relay.stall()
        assert await falls_silent(page) <= WITHIN_MS
        stand.put(113_000, 2)
        relay.flow()
        await is_heard(page, "$1,130.00")
        assert await was_not_reloaded(page)
        await page.close()


@pytest.mark.slow
async def test_a_connection_that_died_without_a_word_is_opened_again(
    page: Page, stand: Stand
) -> None:
    stand.put(112_362, 1)
    async with Relay(stand.port).running() as relay:
        await page.goto(f"http://127.0.0.1:{relay.port}/signage")
        await is_heard(page)
        accepted = relay.accepted

        async def connects() -> bool:
            return relay.accepted > accepted

        relay.swallow()
        assert await falls_silent(page) <= WITHIN_MS
        # The browser first tries its idle connections, which are dead too.
        await as_time_passes(page, connects, "a new connection", step_ms=GIVEN_UP_MS)
        stand.put(113_000, 2)
        await is_heard(page, "$1,130.00")
        await page.close()


@pytest.mark.slow
async def test_a_controller_that_fell_silent_before_the_page_was_loaded(
    page: Page, stand: Stand
) -> None:
    """A heartbeat is valid for four seconds after it was sent, not after it was received."""
    stand.put(112_362, 1)
    stand.hush()
    stand.beat("tcp-main")
    await eventually_async(
        lambda: stand.board.links("tcp-main")[0].age_ms > 2500, what="a beat that has grown old"
    )
    await page.goto(f"{stand.url}/signage/tcp-main")
    await falls_silent(page)
    assert await page.evaluate("performance.now()") <= 2_500


@pytest.mark.duty("D14")
async def test_a_link_that_becomes_inoperable_and_comes_back(page: Page, stand: Stand) -> None:
    stand.put(112_362, 1)
    await opened(page, stand)
    await is_heard(page)
    stand.keep_beating(tcp_main="inoperable")
    await falls_silent(page, LITTLE_MS)
    await expect(page.locator(".connection")).to_have_text("Live")
    stand.keep_beating()
    await is_heard(page)
