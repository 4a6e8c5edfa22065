"""Rejections by two people, reopened wins and corrected slip numbers, in a real browser."""

from typing import Final

import msgspec
import pytest
from playwright.async_api import expect

from tests.web.floor_hand import FloorRoom, answer, claim_card, dialog, go, press
from tests.web.stand import CLAIM

OVERFLOWS: Final = """(selector) => [...document.querySelectorAll(selector)].flatMap((row) =>
  [...row.querySelectorAll("*")].filter((part) =>
    part.getBoundingClientRect().right > row.getBoundingClientRect().right)
    .map((part) => part.textContent))"""
LARGE = msgspec.structs.replace(CLAIM, two_people_reject=True, envy=(), envy_state=None)


def _acts(room: FloorRoom) -> list[tuple[str, str]]:
    return [(act, actor) for _, act, actor, *_ in room.stand.claims.acts]


@pytest.mark.duty("D4")
async def test_a_second_person_confirms_a_rejection(room: FloorRoom) -> None:
    room.stand.claims.put(LARGE)
    flo = await room.signed_in("Flo", size="phone")
    await press(claim_card(flo, CLAIM), "Reject")
    await expect(dialog(flo)).to_contain_text("Another person must confirm this")
    await dialog(flo).get_by_text("Hand misread").click()
    await answer(flo, "Request rejection of $1,510.00")
    own = claim_card(flo, CLAIM)
    await expect(own).to_contain_text("Flo requests to reject it")
    await expect(own.get_by_role("button", name="Confirm rejection")).to_be_disabled()
    await expect(own).to_contain_text("You requested it: another person must confirm it.")
    assert _acts(room) == [("request_reject", "Flo")]

    finn = await room.signed_in("Finn", size="phone")
    await press(claim_card(finn, CLAIM), "Confirm rejection")
    await expect(dialog(finn)).to_contain_text("Hand misread")
    await answer(finn, "Reject $1,510.00")
    await expect(claim_card(finn, CLAIM)).to_have_count(0)
    assert _acts(room) == [("request_reject", "Flo"), ("reject", "Finn")]


@pytest.mark.slow
async def test_a_request_in_a_short_row_is_confirmed_there(room: FloorRoom) -> None:
    """The request and the title of the Envy Bonuses agree whether these are due."""
    row = msgspec.structs.replace(CLAIM, two_people_reject=True)
    room.stand.claims.claims = {f"c{n}": msgspec.structs.replace(row, claim=f"c{n}", round=f"R{n}")
                                for n in range(6)}  # fmt: skip
    flo = await room.signed_in("Flo", size="phone")
    card = flo.locator('.claim[data-claim="c3"]')
    await card.locator("h2 button").click()
    await press(card, "Reject")
    await expect(dialog(flo)).not_to_contain_text("owed once")
    await dialog(flo).get_by_text("Hand misread").click()
    await dialog(flo).get_by_text("The hand was not as entered").click()
    await answer(flo, "Request rejection of $1,510.00")
    await expect(card).to_contain_text("Envy Bonuses: not due once the rejection is confirmed")
    await press(card, "Show less")
    await expect(card.get_by_role("button", name="Confirm rejection")).to_be_disabled()

    finn = await room.signed_in("Finn", size="phone")
    card = finn.locator('.claim[data-claim="c3"]')
    await expect(card).to_contain_text("Rejection to confirm")
    await press(card, "Confirm rejection")
    await expect(dialog(finn)).to_contain_text("not due once the rejection is confirmed")
    await expect(dialog(finn)).not_to_contain_text("owed once the win is decided")
    await answer(finn, "Reject $1,510.00")
    await expect(card).to_have_count(0)
    assert _acts(room) == [("request_reject", "Flo"), ("reject", "Finn")]


@pytest.mark.slow
@pytest.mark.parametrize("size", ["phone", "upright", "tablet", "desk"])
async def test_slip_and_dispute_are_next_to_each_other(room: FloorRoom, size: str) -> None:
    room.stand.claims.put(LARGE)
    card = claim_card(await room.signed_in("Flo", size=size), CLAIM)
    boxes = [await card.get_by_role("link", name=name).bounding_box()
             for name in ("Payout slip", "Dispute")]  # fmt: skip
    assert len({box["y"] for box in boxes if box is not None}) == 1


@pytest.mark.slow
async def test_envy_bonuses_that_are_paid_are_not_decided_again(room: FloorRoom) -> None:
    room.stand.claims.put(msgspec.structs.replace(CLAIM, envy_state="paid"))
    flo = await room.signed_in("Flo", size="phone")
    await press(claim_card(flo, CLAIM), "Reject")
    await expect(dialog(flo)).to_contain_text("Envy Bonuses for this hand")
    await expect(dialog(flo)).not_to_contain_text("Are these Envy Bonuses due?")
    await dialog(flo).get_by_text("Hand misread").click()
    await answer(flo, "Reject $1,510.00")
    await expect(dialog(flo)).to_have_count(0)
    assert _acts(room) == [("reject", "Flo")]


@pytest.mark.slow
async def test_the_second_person_can_validate_instead(room: FloorRoom) -> None:
    room.stand.claims.put(LARGE)
    await room.stand.claims.reject(CLAIM.claim, "Flo", reason="Card fouled")
    finn = await room.signed_in("Finn")
    await press(claim_card(finn, CLAIM), "Validate")
    await answer(finn, "Validate $1,510.00")
    await expect(dialog(finn)).to_have_count(0)
    assert _acts(room)[-1] == ("validate", "Finn")


@pytest.mark.slow
@pytest.mark.duty("D4")
async def test_two_people_reopen_a_rejected_win(room: FloorRoom) -> None:
    claims = room.stand.claims
    claims.put(
        msgspec.structs.replace(
            LARGE, state="rejected", requested_by="Fred", decided_by="Finn", reason="Card fouled"
        )
    )
    flo = await room.signed_in("Flo")
    await go(flo, "Wins")
    await flo.locator(".wins .row").filter(has_text="$1,510.00").click()
    await press(dialog(flo), "Reopen")
    await expect(dialog(flo)).to_contain_text("Rejected by Fred and Finn: Card fouled.")
    await answer(flo, "Request reopening of $1,510.00")
    await expect(dialog(flo).get_by_role("alert")).to_have_text("Say why.")
    await dialog(flo).get_by_label("Why was the rejection wrong?").fill("The camera shows it")
    await answer(flo, "Request reopening of $1,510.00")
    await expect(dialog(flo)).to_have_count(0)

    finn = await room.signed_in("Finn")
    await go(finn, "Wins")
    row = finn.locator(".wins .row").filter(has_text="$1,510.00")
    await expect(row).to_contain_text("Reopening to confirm")
    await row.click()
    await expect(dialog(finn)).to_contain_text("Flo requests to reopen it")
    await dialog(finn).get_by_role("button", name="Close").click()
    await go(finn, "Waiting")
    card = claim_card(finn, CLAIM)
    await expect(card).to_contain_text("Reopening to confirm")
    await expect(card).to_contain_text("Rejected by Fred and Finn: Card fouled.")
    await press(card, "Confirm reopening")
    await answer(finn, "Reopen $1,510.00")
    await expect(dialog(finn)).to_have_count(0)
    await go(finn, "Waiting")
    await expect(claim_card(finn, CLAIM)).to_be_visible()
    assert _acts(room) == [("request_reopen", "Flo"), ("reopen", "Finn")]


@pytest.mark.slow
@pytest.mark.parametrize("size", ["phone", "upright", "tablet", "desk"])
async def test_the_acts_of_a_past_win_fit_into_its_dialog(room: FloorRoom, size: str) -> None:
    room.stand.claims.put(msgspec.structs.replace(LARGE, state="paid", slip="A-1001"))
    page = await room.signed_in("Flo", "wins", size)
    await page.locator(".wins .row").filter(has_text="$1,510.00").click()
    acts = dialog(page).locator(".dialog-acts")
    await expect(acts.get_by_role("link", name="Dispute")).to_be_visible()
    assert await acts.evaluate("element => element.scrollWidth <= element.clientWidth")


@pytest.mark.slow
async def test_a_slip_number_is_corrected_in_place(room: FloorRoom) -> None:
    claims = room.stand.claims
    claims.put(msgspec.structs.replace(LARGE, state="paid", paid_by="Finn", slip="A-1001"))
    flo = await room.signed_in("Flo")
    await go(flo, "Wins")
    await flo.locator(".wins .row").filter(has_text="$1,510.00").click()
    await press(dialog(flo), "Correct the slip number")
    await expect(dialog(flo)).to_contain_text("Slip number now: A-1001.")
    await answer(flo, "Correct the number")
    await expect(dialog(flo).get_by_role("alert")).to_have_text("The right number is needed.")
    await dialog(flo).get_by_label("Right number of the payout slip").fill("A-1010")
    await dialog(flo).get_by_label("Why?").fill("Digits swapped")
    await answer(flo, "Correct the number")
    await expect(dialog(flo)).to_have_count(0)
    await flo.locator(".wins .row").filter(has_text="$1,510.00").click()
    await expect(dialog(flo)).to_contain_text("A-1010")
    await expect(dialog(flo)).to_contain_text("Slip number corrected by")
    assert claims.acts == [("c1", "correct_slip", "Flo", "Digits swapped", "A-1010", False)]


@pytest.mark.slow
async def test_a_request_to_reopen_is_announced_and_confirmed_under_waiting(
    room: FloorRoom,
) -> None:
    claims = room.stand.claims
    rejected = msgspec.structs.replace(LARGE, state="rejected", decided_by="Fred", reason="x")
    claims.put(rejected)
    finn = await room.signed_in("Finn", size="phone")
    await expect(finn.locator("li.claim")).to_have_count(1)  # the other win of the round
    await expect(claim_card(finn, CLAIM)).to_have_count(0)
    await claims.request_reopening(CLAIM.claim, "Flo", reason="The camera shows it")
    card = claim_card(finn, CLAIM)
    await expect(card).to_contain_text("Flo requests to reopen it")
    await expect(finn.get_by_text("Reopening to confirm: Table")).to_have_count(1)


@pytest.mark.slow
async def test_a_rejection_names_both_people(room: FloorRoom) -> None:
    room.stand.claims.put(
        msgspec.structs.replace(
            LARGE, state="rejected", requested_by="Flo", decided_by="Fred", reason="Card fouled"
        )
    )
    finn = await room.signed_in("Finn", size="phone")
    await go(finn, "Wins")
    await finn.locator(".wins .row").filter(has_text="$1,510.00").click()
    await expect(dialog(finn)).to_contain_text("Rejected byFred")
    await expect(dialog(finn)).to_contain_text("Rejection requested byFlo")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(390, 844), (800, 1280), (1366, 768)])
async def test_a_row_with_a_request_fits_and_says_why_its_button_is_disabled(
    room: FloorRoom, width: int, height: int
) -> None:
    rows = [msgspec.structs.replace(LARGE, claim=f"c{n}", round=f"R{n}") for n in range(6)]
    room.stand.claims.claims = {row.claim: row for row in rows}
    await room.stand.claims.reject("c3", "Flo", reason="Card fouled")
    flo = await room.signed_in("Flo")
    await flo.set_viewport_size({"width": width, "height": height})
    short = flo.locator('.claim[data-claim="c3"]')
    await expect(short.get_by_role("button", name="Confirm rejection")).to_be_disabled()
    await expect(short).to_contain_text("You requested it: another person must confirm it.")
    assert await flo.evaluate(OVERFLOWS, '.claim[data-claim="c3"]') == []
    await go(flo, "Wins")
    await expect(flo.locator(".wins .chip", has_text="Rejection to confirm")).to_be_visible()
    assert await flo.evaluate(OVERFLOWS, ".wins .row") == []
