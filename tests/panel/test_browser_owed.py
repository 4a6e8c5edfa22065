"""Amounts owed from an earlier round stay visible until the dealer has handled them."""

from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Browser, Locator, Page, Route, expect

from tests.controllers.scripted import ScriptedService, say
from tests.panel.stand import Hand, PanelStand, serving
from tests.panel.test_browser_round import CLAIM, ENVY, ROYAL
from tests.panel.test_browser_trouble import check_at_every_size
from tests.servers import Mosquitto, eventually_async

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
NOTHING: Final[dict[str, object]] = {"lines": [], "claims": []}


def owed(hand: Hand, round_name: str) -> Locator:
    """Return the text about an earlier round in the strip."""
    return hand.page.locator(f'#earlier [data-round="{round_name}"]')


async def settle(hand: Hand, position: int, cards: str) -> None:
    """Play a round of one Progressive wager, from lock-out to its settlement."""
    await hand.wager(f"Position {position} Progressive")
    await hand.lock(1)
    await hand.type("Dealer's hand", "2c 3d 9c")
    await hand.type(f"Hand of position {position}", cards)
    await hand.touch("Settle the round")
    await expect(hand.button("Next round")).to_be_visible()


@pytest.mark.slow
@pytest.mark.section("649a.11(c)(5)(iii)")
async def test_a_win_that_waits_stays_in_sight_through_every_step_of_later_rounds(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    service.settlement = WAITS
    await settle(hand, 3, "9s 8s 7s")
    await hand.touch("Next round")
    strip = owed(hand, "R1")
    await expect(strip).to_contain_text("Position 3: wait for floorperson, $70.00")
    await expect(strip.get_by_role("button")).to_have_count(0)
    service.settlement = NOTHING
    await hand.wager("Position 1 Progressive")
    await expect(strip).to_be_visible()
    await hand.touch("Lock-out: no more bets")
    await expect(hand.heading("Count the value chips")).to_be_visible()
    await expect(strip).to_be_visible()
    await hand.count(1)
    await hand.type("Dealer's hand", "2c 3d 9c")
    await expect(strip).to_be_visible()
    await hand.type("Hand of position 1", "2h 5d Jc")
    await hand.touch("Settle the round")
    await hand.says("Settlement of round R2")
    await expect(strip).to_contain_text("wait for floorperson, $70.00")
    await service.jackpot("C1", "validated")
    await expect(strip).to_contain_text("Position 3: PAY $70.00")
    await expect(strip).to_contain_text("Position 5: PAY $10.00")
    await hand.touch("Next round")
    await expect(strip).to_contain_text("Position 3: PAY $70.00")
    await hand.tick_off("Round R1 done")
    await expect(strip).to_have_count(0)


TWO: Final[dict[str, object]] = {
    "lines": [*LINES, {**FLUSH, "position": 1, "item": "five_card_progressive", "paid": 20_000}],
    "claims": [
        {**CLAIM, "item": "progressive", "amount": 7_000},
        {"claim": "C2", "position": 1, "item": "five_card_progressive", "amount": 20_000},
    ],
}
ENVY_DONE: Final = "Round R1, position 5, Envy Bonus for position 3: paid"


@pytest.mark.slow
@pytest.mark.section("649a.11(c)(5)(iii)")
async def test_a_line_that_was_paid_on_the_settlement_is_not_asked_for_again(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    """This holds while another win of its round waits, and after that one is decided and paid."""
    service.settlement = TWO
    await settle(hand, 3, "9s 8s 7s")
    await service.jackpot("C1", "validated")
    await expect(page.locator('.line[data-state="pay"]')).to_have_count(2)
    await hand.touch("Next round")
    strip = owed(hand, "R1")
    await expect(strip.locator("[data-line]")).to_have_count(1)
    await expect(strip).to_contain_text(
        "Position 1: wait for floorperson, $200.00 Five-Card Progressive: "
        "then you pay it from the table inventory"
    )
    await hand.touch("Last settlement")
    await expect(page.locator('.line[data-state="pay"]')).to_have_count(0)
    await expect(page.locator('.line[data-state="done"]')).to_have_count(2)
    service.settlement = NOTHING
    await settle(hand, 1, "2h 5d Jc")
    await expect(page.get_by_text("PAY $")).to_have_count(0)
    await service.jackpot("C2", "validated")
    await expect(strip).to_contain_text("Position 1: PAY $200.00")
    await expect(page.get_by_text("PAY $")).to_have_count(1)
    await hand.tick_off("Round R1, position 1, Five-Card Progressive: paid")
    await expect(strip).to_have_count(0)


@pytest.mark.duty("D11")
async def test_lines_are_ticked_off_one_by_one_and_stay_so_after_a_restart(
    browser: Browser, mosquitto: Mosquitto, service: ScriptedService, tmp_path: Path
) -> None:
    """Another win of the round waits meanwhile. Each line says who pays."""
    stand = PanelStand(mosquitto.url, tmp_path / "T-1.sqlite")
    service.settlement = TWO
    page = await browser.new_page()
    hand = Hand(page, stand.url)
    strip = owed(hand, "R1")
    async with serving(stand):
        assert await stand.agent.wait_live(20)
        await hand.open()
        await settle(hand, 3, "9s 8s 7s")
        await hand.touch("Next round")
        await expect(strip.locator("[data-line]")).to_have_count(3)
        await service.jackpot("C1", "validated")
        await expect(strip).to_contain_text("Position 3: PAY $70.00")
        await expect(strip.locator("[data-line]").first).to_contain_text("from the table inventory")
        await hand.tick_off("Round R1, position 3, Progressive: paid")
        await expect(strip.locator("[data-line]")).to_have_count(2)
        await expect(strip).not_to_contain_text("$70.00")
    async with serving(stand):
        assert await stand.agent.wait_live(20)
        await hand.open()
        await expect(strip.locator("[data-line]")).to_have_count(2)
        await expect(strip).to_contain_text("Position 5: PAY $10.00")
        await hand.tick_off(ENVY_DONE)
        await expect(strip.locator("[data-line]")).to_have_count(1)
        await expect(strip).to_contain_text("Position 1: wait for floorperson")
        await service.jackpot("C2", "rejected")
        await hand.tick_off("Round R1, position 1, Five-Card Progressive: seen")
        await expect(strip).to_have_count(0)
    await page.close()


@pytest.mark.slow
@pytest.mark.section("649a.11(c)(5)(v)")
@pytest.mark.parametrize("event", ["paid", "rejected"])
async def test_an_envy_bonus_that_the_floor_settled_does_not_read_pay(
    hand: Hand, service: ScriptedService, page: Page, event: str
) -> None:
    """It was recorded as paid, or found not to be due, after its win was validated."""
    service.settlement = WAITS
    await settle(hand, 3, "9s 8s 7s")
    await hand.touch("Next round")
    strip = owed(hand, "R1")
    await service.jackpot("C1", "validated")
    await expect(strip).to_contain_text("Position 5: PAY $10.00")
    await service.jackpot("C1-envy", event, item="progressive_envy", position=5)
    await expect(strip).not_to_contain_text("PAY $10.00")
    await expect(strip).to_contain_text("Position 3: PAY $70.00")
    await hand.tick_off("Round R1, position 3, Progressive: paid")
    if event == "rejected":
        await expect(strip).to_contain_text("Position 5: DO NOT PAY: rejected")
        await hand.tick_off("Round R1, position 5, Envy Bonus for position 3: seen")
    await expect(strip).to_have_count(0)
    await hand.touch("Last settlement")
    await expect(page.locator('.line[data-state="pay"]')).to_have_count(0)


@pytest.mark.slow
async def test_a_late_touch_on_another_tablet_puts_no_later_settlement_away(
    hand: Hand, panel: PanelStand, service: ScriptedService, page: Page
) -> None:
    """The second tablet's touch was on its way while the first moved on to the next round."""
    service.settlement = WAITS
    late: list[str] = []
    await settle(hand, 3, "9s 8s 7s")
    page.on("request", lambda sent: late.append(sent.post_data or "") if sent.post_data else None)
    await hand.touch("Next round")
    await service.jackpot("C1", "validated")
    await hand.tick_off("Round R1 done")
    touched = next(body for body in late if '"next"' in body)
    await settle(hand, 3, "9s 8s 7s")
    await hand.says("Settlement of round R2")
    assert not (await panel.agent.handle(touched.encode())).ok
    await hand.says("Settlement of round R2")


@pytest.mark.slow
@pytest.mark.section("649a.11(c)(5)(v)")
@pytest.mark.parametrize("on", ["settlement", "strip"])
async def test_a_line_that_becomes_due_just_before_the_touch_is_still_to_be_paid(
    hand: Hand, service: ScriptedService, panel: PanelStand, page: Page, on: str
) -> None:
    """The dealer asked the floorperson as the page said. The decision came before the touch."""
    service.settlement = WAITS

    def decided() -> bool:
        state = panel.agent.table_state
        found = state.settled or state.last_settled
        return found is not None and found.envy_decision_on(1) == "validated"

    async def decide_first(route: Route) -> None:
        await service.jackpot("C1-envy", "validated", item="progressive_envy", position=5)
        await eventually_async(decided)
        await route.continue_()

    await settle(hand, 3, "9s 8s 7s")
    if on == "strip":
        await hand.touch("Next round")
    await service.jackpot("C1", "rejected")
    await expect(page.get_by_text("the win was rejected").first).to_be_visible()
    await page.route("**/api/v1/events", decide_first)
    seen = "Round R1, position 5, Envy Bonus for position 3: done"
    await (hand.tick_off(seen) if on == "strip" else hand.touch("Next round"))
    await expect(owed(hand, "R1")).to_contain_text("Position 5: PAY $10.00")
    if on == "strip":
        await hand.says("has changed: look at it again")
    await page.unroute("**/api/v1/events")
    await hand.tick_off("Round R1, position 5, Envy Bonus for position 3: paid")
    await expect(page.get_by_text("PAY $10.00")).to_have_count(0)


@pytest.mark.slow
async def test_a_settlement_is_left_alone_until_the_dealer_goes_on_and_shown_again(
    hand: Hand, panel: PanelStand, service: ScriptedService, page: Page
) -> None:
    service.settlement = {"lines": [FLUSH], "claims": []}
    await settle(hand, 3, "9s 8s 7s")
    await expect(hand.button("Lock-out: no more bets")).to_have_count(0)
    assert (await say(panel.agent, "wager 2 progressive")).ok
    await hand.says("1 wager accepted, $1.00")
    await hand.says("Settlement of round R1")
    await hand.touch("Next round")
    await hand.shows_lit("Position 2 Progressive")
    await expect(page.get_by_text("Settlement of round R1")).to_have_count(0)
    await hand.touch("Last settlement")
    await hand.says("Settlement of round R1")
    await expect(page.locator(".line .amount")).to_have_text("$70.00")
    await hand.touch("Last settlement")
    await hand.lock(1)
    await hand.touch("Last settlement")
    await hand.says("Settlement of round R1")


@pytest.mark.slow
@pytest.mark.reading("T9")
async def test_boxes_of_one_player_are_joined_and_stay_so_with_the_same_wagers(
    hand: Hand, panel: PanelStand, service: ScriptedService
) -> None:
    link = "Positions 3 and 4: same player"
    await hand.wager("Position 3 Progressive", "Position 4 Progressive")
    await hand.touch(link)
    await hand.shows_lit(link)
    await hand.says("Player of 3")
    await hand.lock(2)
    await hand.type("Dealer's hand", "2c 3d 9c")
    await hand.touch("Same player…")
    await expect(hand.button("Positions 4 and 5: same player")).to_be_enabled()
    await hand.touch("Same player…", "Position 4 fold", "Position 3 fold", "Settle the round")
    await hand.touch("Next round", "Same as last round")
    await hand.shows_lit(link, "Position 3 Progressive", "Position 4 Progressive")
    await hand.touch("Lock-out: no more bets")
    await expect(hand.heading("Count the value chips")).to_be_visible()
    placed = service.applied[-1]["positions"]
    assert isinstance(placed, list)
    assert [(each["position"], each["patron"]) for each in placed] == [(3, "p3"), (4, "p3")]


@pytest.mark.slow
async def test_what_goes_back_after_a_refused_lock_out_is_said_position_by_position(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    await hand.wager("Position 3 Progressive", "Position 6 Five Card Hand Bonus")
    service.refuse = "link_closed"
    await hand.touch("Lock-out: no more bets")
    back = page.locator("#returned")
    await expect(back).to_contain_text("Position 3: Progressive: 1 chip")
    await expect(back).to_contain_text("credit $2.00 to the game account")
    await page.reload()
    await expect(back).to_contain_text("Position 3: Progressive: 1 chip")
    await hand.count(1)
    await hand.says("Dealer's hand")
    await expect(page.get_by_role("group", name="Position 3", exact=True)).to_contain_text(
        "Back: 1 chip"
    )
    await expect(page.get_by_role("group", name="Position 6", exact=True)).to_contain_text(
        "Credit $2.00"
    )


@pytest.mark.slow
async def test_a_late_refusal_is_shown_on_every_tablet_until_the_next_event_is_accepted(
    hand: Hand, service: ScriptedService, browser: Browser, panel: PanelStand
) -> None:
    await hand.wager("Position 3 Progressive")
    await hand.lock(1)
    await hand.type("Dealer's hand", "2c 3c 4c")
    await hand.type("Hand of position 3", "As Ks Qs")
    service.answering = False
    await hand.touch("Settle the round")
    await hand.says("Waiting for the service")
    service.refuse, service.answering = "bad_result", True
    await hand.says("The service refused the result")
    other = Hand(await browser.new_page(), panel.url)
    await other.open()
    await other.says("The service refused the result")
    await other.take_back("Position 3 undo hand")
    await expect(hand.page.locator("#refusal")).to_have_count(0)


@pytest.mark.slow
async def test_what_is_owed_fits_every_screen_and_is_accessible(
    browser: Browser, panel: PanelStand, service: ScriptedService
) -> None:
    context = await browser.new_context(bypass_csp=True, reduced_motion="reduce")
    page = await context.new_page()
    hand = Hand(page, panel.url)
    await hand.open()
    service.settlement = WAITS
    await settle(hand, 3, "9s 8s 7s")
    await hand.touch("Next round")
    await hand.wager(
        "Positions 3 and 4: same player", "Position 3 Progressive",
        "Position 6 Five Card Hand Bonus",
    )  # fmt: skip
    await hand.touch("Last settlement")
    await check_at_every_size(page, "waiting, last settlement")
    service.refuse = "link_closed"
    await hand.touch("Lock-out: no more bets")
    await service.jackpot("C1", "rejected")
    strip = owed(hand, "R1")
    await expect(strip).to_contain_text("Position 3: DO NOT PAY: rejected")
    await expect(strip).to_contain_text("Position 5: ask the floorperson")
    await check_at_every_size(page, "refused, rejected")
    await hand.count(1)
    await hand.touch("Same player…", "Position 4 hand")
    await check_at_every_size(page, "hands, links asked for")
    await hand.tick_off("Round R1 done")
    await expect(strip).to_have_count(0)
    await context.close()
