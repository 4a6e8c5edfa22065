"""The panel as used: `pitlink serve`, `pitlink table --panel`, real parts, a real browser."""

import asyncio
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.mqtt.stand import Service, Stand
from tests.panel.stand import Hand
from tests.servers import Pitlink, free_port, run_pitlink

pytestmark = pytest.mark.slow

ADDRESS: Final = re.compile(r"Panel of table S-1: (http://\S+)\?key=(\S+)")


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    """Yield a floor on which the test acts as the floorpersons: each win waits for a decision."""
    with Stand(tmp_path) as stand:
        yield stand


@contextmanager
def paneled(service: Service, port: int) -> Iterator[tuple[Pitlink, str]]:
    arguments = ("table", "S-1", "--config", str(service.config), "--panel")
    with Pitlink(*arguments, "--at", f"127.0.0.1:{port}") as table:
        found = table.until(lambda: ADDRESS.search(table.output), what="the panel's address")
        assert found is not None
        yield table, f"{found[1]}?key={found[2]}"


async def opened(page: Page, address: str) -> Hand:
    await page.goto(address)
    await expect(page.locator("#standing")).to_contain_text("Link operable")
    return Hand(page, address)


@pytest.mark.duty("D17")
async def test_a_correction_waits_for_a_floorperson_through_the_loss_of_every_part(
    stand: Stand, page: Page
) -> None:
    """Its agent is killed while it waits, then broker, Redis and service. Then it is confirmed."""
    port = free_port()
    with ExitStack() as stack:
        table, address = stack.enter_context(paneled(stand.service, port))
        hand = await opened(page, address)
        await hand.deal(dealer="Js Ts 3d")
        await hand.void()
        await hand.says("Waiting for a floorperson")
        (ask,) = stand.service.asks()
        table.kill()
        await expect(page.locator("#lost")).to_be_visible()
        for part in (stand.mosquitto, stand.redis):
            part.kill()
            part.start()
        stand.service.process.kill()
        stand.service.start()
        table, _ = stack.enter_context(paneled(stand.service, port))
        await hand.says("Waiting for a floorperson")
        assert stand.service.asks() == [ask], "the same, since when it was first asked"
        stand.service.decide_ask(ask["ask"], "confirm")
        await expect(page.locator("#returned")).to_contain_text("The round is void: Misdeal")
        assert stand.service.asks() == []
        # Service and agent are killed in the middle of another round, and it is settled.
        await hand.wager("Position 3 Progressive")
        await hand.lock(1)
        stand.service.process.kill()
        await hand.says("SHUT: Link down")
        await hand.type("Dealer's hand", "Js Ts 3d")
        await hand.touch("Position 3 hand")
        await hand.type("Hand of position 3", "2h 7d 9c")
        await hand.touch("Settle the round")
        await hand.says("Waiting for the service")
        table.kill()
        await expect(page.locator("#lost")).to_be_visible()
        table, _ = stack.enter_context(paneled(stand.service, port))
        await hand.says("Waiting for the service")
        stand.service.start()
        await hand.says("Settlement of round R")
        assert table.stop() == 0
    (void,) = (one for one in stand.ledger("main") if one["kind"] == "void")
    assert void["by"] == "table:S-1, confirmed by B. Reyes"
    assert stand.service.audit()["balanced"]


async def test_events_may_come_besides_the_panel_and_an_occupied_port_is_reported(
    stand: Stand, page: Page
) -> None:
    """Standard output is for the events. Interrupted, the agent ends well."""
    at = f"127.0.0.1:{free_port()}"
    arguments = ("--config", str(stand.service.config), "--panel", "--at", at)
    with Pitlink("table", "S-1", *arguments, "--events", stdin=True) as table:
        found = table.until(lambda: ADDRESS.search(table.errors), what="the panel's address")
        assert found is not None
        hand = await opened(page, f"{found[1]}?key={found[2]}")
        table.write_line('{"event": "wager", "position": 3, "wager": "progressive", "amount": 100}')
        await hand.shows_lit("Position 3 Progressive")
        assert "Panel of" not in table.output
        done = await asyncio.to_thread(run_pitlink, "table", "T-1", *arguments)
        assert (done.returncode, "Traceback" in done.stderr) == (1, False)
        assert f"cannot serve pages at http://{at}" in done.stderr
        table.close_input()
        assert table.wait() == 0
    with paneled(stand.service, free_port()) as (table, _):
        table.process.send_signal(signal.SIGINT)
        assert table.wait() == 0
        assert "Traceback" not in table.errors


ROYAL: Final = {
    "Dealer's hand": "Js Ts 3d",
    "Hand of position 5": "2h 7d 9c",
    "Hand of position 3": "As Ks Qs",
}


async def reopened(stand: Stand, claim: str) -> None:
    service = stand.service
    row = await asyncio.to_thread(service.decide, claim, "reopen", reason="The camera shows it")
    await asyncio.to_thread(service.confirm, claim, row["request"]["entry"])


async def rejected(stand: Stand, hand: Hand) -> str:
    await hand.wager("Position 3 5 of 6 Progressive", "Position 5 5 of 6 Progressive")
    await hand.lock(2)
    for title, cards in ROYAL.items():
        await hand.type(title, cards)
    await hand.touch("Settle the round")
    await hand.says("HELD: the cards stay on the table")
    (row,) = [row for row in stand.service.claims() if row["state"] == "pending"]
    claim: str = row["claim"]
    stand.service.decide(claim, "reject", reason="Card fouled")
    await hand.touch("Next round")
    return claim


@pytest.mark.section("649a.11(c)(9)(iv)")
async def test_a_reopened_hand_pay_is_held_whatever_part_is_lost_meanwhile(
    stand: Stand, page: Page
) -> None:
    """Four rounds at one table: nothing is lost, then the agent, the service and the broker."""
    port = free_port()
    with ExitStack() as stack:
        table, address = stack.enter_context(paneled(stand.service, port))
        hand = await opened(page, address)
        for number, lost in enumerate(("nothing", "agent", "service", "broker")):
            claim = await rejected(stand, hand)
            await expect(hand.button("Lock-out: no more bets")).to_be_visible()
            if lost == "agent":
                table.kill()
            if lost == "broker":
                stand.mosquitto.kill()
            await reopened(stand, claim)
            if lost == "agent":
                table, _ = stack.enter_context(paneled(stand.service, port))
            if lost == "broker":
                stand.mosquitto.start()
            if lost == "service":
                stand.service.process.kill()
                stand.service.start()
            await hand.says("HELD: the cards stay on the table")
            await expect(page.locator(f'[data-claim="{claim}"]')).to_contain_text("$10,000.56")
            await expect(hand.button("Position 3 Progressive")).to_be_disabled()
            signage = await asyncio.to_thread(httpx.get, f"{stand.service.url}/signage/main")
            assert "Table S-1 won $10,000.56" in signage.text, lost
            stand.service.decide(claim, "validate")
            await expect(page.locator('[data-claim][data-validated="true"]')).to_be_visible()
            stand.service.decide(claim, "pay", slip=f"HP-{number}")
            stand.service.decide(claim, "pay-envy")
            await expect(hand.button("Position 3 Progressive")).to_be_enabled()
        assert table.stop() == 0
    assert stand.service.audit()["balanced"]
