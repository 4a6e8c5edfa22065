"""A whole jackpot on real parts and in a real browser: it is rejected, then won again and paid."""

import io
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Browser, Locator, Page, ViewportSize, expect
from pypdf import PdfReader

from tests.browsers import sees
from tests.mqtt.stand import Stand
from tests.panel.stand import Hand
from tests.panel.test_real import opened, paneled
from tests.servers import free_port
from tests.staff import Colleague, hire
from tests.waiting import LONG_S
from tests.web.floor_hand import answer, go, press, type_sign_in

ARTEFACTS: Final = Path(__file__).resolve().parents[2] / "test-artefacts" / "journey"

TABLE: Final = "S-1"
SEED: Final = "$10,000.00"
BACK: Final = "$10,000.56"
"""The seed, and 28% of two wagers of a dollar (649a.12(j)(3))."""

WON: Final = "$20,001.12"
"""The seed, what was rejected, and 28% of two more."""


class Screens:
    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._taken = 0
        self.errors: list[str] = []

    async def page(self, width: int, height: int, address: str = "about:blank") -> Page:
        context = await self._browser.new_context(viewport=ViewportSize(width=width, height=height))
        page = await context.new_page()
        page.set_default_timeout(LONG_S * 1_000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        await page.goto(address)
        return page

    async def take(self, page: Page, what: str) -> None:
        self._taken += 1
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        await page.screenshot(path=ARTEFACTS / f"{self._taken:02}-{what}.png")


async def deal_a_royal_flush(dealer: Hand) -> None:
    """Play the 5 of 6 with two players; position 3 makes a royal flush with the dealer."""
    await dealer.lock(2)
    await dealer.type("Dealer's hand", "Js Ts 3d")
    await dealer.type("Hand of position 5", "2h 7d 9c")
    await dealer.type("Hand of position 3", "As Ks Qs")


def waiting(page: Page) -> Locator:
    return page.locator(".list .row").filter(has_text=TABLE)


@pytest.mark.section("649a.11(c)(9)")
async def test_jackpot_is_rejected_and_then_won_validated_paid_and_the_table_released(
    browser: Browser, tmp_path: Path
) -> None:
    with Stand(tmp_path) as stand, paneled(stand.service, free_port()) as (table, address):
        url, screens = stand.service.url, Screens(browser)
        for name in ("Flo", "Fred"):
            hire(stand.service.config, name, "floorperson")
            Colleague(url, name)  # chooses their own PIN
        wall = await screens.page(1920, 1080, f"{url}/signage/main")
        dealer = await opened(await screens.page(1280, 800), address)
        flo = await screens.page(1024, 768, f"{url}/floor")
        fred = await screens.page(390, 844, f"{url}/floor")
        for page, name in ((flo, "Flo"), (fred, "Fred")):
            await type_sign_in(page, name)
            await expect(page.locator(".who")).to_contain_text(name)
        meter = wall.locator('[data-meter="five_of_six_progressive"] .amount')
        at_table = dealer.page.locator('[data-meter="five_of_six_progressive"]')
        note = wall.locator(".note").filter(has_text=TABLE)
        card, his = waiting(flo), waiting(fred)
        pane, his_pane = (page.locator(".detail.win") for page in (flo, fred))
        held = dealer.page.get_by_text("HELD")
        await expect(meter).to_have_attribute("aria-label", SEED)
        await screens.take(wall, "wall-before")

        await dealer.wager("Position 3 5 of 6 Progressive", "Position 5 5 of 6 Progressive")
        await deal_a_royal_flush(dealer)
        await expect(at_table).to_contain_text(BACK)
        await dealer.touch("Settle the round")
        await expect(note).to_contain_text(BACK)
        await card.get_by_role("link").click()
        await press(pane, "Reject")
        await flo.get_by_label("Hand misread").check()
        await flo.get_by_label("The hand was not as entered").check()
        await screens.take(flo, "floor-reject")
        await answer(flo, f"Reject {BACK}")
        await expect(card).to_have_count(0)

        # The amount is back on the meter, in addition to the reseed, which stays.
        await expect(meter).to_have_attribute("aria-label", "$20,000.56")
        await expect(note).to_have_count(0)
        await screens.take(wall, "wall-after")
        await expect(dealer.page.get_by_text("Do not pay").first).to_be_visible()
        await expect(held).to_have_count(0)
        await dealer.touch("Next round", "Same as last round")
        await dealer.shows_lit("Position 5 5 of 6 Progressive")

        # The claim stays in the history, with person and reason.
        await go(flo, "Wins")
        rejected = flo.locator(".wins .row").filter(has_text=BACK)
        await expect(rejected).to_contain_text("Rejected")
        await screens.take(flo, "floor-history")
        await go(flo, "Inbox")

        # The signage shows the jackpot immediately, then the pending win next to the meter's new
        # value (duty D8).
        await deal_a_royal_flush(dealer)
        await expect(at_table).to_contain_text(WON)
        await dealer.touch("Settle the round")
        await expect(wall.get_by_text(WON).first).to_be_visible()
        await screens.take(wall, "wall-hit")
        await expect(note).to_contain_text(WON)
        await expect(meter).to_have_attribute("aria-label", SEED)

        # The table is held, and the dealer sees why, and whom to pay.
        await expect(held.first).to_be_visible()
        await expect(at_table).to_contain_text("A win is pending")
        for text in ("649a.11(c)(9)(iv)", "5 of 6 Envy Bonus"):
            await expect(dealer.page.get_by_text(text).first).to_be_visible()
        await screens.take(dealer.page, "panel-held")

        # The floor page shows the claim without a reload, with the evidence.
        await sees(card, WON, "Royal flush", "Envy $100.00")
        claim = await card.get_attribute("data-claim")
        await sees(pane, WON, "they wait for the decision on the win", "2 value chips")
        await expect(pane.locator("[data-mark=in]")).to_have_count(5)
        await expect(
            pane.get_by_role("img", name="three of diamonds, not in the winning hand")
        ).to_be_visible()
        await screens.take(flo, "floor-waiting")
        await press(pane, "Validate")

        # The person who validated does not pay (duty D4).
        await sees(pane, "You validated it: another person must pay it.")
        await expect(pane.locator(".pay-form")).to_have_count(0)
        await expect(note).to_contain_text("verified")
        await screens.take(wall, "wall-validated")
        await expect(held.first).to_be_visible()
        await his.get_by_role("link").click()
        await fred.get_by_label("Number of the payout slip").fill("HP-0042")
        await fred.get_by_text("Not yet").click()
        await screens.take(fred, "floor-pay")
        await press(his_pane, f"Paid {WON}")
        await sees(fred.locator(".receipt"), f"Paid {WON}, slip HP-0042")
        await expect(his_pane.locator(".chip")).to_have_text("Envy to be paid")
        await press(his_pane, "Envy paid")
        await answer(fred, "Paid $100.00")
        await sees(his_pane, "Envy Bonuses: paid by Fred")
        await expect(his).to_have_count(0)
        await expect(card).to_have_count(0)

        # The hold ends, the meter has reseeded, and the dealer pays the Envy Bonus.
        await expect(held).to_have_count(0)
        envy = dealer.page.locator(".line").filter(has_text="5 of 6 Envy Bonus")
        await expect(envy).to_contain_text("$100.00")
        await screens.take(dealer.page, "panel-released")
        await dealer.touch("Next round", "Same as last round")
        await dealer.shows_lit("Position 5 5 of 6 Progressive")
        await expect(meter).to_have_attribute("aria-label", SEED)

        slip = await flo.request.get(f"{url}/api/v1/claims/{claim}/slip.pdf")
        (page_of_it,) = PdfReader(io.BytesIO(await slip.body())).pages
        text = page_of_it.extract_text()
        for fact in (TABLE, WON, "HP-0042", "Flo", "Fred", "Royal flush"):
            assert fact in text, fact
        assert screens.errors == []
        assert table.stop() == 0
        assert stand.service.audit()["balanced"]
