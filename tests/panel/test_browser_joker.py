"""The panel of a table whose deck has a joker, in a real browser."""

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
        meter_text("joker_jackpot"),
        table_text("T-1", "joker_jackpot", asset="1", game="keystone_joker", positions=6),
    ),
    games=str(HOUSE),
)
ACES: Final = ("ace of spades", "ace of hearts", "ace of diamonds", "ace of clubs")
COVERED: Final = """(cards) => cards.filter((card) => {
  const { x, y, width, height } = card.getBoundingClientRect();
  return [2, width - 2].some((right) =>
    document.elementFromPoint(x + right, y + height / 2) !== card);
}).map((card) => card.ariaLabel)"""
WITHOUT_JOKER: Final = "As Ah Ad Ac 2c 3d 4h"


@pytest.fixture
def floor() -> str:
    return FLOOR


async def test_the_joker_is_entered_once_and_can_be_corrected(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    await hand.wager("Position 2 Joker Progressive", "Position 3 Joker Progressive")
    await hand.lock(2)
    joker = page.locator("#card-Jk")
    await expect(hand.heading("Hand of position 3")).to_be_visible()
    for width, height in ((1280, 800), (1024, 768), (800, 1280)):
        await page.set_viewport_size({"width": width, "height": height})
        await expect(joker).to_be_in_viewport(ratio=1)
        await expect(page.locator("#card-2c")).to_be_in_viewport(ratio=1)
    await page.set_viewport_size({"width": 1280, "height": 800})
    await hand.touch(*ACES, "joker")
    await expect(joker).to_have_attribute("aria-pressed", "true")
    await hand.touch("joker")
    await expect(joker).to_have_attribute("aria-pressed", "false")
    await hand.touch("joker", "two of clubs", "three of diamonds")
    await expect(hand.heading("Hand of position 2")).to_be_visible()
    await expect(joker).to_be_disabled()
    for width, height in ((1280, 800), (1024, 768), (800, 1280)):
        await page.set_viewport_size({"width": width, "height": height})
        cards = page.locator('[data-position="3"] .card')
        await expect(cards).to_have_count(7)
        assert await cards.evaluate_all(COVERED) == []
    await page.set_viewport_size({"width": 1280, "height": 800})
    await hand.take_back("Undo the hand of position 3")
    await hand.type("Hand of position 3", WITHOUT_JOKER)
    await hand.type("Hand of position 2", "Ks, Kh, Kd, Kc, jk, 5c, 6d")
    await hand.touch("Settle the round")
    await hand.says("Betting open")
    sent = service.applied[-1]
    positions = sent["positions"]
    assert isinstance(positions, list)
    assert [" ".join(each["cards"]) for each in positions] == [
        "Ks Kh Kd Kc Jk 5c 6d", WITHOUT_JOKER,
    ]  # fmt: skip
    before = sent["entered_before"]
    assert isinstance(before, list)
    assert " ".join(before[0]["cards"]) == "As Ah Ad Ac Jk 2c 3d"
