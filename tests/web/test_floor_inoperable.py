"""The bar of the floor page that names the inoperable links, in every view."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Locator, Page, expect

from tests.mqtt.stand import Stand
from tests.staff import PIN, Colleague, hire
from tests.web.floor_hand import FloorRoom, go, resize, type_sign_in
from tests.web.test_floor_access import check_view

VIEWS: Final = ("Waiting", "Wins", "Links", "People")
REASON: Final = "Redis has maxmemory-policy allkeys-lru; it must be noeviction"


def bar(page: Page) -> Locator:
    return page.locator(".inoperable")


def fail(room: FloorRoom, reasons: Mapping[str, str]) -> None:
    room.stand.health.reasons = dict(reasons)
    room.stand.bell.ring()


@pytest.mark.slow
@pytest.mark.duty("D14")
async def test_every_view_names_an_inoperable_link_until_it_operates(room: FloorRoom) -> None:
    page = await room.signed_in("Ada", bypass_csp=True)
    await expect(page.locator(".claim").first).to_be_visible()
    await expect(bar(page)).to_be_hidden()
    fail(room, {"pit-2": REASON})
    for view in VIEWS:
        await go(page, view)
        await expect(bar(page)).to_have_text(f"Inoperable: Pit 2. {REASON}.")
        await expect(bar(page).and_(page.get_by_role("status"))).to_be_visible()
        for size in ("phone", "tablet", "desk"):
            await resize(page, size)
            await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            await expect(bar(page)).to_be_in_viewport()
            await check_view(page)
    fail(room, {})
    await expect(bar(page)).to_be_hidden()


async def test_links_with_one_reason_are_one_line_for_a_dealer_too(room: FloorRoom) -> None:
    """A dealer has no right to read the links themselves."""
    fail(room, {"tcp-main": "no broker", "pit-2": "no broker"})
    page = await room.signed_in("Dana")
    lines = bar(page).locator("p")
    await expect(lines).to_have_text(["Inoperable: Three Card Poker Jackpot, Pit 2. No broker."])
    fail(room, {"tcp-main": "no broker", "pit-2": REASON})
    await expect(lines).to_have_text([
        "Inoperable: Three Card Poker Jackpot. No broker.", f"Inoperable: Pit 2. {REASON}.",
    ])  # fmt: skip


@pytest.mark.slow
async def test_a_failed_read_is_repeated_and_a_change_without_an_event_is_noticed(
    room: FloorRoom,
) -> None:
    """With two services, another one can answer than the one that sends the events."""
    page = await room.signed_in("Flo")
    await expect(page.locator(".claim").first).to_be_visible()
    await page.route("**/readyz", lambda route: route.abort(), times=1)
    fail(room, {"pit-2": REASON})
    await expect(bar(page)).to_contain_text("Pit 2")
    room.stand.health.reasons = {"new-link": REASON}
    await expect(bar(page)).to_have_text(f"Inoperable: new-link. {REASON}.")
    room.stand.health.reasons = {}
    await expect(bar(page)).to_be_hidden()


@pytest.mark.slow
@pytest.mark.duty("D14")
async def test_the_bar_has_the_words_of_the_links_and_outlives_redis(
    tmp_path: Path, page: Page
) -> None:
    with Stand(tmp_path) as stand:
        hire(stand.service.config, "Flo", "floorperson")
        Colleague(stand.service.url, "Flo")  # chooses their own PIN
        await page.goto(f"{stand.service.url}/floor#links")
        await type_sign_in(page, "Flo", PIN)
        await expect(page.locator(".link")).to_have_count(2)
        await expect(bar(page)).to_be_hidden()
        stand.mosquitto.kill()
        await expect(bar(page)).to_contain_text("No broker.")
        await expect(page.locator(".link .notice").first).to_have_text("No broker.")
        stand.mosquitto.start()
        await expect(bar(page)).to_be_hidden()
        stand.redis.kill()
        await expect(bar(page)).to_contain_text("Redis does not answer")
        await expect(page.locator(".line")).to_contain_text("What you see may be old")
        stand.redis.start()
        await expect(bar(page)).to_be_hidden()
        await expect(page.locator(".line")).to_be_hidden()
