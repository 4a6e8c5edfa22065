from typing import Final

import pytest
from playwright.async_api import Browser, Page, expect

from controllers.table.state import Phase
from tests.browsers import sees
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


async def test_a_round_from_wagers_to_settlement(
    hand: Hand, panel: PanelStand, service: ScriptedService, page: Page
) -> None:
    service.draw = {"magic_card": "Ts", "lucky_position": 3}
    await service.meter(112_233, 1)
    await expect(page.locator('[data-meter="progressive"] .amount')).to_have_text("$1,122.33")
    await hand.wager("Position 3 Progressive", "Position 5 Five Card Hand Bonus")
    await hand.says("2 wagers accepted, $3.00 (with chips: 1)")
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
    await hand.says("Last round: settlement of round R1")
    assert service.applied[-1]["positions"] == [
        {"position": 3, "folded": True},
        {"position": 5, "cards": ["2h", "7d", "9c"], "folded": False},
    ]
    await hand.touch("Next round", "Same as last round")
    await hand.shows_lit("Position 5 Five Card Hand Bonus")
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
    assert "3 wagers" not in await page.inner_text("body")
    await hand.count(2)
    for tablet in (hand, other):
        for text in ("You counted 2 chips. 3 wagers have chips.", "Position 3: 2"):
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
    await hand.touch("Position 4 fold", "Undo the fold of position 4", "Position 4 hand")
    await hand.touch("ace of spades", "king of spades", "king of spades", "queen of spades")
    await hand.touch("Clear", "nine of hearts", "eight of hearts", "seven of hearts")
    await hand.take_back("Undo the hand of position 4")
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


@pytest.mark.section("649a.13")
async def test_a_round_is_void_with_its_reason_and_only_after_a_second_touch(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    await to_the_cards(hand)
    await hand.touch("Void the round…", "Keep the round")
    await hand.says("Dealer's hand")
    await hand.touch("Void the round…")
    await expect(page.get_by_label("Reason").locator("[aria-pressed=true]")).to_have_count(0)
    await expect(hand.button("Void the round")).to_be_disabled()
    await hand.touch("Misdeal", "Card exposed")
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
    await to_the_cards(hand)
    await hand.type("Dealer's hand", "Js Ts 3d")
    await hand.type("Hand of position 5", "2h 7d 9c")
    await hand.type("Hand of position 3", "AsKsQs")
    await hand.touch("Settle the round")
    held = page.locator('[data-claim="C1"]')
    await sees(held, "Position 3: 5 of 6 Progressive, $10,000.84", "649a.11(c)(9)(iv)")
    await hand.says("Do not pay: hand pay, cards stay")
    await expect(page.locator('[data-kind="envy"] .act')).to_have_text("Wait for floorperson")
    await expect(hand.button("Lock-out: no more bets")).to_have_count(0)
    why = "Why: position 3 5 of 6 Progressive"
    await hand.touch(why)
    await hand.says("649a.12(j)(1): this hand pays 100% of the meter.")
    await service.jackpot("C1", "validated")
    await sees(held, "Another floorperson pays it by hand and records the payment.")
    await expect(page.locator('[data-kind="envy"] .act')).to_have_text("Pay")
    await expect(hand.button(why)).to_have_attribute("aria-expanded", "true")
    await hand.says("649a.12(j)(1): this hand pays 100% of the meter.")
    await service.jackpot("C1", "paid")
    await expect(hand.button("Next round")).to_be_visible()
    await hand.says("Paid by a floorperson")
    await hand.touch("Next round")
    await hand.wager("Position 1 Progressive")


@pytest.mark.slow
async def test_a_whole_round_is_played_with_the_keyboard_alone(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    """The focus goes on with the round."""

    async def press(name: str, key: str) -> None:
        await hand.standing(name).focus()
        await page.keyboard.press(key)

    await press("Position 3 Progressive", "Space")
    await hand.shows_lit("Position 3 Progressive")
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


WAGERS: Final = [
    f"Position {position} {wager}"
    for position in range(1, 8)
    for wager in ("Progressive", "5 of 6 Progressive")
]
WITHOUT_WINNERS_MAX: Final = 12
WITH_ONE_MAX: Final = 20
COUNT_TAPS: Final = """() => {
  document.addEventListener("click", () => { window.taps += 1; }, { capture: true });
}"""


async def same_to_the_cards(hand: Hand) -> None:
    """Lock out the same wagers as in the round before, two for each of 7 players."""
    await hand.page.evaluate("window.taps = 0")
    await hand.touch("Same as last round", "Lock-out: no more bets", "1", "4", "Confirm count")
    await hand.touch("two of clubs", "three of diamonds", "nine of clubs")


async def taps_to_next_round(hand: Hand) -> int:
    """Settle the round; return how many taps it took, once the next one can begin."""
    await hand.touch("Settle the round", "Next round")
    await expect(hand.button("Same as last round")).to_be_enabled()
    taps: int = await hand.page.evaluate("window.taps")
    return taps


@pytest.mark.slow
async def test_rounds_without_winners_or_with_one_take_few_taps(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    lost: list[dict[str, object]] = [
        {"position": position, "folded": False, "no_win": True} for position in range(1, 8)
    ]
    await hand.wager(*WAGERS)
    await hand.lock(14)
    await hand.void()
    await page.evaluate(COUNT_TAPS)
    await same_to_the_cards(hand)
    await hand.touch("No winners")
    assert await taps_to_next_round(hand) <= WITHOUT_WINNERS_MAX
    assert service.applied[-1]["positions"] == lost
    await same_to_the_cards(hand)
    await hand.touch("Position 3 hand", "ace of spades", "king of spades", "queen of spades")
    await hand.touch("No other winners")
    assert await taps_to_next_round(hand) <= WITH_ONE_MAX
    lost[2] = {"position": 3, "cards": ["As", "Ks", "Qs"], "folded": False}
    assert service.applied[-1]["positions"] == lost


async def test_no_win_is_shown_with_a_warning_of_a_win_entered_before_and_can_be_taken_back(
    hand: Hand, panel: PanelStand, page: Page
) -> None:
    await hand.wager("Position 3 Progressive", "Position 5 Progressive")
    await hand.lock(2)
    await hand.touch("Position 3 hand", "ace of spades", "king of spades", "queen of spades")
    await hand.take_back("Undo the hand of position 3")
    await hand.touch("No winners")
    await hand.says("No win")
    await expect(hand.button("No winners")).to_have_count(0)
    warning = page.get_by_role("alert")
    await sees(warning, "Position 3 is declared “No win”", "Progressive: Mini-royal of spades")
    await hand.touch("Undo the no win of position 5")
    await expect(hand.button("Position 5 hand")).to_be_visible()
    assert panel.agent.table_state.no_win == (3,)
    await hand.touch("Undo the no win of position 3")
    await expect(warning).to_have_count(0)


@pytest.mark.duty("D17")
async def test_the_panel_waits_and_goes_on_by_itself(
    hand: Hand, service: ScriptedService, page: Page, browser: Browser, panel: PanelStand
) -> None:
    """The request is withdrawn on another tablet, then refused with who and why, then confirmed."""
    again = hand.button("Void the round…")
    service.confirming = True
    await hand.deal()
    await hand.void()
    await hand.says("Waiting for a floorperson")
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


@pytest.mark.duty("D17")
@pytest.mark.slow
async def test_one_wrong_light_is_taken_back_and_the_round_goes_on(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    service.confirming = True
    await hand.wager("Position 3 Progressive", "Position 5 Progressive")
    await hand.lock(1)
    await hand.says("You counted 1 chip. 2 wagers have chips.")
    await hand.touch("Correct a wager…")
    await hand.says("If a light is at the wrong position, add the right wager first.")
    await expect(hand.button("Ask the floorperson")).to_be_disabled()
    which = page.locator("#correct-which")
    await expect(which.locator("optgroup").nth(0).locator("option")).to_have_count(2)
    await expect(which).not_to_contain_text("Hand Bonus")
    await which.select_option(label="Position 5: Progressive")
    await hand.touch("Light without a chip", "Ask the floorperson")
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
    # A hand that was entered differently before waits too.
    await hand.type("Hand of position 3", "As Ks Qs")
    await hand.take_back("Undo the hand of position 3")
    await hand.touch("Position 3 hand")
    await hand.type("Hand of position 3", "9h 7h 2s")
    service.decided = ""
    await hand.touch("Settle the round")
    await hand.says("Waiting for a floorperson")
    await hand.says("Hands were entered differently before.")
    service.decided = "confirmed"
    await hand.says("Settlement of round R1")
