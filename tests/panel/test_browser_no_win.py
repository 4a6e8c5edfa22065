"""Rounds in which the dealer enters only the hands that win."""

from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.controllers.scripted import ScriptedService
from tests.panel.stand import Hand, PanelStand

WAGERS: Final = [
    f"Position {position} {wager}"
    for position in range(1, 8)
    for wager in ("Progressive", "5 of 6 Progressive")
]
WITHOUT_WINNERS_MAX: Final = 12
WITH_ONE_MAX: Final = 20
COUNT_TAPS: Final = """() => {
  document.addEventListener("click", () => { window.taps += 1; }, { capture: true });
}"""


async def to_the_cards(hand: Hand) -> None:
    """Lock out the same wagers as in the round before, two for each of 7 players."""
    await hand.page.evaluate("window.taps = 0")
    await hand.touch("Same as last round", "Lock-out: no more bets", "1", "4", "Confirm count")
    await hand.touch("two of clubs", "three of diamonds", "nine of clubs")


async def taps_to_next_round(hand: Hand) -> int:
    """Settle the round; return how many taps it took, once the next one can begin."""
    await hand.touch("Settle the round", "Next round")
    await expect(hand.button("Same as last round")).to_be_enabled()
    taps: int = await hand.page.evaluate("window.taps")
    return taps


@pytest.mark.slow
async def test_rounds_without_winners_or_with_one_take_few_taps(
    hand: Hand, service: ScriptedService, page: Page
) -> None:
    lost: list[dict[str, object]] = [
        {"position": position, "folded": False, "no_win": True} for position in range(1, 8)
    ]
    await hand.wager(*WAGERS)
    await hand.lock(14)
    await hand.void()
    await page.evaluate(COUNT_TAPS)
    await to_the_cards(hand)
    await hand.touch("No winners")
    assert await taps_to_next_round(hand) <= WITHOUT_WINNERS_MAX
    assert service.applied[-1]["positions"] == lost
    await to_the_cards(hand)
    await hand.touch("Position 3 hand", "ace of spades", "king of spades", "queen of spades")
    await hand.touch("No other winners")
    assert await taps_to_next_round(hand) <= WITH_ONE_MAX
    lost[2] = {"position": 3, "cards": ["As", "Ks", "Qs"], "folded": False}
    assert service.applied[-1]["positions"] == lost


async def test_no_win_is_shown_with_a_warning_of_a_win_entered_before_and_can_be_taken_back(
    hand: Hand, panel: PanelStand, page: Page
) -> None:
    await hand.wager("Position 3 Progressive", "Position 5 Progressive")
    await hand.lock(2)
    await hand.touch("Position 3 hand", "ace of spades", "king of spades", "queen of spades")
    await hand.take_back("Position 3 undo hand")
    await hand.touch("No winners")
    await hand.says("No win")
    await expect(hand.button("No winners")).to_have_count(0)
    warning = page.get_by_role("alert")
    await expect(warning).to_contain_text("Position 3 is declared “No win”")
    await expect(warning).to_contain_text("Progressive: Mini-royal of spades")
    await hand.touch("Position 5 undo no win")
    await expect(hand.button("Position 5 hand")).to_be_visible()
    assert panel.agent.table_state.no_win == (3,)
    await hand.touch("Position 3 undo no win")
    await expect(warning).to_have_count(0)


@pytest.mark.slow
@pytest.mark.section("649a.12(i)(3)")
async def test_hands_that_are_evidence_are_still_asked_for(
    hand: Hand, service: ScriptedService
) -> None:
    service.draw = {"magic_card": "Ts", "lucky_position": 3}
    await hand.wager("Position 3 Five Card Hand Bonus", "Position 5 Progressive")
    await hand.lock(1)
    await hand.type("Dealer's hand", "2c 3d 9c")
    await hand.touch("No winners")
    await expect(hand.heading("Hand of position 3")).to_be_visible()
    await expect(hand.button("No winners")).to_have_count(0)
