"""The panel while a floorperson is asked to confirm a correction."""

import pytest
from playwright.async_api import Browser, Page, expect

from tests.controllers.scripted import ScriptedService
from tests.panel.stand import Hand, PanelStand

pytestmark = pytest.mark.duty("D17")


async def void_after_cards(hand: Hand, service: ScriptedService) -> None:
    service.confirming = True
    await hand.wager("Position 3 Progressive")
    await hand.lock(1)
    await hand.type("Dealer's hand", "2c 3c 4c")
    await hand.void()
    await hand.says("Waiting for a floorperson")


async def test_the_panel_waits_and_goes_on_by_itself(
    hand: Hand, service: ScriptedService, page: Page, browser: Browser, panel: PanelStand
) -> None:
    """The request is withdrawn on another tablet, then refused with who and why, then confirmed."""
    again = hand.button("Void the round…")
    await void_after_cards(hand, service)
    other = Hand(await browser.new_page(), panel.url)
    await other.open()
    await other.says("Waiting for a floorperson")
    await other.touch("Withdraw the request")
    await expect(again).to_be_enabled()
    await expect(page.locator("#refusal")).to_have_count(0)
    assert service.applied[-1]["type"] == "withdrawal"
    await hand.void()
    await hand.says("Waiting for a floorperson")
    service.decided = "refused"
    await expect(page.locator("#refusal")).to_contain_text("Ada refused this correction: Deal on")
    await expect(again).to_be_enabled()
    await hand.void()
    await hand.says("Waiting for a floorperson")
    await hand.says("Reason: Misdeal")
    await expect(page.locator("#toast")).to_be_hidden()
    await expect(page.locator("#main button:enabled")).to_have_count(1)
    assert service.applied[-1]["confirm"] is True
    service.decided = "confirmed"
    await expect(page.locator("#returned")).to_contain_text("The round is void: Misdeal")


@pytest.mark.slow
async def test_a_hand_entered_differently_waits_too(hand: Hand, service: ScriptedService) -> None:
    service.confirming = True
    await hand.wager("Position 3 Progressive")
    await hand.lock(1)
    await hand.type("Dealer's hand", "2c 3c 4c")
    await hand.type("Hand of position 3", "As Ks Qs")
    await hand.take_back("Position 3 undo hand")
    await hand.touch("Position 3 hand")
    await hand.type("Hand of position 3", "9h 7h 2s")
    await hand.touch("Settle the round")
    await hand.says("Waiting for a floorperson")
    await hand.says("Hands were entered differently before.")
    service.decided = "confirmed"
    await hand.says("Settlement of round R1")


@pytest.mark.slow
async def test_one_wrong_light_is_taken_back_and_the_round_goes_on(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    await hand.wager("Position 3 Progressive", "Position 5 Progressive")
    await hand.lock(1)
    await hand.says("You counted 1. 2 chip wagers were accepted.")
    await hand.touch("Correct a wager…")
    await hand.says("If a light is at the wrong position, add the right wager first.")
    await expect(hand.button("Ask the floorperson")).to_be_disabled()
    which = page.locator("#correct-which")
    await expect(which.locator("optgroup").nth(0).locator("option")).to_have_count(2)
    await expect(which).not_to_contain_text("Hand Bonus")
    await which.select_option(label="Position 5: Progressive")
    await page.locator("#correct-why").select_option("Light without a chip")
    await hand.touch("Ask the floorperson")
    await hand.says("Waiting for a floorperson")
    await hand.says("Take back: position 5, Progressive")
    await hand.says("Deal no card.")
    service.decided = "confirmed"
    await hand.count(1)
    await hand.says("Dealer's hand")
    sent = [one for one in service.applied if one["type"] == "correct_wager"][-1]
    assert (sent["action"], sent["position"], sent["reason"]) == (
        "take_back", 5, "Light without a chip",
    )  # fmt: skip
    await expect(hand.button("Correct a wager…")).to_be_visible()
    await hand.type("Dealer's hand", "2c 3c 4c")
    await expect(hand.button("Correct a wager…")).to_have_count(0)
