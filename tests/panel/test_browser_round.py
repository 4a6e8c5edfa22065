"""A dealer plays rounds at the panel, in a real browser."""

import re
from typing import Final

import pytest
from playwright.async_api import Browser, Page, expect

from controllers.table.state import Phase
from tests.controllers.scripted import ScriptedService
from tests.panel.stand import Hand, PanelStand
from tests.waiting import eventually_async

ROYAL: Final = {
    "position": 3, "item": "five_of_six_progressive", "outcome": "paid",
    "hand": "royal_flush_spades", "wagered": 100, "paid": 1_000_084, "returned": 0,
    "paid_from": "hand_pay", "percent": 100, "rule": "649a.12(j)(1)",
}  # fmt: skip
ENVY: Final = {
    "position": 5, "item": "five_of_six_envy", "outcome": "paid", "wagered": 100, "paid": 10_000,
    "returned": 0, "paid_from": "table_inventory", "rule": "649a.12(j)(5)", "envy_of": 3,
}  # fmt: skip
COLLECTED: Final = {
    "position": 5, "item": "five_of_six_progressive", "outcome": "collected", "hand": "high_card",
    "wagered": 100, "paid": 0, "returned": 0, "rule": "649a.12(j)(1)",
}  # fmt: skip
CLAIM: Final = {
    "claim": "C1", "position": 3, "item": "five_of_six_progressive", "amount": 1_000_084,
}  # fmt: skip
JACKPOT: Final[dict[str, object]] = {"lines": [COLLECTED, ROYAL, ENVY], "claims": [CLAIM]}


async def to_the_cards(hand: Hand) -> None:
    await hand.wager("Position 3 5 of 6 Progressive", "Position 5 5 of 6 Progressive")
    await hand.lock(2)


async def to_the_settlement(hand: Hand) -> None:
    await to_the_cards(hand)
    await hand.type("Dealer's hand", "Js Ts 3d")
    await hand.type("Hand of position 5", "2h 7d 9c")
    await hand.type("Hand of position 3", "AsKsQs")
    await hand.touch("Settle the round")


async def test_a_round_from_wagers_to_settlement(
    hand: Hand, panel: PanelStand, service: ScriptedService, page: Page
) -> None:
    service.draw = {"magic_card": "Ts", "lucky_position": 3}
    await service.meter(112_233, 1)
    await expect(page.locator('[data-meter="progressive"] .amount')).to_have_text("$1,122.33")
    await hand.wager("Position 3 Progressive", "Position 5 Five Card Hand Bonus")
    await hand.wager("Position 5 Progressive")
    await hand.touch("Position 5 Progressive")
    await expect(hand.button("Position 5 Progressive")).to_have_attribute("aria-pressed", "false")
    await hand.touch("Lock-out: no more bets")
    await expect(page.get_by_role("img", name="ten of spades")).to_be_visible()
    await expect(page.get_by_role("group", name="Position 3", exact=True)).to_contain_text("Lucky")
    await hand.touch("1", "Confirm count")
    await hand.touch("two of clubs", "three of clubs", "four of diamonds")
    await hand.type("Hand of position 5", "2h 7d 9c")
    await expect(hand.button("two of clubs")).to_be_disabled()
    await hand.touch("Position 3 fold")
    await expect(page.get_by_label("Or type the cards")).to_have_attribute("placeholder", "As Kd")
    await hand.type("Community cards", "10s Js")
    await expect(page.get_by_text("All required cards are entered.")).to_be_visible()
    await hand.touch("Settle the round")
    await hand.says("Settlement of round R1")
    assert service.applied[-1]["positions"] == [
        {"position": 3, "folded": True},
        {"position": 5, "cards": ["2h", "7d", "9c"], "folded": False},
    ]
    await hand.touch("Next round", "Same as last round")
    await expect(hand.button("Position 5 Five Card Hand Bonus")).to_have_attribute(
        "aria-pressed", "true"
    )
    await eventually_async(lambda: len(panel.agent.table_state.wagers) == 2)


@pytest.mark.section("649a.8(b)")
async def test_a_wrong_count_stops_the_table_and_shows_on_every_tablet_what_to_compare(
    hand: Hand, panel: PanelStand, page: Page, browser: Browser
) -> None:
    other = Hand(await browser.new_page(), panel.url)
    await other.open()
    await hand.wager("Position 3 Progressive", "Position 3 5 of 6 Progressive")
    await hand.wager("Position 6 Progressive")
    await other.shows_lit("Position 3 Progressive", "Position 6 Progressive")
    await other.touch("Lock-out: no more bets")
    await expect(hand.heading("Count the value chips")).to_be_visible()
    assert "3 chip wagers" not in await page.inner_text("body")
    await hand.count(2)
    for tablet in (hand, other):
        for text in ("You counted 2. 3 chip wagers were accepted.", "Position 3: 2"):
            await tablet.says(text)
    await other.page.reload()
    await other.says("Position 6: 1")
    assert panel.agent.table_state.phase is Phase.LOCKED
    await other.count(3)
    await hand.says("Dealer's hand")
    await expect(page.locator(".differs")).to_have_count(0)


@pytest.mark.slow
async def test_mistakes_are_taken_back_before_the_round_is_settled(
    hand: Hand, panel: PanelStand, service: ScriptedService, page: Page
) -> None:
    await hand.wager("Position 3 Progressive", "Position 4 Progressive")
    await hand.lock(2)
    await hand.touch("Count again")
    await hand.count(2)
    await hand.type("Dealer's hand", "As Ks Qs")
    await hand.take_back("Dealer undo", "Card misread")
    await expect(hand.button("ace of spades")).to_be_enabled()
    await hand.type("Dealer's hand", "2c 3c 4c")
    await hand.touch("Position 4 fold", "Position 4 undo fold", "Position 4 hand")
    await hand.touch("ace of spades", "king of spades", "king of spades", "queen of spades")
    await hand.touch("Clear", "nine of hearts", "eight of hearts", "seven of hearts")
    await hand.take_back("Position 4 undo hand")
    await hand.type("Hand of position 4", "5d 6d 8d")
    await hand.type("Hand of position 3", "5h 6h 8h")
    await hand.touch("Position 3 fold, cards stay", "Settle the round")
    await hand.says("Settlement of round R1")
    assert service.applied[-1]["positions"] == [
        {"position": 3, "cards": ["5h", "6h", "8h"], "folded": True},
        {"position": 4, "cards": ["5d", "6d", "8d"], "folded": False},
    ]
    assert service.applied[-1]["entered_before"] == [
        {"what": "dealer", "cards": ["As", "Ks", "Qs"], "taken_back": True,
         "reason": "Card misread"},
        {"what": "hand", "position": 4, "cards": ["9h", "8h", "7h"], "taken_back": True,
         "reason": "Typed wrong"},
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.section("649a.8(b)")
async def test_no_count_is_asked_if_all_wagers_are_electronic(
    hand: Hand, panel: PanelStand, page: Page
) -> None:
    await hand.wager("Position 5 Five Card Hand Bonus")
    await hand.touch("Lock-out: no more bets")
    await expect(hand.heading("Dealer's hand")).to_be_visible()
    await expect(hand.button("Count again")).to_have_count(0)
    await expect(page.locator("#toast")).to_be_hidden()
    assert panel.agent.table_state.phase is Phase.DEALT


@pytest.mark.section("649a.13")
async def test_a_round_is_void_with_its_reason_and_only_after_a_second_touch(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    await to_the_cards(hand)
    await hand.touch("Void the round…", "Keep the round")
    await hand.says("Dealer's hand")
    await hand.touch("Void the round…")
    await expect(page.get_by_label("Reason")).to_have_value("")
    await expect(hand.button("Void the round")).to_be_disabled()
    await page.get_by_label("Reason").select_option("Card exposed")
    await page.get_by_label("In your own words").fill("position 2, second card")
    await hand.touch("Void the round")
    await expect(hand.button("Lock-out: no more bets")).to_be_enabled()
    assert [event["type"] for event in service.applied] == ["wagers", "void"]
    assert service.applied[-1]["reason"] == "Card exposed: position 2, second card"
    back = page.locator("#returned")
    await expect(back).to_contain_text("Each of positions 3, 5: 5 of 6 Progressive: 1 chip")
    await expect(back).to_contain_text("Ante, Play and all other wagers too")
    await hand.wager("Position 1 Progressive")
    await expect(back).to_have_count(0)


@pytest.mark.section("649a.11(c)(9)(iv)")
async def test_a_hand_pay_holds_the_table_until_its_documents_are_done(
    hand: Hand, panel: PanelStand, service: ScriptedService, page: Page
) -> None:
    service.settlement = JACKPOT
    await to_the_settlement(hand)
    held = page.locator('[data-claim="C1"]')
    await expect(held).to_contain_text("Position 3: 5 of 6 Progressive, $10,000.84")
    await expect(held).to_contain_text("649a.11(c)(9)(iv)")
    await hand.says("Do not pay: hand pay, cards stay")
    await expect(page.locator('[data-kind="envy"] .act')).to_have_text("Wait for floorperson")
    await expect(hand.button("Lock-out: no more bets")).to_have_count(0)
    why = "Why: position 3 5 of 6 Progressive"
    await hand.touch(why)
    await hand.says("649a.12(j)(1): this hand pays 100% of the meter.")
    await service.jackpot("C1", "validated")
    await expect(held).to_contain_text(
        "Another floorperson pays it by hand and records the payment."
    )
    await expect(page.locator('[data-kind="envy"] .act')).to_have_text("Pay")
    await expect(hand.button(why)).to_have_attribute("aria-expanded", "true")
    await hand.says("649a.12(j)(1): this hand pays 100% of the meter.")
    await service.jackpot("C1", "paid")
    await expect(hand.button("Next round")).to_be_visible()
    await hand.says("Paid by a floorperson")
    await hand.touch("Next round")
    await hand.wager("Position 1 Progressive")


@pytest.mark.slow
async def test_a_win_that_is_rejected_is_not_paid(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    service.settlement = JACKPOT
    await to_the_settlement(hand)
    await hand.says("HELD: the cards stay on the table")
    await service.jackpot("C1", "rejected")
    await hand.says("Do not pay: rejected")
    await expect(page.locator('[data-kind="envy"] .act')).to_have_text(re.compile("^Ask the"))
    await expect(hand.button("Next round")).to_be_visible()


@pytest.mark.slow
async def test_a_whole_round_is_played_with_the_keyboard_alone(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    """The focus goes on with the round."""

    async def press(name: str, key: str) -> None:
        await hand.standing(name).focus()
        await page.keyboard.press(key)

    await press("Position 3 Progressive", "Space")
    await expect(hand.button("Position 3 Progressive")).to_have_attribute("aria-pressed", "true")
    await press("Lock-out: no more bets", "Enter")
    await page.get_by_label("Chips counted").press("1")
    await page.keyboard.press("Enter")
    for title, cards in (("Dealer's hand", "2c 3c 4c"), ("Hand of position 3", "As Kd Qh")):
        await expect(hand.heading(title)).to_be_visible()
        await expect(page.get_by_label("Or type the cards")).to_be_focused()
        await page.keyboard.type(cards)
        await page.keyboard.press("Enter")
    await expect(page.get_by_label("Or type the cards")).to_have_count(0)
    await expect(hand.button("Settle the round")).to_be_focused()
    await expect(hand.standing("Settle the round")).to_be_visible()
    await page.keyboard.press("Enter")
    await hand.says("Settlement of round R1")
    await expect(hand.button("Next round")).to_be_focused()
    assert [event["type"] for event in service.applied] == ["wagers", "result"]
