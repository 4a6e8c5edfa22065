"""Changing one's own PIN over HTTP and on the page; one person never counts as two (duty D4)."""

import re

import pytest
from playwright.async_api import expect

from tests.web.floor_hand import (
    FloorRoom,
    check_accessible,
    claim_card,
    dialog,
    press,
    resize,
    type_sign_in,
)
from tests.web.stand import CLAIM, PIN, Stand
from tests.web.test_api import error_of
from tests.web.test_floor_access import check_view

ADAS = "264907"
OWN = "905183"


@pytest.fixture
def stand(staffed: Stand) -> Stand:
    return staffed


async def test_a_pin_of_ones_own_is_chosen_and_the_session_continues(stand: Stand) -> None:
    async with stand.signed_in("Flo") as flo, stand.signed_in("Flo") as elsewhere:
        wrong = await flo.post("/api/v1/me/pin", {"pin": "000001", "new_pin": OWN})
        assert (wrong.status_code, error_of(wrong)) == (403, "wrong_pin")
        same = await flo.post("/api/v1/me/pin", {"pin": PIN, "new_pin": PIN})
        assert (same.status_code, error_of(same)) == (400, "bad_pin")
        for body in ({"pin": PIN}, {"pin": PIN, "new_pin": OWN, "name": "Sue"}):
            assert (await flo.post("/api/v1/me/pin", body)).status_code == 400
        chosen = await flo.post("/api/v1/me/pin", {"pin": PIN, "new_pin": OWN})
        assert (chosen.status_code, chosen.content) == (204, b"")
        assert (await flo.get("/api/v1/me")).status_code == 200
        assert (await elsewhere.get("/api/v1/me")).status_code == 401
        for _ in range(4):
            await flo.post("/api/v1/me/pin", {"pin": PIN, "new_pin": "618407"})
        locked = await flo.post("/api/v1/me/pin", {"pin": PIN, "new_pin": "618407"})
        assert (locked.status_code, locked.json()["error"]["code"]) == (429, "locked_out")
        assert "retry-after" in locked.headers


@pytest.mark.slow
async def test_the_page_lets_everybody_choose_a_pin(room: FloorRoom) -> None:
    page = await room.signed_in("Dana", bypass_csp=True)
    await check_view(page)
    await press(page, "My PIN")
    asked = dialog(page)
    said = asked.get_by_role("alert")
    change = asked.get_by_role("button", name="Change my PIN")
    await expect(change).to_be_enabled()
    for size in ("phone", "tablet"):
        await resize(page, size)
        await check_view(page)

    async def fill(old: str, new: str, again: str) -> None:
        for label, typed in (("Current PIN", old), ("New PIN", new), ("New PIN again", again)):
            await asked.get_by_label(label, exact=True).fill(typed)
        await change.click()

    await fill("", OWN, OWN)
    await expect(said).to_have_text("Your current PIN is needed.")
    await fill(PIN, OWN, "905184")
    await expect(said).to_have_text("The two PINs differ.")
    await fill("264908", OWN, OWN)
    await expect(said).to_have_text(re.compile("Your current PIN is wrong"))
    await check_accessible(page)
    await fill(PIN, OWN, OWN)
    await expect(dialog(page)).to_have_count(0)
    await expect(page.get_by_role("button", name="My PIN")).to_be_focused()
    await press(page, "Sign out")
    await type_sign_in(page, "Dana", OWN)
    await expect(page.locator(".who")).to_contain_text("Dana")


@pytest.mark.slow
async def test_a_pin_set_by_the_same_administrator_is_reported_at_the_payment(
    room: FloorRoom,
) -> None:
    async with room.stand.signed_in("Ada") as ada:
        for name in ("Flo", "Finn"):
            answer = await ada.post(f"/api/v1/users/{name}/pin", {"pin": ADAS})
            assert (answer.status_code, answer.json()["pin_by"]) == (200, "Ada")
    async with room.stand.signed_in("Finn", ADAS) as finn:
        await finn.post("/api/v1/me/pin", {"pin": ADAS, "new_pin": OWN})
    await room.stand.claims.decide("c1", "validate", "Flo")
    page = await room.page()
    await page.goto(f"{room.stand.url}/floor")
    await type_sign_in(page, "Finn", OWN)
    await press(claim_card(page, CLAIM), "Pay")
    await dialog(page).get_by_label("slip").fill("S-1")
    await dialog(page).get_by_text("The table has paid them").click()
    await dialog(page).locator("[type=submit]").click()
    await expect(dialog(page).get_by_role("alert")).to_contain_text(
        "Another person does the second half"
    )
    assert [act for _, act, *_ in room.stand.claims.acts] == ["validate"]
