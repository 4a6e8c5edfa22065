"""Envy Bonuses on the floor page: owed under their win, and paid by one act with a name."""

import msgspec
import pytest
from playwright.async_api import expect

from tests.web.floor_hand import FloorRoom, answer, claim_card, dialog, press
from tests.web.stand import CLAIM, SMALL

pytestmark = pytest.mark.section("649a.11(c)(5)(v)")

ALONE = msgspec.structs.replace(
    CLAIM, claim="c3-e3", order="19", amount=0, percent=None, only_envy=True, state="validated",
    envy_state="validated", paid_from="table_inventory", tax_documents=False,
    item="progressive_envy", item_name="Envy Bonus",
)  # fmt: skip
"""An Envy Bonus for a hand without a waiting win."""


@pytest.mark.slow
async def test_one_press_confirms_all_envy_of_a_win_once_this_is_decided(room: FloorRoom) -> None:
    page = await room.signed_in("Flo", size="phone")
    pending = claim_card(page)
    await expect(pending).to_contain_text("Envy Bonuses: owed once the win is decided")
    await expect(pending.get_by_role("button", name="Envy paid")).to_have_count(0)
    room.stand.claims.put(msgspec.structs.replace(SMALL, state="validated", envy=CLAIM.envy,
        envy_amount=10_000, envy_state="validated"))  # fmt: skip
    card = claim_card(page, SMALL)
    await expect(card.locator(".chip")).to_have_text("Envy to be paid")
    await press(card, "Envy paid")
    await expect(dialog(page)).to_contain_text("$100.00")
    assert room.acts == []
    await answer(page, "Paid $100.00")
    await expect(card).to_have_count(0)
    assert room.acts == [("c2", "pay_envy", "Flo")]


@pytest.mark.reading("T10")
async def test_envy_alone_is_paid_or_found_not_to_be_due_with_a_reason(room: FloorRoom) -> None:
    room.stand.claims.put(ALONE)
    page = await room.signed_in("Flo")
    card = claim_card(page, ALONE)
    await expect(card).to_contain_text("no win of this hand waits")
    await expect(card.locator(".amount")).to_have_text("$100.00")
    await press(card, "Envy not due")
    await answer(page, "Reject Envy of $100.00")
    await expect(dialog(page).get_by_role("alert")).to_contain_text("Say why")
    await dialog(page).get_by_label("Why not?").fill("cards entered wrongly")
    await answer(page, "Reject Envy of $100.00")
    await expect(card).to_have_count(0)
    assert room.acts == [("c3-e3", "reject_envy", "Flo")]
