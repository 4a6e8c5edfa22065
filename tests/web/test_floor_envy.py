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


def acts_of(room: FloorRoom) -> list[tuple[str, str, str]]:
    return [(claim, act, actor) for claim, act, actor, *_ in room.stand.claims.acts]


@pytest.mark.slow
async def test_envy_is_not_offered_for_payment_while_its_win_is_pending(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    card = claim_card(page, CLAIM)
    await expect(card).to_contain_text("Envy Bonuses: owed once the win is decided")
    await expect(card.get_by_role("button", name="Envy paid")).to_have_count(0)


@pytest.mark.slow
async def test_one_press_confirms_all_envy_of_a_win(room: FloorRoom) -> None:
    page = await room.signed_in("Flo", size="phone")
    room.stand.claims.put(msgspec.structs.replace(SMALL, state="validated", envy=CLAIM.envy,
        envy_amount=10_000, envy_state="validated"))  # fmt: skip
    card = claim_card(page, SMALL)
    await expect(card.locator(".chip")).to_have_text("Envy to be paid")
    await press(card, "Envy paid")
    await expect(dialog(page)).to_contain_text("$100.00")
    assert acts_of(room) == []
    await answer(page, "Paid $100.00")
    await expect(card).to_have_count(0)
    assert acts_of(room) == [("c2", "pay_envy", "Flo")]


@pytest.mark.slow
async def test_who_pays_by_hand_is_asked_whether_the_envy_is_paid(room: FloorRoom) -> None:
    room.stand.claims.put(msgspec.structs.replace(
        CLAIM, state="validated", validated_by="Sue", envy_state="validated"))  # fmt: skip
    page = await room.signed_in("Flo")
    await press(claim_card(page, CLAIM), "Pay")
    await dialog(page).get_by_label("Number of the payout slip").fill("S-1")
    await answer(page, "Paid $1,510.00")
    await expect(dialog(page).get_by_role("alert")).to_contain_text("Envy Bonuses are paid")
    assert acts_of(room) == []
    await dialog(page).get_by_text("The table has paid them").click()
    await answer(page, "Paid $1,510.00")
    await expect(claim_card(page, CLAIM)).to_have_count(0)
    assert room.stand.claims.claims["c1"].envy_state == "paid"


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
    assert acts_of(room) == [("c3-e3", "reject_envy", "Flo")]
