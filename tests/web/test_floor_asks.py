"""Corrections on the floor page: shown on top as they arrive, decided by one press."""

import re

import msgspec
import pytest
from playwright.async_api import Locator, Page, expect

from meters.acts.claim_types import AskedWager, AskRow
from tests.browsers import check_accessible, sees
from tests.web.floor_hand import FloorRoom, answer, back, dialog, press
from tests.web.in_memory import ASK, ASK_RESULT

pytestmark = pytest.mark.duty("D17")


def row_of(page: Page, ask: AskRow) -> Locator:
    return page.locator(f'.list [data-ask="{ask.ask}"]')


async def card_of(page: Page, ask: AskRow) -> Locator:
    """Open a request of the list, unless it is open, and return its pane."""
    pane = page.locator(f'.detail[data-ask="{ask.ask}"]')
    if not await pane.is_visible():
        if await page.get_by_role("link", name="Back").is_visible():
            await back(page)
        await row_of(page, ask).get_by_role("link").click()
    return pane


ENTERED = ("ace of spades", "king of spades", "queen of spades")
SETTLED = ("three of hearts", "six of spades", "jack of clubs")


async def check_cards(where: Locator, *hands: tuple[str, ...]) -> None:
    drawn = where.locator(".hand")
    await expect(drawn).to_have_count(len(hands))
    for place, names in enumerate(hands):
        cards = drawn.nth(place).get_by_role("img")
        await expect(cards).to_have_count(len(names))
        for name in names:
            await expect(drawn.nth(place).get_by_role("img", name=name)).to_be_visible()


async def test_it_arrives_by_itself_on_top_with_cards_before_and_after(room: FloorRoom) -> None:
    page = await room.signed_in("Flo", size="phone", bypass_csp=True)
    first = page.locator(".list .row").first
    await expect(first).to_have_attribute("data-claim", "c1")
    await expect(page).to_have_title(re.compile(r"^\(2\) Floor"))
    room.stand.asks.put(ASK_RESULT)
    await expect(first).to_have_attribute("data-ask", ASK_RESULT.ask)
    await expect(page).to_have_title(re.compile(r"^\(3\) Floor"))
    await expect(first.locator("[data-at]")).to_have_attribute("data-at", ASK_RESULT.at)
    await expect(page.locator('[aria-live="polite"]')).to_have_text(
        "To confirm: Table TCP-04, round R6, Hand entered differently."
    )
    card = await card_of(page, ASK_RESULT)
    await sees(card, "TCP-04", "Round R6", "Hand entered differently", "Taken back: Typed wrong")
    hands = card.locator(".hand")
    await expect(hands.nth(0)).to_contain_text("Position 2, entered")
    await expect(hands.nth(1)).to_contain_text("To be settled")
    await check_cards(card, ENTERED, SETTLED)
    await check_accessible(page)
    for label in ("Confirm", "Refuse"):
        await press(card, label)
        await expect(dialog(page)).to_contain_text("Taken back: Typed wrong")
        await check_cards(dialog(page), ENTERED, SETTLED)
        await answer(page, "Cancel")
    (hand,) = ASK_RESULT.cards
    won = msgspec.structs.replace(hand, before=(), before_no_win=True)
    lost = msgspec.structs.replace(hand, after=(), after_no_win=True)
    room.stand.asks.put(ASK_RESULT, cards=(won, lost))
    rows = card.locator(".changes li")
    await sees(rows.nth(0), "Position 2, declared to win nothing", "To be settled")
    await expect(rows.nth(0).locator(".hand")).to_have_count(1)
    await sees(rows.nth(1), "Position 2, entered", "Settled as declared to win nothing")
    wager = AskedWager(position=5, wager="progressive", amount=100, patron="p5")
    for what, words in (("add_wager", "the chip is there"), ("take_back_wager", "has no chip")):
        row = room.stand.asks.put(ask=f"pit-2.{what}", what=what, cards=(), wager=wager)
        told = "Position 5 (p5): Progressive, $1.00"
        pane = await card_of(page, row)
        await sees(pane, told, words, "no card is dealt")
        await press(pane, "Confirm")
        await sees(dialog(page), told)
        await answer(page, "Cancel")


async def test_the_same_cards_in_another_order_are_named_so(room: FloorRoom) -> None:
    """For wagers on the first community cards, the order of the deal counts."""
    flop = msgspec.structs.replace(
        ASK_RESULT.cards[0], what="community", position=None,
        before=("Ah", "Kh", "2c", "9d"), after=("Ah", "2c", "Kh", "9d"),
    )  # fmt: skip
    room.stand.asks.put(msgspec.structs.replace(ASK_RESULT, cards=(*ASK_RESULT.cards, flop)))
    page = await room.signed_in("Flo", size="phone", bypass_csp=True)
    card = await card_of(page, ASK_RESULT)
    changes = card.locator(".changes li")
    said = "The same cards, in another order"
    await expect(changes.nth(1)).to_contain_text(said)
    await expect(changes.nth(0)).not_to_contain_text(said)


@pytest.mark.slow
async def test_a_correction_is_confirmed_or_refused_once_after_it_was_said_again(
    room: FloorRoom,
) -> None:
    asks = room.stand.asks
    asks.put(ASK)
    dana, page = await room.signed_in("Dana"), await room.signed_in("Flo")
    pane = await card_of(dana, ASK)
    await sees(pane, "A floorperson or a supervisor decides.")
    await expect(pane.get_by_role("button")).to_have_count(0)
    await press(await card_of(page, ASK), "Confirm")
    asks.rows.clear()
    await answer(page, "Confirm")
    await sees(page.locator(".receipt"), "Table TCP-03, round R41: the table no longer asks.")
    await expect(dialog(page)).to_have_count(0)
    other = msgspec.structs.replace(ASK, ask="tcp-main.TCP-03-43", reason="Fouled deck")
    asks.put(other)
    card = await card_of(page, other)
    await sees(card, "Reason: Fouled deck", "Not settled: the round is void")
    await expect(row_of(page, ASK)).to_have_count(0)
    await press(card, "Confirm")
    await expect(dialog(page)).to_contain_text("Table TCP-03, round R41")
    await check_cards(card, ENTERED)
    await check_cards(dialog(page), ENTERED)
    assert asks.acts == []
    await answer(page, "Confirm")
    await expect(row_of(page, other)).to_have_count(0)
    asks.put(ASK)
    await press(await card_of(page, ASK), "Refuse")
    await answer(page, "Refuse")
    await expect(dialog(page)).to_contain_text("Say why.")
    await dialog(page).get_by_label("Why? The dealer reads it").fill("The cards were dealt")
    await answer(page, "Refuse")
    await expect(row_of(page, ASK)).to_have_count(0)
    assert asks.acts == [
        (other.ask, "confirm_correction", "Flo", ""),
        (ASK.ask, "refuse_correction", "Flo", "The cards were dealt"),
    ]
