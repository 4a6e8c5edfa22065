"""The panel of a table whose wager can have several amounts, in a real browser."""

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
        meter_text("dice_jackpot", 500, smaller_wagers=[250, 100]),
        table_text("T-1", "dice_jackpot", asset="1", game="keystone_dice", positions=8),
    ),
    games=str(HOUSE),
)


@pytest.fixture
def floor() -> str:
    return FLOOR


async def test_each_touch_of_a_light_changes_the_amount(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    await hand.says("$1 / $2.50 / $5 wager")
    light = page.locator("#light-3-dice_bet")
    for amount, lit in (("$5", "true"), ("$2.50", "true"), ("$1", "true"), ("$5", "false")):
        await hand.touch("Position 3 Dice Bet")
        await expect(light).to_have_attribute("aria-pressed", lit)
        await expect(light.locator("small")).to_have_text(amount)
    for _ in range(3):
        await hand.touch("Position 3 Dice Bet")
    await hand.touch("Position 6 Dice Bet")
    await hand.says("2 wagers accepted, $6.00")
    for width, height in ((1280, 800), (1024, 768), (800, 1280)):
        await page.set_viewport_size({"width": width, "height": height})
        await expect(light.locator("small")).to_be_in_viewport(ratio=1)
        await expect(hand.button("Lock-out: no more bets")).to_be_in_viewport(ratio=1)
    await page.set_viewport_size({"width": 1280, "height": 800})
    await hand.lock(2)
    assert service.applied[-1]["positions"] == [
        {"position": 3, "wagers": {"dice_bet": 100}}, {"position": 6, "wagers": {"dice_bet": 500}},
    ]  # fmt: skip
    await hand.touch("Correct a wager…")
    which = page.get_by_label("Which wager?")
    options = await which.locator("option").all_text_contents()
    assert "Position 3: Dice Bet $1.00" in options
    assert "Position 3: Dice Bet $5.00" not in options
    assert [one for one in options if one.startswith("Position 4")] == [
        f"Position 4: Dice Bet {amount}" for amount in ("$5.00", "$2.50", "$1.00")
    ]
    await which.select_option(label="Position 4: Dice Bet $2.50")
    await hand.touch("Chip without a light", "Ask the floorperson")
    await hand.says("Add: position 4, Dice Bet $2.50")
    sent = service.applied[-1]
    assert (sent["type"], sent["action"], sent["amount"]) == ("correct_wager", "add", 250)
