"""Rejections by two people, reopened wins and corrected slip numbers, in a real browser."""

import time
from typing import Final

import msgspec
import pytest
from playwright.async_api import Page, expect

from meters.acts.claim_types import ClaimRequestRow
from tests.browsers import check_accessible, sees
from tests.web.floor_hand import (
    ROYAL,
    SIZES,
    FloorRoom,
    answer,
    back,
    claim_card,
    claim_row,
    dialog,
    go,
    opened,
    press,
    press_on,
    resize,
    warned,
)
from tests.web.stand import AT, CLAIM, PIN, SMALL

OVERFLOWS: Final = """(selector) => [...document.querySelectorAll(selector)].flatMap((row) =>
  [...row.querySelectorAll("*")].filter((part) =>
    part.getBoundingClientRect().right > row.getBoundingClientRect().right)
    .map((part) => part.textContent))"""
LARGE: Final = msgspec.structs.replace(CLAIM, two_people_reject=True, envy=(), envy_state=None)


def _acts(room: FloorRoom) -> list[tuple[str, str]]:
    return [(act, actor) for _, act, actor in room.acts]


async def open_win(page: Page) -> None:
    await page.locator(".wins .row a").filter(has_text="$1,510.00").click()


@pytest.mark.duty("D4")
async def test_a_second_person_confirms_a_rejection(room: FloorRoom) -> None:
    """The request and the title of the Envy Bonuses agree whether these are due."""
    room.stand.claims.put(CLAIM, two_people_reject=True)
    flo = await room.signed_in("Flo", size="phone")
    await sees(await claim_card(flo), "$1,510.00")
    await press_on(flo, "Reject")
    await sees(dialog(flo), "Another person must confirm this")
    await expect(dialog(flo)).not_to_contain_text("they wait for the decision")
    await dialog(flo).get_by_text("Hand misread").click()
    await dialog(flo).get_by_text("The hand was not as entered").click()
    await answer(flo, "Request rejection of $1,510.00")
    await sees(flo.locator(".receipt"), "Rejection of $1,510.00 requested")
    pane = opened(flo)
    await sees(
        pane, "Flo requests to reject it", "Envy Bonuses: not due once the rejection is confirmed"
    )
    for size in SIZES:
        await resize(flo, size)
        await expect(pane.get_by_role("button", name="Confirm rejection")).to_have_count(0)
        await expect(pane.locator(".acts-bar .go")).to_have_count(0)
        await sees(pane, "You requested it: another person must confirm it.")
        assert await flo.evaluate(OVERFLOWS, '.list [data-claim="c1"]') == [], size
    await go(flo, "Wins")
    for size in SIZES:
        await resize(flo, size)
        await expect(flo.locator(".wins .chip", has_text="Rejection to confirm")).to_be_visible()
        assert await flo.evaluate(OVERFLOWS, ".wins .row") == [], size
    assert _acts(room) == [("request_reject", "Flo")]
    await go(flo, "Inbox")
    await press_on(flo, "Colleague confirms")
    await sees(dialog(flo), "Hand misread", "Name of the colleague", "Flo stays signed in")
    await answer(flo, "Cancel")

    finn = await room.signed_in("Finn", size="phone")
    await sees(claim_row(finn), "Rejection to confirm", "Rejection by Flo: Hand misread")
    pane = await claim_card(finn)
    await expect(pane.locator(".acts-bar button").first).to_have_text("Confirm rejection $1,510.00")
    await expect(pane.get_by_role("button", name="Validate")).to_be_enabled()
    await press_on(finn, "Confirm rejection")
    await sees(dialog(finn), "Hand misread", "not due once the rejection is confirmed")
    await expect(dialog(finn)).not_to_contain_text("they wait for the decision on the win")
    await answer(finn, "Reject $1,510.00")
    await back(finn)
    await expect(claim_row(finn)).to_have_count(0)
    assert _acts(room) == [("request_reject", "Flo"), ("reject", "Finn")]


@pytest.mark.duty("D4")
async def test_a_colleague_pays_on_the_phone_of_who_validated(room: FloorRoom) -> None:
    """With name and PIN for this one act; nothing of the colleague remains on the phone."""
    room.stand.claims.put(ROYAL)
    phone = await room.signed_in("Finn", size="phone", bypass_csp=True)
    cookies = await phone.context.cookies()
    pane = await claim_card(phone, ROYAL)
    await press(pane, "Validate $23,456.78")
    await sees(pane, "You validated it: another person must pay it.")
    await press(pane, "Colleague pays")
    pin = dialog(phone).get_by_label("PIN of the colleague")
    await sees(dialog(phone), "$23,456.78", "Finn stays signed in")
    await check_accessible(phone)
    await dialog(phone).get_by_label("Number of the payout slip").fill("A-1001")
    await dialog(phone).get_by_text("The table has paid them").click()
    await warned(phone, "The name of the colleague is needed.", "Paid $23,456.78")
    await dialog(phone).get_by_label("Name of the colleague").fill("flo")
    await pin.fill("264907")
    await warned(phone, "The name or the PIN is wrong.", "Paid $23,456.78")
    await expect(pin).to_have_value("")
    await expect(pin).to_be_focused()
    assert _acts(room) == [("validate", "Finn")]
    await pin.fill(PIN)
    await answer(phone, "Paid $23,456.78")
    await expect(dialog(phone)).to_have_count(0)
    await sees(phone.locator(".receipt"), "Paid $23,456.78, slip A-1001")
    await sees(pane.locator(".steps"), "Flo")
    assert _acts(room) == [("validate", "Finn"), ("pay", "Flo")]
    assert await phone.context.cookies() == cookies
    kept = "() => JSON.stringify([{...localStorage}, {...sessionStorage}, location.href])"
    assert PIN not in await phone.evaluate(kept) + await phone.content()
    await phone.reload()
    await sees(phone.locator(".who"), "Finn")
    await press_on(phone, "Reject", SMALL)
    await expect(dialog(phone).get_by_label("PIN of the colleague")).to_have_count(0)


@pytest.mark.duty("D4")
async def test_an_act_that_would_be_refused_is_not_offered(room: FloorRoom) -> None:
    """Ada set the PINs of Flo and Finn, so the page says at once that a third person pays."""
    stand = room.stand
    room.stand.claims.put(ROYAL, state="validated", validated_by="Finn", validated_at=AT)
    phone = await room.signed_in("Flo", size="phone")
    pane = await claim_card(phone, ROYAL)
    await sees(pane.locator(".steps"), "you can")
    await expect(pane.get_by_role("button", name="Paid $23,456.78")).to_be_visible()
    now_ms = time.time() * 1_000
    await stand.redis.zadd(stand.user_keys.pins_set, {"Flo\nAda": now_ms, "Finn\nAda": now_ms})
    await phone.reload()
    pane = opened(phone, ROYAL)
    await sees(pane.locator(".steps"), "another person: Ada set both PINs")
    await sees(pane, "Ada set your PIN and that of Finn, directly or through others. Until ")
    await expect(pane.get_by_role("button", name="Paid $23,456.78")).to_have_count(0)
    await expect(pane.get_by_label("Number of the payout slip")).to_have_count(0)
    await press(pane, "Colleague pays")
    await sees(dialog(phone), "Name of the colleague")

    request = ClaimRequestRow(
        entry=7, act="reject", by="Finn", at=AT, reason="Hand misread", envy_not_due=False
    )
    room.stand.claims.put(LARGE, request=request)
    phone = await room.signed_in("Flo", size="phone")
    pane = await claim_card(phone, LARGE)
    await sees(pane.locator(".steps"), "another person: Ada set both PINs")
    await expect(pane.get_by_role("button", name="Confirm rejection")).to_have_count(0)
    await expect(pane.get_by_role("button", name="Withdraw the request")).to_have_count(0)
    await press(pane, "Colleague confirms")
    await sees(dialog(phone), "Name of the colleague")


async def test_who_requested_a_rejection_withdraws_it(room: FloorRoom) -> None:
    room.stand.claims.put(LARGE)
    flo = await room.signed_in("Flo", size="phone")
    await press_on(flo, "Reject", LARGE)
    await dialog(flo).get_by_text("Hand misread").click()
    await answer(flo, "Request rejection")
    await press_on(flo, "Withdraw the request", LARGE)
    await sees(dialog(flo), "Flo requests to reject it", "waits for a floorperson, as before")
    await answer(flo, "Withdraw")
    await sees(flo.locator(".receipt"), "Request withdrawn, TCP-03 · Position 3")
    await expect(opened(flo, LARGE).get_by_role("button", name="Reject")).to_be_visible()
    assert _acts(room) == [("request_reject", "Flo"), ("withdraw_request", "Flo")]


@pytest.mark.slow
async def test_envy_bonuses_that_are_paid_are_not_decided_again(room: FloorRoom) -> None:
    room.stand.claims.put(CLAIM, envy_state="paid")
    flo = await room.signed_in("Flo", size="phone")
    await press_on(flo, "Reject")
    await expect(dialog(flo)).to_contain_text("Envy Bonuses for this hand")
    await expect(dialog(flo)).not_to_contain_text("Are these Envy Bonuses due?")
    await dialog(flo).get_by_text("Hand misread").click()
    await answer(flo, "Reject $1,510.00")
    await expect(dialog(flo)).to_have_count(0)
    assert _acts(room) == [("reject", "Flo")]


@pytest.mark.slow
@pytest.mark.duty("D4")
async def test_two_people_reopen_a_rejected_win(room: FloorRoom) -> None:
    room.stand.claims.put(
        LARGE, state="rejected", requested_by="Fred", decided_by="Finn", reason="Card fouled"
    )
    flo = await room.signed_in("Flo", "wins")
    finn = await room.signed_in("Finn", size="phone")
    await expect(finn.locator(".list .row")).to_have_count(1)  # the other win of the round
    await open_win(flo)
    await sees(opened(flo), "Rejected by Fred and Finn: Card fouled.")
    await press(opened(flo), "Reopen")
    await expect(dialog(flo)).to_contain_text("Rejected by Fred and Finn: Card fouled.")
    await answer(flo, "Request reopening of $1,510.00")
    await expect(dialog(flo).get_by_role("alert")).to_have_text("Say why.")
    await dialog(flo).get_by_label("Why was the rejection wrong?").fill("The camera shows it")
    await answer(flo, "Request reopening of $1,510.00")
    await expect(dialog(flo)).to_have_count(0)

    await expect(claim_row(finn)).to_contain_text("Reopening by Flo: The camera shows it")
    await expect(finn.get_by_text("Reopening to confirm: Table")).to_have_count(1)
    await go(finn, "Wins")
    row = finn.locator(".wins .row").filter(has_text="$1,510.00")
    await expect(row).to_contain_text("Reopening to confirm")
    await row.get_by_role("link").click()
    await expect(opened(finn)).to_contain_text("Flo requests to reopen it")
    await back(finn)
    await go(finn, "Inbox")
    pane = await claim_card(finn)
    await sees(pane, "Reopening to confirm", "Rejected by Fred and Finn: Card fouled.")
    await press(pane, "Confirm reopening")
    await answer(finn, "Reopen $1,510.00")
    await expect(dialog(finn)).to_have_count(0)
    await sees(pane, "Validate $1,510.00")
    assert _acts(room) == [("request_reopen", "Flo"), ("reopen", "Finn")]


@pytest.mark.slow
async def test_a_slip_number_is_corrected_in_place(room: FloorRoom) -> None:
    room.stand.claims.put(LARGE, state="paid", paid_by="Finn", paid_at=AT, slip="A-1001")
    flo = await room.signed_in("Flo", "wins")
    await open_win(flo)
    acts = opened(flo).locator(".acts-bar")
    for size in SIZES:
        await resize(flo, size)
        await expect(acts.get_by_role("link", name="Dispute")).to_be_visible()
        assert await acts.evaluate("element => element.scrollWidth <= element.clientWidth"), size
    await press(acts, "Correct the slip number")
    await expect(dialog(flo)).to_contain_text("Slip number now: A-1001.")
    await answer(flo, "Correct the number")
    await expect(dialog(flo).get_by_role("alert")).to_have_text("The right number is needed.")
    await dialog(flo).get_by_label("Right number of the payout slip").fill("A-1010")
    await dialog(flo).get_by_label("Why?").fill("Digits swapped")
    await answer(flo, "Correct the number")
    await expect(dialog(flo)).to_have_count(0)
    await sees(opened(flo), "A-1010", "Slip number corrected by Flo")
    assert room.stand.claims.acts == [
        ("c1", "correct_slip", "Flo", "Digits swapped", "A-1010", False)
    ]


ALONE = msgspec.structs.replace(
    CLAIM, claim="c3-e3", order="19", amount=0, percent=None, only_envy=True, state="validated",
    envy_state="validated", paid_from="table_inventory", tax_documents=False,
    item="progressive_envy", item_name="Envy Bonus",
)  # fmt: skip
"""An Envy Bonus for a hand without a waiting win."""


@pytest.mark.section("649a.11(c)(5)(v)")
@pytest.mark.reading("T10")
async def test_envy_is_paid_by_one_press_or_found_not_to_be_due_with_a_reason(
    room: FloorRoom,
) -> None:
    """It can be decided once its win is; of a hand without a win it waits alone."""
    owed = {"envy": CLAIM.envy, "envy_amount": 10_000, "envy_state": "validated"}
    room.stand.claims.put(SMALL, state="validated", **owed)
    room.stand.claims.put(ALONE)
    page = await room.signed_in("Flo", size="phone")
    await sees(await claim_card(page), "Envy Bonuses: they wait for the decision on the win")
    await expect(opened(page).get_by_role("button", name="Envy paid")).to_have_count(0)
    card = await claim_card(page, SMALL)
    await expect(card.locator(".chip")).to_have_text("Envy to be paid")
    await press(card, "Envy paid $100.00")
    await sees(dialog(page), "$100.00")
    assert room.acts == []
    await answer(page, "Paid $100.00")
    await sees(page.locator(".receipt"), "Envy Bonuses of $100.00 paid by the table")
    alone = await claim_card(page, ALONE)
    await expect(claim_row(page, SMALL)).to_have_count(0)
    await sees(alone, "no win of this hand waits")
    await expect(alone.locator(".amount")).to_have_text("$100.00")
    await press(alone, "Envy not due")
    await warned(page, "Say why", "Reject Envy of $100.00")
    await dialog(page).get_by_label("Why not?").fill("cards entered wrongly")
    await answer(page, "Reject Envy of $100.00")
    await back(page)
    await expect(claim_row(page, ALONE)).to_have_count(0)
    assert _acts(room) == [("pay_envy", "Flo"), ("reject_envy", "Flo")]
