"""The panel in the language of its dealer."""

from typing import Final

import httpx
import pytest
from playwright.async_api import Browser, Page, expect

from tests.browsers import check_fits
from tests.controllers.scripted import ScriptedService
from tests.panel.stand import KEY, Hand, PanelStand
from tests.panel.test_browser_round import JACKPOT
from tests.spoken import bracket, unsaid

LOCK_OUT: Final = {
    "es": "Cierre: no más apuestas",
    "zh-Hans": "封盘\N{FULLWIDTH COLON}停止下注",
    "vi": "Khóa cược: hết nhận cược",
}


async def names(panel: PanelStand) -> list[str]:
    """Return the names on the panel that are from the floor file, and cards as they are typed."""
    async with panel.client() as tablet:
        view = (await tablet.get("/api/v1/table")).json()
    wagers = [name for wager in view["wagers"] for name in (wager["name"], wager["short"])]
    meters = [meter["name"] for meter in view["meters"]]
    return [view["table"], view["link"], view["game"], *wagers, *meters, "Envy Bonus", "As Kd Qh"]


async def test_every_word_of_the_panel_is_said_in_the_dealers_language(
    hand: Hand, panel: PanelStand, service: ScriptedService, browser: Browser
) -> None:
    """Another tablet of the table shows it in a language of brackets."""
    service.settlement, service.draw = JACKPOT, {"magic_card": "Ts", "lucky_position": 3}
    other = await browser.new_page(viewport={"width": 1280, "height": 800})
    await bracket(other)
    await other.goto(f"{panel.url}/?key={KEY}")
    known = await names(panel)

    async def says_all(stage: str, *, opens: str = "", closes: str = "") -> None:
        await expect(other.locator(f'#main[data-stage="{stage}"]')).to_be_visible()
        if opens:
            await other.locator(f"{opens}:not([data-fresh])").click()
        assert await unsaid(other, *known) == [], (stage, opens)
        if closes:
            await other.locator(closes).click()

    await says_all("open")
    await service.meter(112_233, 1)
    await hand.wager("Position 3 5 of 6 Progressive", "Position 5 5 of 6 Progressive")
    await hand.wager("Position 5 Five Card Hand Bonus")
    await hand.touch("Lock-out: no more bets")
    await hand.count(1)
    await expect(other.locator(".differs")).to_be_visible()
    await says_all("locked", opens="#correct-ask", closes="#correct-keep")
    await hand.count(2)
    await says_all("dealt", opens="#void-ask", closes="#void-keep")
    await hand.type("Dealer's hand", "Js Ts 3d")
    await says_all("dealt", opens="#dealer-undo", closes="#undo-keep")
    await hand.type("Hand of position 5", "2h 7d 9c")
    await hand.type("Community cards", "2d 4c")
    await hand.type("Hand of position 3", "AsKsQs")
    await hand.touch("Settle the round")
    await expect(other.locator("[data-claim]")).to_be_visible()
    await other.locator(".why").first.click()
    await says_all("settled", opens="#lost-lines")
    await service.jackpot("C1", "validated")
    await service.jackpot("C1", "paid")
    await hand.touch("Next round")
    await says_all("open", opens="#last-settlement")
    await other.close()


async def test_a_dealer_chooses_the_language_of_the_tablet(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    """A void has its reason in English in the ledger, whatever the language."""
    for language, words in LOCK_OUT.items():
        await page.locator("select.language").select_option(language)
        await expect(page.locator("#lockout")).to_have_text(words)
        await expect(page.locator("html")).to_have_attribute("lang", language)
        await check_fits(page, 48, language)
    await page.reload()
    await expect(page.locator("#lockout")).to_have_text(LOCK_OUT["vi"])
    await page.locator("#light-3-progressive:not([data-fresh])").click()
    await page.locator("#lockout:enabled:not([data-fresh])").click()
    await page.locator("#void-ask:not([data-fresh])").click()
    await hand.touch("Chia bài sai", "Hủy ván")
    await expect(page.locator("#returned")).to_contain_text("Ván bị hủy: Chia bài sai")
    assert service.applied[-1]["reason"] == "Misdeal"


@pytest.mark.parametrize(
    ("asked", "spoken"), [("es-MX", "es"), ("zh-CN", "zh-Hans"), ("zh-TW", "en"), ("de-DE", "en")]
)
async def test_without_a_choice_the_panel_speaks_as_the_browser_does(
    panel: PanelStand, browser: Browser, asked: str, spoken: str
) -> None:
    context = await browser.new_context(locale=asked)
    page = await context.new_page()
    read: list[str] = []
    page.on("request", lambda request: read.append(request.url.rpartition("/")[2]))
    await page.goto(f"{panel.url}/?key={KEY}")
    await expect(page.locator("html")).to_have_attribute("lang", spoken)
    await expect(page.locator("#lockout")).to_be_visible()
    files = [] if spoken == "en" else [f"staff_{spoken}.json"]
    assert [name for name in read if name.endswith(".json")] == files
    await context.close()


async def test_a_panel_without_its_translations_speaks_english(
    panel: PanelStand, browser: Browser
) -> None:
    context = await browser.new_context(locale="vi-VN")
    page = await context.new_page()
    await page.route("**/staff_vi.json", lambda route: route.abort())
    await page.goto(f"{panel.url}/?key={KEY}")
    await expect(page.locator("#lockout")).to_have_text("Lock-out: no more bets")
    await expect(page.locator("html")).to_have_attribute("lang", "en")
    await context.close()


async def test_translations_are_kept_by_browsers_as_all_files_are(panel: PanelStand) -> None:
    async with httpx.AsyncClient(base_url=panel.url) as anybody, panel.client() as tablet:
        page = (await tablet.get("/")).text
        version = page.partition('data-version="')[2].partition('"')[0]
        answer = await anybody.get(f"/assets/{version}/staff_zh-Hans.json")
    assert answer.headers["content-type"] == "application/json"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.json()["hands"]["Royal flush"] == "皇家同花顺"
    assert "Approve" not in answer.json()["sentences"], "what only the floor page says"
