"""The panel of a table with six decks, in a real browser."""

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
        meter_text("twenty_one_jackpot"),
        table_text("T-1", "twenty_one_jackpot", asset="1", game="keystone_twenty_one"),
    ),
    games=str(HOUSE),
)


@pytest.fixture
def floor() -> str:
    return FLOOR


async def test_a_second_touch_enters_an_equal_card(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    wagers = [f"Position {number} Keystone 21 Progressive" for number in (2, 3, 4)]
    await hand.wager(*wagers)
    await hand.lock(3)
    ace = page.locator("#card-As")
    await expect(hand.heading("Dealer's hand")).to_be_visible()
    await hand.touch("ace of spades")
    for position in (4, 3):
        await expect(hand.heading(f"Hand of position {position}")).to_be_visible()
        await hand.touch("ace of spades")
        await expect(ace).to_have_attribute("aria-pressed", "true")
        await hand.touch("ace of spades")
    await expect(hand.heading("Hand of position 2")).to_be_visible()
    await expect(ace).to_be_enabled()
    await hand.touch("ace of spades")
    await expect(ace).to_be_disabled()
    await hand.touch("king of hearts")
    await hand.touch("Settle the round")
    await hand.says("Betting open")
    sent = service.applied[-1]
    assert sent["dealer"] == ["As"]
    positions = sent["positions"]
    assert isinstance(positions, list)
    assert [each["cards"] for each in positions] == [["As", "Kh"], *[["As", "As"]] * 2]
