"""The map of the floor, the history of a meter and a single round, in a real browser."""

import re
from collections.abc import AsyncIterator

import msgspec
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from meters.wire.messages import TableStatus
from tests.browsers import check_accessible, check_fits, sees
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.waiting import eventually_async
from tests.web.conftest import Sides
from tests.web.floor_hand import FloorRoom, back, go, press, resize, type_sign_in
from tests.web.in_memory import ROUND
from tests.web.stand import AT

SIZES = ("desk", "tablet", "phone")
READ = """async (href) => {
  const answer = await fetch(href);
  return [answer.status, answer.headers.get("content-type"), await answer.text()];
}"""
TABLES = ("TCP-01", "TCP-02", "TCP-03", "TCP-04")
FLOOR = floor_text(
    link_text(
        "tcp-main", meter_text("progressive"),
        *(table_text(each, "progressive") for each in TABLES), name="Three Card Poker Jackpot",
    ),
    service={"hosts": ["pit.example"]},
)  # fmt: skip


@pytest_asyncio.fixture(loop_scope="session")
async def full_room(sides: Sides, browser: Browser) -> AsyncIterator[FloorRoom]:
    """Yield a floor with tables."""
    room = FloorRoom(await sides(FLOOR), browser)
    yield room
    await room.leave()


async def fits_everywhere(page: Page) -> None:
    for size in SIZES:
        await resize(page, size)
        await check_accessible(page, size)
        await check_fits(page, 44, size)
    await page.set_viewport_size({"width": 320, "height": 640})
    await check_fits(page, 44, "narrow")


def tile(page: Page, table: str) -> Locator:
    return page.locator(f'[data-table="{table}"]')


async def test_the_map_has_the_state_of_each_table_and_leads_to_its_round(
    full_room: FloorRoom,
) -> None:
    """States arrive while the page is open. A touch shows the waiting win, or the last round."""
    stand = full_room.stand
    stand.put(112_362, 1)
    stand.history.rows = [msgspec.structs.replace(ROUND, table="TCP-01")]
    page = await full_room.signed_in("Flo", "floor", bypass_csp=True)
    await expect(page.locator(".tile")).to_have_count(4)
    await expect(tile(page, "TCP-01")).to_have_attribute("data-state", "offline")
    for table, state, shown in (
        ("TCP-01", "open", "betting"), ("TCP-02", "locked_out", "no wagers"),
        ("TCP-03", "held", "held"), ("TCP-03", "settling", "settling"),
    ):  # fmt: skip
        stand.tables.note("tcp-main", table, TableStatus(online=True, state=state, at=AT))
        said = re.compile(f"{table}, {shown}")
        await expect(tile(page, table)).to_have_attribute("aria-label", said)
    stand.keep_beating(tcp_main="closed")
    await eventually_async(lambda: stand.displays.links()[0].state == "closed")
    stand.bell.ring()
    await expect(tile(page, "TCP-01")).to_have_attribute("aria-label", "TCP-01, closed")
    await expect(tile(page, "TCP-04")).to_have_attribute("aria-label", "TCP-04, offline")
    await sees(
        page.locator("main"),
        "1 offline",
        "$1,123.62",
        "in the last one",
        "Of these past three minutes",
        "1:14",
        "$71,419.20",
    )
    await fits_everywhere(page)
    await sees(page.locator("main"), "+$159.60/h", "Wins that wait are counted")
    await resize(page, "desk")
    paid = page.locator(".floor-counts")
    await sees(paid, "$71,419.20 paid today")
    stand.history.failing = True
    stand.bell.ring()
    await expect(paid).not_to_contain_text("$71,419.20")
    await expect(page.locator("main")).not_to_contain_text("+$159.60/h")
    stand.history.failing = False
    stand.bell.ring()
    await sees(paid, "$71,419.20 paid today")
    await expect(tile(page, "TCP-03")).to_have_attribute("href", "#inbox/c1")
    stand.tables.note("tcp-main", "TCP-03", TableStatus(online=False, state="settling", at=AT))
    held = re.compile("TCP-03, offline, held ")
    await expect(tile(page, "TCP-03")).to_have_attribute("aria-label", held)
    await sees(page.locator("main"), "1 held · 2 offline")
    await tile(page, "TCP-01").click()
    await sees(page.locator(".found-round h2"), "TCP-01 · Round R9")


async def test_a_round_is_found_by_its_table_with_all_that_it_was(full_room: FloorRoom) -> None:
    page = await full_room.signed_in("Audrey", bypass_csp=True)
    await go(page, "Find")
    status, form = page.locator(".list [role=status]"), page.locator(".search")
    await press(form, "Find")
    await sees(status, "Give a table, or a claim.")
    await form.get_by_label("Table").fill("TCP-09")
    await press(form, "Find")
    await sees(status, "The ledger here has no round of TCP-09")
    await form.get_by_label("Table").fill("TCP-03")
    await form.get_by_label("About").fill("21:00")
    await press(form, "Find")
    await sees(status, "Give the day of this time too.")
    await form.get_by_label("Day").fill("2026-11-19")
    await press(form, "Find")
    await sees(status, "1 round, the latest first")
    asked = full_room.stand.history.asked[-1]
    assert (asked.table, asked.day, str(asked.since)) == (
        "TCP-03", None, "2026-11-20 01:50:00+00:00"
    )  # fmt: skip
    # The clocks went forward in the night before.
    await form.get_by_label("Day").fill("2026-03-08")
    await form.get_by_label("About").fill("10:00")
    await press(form, "Find")
    history = full_room.stand.history
    await eventually_async(lambda: str(history.asked[-1].since) == "2026-03-08 13:50:00+00:00")
    await page.locator(f'[data-round="{ROUND.entry}"] a').click()
    pane = page.locator(".found-round")
    await sees(
        pane, "$0.00", "paid for 3 progressive wagers of $3.00 · $1,510.00 won at the settlement",
        "$1,510.00 waits", "Waits for a floorperson", "folded, cards collected",
        "Mini-royal of spades", "649a.12(e)(1)", "100% of the meter", "$1,509.72", "15, 17",
        "To validate", "Lock-out, 3 wagers",
    )  # fmt: skip
    await expect(pane.locator('[data-position="3"] .card')).to_have_count(3)
    await fits_everywhere(page)
    await resize(page, "phone")
    await back(page)
    await expect(page.locator(f'[data-round="{ROUND.entry}"]')).to_be_visible()


async def test_the_address_of_a_round_leads_a_colleague_to_it(full_room: FloorRoom) -> None:
    """An address with the table and the name is enough. What is printed says by whom."""
    room = full_room
    page = await room.page("desk", "/floor?table=TCP-03&round=R9")
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await type_sign_in(page, "Audrey")
    await sees(page.locator(".found-round h2"), "TCP-03 · Round R9")
    assert (room.stand.history.asked[-1].table, room.stand.history.asked[-1].round) == (
        "TCP-03", "R9"
    )  # fmt: skip
    await press(page, "Copy the address")
    await sees(page.locator(".receipt"), "Copied: the address of TCP-03 · Round R9")
    address = str(await page.evaluate("navigator.clipboard.readText()"))
    assert address == f"{room.stand.url}/floor?table=TCP-03&round=R9&link=tcp-main&entry=15"
    await page.emulate_media(media="print")
    await sees(page.locator(".on-paper"), "TCP-03 · Round R9", "by Audrey")
    await expect(page.get_by_role("navigation")).to_be_hidden()
    await expect(page.locator(".search")).to_be_hidden()
    other = await room.page("phone", address.removeprefix(room.stand.url))
    await type_sign_in(other, "Flo")
    await sees(other.locator(".found-round h2"), "TCP-03 · Round R9")


async def test_a_meter_has_its_wins_and_leads_to_their_rounds(full_room: FloorRoom) -> None:
    """Today's picture follows the meter; a past day has no amount of now."""
    full_room.stand.history.unread = 2
    page = await full_room.signed_in("Flo", "history", bypass_csp=True)
    main = page.locator("main")
    await sees(main, "Reading 2 more days…")
    await expect(page.get_by_role("link", name="CSV")).to_be_hidden()
    full_room.stand.history.unread = 0
    await expect(main).not_to_contain_text("Reading 2")
    await page.get_by_role("textbox", name="Gaming day").fill("2026-11-18")
    await sees(
        main, "Gaming day 2026-11-18", "At its close", "$1,123.50", "Added on the day",
        "Wagers in ten minutes", "1,770 wagers", "Time to validate, median",
    )  # fmt: skip
    sheet = page.get_by_role("link", name="CSV")
    status, kind, text = await page.evaluate(READ, await sheet.get_attribute("href"))
    assert (status, kind) == (200, "text/csv; charset=utf-8")
    won = next(line for line in str(text).splitlines() if '"won"' in line)
    assert '"1510.00","1510.00","1000.00","100","TCP-03","R9","3","Mini-royal of spades"' in won
    await page.get_by_role("link", name="Now", exact=True).click()
    await sees(
        main, "$1,123.62", "+$159.60", "Break-even, $1 wager", "$10,080.00", "1 win, $1,510.00",
        "+$123.62", "Envy Bonuses are left out.",
    )  # fmt: skip
    await expect(page.locator(".plot .hit")).to_have_count(2)
    await fits_everywhere(page)
    await page.emulate_media(media="print")
    await sees(page.locator(".on-paper"), "Progressive · Three Card Poker Jackpot", "by Flo")
    await expect(page.locator(".tools")).to_be_hidden()
    await expect(page.locator(".plot").first).to_be_visible()
    await page.emulate_media(media="screen")
    await page.locator(".hits a").click()
    await sees(page.locator(".found-round h2"), "TCP-03 · Round R9")
