"""A fixed jackpot on signage: shown like a meter, with an amount that never moves (duty D8)."""

from typing import Final

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from meters.floor.floor_file import Link
from meters.web.display_state import WinningHand
from tests.browsers import faultless_page
from tests.floor_text import floor_text, link_text, meter_text, section_text, table_text
from tests.web.conftest import Sides
from tests.web.events import listening
from tests.web.signage_page import ALONE, as_time_passes, is_unavailable, opened, shows
from tests.web.stand import Stand, jackpot

BOX: Final = '[data-link="tcp-main"] [data-meter="mini_royal"]'
NOTE: Final = f"{BOX} .note"
WINS: Final = f"{BOX} .wins"
FIXED: Final = floor_text(
    link_text(
        "tcp-main",
        meter_text("progressive", 500),
        section_text(
            "[[link.fixed_jackpot]]",
            name="Mini Royal Jackpot",
            meter="progressive",
            hand="mini_royal",
        ),
        table_text("TCP-03", "progressive"),
        name="Three Card Poker",
    ),
    service={"hosts": ["pit.example"]},
)


def _with_wager(link: Link, wager: int) -> Link:
    meters = tuple(msgspec.structs.replace(meter, wager=wager) for meter in link.meter)
    return msgspec.structs.replace(link, meter=meters)


@pytest_asyncio.fixture(loop_scope="session")
async def fixed(sides: Sides) -> Stand:
    stand = await sides(FIXED)
    stand.displays.put_terms(stand.floor.link[0])
    stand.put(512_362, 5)
    return stand


def _win(stand: Stand, event: str = "hit", claim: str = "c1", **changed: object) -> None:
    won = {"hand": "mini_royal", "amount": 250_000, "meter_after": 512_362} | changed
    hand = WinningHand(("Ah", "Kh", "Qh"), None, "mini_royal")
    stand.displays.put_jackpot("tcp-main", jackpot(event, claim, **won), hand)


async def test_a_box_has_its_name_hand_and_amount(page: Page, fixed: Stand) -> None:
    await opened(page, fixed, "/signage/tcp-main")
    await shows(page, "$2,500", BOX)
    await expect(page.locator(f"{BOX} h3")).to_have_text("Mini Royal Jackpot")
    await expect(page.locator(WINS)).to_have_text("Mini-royal fixed amount")
    await expect(page.locator(WINS)).to_be_visible()
    await expect(page.locator(".meter")).to_have_count(2)


async def test_its_amount_never_moves_with_its_meter(page: Page, fixed: Stand) -> None:
    """A win that the meter waits for is no win of the fixed jackpot either."""
    await opened(page, fixed, "/signage/tcp-main")
    fixed.put(100_000, 6, cycle=2, state="pending")
    await shows(page, "$1,000.00")
    await expect(page.locator('[data-meter="progressive"] .note')).to_be_visible()
    await shows(page, "$2,500", BOX)
    await expect(page.locator(NOTE)).to_be_hidden()


async def test_its_win_is_celebrated_and_then_verified(page: Page, fixed: Stand) -> None:
    await opened(page, fixed, "/signage/tcp-main")
    _win(fixed)
    celebration = page.locator(".celebration")
    await expect(celebration).to_be_visible()
    await expect(celebration.locator(".face b")).to_have_text(["Q", "K", "A"])
    await expect(celebration.locator(".celebration-hand")).to_have_text("Mini-royal")
    await expect(celebration.locator(".amount")).to_have_attribute("aria-label", "$2,500.00")
    where = celebration.locator(".celebration-where")
    await expect(where).to_have_text("Table TCP-03 wins the Mini Royal Jackpot")
    await expect(celebration.locator(".pending")).to_have_text("Verifying")
    await expect(page.locator(NOTE)).to_have_text("Table TCP-03 won $2,500.00 verifying")
    await expect(page.locator('[data-meter="progressive"] .note')).to_have_text(" ")
    _win(fixed, "validated")
    await expect(celebration).to_have_attribute("data-state", "verified")
    await expect(page.locator(NOTE)).to_have_text("Table TCP-03 won $2,500.00 verified")
    await shows(page, "$2,500", BOX)


async def test_a_rejected_win_is_gone(page: Page, fixed: Stand) -> None:
    await opened(page, fixed, "/signage/tcp-main")
    _win(fixed)
    await expect(page.locator(".celebration")).to_be_visible()
    _win(fixed, "rejected")
    await expect(page.locator(".celebration")).to_be_hidden()
    await expect(page.locator(NOTE)).to_be_hidden()


async def test_a_small_win_has_only_the_ribbon(page: Page, sides: Sides) -> None:
    small = FIXED + section_text("[signage]", celebrate_from=250_001)
    stand = await sides(small)
    stand.displays.put_terms(stand.floor.link[0])
    stand.put(512_362, 5)
    await opened(page, stand, "/signage/tcp-main")
    _win(stand)
    ribbon = page.locator(".ribbon")
    await expect(ribbon.locator(".ribbon-tier")).to_have_text("Mini Royal Jackpot")
    await expect(ribbon.locator(".ribbon-amount")).to_have_text("$2,500.00")
    await expect(page.locator(".celebration")).to_be_hidden()


@pytest.mark.duty("D14")
@pytest.mark.parametrize("path", ["/signage", "/signage/tcp-main?meter=mini_royal&transparent"])
async def test_it_disappears_as_meters_do_and_comes_back(
    page: Page, fixed: Stand, path: str
) -> None:
    await opened(page, fixed, path)
    await shows(page, "$2,500", BOX)
    fixed.keep_beating(tcp_main="inoperable")
    await is_unavailable(page, BOX)
    fixed.keep_beating()
    await shows(page, "$2,500", BOX)
    fixed.put(512_362, 6, state="inoperable")
    await is_unavailable(page, BOX)
    fixed.put(512_362, 7)
    await shows(page, "$2,500", BOX)
    await fixed.stop()
    await is_unavailable(page, BOX)


async def test_with_its_closed_link_it_is_unlit(page: Page, fixed: Stand) -> None:
    await opened(page, fixed, "/signage/tcp-main")
    fixed.keep_beating(tcp_main="closed")
    await expect(page.locator(BOX)).to_have_attribute("data-state", "closed")


async def test_a_page_with_another_amount_than_the_tables_pay_is_loaded_again(
    page: Page, fixed: Stand
) -> None:
    """People can change the wager or the paytable of a meter while its link is closed."""
    await page.add_init_script(ALONE)
    await opened(page, fixed, "/signage/tcp-main")
    await shows(page, "$2,500", BOX)
    fixed.displays.put_terms(_with_wager(fixed.floor.link[0], 100))
    await expect(page.locator(f"{BOX} .amount")).to_have_attribute("aria-label", "$500")
    (other,) = fixed.floor.link[0].fixed_jackpot
    other = msgspec.structs.replace(other, hand="mini_royal_spades")  # it wins the meter
    link = msgspec.structs.replace(fixed.floor.link[0], fixed_jackpot=(other,))
    fixed.displays.put_terms(link)
    await expect(page.locator(BOX)).to_have_count(0)


@pytest.mark.parametrize(
    ("lang", "words"), [("es", "importe fijo"), ("vi", "số tiền cố định"), ("zh-Hans", "金额不变")]
)
async def test_the_words_of_the_box_are_in_each_language(
    sides: Sides, lang: str, words: str
) -> None:
    stand = await sides(FIXED)
    stand.displays.put_terms(stand.floor.link[0])
    stand.put(512_362, 5)
    page = (await stand.get(f"/signage/tcp-main?lang={lang}")).text
    assert words in page


@pytest.mark.parametrize(
    ("width", "height"), [(1920, 1080), (1080, 1920), (1280, 720), (800, 480), (640, 180)]
)
async def test_a_box_fits_every_size(
    browser: Browser, fixed: Stand, width: int, height: int
) -> None:
    path = "/signage/tcp-main"
    if height < 400:
        path += "?meter=mini_royal&transparent"
    async with faultless_page(browser, width, height) as page:
        await opened(page, fixed, path)
        await shows(page, "$2,500", BOX)
        inside = await page.locator(BOX).bounding_box()
        amount = await page.locator(f"{BOX} .amount").bounding_box()
        assert inside is not None
        assert amount is not None
        assert inside["x"] <= amount["x"]
        assert amount["x"] + amount["width"] <= inside["x"] + inside["width"]
        assert inside["y"] <= amount["y"]
        assert amount["y"] + amount["height"] <= inside["y"] + inside["height"] <= height


async def test_the_stream_has_the_fixed_jackpots_and_no_meter_for_them(fixed: Stand) -> None:
    async with listening(fixed.url) as events:
        found = (await events.next_of("fixed_jackpots")).data
        assert found == {
            "link": "tcp-main",
            "jackpots": [{
                "jackpot": "mini_royal", "name": "Mini Royal Jackpot", "meter": "progressive",
                "hand": "mini_royal", "hand_name": "Mini-royal", "wager": 500, "amount": 250_000,
            }],
        }  # fmt: skip
        _win(fixed)
        won = (await events.next_of("jackpot")).data
        assert (won["fixed_jackpot"], won["meter"], won["percent"], won["amount"]) == (
            "mini_royal", "progressive", None, 250_000,
        )  # fmt: skip
    meters = (await fixed.get("/api/v1/meters")).json()
    assert [each["meter"] for each in meters] == ["progressive"]


async def test_other_systems_read_it_like_a_meter_while_it_is_current(fixed: Stand) -> None:
    asked = "/signage/tcp-main/meter.json?meter=mini_royal"
    found = (await fixed.get(asked)).json()
    assert (found["name"], found["amount"], found["text"], found["state"]) == (
        "Mini Royal Jackpot", 250_000, "$2,500.00", "live",
    )  # fmt: skip
    fixed.hush()
    fixed.beat("tcp-main", "inoperable")
    found = (await fixed.get(asked)).json()
    assert (found["amount"], found["text"], found["state"]) == (None, "", "unavailable")
    assert (await fixed.get("/signage/tcp-main/meter.json")).json()["meter"] == "progressive"
    listed = (await fixed.get("/signage?preview")).text
    assert "/signage/tcp-main?meter=mini_royal" in listed


async def test_a_preview_celebrates_it(page: Page, fixed: Stand) -> None:
    await page.clock.install()
    await page.add_init_script(ALONE)
    await page.goto(f"{fixed.url}/signage/tcp-main?preview=hit")
    await expect(page.locator(BOX)).to_have_attribute("data-example", "Example")
    where = page.locator(".celebration-where")

    async def celebrated() -> bool:
        return "Mini Royal" in "".join(await where.all_text_contents())

    await as_time_passes(page, celebrated, "the second win", step_ms=10)
