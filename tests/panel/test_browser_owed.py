"""Amounts owed from an earlier round stay visible until the dealer has handled them."""

from typing import Final

import pytest
from playwright.async_api import Browser, Locator, Page, Route, expect

from tests.browsers import sees
from tests.controllers.scripted import ScriptedService
from tests.panel.stand import Hand, PanelStand
from tests.panel.test_browser_round import CLAIM, ENVY, ROYAL
from tests.panel.test_browser_trouble import check_at_every_size
from tests.servers import eventually_async

FLUSH: Final = {
    **ROYAL, "item": "progressive", "hand": "straight_flush", "percent": None, "paid": 7_000,
    "paid_from": "table_inventory", "rule": "649a.12(d)",
}  # fmt: skip
ENVY_OF_IT: Final = {**ENVY, "item": "progressive_envy", "paid": 1_000}
LINES: Final = [FLUSH, ENVY_OF_IT]
WAITS: Final[dict[str, object]] = {
    "lines": LINES,
    "claims": [{**CLAIM, "item": "progressive", "amount": 7_000}],
}


def owed(hand: Hand, round_name: str) -> Locator:
    return hand.page.locator(f'#earlier [data-round="{round_name}"]')


async def settle(hand: Hand, position: int, cards: str) -> None:
    await hand.wager(f"Position {position} Progressive")
    await hand.lock(1)
    await hand.type("Dealer's hand", "2c 3d 9c")
    await hand.type(f"Hand of position {position}", cards)
    await hand.touch("Settle the round")
    await expect(hand.button("Next round")).to_be_visible()


TWO: Final[dict[str, object]] = {
    "lines": [*LINES, {**FLUSH, "position": 1, "item": "five_card_progressive", "paid": 20_000}],
    "claims": [
        {**CLAIM, "item": "progressive", "amount": 7_000},
        {"claim": "C2", "position": 1, "item": "five_card_progressive", "amount": 20_000},
    ],
}


@pytest.mark.section("649a.11(c)(5)(iii)")
async def test_what_is_owed_of_an_earlier_round_stays_in_sight_until_each_line_is_ticked_off(
    hand: Hand, panel: PanelStand, service: ScriptedService, page: Page
) -> None:
    """Two rounds later: one win is paid on its settlement, one waits, and is decided then.

    A touch of the first round that comes late puts no later settlement away.
    """
    sent: list[str] = []
    page.on("request", lambda asked: sent.append(asked.post_data or ""))
    strip, pay = owed(hand, "R1"), page.get_by_text("PAY $")
    service.settlement = TWO
    await settle(hand, 3, "9s 8s 7s")
    await hand.touch("Next round")
    await expect(strip.locator("[data-line]")).to_have_count(3)
    await expect(strip.get_by_role("button")).to_have_count(0)
    await expect(strip).to_contain_text(
        "Position 1: wait for floorperson, $200.00 Five-Card Progressive: "
        "then you pay it from the table inventory"
    )
    await service.jackpot("C1", "validated")
    await expect(strip).to_contain_text("Position 3: PAY $70.00")
    await expect(strip.locator("[data-line]").first).to_contain_text("from the table inventory")
    await hand.tick_off("Round R1, position 3, Progressive: paid")
    await expect(strip).not_to_contain_text("$70.00")
    service.settlement = WAITS
    await hand.wager("Position 3 Progressive")
    await hand.touch("Lock-out: no more bets")
    await expect(hand.heading("Count the value chips")).to_be_visible()
    await expect(strip).to_be_visible()
    await hand.count(1)
    await hand.type("Dealer's hand", "2c 3d 9c")
    await expect(strip).to_be_visible()
    await hand.type("Hand of position 3", "9s 8s 7s")
    await hand.touch("Settle the round")
    await hand.says("Settlement of round R2")
    await expect(strip).to_contain_text("Position 5: PAY $10.00")
    await hand.tick_off("Round R1, position 5, Envy Bonus for position 3: paid")
    await service.jackpot("C2", "rejected")
    await hand.tick_off("Round R1, position 1, Five-Card Progressive: seen")
    await expect(strip).to_have_count(0)
    late = next(body for body in sent if '"next"' in body)
    assert not (await panel.agent.handle(late.encode())).ok
    await hand.says("Settlement of round R2")
    await service.jackpot("C1", "validated")
    await expect(page.locator('.line[data-state="pay"]')).to_have_count(2)
    await hand.touch("Next round")
    await expect(pay).to_have_count(0)
    await hand.touch("Last settlement")
    await expect(page.locator('.line[data-state="done"]')).to_have_count(2)
    await hand.touch("Last settlement")
    await expect(page.get_by_text("Settlement of round R2")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.section("649a.11(c)(5)(v)")
async def test_a_line_that_becomes_due_just_before_the_touch_is_still_to_be_paid(
    hand: Hand, service: ScriptedService, panel: PanelStand, page: Page
) -> None:
    """The dealer asked the floorperson as the page said. The decision came before the touch."""
    service.settlement = WAITS

    def decided() -> bool:
        found = panel.agent.table_state.last_settled
        return found is not None and found.envy_decision_on(1) == "validated"

    async def decide_first(route: Route) -> None:
        await service.jackpot("C1-envy", "validated", item="progressive_envy", position=5)
        await eventually_async(decided)
        await route.continue_()

    await settle(hand, 3, "9s 8s 7s")
    await hand.touch("Next round")
    await service.jackpot("C1", "rejected")
    await expect(page.get_by_text("the win was rejected").first).to_be_visible()
    await page.route("**/api/v1/events", decide_first)
    await hand.tick_off("Round R1, position 5, Envy Bonus for position 3: done")
    await expect(owed(hand, "R1")).to_contain_text("Position 5: PAY $10.00")
    await hand.says("has changed: look at it again")
    await page.unroute("**/api/v1/events")
    await hand.tick_off("Round R1, position 5, Envy Bonus for position 3: paid")
    await expect(page.get_by_text("PAY $10.00")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.reading("T9")
async def test_what_is_owed_and_goes_back_fits_every_screen_and_is_accessible(
    browser: Browser, panel: PanelStand, service: ScriptedService
) -> None:
    """A round waits, two positions are one player's, and the lock-out is refused."""
    context = await browser.new_context(bypass_csp=True, reduced_motion="reduce")
    page = await context.new_page()
    hand, strip = Hand(page, panel.url), owed(Hand(page, panel.url), "R1")
    await hand.open()
    service.settlement = WAITS
    await settle(hand, 3, "9s 8s 7s")
    await hand.touch("Next round")
    await hand.wager(
        "Positions 3 and 4: same player", "Position 3 Progressive",
        "Position 6 Five Card Hand Bonus",
    )  # fmt: skip
    await hand.says("Player of 3")
    await hand.touch("Last settlement")
    await check_at_every_size(page, "waiting, last settlement")
    service.refuse = "link_closed"
    await hand.touch("Lock-out: no more bets")
    back = page.locator("#returned")
    await sees(back, "Position 3: Progressive: 1 chip", "credit $2.00 to the game account")
    await service.jackpot("C1", "rejected")
    await sees(strip, "Position 3: DO NOT PAY: rejected", "Position 5: ask the floorperson")
    await check_at_every_size(page, "refused, rejected")
    await hand.count(1)
    await hand.touch("Same player…", "Position 4 hand")
    for position, goes in ((3, "Back: 1 chip"), (6, "Credit $2.00")):
        box = page.get_by_role("group", name=f"Position {position}", exact=True)
        await expect(box).to_contain_text(goes)
    await check_at_every_size(page, "hands, links asked for")
    await hand.tick_off("Round R1 done")
    await expect(strip).to_have_count(0)
    await context.close()
