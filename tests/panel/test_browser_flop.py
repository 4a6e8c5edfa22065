"""The panel of a table with a wager on the flop, in a real browser."""

import pytest
from playwright.async_api import Page, expect

from tests.controllers.scripted import ScriptedService
from tests.games.test_flop_wagers import FLOOR
from tests.panel.stand import Hand

pytestmark = pytest.mark.slow


@pytest.fixture
def floor() -> str:
    return FLOOR


async def test_a_corrected_card_of_the_flop_stays_in_its_place(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    await hand.wager("Position 2 Flop Progressive")
    await hand.lock(1)
    await hand.type("Hand of position 2", "As Ks")
    await expect(hand.heading("Community cards in the order of the deal")).to_be_visible()
    places = page.locator(".slots > *")
    kinds = places.evaluate_all
    await hand.touch("queen of spades", "jack of hearts", "ten of spades", "two of clubs")
    assert await kinds("(all) => all.map((one) => one.className)") == [
        "card", "card", "card", "gap", "card", "slot",
    ]  # fmt: skip
    await hand.touch("jack of hearts")
    await expect(places.nth(1)).to_have_class("slot")
    await hand.touch("jack of spades", "three of diamonds")
    await hand.touch("Settle the round")
    await hand.says("Betting open")
    assert service.applied[-1]["community"] == ["Qs", "Js", "Ts", "2c", "3d"]
