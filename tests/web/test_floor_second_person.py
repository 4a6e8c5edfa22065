"""Rejections by two people, reopened wins and corrected slip numbers, in a real browser."""

from typing import Final

import msgspec
import pytest
from playwright.async_api import Page, expect

from meters.floor_api.types import ClaimRow
from tests.web.floor_hand import (
    SIZES,
    FloorRoom,
    answer,
    claim_card,
    dialog,
    go,
    press,
    resize,
)
from tests.web.stand import CLAIM

OVERFLOWS: Final = """(selector) => [...document.querySelectorAll(selector)].flatMap((row) =>
  [...row.querySelectorAll("*")].filter((part) =>
    part.getBoundingClientRect().right > row.getBoundingClientRect().right)
    .map((part) => part.textContent))"""
ROWS_OF_LINKS: Final = """(card) => new Set(
  [...card.querySelectorAll("a")].map((link) => link.getBoundingClientRect().top)).size"""
LARGE: Final = msgspec.structs.replace(CLAIM, two_people_reject=True, envy=(), envy_state=None)
SHORT: Final = '.claim[data-claim="c3"]'


def _acts(room: FloorRoom) -> list[tuple[str, str]]:
    return [(act, actor) for _, act, actor in room.acts]


def put(room: FloorRoom, row: ClaimRow = LARGE, **changed: object) -> None:
    room.stand.claims.put(msgspec.structs.replace(row, **changed))


def put_six(room: FloorRoom) -> None:
    """Have six wins, so that each is a short row."""
    row = msgspec.structs.replace(CLAIM, two_people_reject=True)
    rows = (msgspec.structs.replace(row, claim=f"c{n}", round=f"R{n}") for n in range(6))
    room.stand.claims.claims = {each.claim: each for each in rows}


async def open_win(page: Page) -> None:
    await page.locator(".wins .row").filter(has_text="$1,510.00").click()


@pytest.mark.duty("D4")
async def test_a_second_person_confirms_a_rejection(room: FloorRoom) -> None:
    put(room)
    flo = await room.signed_in("Flo", size="phone")
    await press(claim_card(flo), "Reject")
    await expect(dialog(flo)).to_contain_text("Another person must confirm this")
    await dialog(flo).get_by_text("Hand misread").click()
    await answer(flo, "Request rejection of $1,510.00")
    own = claim_card(flo)
    await expect(own).to_contain_text("Flo requests to reject it")
    await expect(own.get_by_role("button", name="Confirm rejection")).to_be_disabled()
    await expect(own).to_contain_text("You requested it: another person must confirm it.")
    assert _acts(room) == [("request_reject", "Flo")]

    finn = await room.signed_in("Finn", size="phone")
    await press(claim_card(finn), "Confirm rejection")
    await expect(dialog(finn)).to_contain_text("Hand misread")
    await answer(finn, "Reject $1,510.00")
    await expect(claim_card(finn)).to_have_count(0)
    assert _acts(room) == [("request_reject", "Flo"), ("reject", "Finn")]


@pytest.mark.slow
async def test_the_second_person_can_validate_instead(room: FloorRoom) -> None:
    put(room)
    await room.stand.claims.reject(CLAIM.claim, "Flo", reason="Card fouled")
    finn = await room.signed_in("Finn")
    await press(claim_card(finn), "Validate")
    await answer(finn, "Validate $1,510.00")
    await expect(dialog(finn)).to_have_count(0)
    assert _acts(room)[-1] == ("validate", "Finn")


@pytest.mark.slow
async def test_a_request_in_a_short_row_fits_and_is_confirmed_there(room: FloorRoom) -> None:
    """The request and the title of the Envy Bonuses agree whether these are due."""
    put_six(room)
    flo = await room.signed_in("Flo", size="phone")
    card = flo.locator(SHORT)
    await card.locator("h2 button").click()
    await press(card, "Reject")
    await expect(dialog(flo)).not_to_contain_text("owed once")
    await dialog(flo).get_by_text("Hand misread").click()
    await dialog(flo).get_by_text("The hand was not as entered").click()
    await answer(flo, "Request rejection of $1,510.00")
    await expect(card).to_contain_text("Envy Bonuses: not due once the rejection is confirmed")
    await press(card, "Show less")
    for size in SIZES:
        await resize(flo, size)
        await expect(card.get_by_role("button", name="Confirm rejection")).to_be_disabled()
        await expect(card).to_contain_text("You requested it: another person must confirm it.")
        assert await flo.evaluate(OVERFLOWS, SHORT) == [], size
    await go(flo, "Wins")
    for size in SIZES:
        await resize(flo, size)
        await expect(flo.locator(".wins .chip", has_text="Rejection to confirm")).to_be_visible()
        assert await flo.evaluate(OVERFLOWS, ".wins .row") == [], size

    finn = await room.signed_in("Finn", size="phone")
    card = finn.locator(SHORT)
    await expect(card).to_contain_text("Rejection to confirm")
    await press(card, "Confirm rejection")
    await expect(dialog(finn)).to_contain_text("not due once the rejection is confirmed")
    await expect(dialog(finn)).not_to_contain_text("owed once the win is decided")
    await answer(finn, "Reject $1,510.00")
    await expect(card).to_have_count(0)
    assert _acts(room) == [("request_reject", "Flo"), ("reject", "Finn")]


@pytest.mark.slow
async def test_envy_bonuses_that_are_paid_are_not_decided_again(room: FloorRoom) -> None:
    """The links to slip and dispute are next to each other on every screen."""
    put(room, CLAIM, envy_state="paid")
    flo = await room.signed_in("Flo", size="phone")
    for size in SIZES:
        await resize(flo, size)
        await expect(claim_card(flo).get_by_role("link")).to_have_count(2)
        assert await claim_card(flo).evaluate(ROWS_OF_LINKS) == 1, size
    await press(claim_card(flo), "Reject")
    await expect(dialog(flo)).to_contain_text("Envy Bonuses for this hand")
    await expect(dialog(flo)).not_to_contain_text("Are these Envy Bonuses due?")
    await dialog(flo).get_by_text("Hand misread").click()
    await answer(flo, "Reject $1,510.00")
    await expect(dialog(flo)).to_have_count(0)
    assert _acts(room) == [("reject", "Flo")]


@pytest.mark.slow
@pytest.mark.duty("D4")
async def test_two_people_reopen_a_rejected_win(room: FloorRoom) -> None:
    put(room, state="rejected", requested_by="Fred", decided_by="Finn", reason="Card fouled")
    flo = await room.signed_in("Flo", "wins")
    finn = await room.signed_in("Finn", size="phone")
    await expect(finn.locator("li.claim")).to_have_count(1)  # the other win of the round
    await expect(claim_card(finn)).to_have_count(0)
    await open_win(flo)
    await expect(dialog(flo)).to_contain_text("Rejected byFinn")
    await expect(dialog(flo)).to_contain_text("Rejection requested byFred")
    await press(dialog(flo), "Reopen")
    await expect(dialog(flo)).to_contain_text("Rejected by Fred and Finn: Card fouled.")
    await answer(flo, "Request reopening of $1,510.00")
    await expect(dialog(flo).get_by_role("alert")).to_have_text("Say why.")
    await dialog(flo).get_by_label("Why was the rejection wrong?").fill("The camera shows it")
    await answer(flo, "Request reopening of $1,510.00")
    await expect(dialog(flo)).to_have_count(0)

    card = claim_card(finn)
    await expect(card).to_contain_text("Flo requests to reopen it")
    await expect(finn.get_by_text("Reopening to confirm: Table")).to_have_count(1)
    await go(finn, "Wins")
    row = finn.locator(".wins .row").filter(has_text="$1,510.00")
    await expect(row).to_contain_text("Reopening to confirm")
    await row.click()
    await expect(dialog(finn)).to_contain_text("Flo requests to reopen it")
    await answer(finn, "Close")
    await go(finn, "Waiting")
    await expect(card).to_contain_text("Reopening to confirm")
    await expect(card).to_contain_text("Rejected by Fred and Finn: Card fouled.")
    await press(card, "Confirm reopening")
    await answer(finn, "Reopen $1,510.00")
    await expect(dialog(finn)).to_have_count(0)
    await go(finn, "Waiting")
    await expect(card).to_be_visible()
    assert _acts(room) == [("request_reopen", "Flo"), ("reopen", "Finn")]


@pytest.mark.slow
async def test_a_slip_number_is_corrected_in_place(room: FloorRoom) -> None:
    put(room, state="paid", paid_by="Finn", slip="A-1001")
    flo = await room.signed_in("Flo", "wins")
    await open_win(flo)
    acts = dialog(flo).locator(".dialog-acts")
    for size in SIZES:
        await resize(flo, size)
        await expect(acts.get_by_role("link", name="Dispute")).to_be_visible()
        assert await acts.evaluate("element => element.scrollWidth <= element.clientWidth"), size
    await press(dialog(flo), "Correct the slip number")
    await expect(dialog(flo)).to_contain_text("Slip number now: A-1001.")
    await answer(flo, "Correct the number")
    await expect(dialog(flo).get_by_role("alert")).to_have_text("The right number is needed.")
    await dialog(flo).get_by_label("Right number of the payout slip").fill("A-1010")
    await dialog(flo).get_by_label("Why?").fill("Digits swapped")
    await answer(flo, "Correct the number")
    await expect(dialog(flo)).to_have_count(0)
    await open_win(flo)
    await expect(dialog(flo)).to_contain_text("A-1010")
    await expect(dialog(flo)).to_contain_text("Slip number corrected by")
    assert room.stand.claims.acts == [
        ("c1", "correct_slip", "Flo", "Digits swapped", "A-1010", False)
    ]
