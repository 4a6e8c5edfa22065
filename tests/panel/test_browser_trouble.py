"""The panel during faults: never an old number, never a button without effect."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from controllers.table.state import Phase
from meters.http.middleware import ServerSettings
from tests.browsers import check_accessible, check_fits
from tests.controllers.floors import jackpot
from tests.controllers.scripted import ScriptedService, running
from tests.mqtt.relay import Relay
from tests.panel.stand import Hand, PanelStand, serving
from tests.panel.test_browser_round import JACKPOT, to_the_cards
from tests.servers import Mosquitto
from tests.waiting import eventually_async

SIZES = {
    "tablet": (1280, 800),
    "small tablet": (1024, 768),
    "portrait": (800, 1280),
    "phone": (390, 844),
}
METER = '[data-meter="progressive"]'
HEAD_ENDS_ABOVE = """() => {
  const end = document.querySelector(".head").getBoundingClientRect().bottom;
  const next = document.querySelector("#main > *").getBoundingClientRect().top;
  const parts = [...document.querySelectorAll(".head :is(h1, .of, .standing)")];
  const edge = getComputedStyle(document.querySelector(".head .language")).borderTopColor;
  const fits = parts.every((each) => each.getBoundingClientRect().bottom <= end);
  return fits && next - end >= 4 && edge === "rgba(0, 0, 0, 0)";
}"""


@pytest.mark.slow
async def test_duty_d14_the_table_is_plainly_shut_while_the_link_is_down_and_its_round_goes_on(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    await service.meter(112_233, 1)
    await expect(page.locator(METER)).to_contain_text("$1,122.33")
    await hand.wager("Position 3 Progressive")
    service.beating = False
    await hand.says("SHUT: Link down")
    await hand.says("No new progressive wager is accepted.")
    await expect(page.locator(METER)).to_contain_text("Not available")
    await expect(hand.button("Position 4 Progressive")).to_be_disabled()
    await expect(hand.button("Position 3 Progressive")).to_be_enabled()
    await hand.lock(1)
    await hand.says("This round continues: enter it.")
    await hand.type("Dealer's hand", "2c 3c 4c")
    await hand.touch("Position 3 fold", "Settle the round")
    service.beating = True
    await expect(page.get_by_text("SHUT: Link down")).to_have_count(0)
    await expect(page.locator(METER)).to_contain_text("$1,122.33")
    await hand.touch("Next round")
    await hand.wager("Position 4 Progressive")


@pytest.mark.duty("D14", proof=True)
async def test_duty_d14_a_closed_or_inoperable_link_shuts_the_table_with_its_reason(
    hand: Hand, service: ScriptedService
) -> None:
    for state in ("closed", "inoperable"):
        service.state, service.reason = state, f"it is {state} by the test"
        await hand.says(f"SHUT: Link {state}")
        await hand.says(service.reason)


async def test_what_waits_for_the_service_is_said_so_and_sent_until_it_is_answered(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    await hand.wager("Position 3 Progressive")
    service.answering = False
    await hand.touch("Lock-out: no more bets")
    await hand.says("Waiting for the service")
    await expect(page.get_by_label("Chips counted")).to_have_count(0)
    await eventually_async(lambda: len(service.heard) > 2)
    service.answering = True
    await hand.count(1)
    await hand.says("Dealer's hand")
    assert len(set(service.heard)) == 1


@pytest.mark.duty("D11", proof=True)
async def test_duty_d11_a_round_and_its_settlement_are_there_after_a_restart(
    mosquitto: Mosquitto, page: Page, tmp_path: Path
) -> None:
    stand = PanelStand(mosquitto.url, tmp_path / "T-1.sqlite")
    hand = Hand(page, stand.url)
    async with running(ScriptedService(mosquitto.url)) as service:
        service.settlement = JACKPOT
        service.draw = {"magic_card": "Ts", "lucky_position": 3}
        async with serving(stand):
            await hand.open()
            await to_the_cards(hand)
            await hand.type("Dealer's hand", "Js Ts 3d")
            await expect(hand.heading("Hand of position 5")).to_be_visible()
        await expect(page.locator("#lost")).to_be_visible()
        async with serving(stand):
            await expect(page.locator("#lost")).to_be_hidden()
            await expect(page.get_by_text("★ Lucky: position 3")).to_be_visible()
            await hand.type("Hand of position 5", "2h 7d 9c")
            await hand.type("Hand of position 3", "As Ks Qs")
            await hand.touch("Settle the round")
            await hand.says("Do not pay: hand pay, cards stay")
        service.finals = [jackpot("C1", "paid")]
        async with serving(stand):
            await hand.says("Paid by a floorperson")
            await hand.says("Settlement of round R1")
            await hand.touch("Next round")


@pytest.mark.slow
async def test_a_tablet_whose_address_is_no_longer_valid_says_so_until_it_has_the_new_one(
    mosquitto: Mosquitto, service: ScriptedService, page: Page, tmp_path: Path
) -> None:
    """The machine of the table was replaced: its panel has the same address, and another key."""
    stand = PanelStand(mosquitto.url, tmp_path / "old.sqlite")
    lost = page.locator("#lost")
    async with serving(stand):
        await Hand(page, stand.url).open()
    await expect(lost).to_contain_text("It reconnects automatically.")
    stand.outbox, stand.key = tmp_path / "new.sqlite", "key-of-the-new-machine"
    async with serving(stand):
        await expect(lost).to_contain_text("an earlier address is no longer valid")
        await expect(lost).to_contain_text("the address that the table's agent prints at its start")
        await expect(lost).not_to_contain_text("It reconnects automatically.")
        await expect(page.locator("#standing")).to_have_text("No access")
        # The technician opens the new address in another tab.
        await page.request.get(f"{stand.url}/?key={stand.key}")
        await expect(page.locator("#standing")).to_contain_text("Link operable")
        await expect(lost).to_be_hidden()


@pytest.mark.slow
async def test_a_connection_that_died_without_a_word_is_said_so_and_opened_again(
    mosquitto: Mosquitto, service: ScriptedService, page: Page, tmp_path: Path
) -> None:
    settings = ServerSettings(hosts=("127.0.0.1",))
    stand = PanelStand(mosquitto.url, tmp_path / "T-1.sqlite", settings=settings)
    async with serving(stand) as panel, Relay(panel.port).running() as relay:
        hand = Hand(page, f"http://127.0.0.1:{relay.port}")
        await hand.open()
        await hand.wager("Position 3 Progressive")
        relay.swallow()
        await expect(page.locator("#lost")).to_be_visible()
        await expect(page.locator("#lost")).to_be_hidden()
        await hand.wager("Position 4 Progressive")
        assert [placed.position for placed in panel.agent.table_state.wagers] == [3, 4]
        await page.close()


@pytest.mark.slow
async def test_duty_d13_a_table_that_does_not_agree_with_the_service_is_voided(
    mosquitto: Mosquitto, page: Page, tmp_path: Path
) -> None:
    service = ScriptedService(mosquitto.url)
    service.last_seq, service.open_round = 41, "R41"
    async with running(service), serving(PanelStand(mosquitto.url, tmp_path / "T.sqlite")) as stand:
        hand = Hand(page, stand.url)
        await hand.open()
        await hand.says("SHUT: Table locked out")
        await expect(page.get_by_text("an open round R41 that this table")).to_have_count(1)
        await hand.void("Table's machine replaced")
        await expect(page.locator("#returned")).to_contain_text("return every chip on the layout")
        await hand.wager("Position 3 Progressive")
    assert [(event["type"], event["reason"]) for event in service.applied] == [
        ("void", "Table's machine replaced")
    ]


async def test_a_table_without_linked_wagers_says_so_and_offers_nothing(
    mosquitto: Mosquitto, page: Page, tmp_path: Path
) -> None:
    async with serving(PanelStand(mosquitto.url, tmp_path / "T.sqlite", "T-3")) as stand:
        await page.goto(f"{stand.url}/?key=key-of-the-test")
        await expect(page.get_by_text("No linked progressive wager at this table")).to_be_visible()
        await expect(page.get_by_role("button")).to_have_count(0)


async def check_at_every_size(page: Page, where: str) -> None:
    for name, (width, height) in SIZES.items():
        await page.set_viewport_size({"width": width, "height": height})
        await check_fits(page, 47.5, f"{where}, {name}")
        assert await page.evaluate(HEAD_ENDS_ABOVE), f"{where}, {name}"
        if name in {"tablet", "phone"}:
            await check_accessible(page, f"{where}, {name}")


@pytest.mark.slow
async def test_every_step_fits_every_screen_and_is_accessible(
    browser: Browser, panel: PanelStand, service: ScriptedService
) -> None:
    context = await browser.new_context(bypass_csp=True, reduced_motion="reduce")
    page = await context.new_page()
    hand = Hand(page, panel.url)
    service.settlement = JACKPOT
    service.draw = {"magic_card": "Ts", "lucky_position": 3}
    await hand.open()
    await expect(page.locator("#demonstration")).to_be_visible()
    await hand.wager("Position 3 5 of 6 Progressive", "Position 5 5 of 6 Progressive")
    await check_at_every_size(page, "betting")
    await hand.lock(9)
    await hand.says("You counted 9 chips.")
    await check_at_every_size(page, "count")
    await hand.count(2)
    await hand.type("Dealer's hand", "Js Ts 3d")
    await hand.type("Hand of position 5", "2h 7d 9c")
    await check_at_every_size(page, "hands")
    await hand.touch("Void the round…")
    await check_at_every_size(page, "void")
    await hand.touch("Keep the round")
    await hand.type("Hand of position 3", "As Ks Qs")
    await hand.touch("Settle the round", "Why: position 3 5 of 6 Progressive")
    await check_at_every_size(page, "held")
    service.beating = False
    await hand.says("SHUT: Link down")
    await check_at_every_size(page, "shut")
    assert panel.agent.table_state.phase is Phase.HELD
    await context.close()
