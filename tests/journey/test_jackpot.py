"""A whole jackpot on real parts and in a real browser, and the same with a rejection."""

import io
import json
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect
from pypdf import PdfReader

from tests.journey.pit import TABLE, Pit, Screens, open_pit
from tests.panel.stand import Hand
from tests.processes import run_pitlink

SEED = "$10,000.00"
WON = "$10,000.56"
"""The seed, and 28% of two wagers of a dollar (649a.12(j)(3))."""


def meter(page: Page) -> Locator:
    """Return the amount of the 5 of 6 Progressive on the signage."""
    return page.locator('[data-meter="five_of_six_progressive"] .amount')


async def deal_a_royal_flush(dealer: Hand) -> None:
    """Play the 5 of 6 with two players; position 3 makes a royal flush with the dealer."""
    await dealer.wager("Position 3 5 of 6 Progressive", "Position 5 5 of 6 Progressive")
    await dealer.lock(2)
    await dealer.type("Dealer's hand", "Js Ts 3d")
    await dealer.type("Hand of position 5", "2h 7d 9c")
    await dealer.type("Hand of position 3", "As Ks Qs")


def balanced(pit: Pit) -> bool:
    done = run_pitlink("audit", "--json", "--config", str(pit.config))
    return bool(json.loads(done.stdout)["balanced"])


@pytest.mark.section("649a.11(c)(9)")
async def test_jackpot_is_won_validated_paid_and_the_table_released(
    browser: Browser, tmp_path: Path
) -> None:
    async with open_pit(tmp_path) as pit:
        screens = Screens(browser, pit, "paid")
        wall, dealer = await screens.wall(), await screens.panel()
        flo = await screens.floor("Flo", 1024, 768)
        fred = await screens.floor("Fred", 390, 844)
        await expect(meter(wall)).to_have_attribute("aria-label", SEED)
        await screens.take(wall, "wall-before")

        await deal_a_royal_flush(dealer)
        at_table = dealer.page.locator('[data-meter="five_of_six_progressive"]')
        await expect(at_table).to_contain_text(WON)
        await screens.take(dealer.page, "panel-dealt")
        await dealer.touch("Settle the round")

        # The signage shows the jackpot immediately, then the pending win next to the meter's new
        # value (duty D8).
        await expect(wall.get_by_text(WON).first).to_be_visible()
        await screens.take(wall, "wall-hit")
        await expect(wall.locator(".note").filter(has_text=TABLE)).to_contain_text(WON)
        await expect(meter(wall)).to_have_attribute("aria-label", SEED)

        # The table is held, and the dealer sees why, and whom to pay.
        await expect(dealer.page.get_by_text("HELD").first).to_be_visible()
        await expect(at_table).to_contain_text("A win is pending")
        await expect(dealer.page.get_by_text("649a.11(c)(9)(iv)").first).to_be_visible()
        await expect(dealer.page.get_by_text("5 of 6 Envy Bonus").first).to_be_visible()
        await screens.take(dealer.page, "panel-held")

        # The floor page shows the claim without a reload, with the evidence.
        card = flo.locator(".claim").filter(has_text=TABLE)
        await expect(card).to_have_count(1)
        await expect(card).to_contain_text(WON)
        await expect(card).to_contain_text("Royal flush")
        await expect(card).to_contain_text("owed once the win is decided")
        await expect(card).to_contain_text("Tax documents are needed")
        await expect(card.get_by_role("img", name="ace of spades")).to_be_visible()
        await screens.take(flo, "floor-waiting")
        await card.get_by_role("button", name="Validate").click()
        await flo.get_by_role("button", name=f"Validate {WON}").click()

        # The person who validated does not pay (duty D4).
        await expect(card).to_contain_text("You validated it: another person must pay it.")
        await expect(card.get_by_role("button", name="Pay: Table")).to_be_disabled()
        await expect(wall.locator(".note").filter(has_text=TABLE)).to_contain_text("Validated")
        await screens.take(wall, "wall-validated")
        await expect(dealer.page.get_by_text("HELD").first).to_be_visible()
        await screens.take(dealer.page, "panel-validated")

        his = fred.locator(".claim").filter(has_text=TABLE)
        await his.get_by_role("button", name="Pay").click()
        await fred.get_by_label("Number of the payout slip").fill("HP-0042")
        await fred.get_by_text("Not yet").click()
        await screens.take(fred, "floor-pay")
        await fred.get_by_role("button", name=f"Paid {WON}").click()
        await expect(his.locator(".chip")).to_have_text("Envy to be paid")
        await his.get_by_role("button", name="Envy paid").click()
        await fred.locator("dialog[open]").get_by_role("button", name="Paid $100.00").click()
        await expect(his).to_have_count(0)
        await expect(card).to_have_count(0)

        # The hold ends, the meter has reseeded, and the dealer pays the Envy Bonus.
        await expect(dealer.page.get_by_text("HELD")).to_have_count(0)
        await expect(dealer.button("Next round")).to_be_enabled()
        envy = dealer.page.locator(".line").filter(has_text="5 of 6 Envy Bonus")
        await expect(envy).to_contain_text("$100.00")
        await screens.take(dealer.page, "panel-released")
        await dealer.touch("Next round", "Same as last round")
        await dealer.shows_lit("Position 5 5 of 6 Progressive")
        await expect(meter(wall)).to_have_attribute("aria-label", SEED)

        slip = await flo.request.get(f"{pit.url}/api/v1/claims/tcp-one.{TABLE}-2-1/slip.pdf")
        pages = PdfReader(io.BytesIO(await slip.body())).pages
        assert len(pages) == 1
        text = pages[0].extract_text()
        for fact in (TABLE, "104201", WON, "HP-0042", "Flo", "Fred", "Royal flush"):
            assert fact in text, fact
        screens.check_no_errors()
        assert balanced(pit)


@pytest.mark.slow
async def test_jackpot_that_is_rejected_goes_back_to_the_meter(
    browser: Browser, tmp_path: Path
) -> None:
    async with open_pit(tmp_path) as pit:
        screens = Screens(browser, pit, "rejected")
        wall, dealer = await screens.wall(), await screens.panel()
        flo = await screens.floor("Flo", 800, 1280)
        fred = await screens.floor("Fred", 390, 844)
        await deal_a_royal_flush(dealer)
        await dealer.touch("Settle the round")
        await expect(wall.locator(".note").filter(has_text=TABLE)).to_contain_text(WON)
        card = flo.locator(".claim").filter(has_text=TABLE)
        await card.get_by_role("button", name="Reject").click()
        await flo.get_by_label("Hand misread").check()
        await flo.get_by_label("The hand was not as entered").check()
        await screens.take(flo, "floor-reject")
        await flo.get_by_role("button", name=f"Request rejection of {WON}").click()

        # A second person confirms the rejection of a hand pay (duty D4).
        await expect(card.get_by_role("button", name="Confirm rejection")).to_be_disabled()
        his = fred.locator(".claim").filter(has_text=TABLE)
        await his.get_by_role("button", name="Confirm rejection").click()
        await screens.take(fred, "floor-confirm")
        await fred.get_by_role("button", name=f"Reject {WON}").click()
        await expect(card).to_have_count(0)

        # The amount is back on the meter, in addition to the reseed, which stays.
        await expect(meter(wall)).to_have_attribute("aria-label", "$20,000.56")
        await expect(wall.locator(".note").filter(has_text=TABLE)).to_have_count(0)
        await screens.take(wall, "wall-after")
        await expect(dealer.page.get_by_text("Do not pay").first).to_be_visible()
        await expect(dealer.page.get_by_text("HELD")).to_have_count(0)
        await screens.take(dealer.page, "panel-after")
        await dealer.touch("Next round")

        # The claim stays in the history, with person and reason.
        await flo.get_by_role("link", name="Wins").or_(flo.get_by_role("tab", name="Wins")).click()
        await expect(
            flo.get_by_role("button", name=f"{WON} Royal flush of spades")
        ).to_contain_text("Rejected")
        await screens.take(flo, "floor-history")
        screens.check_no_errors()
        assert balanced(pit)
