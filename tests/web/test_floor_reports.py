"""The reports on the floor page: real ledgers, Redis and processes, read in a real browser."""

import asyncio
import json
import multiprocessing
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from io import BytesIO
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pypdf
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from redis.asyncio import Redis
from typer.testing import CliRunner

from meters.acts.act_refusals import ActError
from meters.cli.report import report as command
from meters.floor.floor_file import parse_floor
from meters.process.owned_tasks import OwnedTasks
from meters.reports.accounting_reports import REPORTS
from meters.reports.floor_reports import FloorReports, ReportDays
from meters.reports.ledger_scan import one_day
from meters.reports.report_document import ReportDocument
from tests.browsers import check_accessible, check_fits, sees
from tests.floor_text import floor_text, link_text, meter_text
from tests.games.naive import HOUSE
from tests.reports.shop import ROYAL, STRAIGHT, Shop, clock_by_hand
from tests.servers import RedisServer
from tests.waiting import LONG_S, eventually_async
from tests.web.floor_hand import SIZES, FloorRoom, resize
from tests.web.in_memory import long_report
from tests.web.stand import STAFF, Stand

SHOWN = """() => [...document.querySelectorAll(".report .listed tbody tr")].map(
  (row) => [...row.cells].map((cell) => cell.textContent))"""
READ = """async (href) => {
  const answer = await fetch(href);
  return [answer.status, [...new Uint8Array(await answer.arrayBuffer())]];
}"""


@dataclass
class House:
    """A floor with an archived gaming day, a closed one and the open one, in January 2026."""

    shop: Shop
    reports: FloorReports
    room: FloorRoom
    floor_file: Path

    async def document(self, day: str) -> ReportDocument:
        found = await self.shop.survey(one_day(date.fromisoformat(day)))
        return REPORTS["day"].document_of(self.shop.floor, found, None)

    async def command(self, *asked: str) -> str:
        given = [*asked, "--config", str(self.floor_file)]
        done = await asyncio.to_thread(CliRunner().invoke, app=command, args=given)
        assert done.exit_code == 0, done.output
        return done.stdout


@pytest_asyncio.fixture(loop_scope="session")
async def house(
    redis_server: RedisServer, browser: Browser, tmp_path: Path
) -> AsyncIterator[House]:
    async with Redis.from_url(redis_server.url) as redis, OwnedTasks() as tasks:
        with clock_by_hand(datetime(2026, 1, 19, 17, tzinfo=UTC)) as clock:
            shop = Shop(redis, redis_server.url, clock, tmp_path)
            await shop.open()
            await shop.round(positions=2)
            await shop.at("2026-01-20 12:00")
            (whole,) = await shop.round(ROYAL)
            await shop.pit.claims.decide(whole, "validate", "Flo")
            await shop.pit.claims.decide(whole, "pay", "Finn", slip="S-77")
            (odds,) = await shop.round(STRAIGHT, table="T-2")
            await shop.pit.claims.decide(odds, "reject", "Flo", reason="no straight")
            await shop.at("2026-01-21 12:00")
            await shop.round()
            await shop.archive()
        stand = Stand(shop.text, redis_server)
        stand.reports = FloorReports(shop.floor, [shop.pit.store], tasks)
        async with stand.running(*STAFF, beating=True):
            room = FloorRoom(stand, browser)
            yield House(shop, stand.reports, room, shop.file(tmp_path))
            await room.leave()


def cells_of(document: ReportDocument) -> list[list[str]]:
    sections = [*document.summary, *(each for part in document.parts for each in part.sections)]
    return [list(row) for section in sections for row in section.rows]


async def shows(page: Page, report: str, days: str) -> None:
    """Choose a report, and its day or month."""
    await page.get_by_label("Report").select_option(label=report)
    if report == "Gaming day":
        await page.get_by_label("Gaming day").fill(days)
    else:
        await page.get_by_label("Month").select_option(days)
    await page.get_by_role("button", name="Show").click()


@pytest.mark.duty("D19")
async def test_the_page_has_the_figures_of_the_command(house: House) -> None:
    """The last closed day is shown first; it is printed with lines to sign, and saved as CSV."""
    page = await house.room.signed_in("Audrey", "reports", "desk", bypass_csp=True)
    report = page.locator(".report")
    await sees(report.locator("h2").first, "Tuesday, January 20, 2026")
    document = await house.document("2026-01-20")
    assert await page.evaluate(SHOWN) == cells_of(document)
    printed = await house.command("day", "2026-01-20")
    amounts = {cell for row in cells_of(document) for cell in row if cell.startswith(("$", "-$"))}
    assert len(amounts) > 10
    assert all(amount in printed for amount in amounts)
    await sees(report, "slip S-77", "Ledger entries", "no straight")
    href = await page.get_by_role("link", name="CSV").get_attribute("href")
    status, sheet = await page.evaluate(READ, href)
    path = house.floor_file.with_name("day.csv")
    await house.command("day", "2026-01-20", "--csv", str(path))
    assert (status, bytes(sheet)) == (200, path.read_bytes())
    for size in SIZES:
        await resize(page, size)
        await check_accessible(page, size)
        await check_fits(page, 44, size)
    await page.set_viewport_size({"width": 320, "height": 640})
    await check_fits(page, 44, "narrow")
    await page.emulate_media(media="print")
    await expect(page.locator(".tools")).to_be_hidden()
    pages = pypdf.PdfReader(BytesIO(await page.pdf(prefer_css_page_size=True))).pages
    words = " ".join(" ".join(each.extract_text() for each in pages).split())
    for said in ("Printed", "by Audrey", "Prepared by: name, signature, date", "slip S-77"):
        assert said in words
    assert "By table" not in pages[0].extract_text(), "the sums have a page of their own"


async def test_another_day_a_month_and_what_is_open(house: House) -> None:
    page = await house.room.signed_in("Sue", "reports")
    report, chip = page.locator(".report"), page.locator(".report .chip")
    await shows(page, "Gaming day", "2026-01-19")
    await sees(report, "Monday, January 19, 2026")
    assert await page.evaluate(SHOWN) == cells_of(await house.document("2026-01-19"))
    await expect(chip).to_have_count(0)
    await shows(page, "Gaming day", "2026-01-21")
    await sees(chip, "SO FAR")
    await sees(report, "do not sign them.")
    await expect(page.locator(".signing")).to_have_count(0)
    await shows(page, "Wins", "2026-01")
    await sees(report, "Monday, January 19, 2026, to Wednesday, January 21, 2026", "slip S-77")
    await shows(page, "Month", "2026-01")
    await sees(report, "the meter, day by day", "2026-01-21, so far")
    await page.goto(page.url.partition("#")[0] + "#reports/day/2025-01-01")
    await sees(page.locator(".reports [role=status]"), "is before the first gaming day on record")
    dealer = await house.room.signed_in("Dana", "reports")
    await expect(dealer.get_by_role("link", name="Reports")).to_have_count(0)
    await expect(dealer.locator(".report")).to_have_count(0)


async def test_one_report_is_made_at_a_time_and_for_nobody_after_the_service(house: House) -> None:
    """A caller who does not wait asks again. What cannot be reported is refused in words."""
    async with OwnedTasks() as tasks:
        reports = FloorReports(house.shop.floor, [house.shop.pit.store], tasks)
        assert await reports.days() == ReportDays(date(2026, 1, 19), date(2026, 1, 21))
        for name, days in (("day", "2026-01-20"), ("month", "2026-01")):
            with pytest.raises(ActError, match="this report or another one is being made"):
                await reports.report(name, days, 0)
            await eventually_async(lambda: len(multiprocessing.active_children()) == 1)
        month = json.loads((await reports.report("month", "2026-01", LONG_S)).page)
        assert month["document"]["title"] == "Month"
        for name, days, code in (
            ("year", "2026", "unknown_report"), ("day", "2026-01", "bad_value"),
            ("month", "2026-01-20", "bad_value"), ("day", "2999-01-01", "unknown_day"),
            ("day", "1970-01-01", "unknown_day"), ("day", "0001-01-01", "bad_value"),
            ("day", "2026-W04-2", "bad_value"), ("jackpots", "1970-01", "unknown_day"),
        ):  # fmt: skip
            with pytest.raises(ActError) as refused:
                await reports.report(name, days, LONG_S)
            assert refused.value.code == code
        with pytest.raises(ActError, match="is being made"):
            await reports.report("table", "2026-01-20", 0)
        await eventually_async(lambda: bool(multiprocessing.active_children()))
    await eventually_async(lambda: not multiprocessing.active_children())


def test_a_list_that_nobody_reads_on_a_page_is_shortened_and_keeps_its_sums() -> None:
    section = json.loads(long_report(700).page)["document"]["parts"][0]["sections"][0]
    assert len(section["rows"]) == 501
    assert section["rows"][-1][0] == "All"
    assert section["note"].startswith("200 more rows are not on this page")


def test_a_floor_with_games_of_the_house_reaches_the_other_process() -> None:
    link = link_text("pit", meter_text("keystone_mega", name="Mega"))
    floor = parse_floor(floor_text(link, games=str(HOUSE)))
    again = ForkingPickler.loads(ForkingPickler.dumps(floor))
    assert again == floor
    assert again.games.digests == floor.games.digests
    assert again.link[0].meter[0].title == "Mega"
