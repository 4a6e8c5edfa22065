"""Players see what each hand wins of a meter (duty D1): on the signage, and at the table."""

from collections.abc import AsyncIterator
from html.parser import HTMLParser
from typing import Final

import msgspec
import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect

from meters.floor.floor_file import Link
from tests.floor_text import floor_text, link_text, meter_text
from tests.web.signage_page import MAIN, opened, standing
from tests.web.stand import Stand

EVERY_METER: Final = floor_text(
    link_text(
        "tcp-main",
        meter_text("progressive"),
        meter_text(
            "five_card_hand_bonus", 500,
            name="Hand Bonus <b>Grand</b>", magic_card_every=24, lucky_every=12,
        ),
        meter_text("five_card_progressive"),
        meter_text("five_of_six_progressive", 500),
        name="Three Card Poker Jackpot",
    ),
    link_text("pit-2", meter_text("progressive", 500), name="Pit 2"),
    service={"hosts": ["pit.example"]},
    name="Keystone <Casino> & Resort",
)  # fmt: skip

# According to 649a.12(e)(1) and (5), (i)(1) and (3), (h)(1) and (5) for $1 and $5, and (j)(1) and
# (5) for $5.
PROGRESSIVE_A: Final = """
Mini-royal of spades | 100% of the meter | $100.00
Mini-royal | 500 for 1 | $25.00
Straight flush | 70 for 1 |
Three of a kind | 60 for 1 |
Straight | 6 for 1 |
"""
PROGRESSIVE_B: Final = """
Mini-royal of spades | 100% of the meter | $100.00
Mini-royal | 500 for 1 | $25.00
Straight flush | 100 for 1 |
Three of a kind | 90 for 1 |
"""
HAND_BONUS: Final = """
Royal flush | 100% of the meter
Straight flush | 10% of the meter
Four of a kind | 500 for 1
Full house | 100 for 1
Flush | 50 for 1
Magic Card | 20 for 1
Lucky Bonus | 5 for 1
"""
FIVE_CARD: Final = """
Royal flush | 100% of the meter | $1,000.00
Straight flush | 10% of the meter | $300.00
Four of a kind | 300 for 1 |
Full house | 50 for 1 |
Flush | 40 for 1 |
Straight | 30 for 1 |
Three of a kind | 9 for 1 |
"""
FIVE_OF_SIX: Final = """
Royal flush of spades | 100% of the meter | $500.00
Royal flush | 25% of the meter | $250.00
Straight flush | 250 for 1 |
Four of a kind | 100 for 1 |
Full house | 20 for 1 |
Flush | 10 for 1 |
Straight | 5 for 1 |
"""

PAYS: Final = "/signage/tcp-main/pays"


class Tables(HTMLParser):
    """Parser of the rows of each meter's table; a bar separates the cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.of: dict[str, list[str]] = {}
        self._rows: list[str] = []
        self._in_body = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self._rows = self.of.setdefault(dict(attrs)["data-meter"] or "", [])
        elif tag == "tr":
            self._rows.append("")
        elif tag in {"td", "th"} and self._rows and self._rows[-1]:
            self._rows[-1] += " |"
        elif tag == "thead":
            self._in_body = False
        elif tag == "tbody":
            self._rows.clear()
            self._in_body = True

    def handle_data(self, data: str) -> None:
        if self._in_body and self._rows and data.strip():
            self._rows[-1] += f" {data.strip()}" if self._rows[-1] else data.strip()


def rows(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest_asyncio.fixture(loop_scope="session")
async def stand() -> AsyncIterator[Stand]:
    async with standing(floor=EVERY_METER) as stand:
        yield stand


def with_paytable(stand: Stand, paytable: str) -> Link:
    """Return the first link after a change of its paytable."""
    link = stand.floor.link[0]
    meter = msgspec.structs.replace(link.meter[0], paytable=paytable)
    return msgspec.structs.replace(link, meter=(meter, *link.meter[1:]))


@pytest.mark.duty("D1")
@pytest.mark.section("649a.12(e)(1)")
async def test_every_hand_of_every_meter_is_shown_as_the_chapter_pays_it(stand: Stand) -> None:
    tables = Tables((await stand.get(PAYS)).text).of
    assert tables == {
        "progressive": rows(PROGRESSIVE_A),
        "five_card_hand_bonus": rows(HAND_BONUS),
        "five_card_progressive": rows(FIVE_CARD),
        "five_of_six_progressive": rows(FIVE_OF_SIX),
    }


@pytest.mark.duty("D1")
async def test_the_signage_says_which_hands_win_the_meter(stand: Stand) -> None:
    text = (await stand.get("/signage/tcp-main")).text
    for line in (
        "Wins: Mini-royal of spades 100%<",
        "Wins: Royal flush 100% · Straight flush 10%<",
        "Wins: Royal flush of spades 100% · Royal flush 25%<",
    ):
        assert line in text


async def test_a_link_that_there_is_not_is_refused(stand: Stand) -> None:
    response = await stand.get("/signage/nowhere/pays")
    assert response.status_code == 404
    assert "tcp-main, pit-2" in response.json()["error"]["message"]


@pytest.mark.duty("D1")
async def test_a_changed_paytable_is_shown_in_its_present_form(stand: Stand) -> None:
    stand.board.put_terms(with_paytable(stand, "B"))
    assert Tables((await stand.get(PAYS)).text).of["progressive"] == rows(PROGRESSIVE_B)


async def test_an_open_page_takes_the_change_by_itself(page: Page, stand: Stand) -> None:
    await page.goto(stand.url + PAYS)
    meter = page.locator('[data-meter="progressive"]')
    await expect(meter).to_contain_text("70 for 1")
    stand.board.put_terms(with_paytable(stand, "B"))
    await expect(meter).to_contain_text("90 for 1", timeout=20_000)


async def test_signage_takes_the_change_when_the_link_opens_again(page: Page, stand: Stand) -> None:
    stand.put(151_234, 5)
    await opened(page, stand)
    stand.keep_beating(tcp_main="closed")
    await expect(page.locator(f"{MAIN} .shut")).to_be_visible()
    link = stand.floor.link[0]
    other = msgspec.structs.replace(link.meter[3], id="progressive")
    stand.board.put_terms(msgspec.structs.replace(link, meter=(other, *link.meter[1:3])))
    stand.keep_beating()
    await expect(page.locator(f"{MAIN} .wins")).to_contain_text("Royal flush 25%", timeout=20_000)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
async def test_it_fits_and_axe_finds_nothing(
    browser: Browser, stand: Stand, width: int, height: int
) -> None:
    context = await browser.new_context(
        viewport={"width": width, "height": height}, bypass_csp=True
    )
    page = await context.new_page()
    await page.goto(stand.url + PAYS)
    assert await page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    results = await Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
    await context.close()
