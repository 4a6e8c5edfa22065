"""A touch does what was meant: no second or late touch counts, and no card of another hand."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.browsers import Finger, stop_clock
from tests.controllers.scripted import ScriptedService, say
from tests.mqtt.stand import Stand
from tests.panel.stand import Hand, PanelStand
from tests.panel.test_real import opened, paneled
from tests.servers import free_port
from tests.waiting import eventually_async

FIVE_OF_SIX = "five_of_six_progressive"
# Keeps the last view that the page received, drawn or not.
KEEP_VIEW = """
delete window.SharedWorker;
const listen = EventSource.prototype.addEventListener;
EventSource.prototype.addEventListener = function (name, handle) {
  listen.call(this, name, (event) => {
    handle(event);
    if (name === "view") window.lastView = JSON.parse(event.data);
  });
};
"""


@pytest_asyncio.fixture(loop_scope="session")
async def page(page: Page) -> Page:
    await page.clock.install()
    await page.add_init_script(KEEP_VIEW)
    return page


async def stop_with_all_standing(page: Page) -> None:
    """Stop the page's clock when it has the table's state and all buttons accept a touch.

    A touch at coordinates waits for neither.
    """
    await stop_clock(page)
    await expect(page.locator("#lost")).to_be_hidden()
    await page.clock.run_for(700)


@pytest.mark.slow
async def test_second_touch_does_not_hit_what_came_under_the_finger(
    hand: Hand, page: Page, panel: PanelStand
) -> None:
    await hand.deal("As Kd Qh")
    settle = hand.standing("Settle the round").and_(page.locator(":enabled"))
    await settle.wait_for()
    await stop_with_all_standing(page)
    box = await settle.bounding_box()
    assert box is not None
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.mouse.click(*at)
    await expect(hand.button("Next round")).to_be_visible()
    under = await page.evaluate("([x, y]) => document.elementFromPoint(x, y).id", at)
    assert under == "next-round", "nothing came under the finger, so that nothing is tried"
    await page.mouse.click(*at)
    await hand.says("That touch was not used")
    await page.clock.run_for(700)
    assert panel.agent.table_state.settled is not None
    await page.mouse.click(*at)
    await expect(hand.button("Lock-out: no more bets")).to_be_visible()


async def heard(page: Page, of_view: str) -> None:
    """Wait until the page has received a view of which a fact holds."""
    await eventually_async(lambda: page.evaluate(f"window.lastView?.{of_view}"), within_s=20)


async def wager_elsewhere(page: Page, panel: PanelStand) -> None:
    assert (await say(panel.agent, "wager 5 progressive")).ok
    await heard(page, "positions[4].lit.length > 0")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mouse", "touch"])
async def test_a_press_during_which_a_wager_is_accepted_counts(
    hand: Hand, page: Page, panel: PanelStand, kind: str
) -> None:
    """If the page replaced the button under the finger, the press would be lost."""
    finger = Finger(page, kind)
    await hand.wager("Position 3 Progressive")
    lockout = hand.standing("Lock-out: no more bets")
    await stop_with_all_standing(page)
    await finger.down(lockout)
    await wager_elsewhere(page, panel)
    await finger.up()
    await expect(page.get_by_label("Chips counted")).to_be_visible()
    assert [placed.position for placed in panel.agent.table_state.wagers] == [3, 5]


@pytest.mark.parametrize("kind", [pytest.param("mouse", marks=pytest.mark.slow), "touch", "key"])
async def test_what_rests_on_the_page_hides_nothing_for_longer_than_a_second(
    hand: Hand, page: Page, panel: PanelStand, kind: str
) -> None:
    """This holds for a finger, and for a key, which repeats itself while it is down."""

    async def press() -> None:
        if kind == "key":
            await page.keyboard.down(" ")
        else:
            await Finger(page, kind).down(page.locator("#standing"))

    await stop_with_all_standing(page)
    await press()
    await wager_elsewhere(page, panel)
    light = hand.button("Position 5 Progressive")
    await page.clock.run_for(999)
    await expect(light).to_have_attribute("aria-pressed", "false")
    if kind == "key":
        await press()
    await page.clock.run_for(1)
    await expect(light).to_have_attribute("aria-pressed", "true")


@pytest.mark.slow
async def test_key_that_is_held_down_is_one_press(
    hand: Hand, panel: PanelStand, page: Page
) -> None:
    await hand.standing("Position 3 Progressive").focus()
    for _ in range(3):
        await page.keyboard.down("Enter")
        await hand.shows_lit("Position 3 Progressive")
    await page.keyboard.up("Enter")
    await hand.wager("Position 4 Progressive")
    assert [placed.position for placed in panel.agent.table_state.wagers] == [3, 4]


async def test_cards_picked_or_typed_for_one_hand_never_go_over_to_another(
    hand: Hand, panel: PanelStand, page: Page
) -> None:
    await hand.wager("Position 3 Progressive", "Position 5 Progressive")
    await hand.lock(2)
    await hand.type("Dealer's hand", "2c 3c 4c")
    await expect(hand.heading("Hand of position 5")).to_be_visible()
    picked, field = page.locator(".slots .card"), page.get_by_label("Or type the cards")
    await hand.touch("ace of spades", "king of spades")
    await expect(picked).to_have_count(2)
    await field.fill("As Ks Qs")
    assert (await say(panel.agent, "hand 4 2h 3h 4h")).ok
    await expect(hand.button("four of hearts")).to_be_disabled()
    await expect(field).to_have_value("As Ks Qs")
    await hand.touch("Position 5 fold")
    await expect(hand.heading("Hand of position 3")).to_be_visible()
    await expect(picked).to_have_count(0)
    await expect(field).to_have_value("")
    await hand.touch("two of diamonds", "three of diamonds")
    await hand.take_back("Dealer undo")
    await expect(hand.heading("Dealer's hand")).to_be_visible()
    await expect(picked).to_have_count(0)
    assert [entered.position for entered in panel.agent.table_state.hands] == [4]


@pytest.mark.slow
async def test_a_frozen_agent_is_a_lost_one_and_what_is_touched_meanwhile_is_not_done_later(
    page: Page, tmp_path: Path
) -> None:
    """No number outlives it."""
    meter, lost = page.locator(f'[data-meter="{FIVE_OF_SIX}"]'), page.locator("#lost")
    with Stand(tmp_path) as stand, paneled(stand.service, free_port()) as (table, address):
        hand = await opened(page, address)
        await expect(meter).to_contain_text("$10,000.00")
        await hand.standing("Position 5 Progressive").wait_for()
        os.kill(table.process.pid, signal.SIGSTOP)
        try:
            for name in (
                *(f"Position {at} Progressive" for at in (4, 5)),
                "Lock-out: no more bets",
            ):
                await hand.standing(name).click()
            await expect(lost).to_be_visible()
            await expect(page.locator("#toast")).to_contain_text("Not sent")
            await expect(meter).to_contain_text("Not available")
            await expect(page.locator("#main")).to_have_attribute("inert", "")
        finally:
            os.kill(table.process.pid, signal.SIGCONT)
        await expect(lost).to_be_hidden()
        await expect(meter).to_contain_text("$10,000.00")
        await hand.wager("Position 6 Progressive")
        await expect(hand.button("Position 5 Progressive")).to_have_attribute(
            "aria-pressed", "false"
        )
        await expect(page.locator("#standing")).to_contain_text("Betting open")
        await hand.touch("Lock-out: no more bets")
        counted = page.get_by_label("Chips counted")
        await expect(counted).to_be_visible()
        os.kill(table.process.pid, signal.SIGSTOP)
        try:
            for count in ("3", "1"):
                await counted.fill(count)
                await hand.standing("Confirm count").click()
            await expect(lost).to_be_visible()
        finally:
            os.kill(table.process.pid, signal.SIGCONT)
        await expect(lost).to_be_hidden()
        await expect(counted).to_have_value("1")


@pytest.mark.slow
async def test_look_at_the_last_settlement_while_the_table_goes_on_is_no_error(
    hand: Hand, page: Page, panel: PanelStand, service: ScriptedService
) -> None:
    """Between finger down and up a device locks out: no settlement is drawn to scroll to."""
    finger = Finger(page, "mouse")
    await hand.deal("As Kd Qh")
    await hand.touch("Settle the round", "Next round")
    await hand.wager("Position 3 Progressive")
    look = hand.standing("Last settlement")
    await stop_with_all_standing(page)
    service.answering = False
    await finger.down(look)
    locking = asyncio.create_task(say(panel.agent, "lockout"))
    await heard(page, "unanswered === 'lockout'")
    await finger.up()
    await hand.says("Waiting for the service")
    service.answering = True
    assert (await locking).ok
    await hand.says("Settlement of round R1")
