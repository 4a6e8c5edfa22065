"""The panel of a table without cards, in a real browser."""

from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.controllers.scripted import ScriptedService
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.panel.stand import Hand

pytestmark = pytest.mark.slow

FLOOR: Final = floor_text(
    link_text(
        "one",
        meter_text("dice_jackpot"),
        table_text("T-1", "dice_jackpot", asset="1", game="keystone_dice", positions=8),
    ),
    games=str(HOUSE),
)
PAID: Final = {
    "position": 3, "item": "dice_bet", "outcome": "paid", "hand": "twelve", "wagered": 100,
    "paid": 2_040, "returned": 0, "paid_from": "hand_pay", "percent": 100, "rule": "KD.4(a)",
    "on": "dealer",
}  # fmt: skip
CLAIM: Final = {"claim": "C1", "position": 3, "item": "dice_bet", "amount": 2_040}


@pytest.fixture
def floor() -> str:
    return FLOOR


async def test_the_dealer_touches_the_result_of_the_table(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    service.settlement = {"lines": [PAID], "claims": [CLAIM]}
    await hand.wager("Position 3 Dice Bet", "Position 6 Dice Bet")
    await hand.lock(2)
    await expect(hand.heading("Result of the table")).to_be_visible()
    await hand.says("Missing: the table's result")
    for width, height in ((1280, 800), (1024, 768), (800, 1280)):
        await page.set_viewport_size({"width": width, "height": height})
        for name in ("Twelve", "Hard eight", "Eleven", "Easy eight", "Other"):
            await expect(hand.button(name)).to_be_in_viewport(ratio=1)
    await page.set_viewport_size({"width": 1280, "height": 800})
    await hand.touch("Eleven")
    await expect(hand.heading("All results entered")).to_be_visible()
    await hand.says("All required results are entered.")
    await expect(hand.button("Twelve")).to_be_disabled()
    await hand.take_back("Undo the result")
    await hand.touch("Twelve", "Settle the round")
    await hand.says("HELD: leave the table as it is")
    await expect(page.locator(".shared-cards")).to_have_text("Result of the table Twelve")
    await expect(page.locator(".line .act")).to_have_text("Do not pay: hand pay")
    sent = service.applied[-1]
    assert sent["dealer"] == ["twelve"]
    assert sent["entered_before"] == [
        {"what": "dealer", "cards": ["eleven"], "taken_back": True, "reason": "Typed wrong"}
    ]
