"""Players see what each hand wins of a meter (duty D1): on the signage, and at the table."""

import re
from collections.abc import AsyncIterator
from typing import Final

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from meters.floor.floor_file import Link
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.web.floor_hand import check_accessible
from tests.web.pays_tables import Tables
from tests.web.signage_page import MAIN, is_unavailable, opened, shows, standing
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
        table_text("TCP-01", "progressive", "five_of_six_progressive"),
        name="Three Card Poker Jackpot",
    ),
    link_text("pit-2", meter_text("progressive", 500), name="Pit 2"),
    service={"hosts": ["pit.example"]},
    name="Keystone <Casino> & Resort",
)  # fmt: skip

# According to 649a.12(e)(1) and (5), (i)(1) and (3), (h)(1) and (5) for $1 and $5, and (j)(1) and
# (5) for $5.
PROGRESSIVE_A: Final = """
Mini-royal of spades | 100% of the meter | $100
Mini-royal | $500 | $25
Straight flush | $70 |
Three of a kind | $60 |
Straight | $6 |
"""
PROGRESSIVE_B: Final = """
Mini-royal of spades | 100% of the meter | $100
Mini-royal | $500 | $25
Straight flush | $100 |
Three of a kind | $90 |
"""
HAND_BONUS: Final = """
Royal flush | 100% of the meter
Straight flush | 10% of the meter
Four of a kind | $2,500
Full house | $500
Flush | $250
Magic Card | $100
Lucky Bonus | $25
"""
FIVE_CARD: Final = """
Royal flush | 100% of the meter | $1,000
Straight flush | 10% of the meter | $300
Four of a kind | $300 |
Full house | $50 |
Flush | $40 |
Straight | $30 |
Three of a kind | $9 |
"""
FIVE_OF_SIX: Final = """
Royal flush of spades | 100% of the meter | $500
Royal flush | 25% of the meter | $250
Straight flush | $1,250 |
Four of a kind | $500 |
Full house | $100 |
Flush | $50 |
Straight | $25 |
"""

TIERS: Final = ("keystone_mega", "keystone_major", "keystone_minor")
HOUSE_FLOOR: Final = floor_text(
    link_text(
        "tcp-main",
        *(meter_text(kind) for kind in TIERS),
        table_text("KS-1", *TIERS, game="keystone_stud"),
        table_text("RD-1", *TIERS, game="river_duel"),
    ),
    games=str(HOUSE),
)
# In River Duel, a royal flush of spades is paid as any royal flush.
STUD_AND_DUEL_MEGA: Final = """
Royal flush of spades | 100% of the meter + $1,000 | $200 | 100% of the meter
Royal flush | 50% of the meter | $100 | 100% of the meter
Four of a kind | $25 | |
Full house | | | $20
Flush | $15 | | $15
Straight | $10 | |
Three of a kind | $3 | |
"""

METERS: Final = (
    "progressive", "five_card_hand_bonus", "five_card_progressive", "five_of_six_progressive",
)  # fmt: skip
PAYS: Final = "/signage/tcp-main/pays"


def rows(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest_asyncio.fixture(loop_scope="session")
async def stand() -> AsyncIterator[Stand]:
    async with standing(floor=EVERY_METER) as stand:
        yield stand


@pytest_asyncio.fixture(loop_scope="session")
async def house_stand() -> AsyncIterator[Stand]:
    async with standing(floor=HOUSE_FLOOR) as stand:
        yield stand


def with_paytable(stand: Stand, paytable: str) -> Link:
    """Return the first link after a change of its paytable."""
    link = stand.floor.link[0]
    meter = msgspec.structs.replace(link.meter[0], paytable=paytable)
    return msgspec.structs.replace(link, meter=(meter, *link.meter[1:]))


@pytest.mark.duty("D1")
@pytest.mark.section("649a.12(e)(1)", "649a.2(b)(7)")
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
        "Wins: Royal flush 100%; Straight flush 10%<",
        "Wins: Royal flush of spades 100%; Royal flush 25%<",
    ):
        assert line in text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.duty("D1")
async def test_a_table_s_page_shows_only_what_the_table_offers(stand: Stand) -> None:
    text = (await stand.get(f"{PAYS}/TCP-01")).text
    assert Tables(text).of == {
        "progressive": rows(PROGRESSIVE_A),
        "five_of_six_progressive": rows(FIVE_OF_SIX),
    }
    assert "Table TCP-01" in text


@pytest.mark.duty("D1")
async def test_games_that_pay_differently_are_named_on_the_page_of_their_link(
    house_stand: Stand,
) -> None:
    page = (await house_stand.get(PAYS)).text
    tables = Tables(page).of
    assert tables["keystone_mega"] == rows(STUD_AND_DUEL_MEGA)
    assert tables["keystone_minor"] == [
        "Four of a kind | 100% of the meter | 100% of the meter",
        "Full house | 10% of the meter |",
    ]
    heads = re.findall(r"<thead>.*?</thead>", page)
    assert [re.findall(r"<th [^>]*>([^<]*)", head) for head in heads] == [
        ["Hand", "Keystone Stud", "Envy Bonus", "River Duel"],
        ["Hand", "Keystone Stud", "River Duel"],
        ["Hand", "Keystone Stud", "River Duel"],
    ]
    text = (await house_stand.get("/signage/tcp-main")).text.replace("\N{NO-BREAK SPACE}", " ")
    assert (
        ">Keystone Stud: Royal flush of spades 100%; Royal flush 50%\nRiver Duel: Royal flush 100%<"
    ) in text


async def test_a_link_or_a_table_that_there_is_not_is_refused_with_those_that_are(
    stand: Stand,
) -> None:
    for path, known in (
        ("/signage/nowhere/pays", "tcp-main, pit-2"),
        (f"{PAYS}/TCP-02", "link tcp-main has no table TCP-02: its tables are TCP-01"),
    ):
        response = await stand.get(path)
        assert response.status_code == 404
        assert known in response.json()["error"]["message"]


@pytest.mark.slow
@pytest.mark.duty("D1")
async def test_the_meter_on_the_page_moves_and_is_never_old(page: Page, stand: Stand) -> None:
    stand.put(151_234, 5)
    await page.goto(stand.url + PAYS)
    await shows(page, "$1,512.34")
    stand.put(151_259, 6)
    await shows(page, "$1,512.59")
    stand.keep_beating(tcp_main="inoperable")
    await is_unavailable(page)


async def test_a_touch_shows_the_next_paytable(browser: Browser, stand: Stand) -> None:
    """On a small screen, the meters take turns."""
    page = await browser.new_page(viewport={"width": 800, "height": 480})
    await page.goto(stand.url + PAYS)
    for meter in (*METERS, METERS[0]):
        await expect(page.locator(".meter:visible")).to_have_attribute("data-meter", meter)
        await page.locator(".floor").click()


@pytest.mark.duty("D1")
async def test_a_changed_paytable_is_shown_in_its_present_form(page: Page, stand: Stand) -> None:
    """An open page takes the change by itself."""
    await page.goto(stand.url + PAYS)
    meter = page.locator('[data-meter="progressive"]')
    await expect(meter).to_contain_text("$70")
    stand.board.put_terms(with_paytable(stand, "B"))
    assert Tables((await stand.get(PAYS)).text).of["progressive"] == rows(PROGRESSIVE_B)
    await expect(meter).to_contain_text("$90", timeout=20_000)


async def test_signage_takes_the_change_when_the_link_opens_again(page: Page, stand: Stand) -> None:
    stand.put(151_234, 5)
    await opened(page, stand)
    stand.keep_beating(tcp_main="closed")
    await expect(page.locator(f"{MAIN} .shut")).to_be_visible()
    link = stand.floor.link[0]
    other = msgspec.structs.replace(link.meter[3], id="progressive")
    stand.board.put_terms(msgspec.structs.replace(link, meter=(other, *link.meter[1:3])))
    stand.keep_beating()
    await expect(page.locator(f"{MAIN} .wins")).to_contain_text(
        "Royal flush\N{NO-BREAK SPACE}25%", timeout=20_000
    )


@pytest.mark.slow
@pytest.mark.parametrize("floor", [EVERY_METER, HOUSE_FLOOR], ids=["chapter", "house"])
async def test_it_fits_and_axe_finds_nothing(browser: Browser, floor: str) -> None:
    async with standing(floor=floor) as stand:
        page = await browser.new_page(bypass_csp=True)
        for width, height in ((1280, 800), (390, 844)):
            await page.set_viewport_size({"width": width, "height": height})
            await page.goto(stand.url + PAYS)
            assert await page.evaluate(
                "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            )
            await check_accessible(page)
        await page.close()
