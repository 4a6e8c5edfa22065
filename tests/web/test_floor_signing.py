"""Sign-in on the floor page in a real browser, and what remains after a session ends."""

import pytest
from playwright.async_api import Page, expect

from meters.users.users import Actor
from tests.web.floor_hand import FloorRoom, claim_card, evaluated, go, press, type_sign_in
from tests.web.stand import CLAIM, PIN


async def check_dark(page: Page, room: FloorRoom) -> None:
    """Check that only the sign-in is left: the page has no data of the floor, shown or hidden."""
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible(timeout=15_000)
    left = await page.content()
    for secret in ("TCP-03", "1,510.00", "Mini-Royal", "p3", "Sign out", "c1"):
        assert secret not in left.partition("</head>")[2], secret
    assert await page.title() == "Floor · Keystone <Casino> & Resort"
    await page.reload()
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert room.errors == []


async def test_who_signs_in_is_named_and_may_sign_out(room: FloorRoom) -> None:
    page = await room.page("phone")
    await page.goto(f"{room.stand.url}/floor")
    await page.get_by_label("Name").fill("flo")
    for digit in PIN + "9":
        await page.locator(".keypad").get_by_role("button", name=digit, exact=True).click()
    await press(page, "Delete the last digit")
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.locator(".who")).to_have_text("Flo floorperson")
    await expect(claim_card(page, CLAIM)).to_be_visible()
    await press(page, "Sign out")
    await check_dark(page, room)


async def test_what_a_sign_in_lacks_or_has_wrong_is_said(room: FloorRoom) -> None:
    """A wrong PIN and a wrong name show the same message."""
    page = await room.page()
    await page.goto(f"{room.stand.url}/floor")
    said = page.get_by_role("alert")
    await press(page, "Sign in")
    await expect(said).to_have_text("Your name is needed.")
    await page.get_by_label("Name").fill("Flo")
    await page.keyboard.press("Enter")
    await expect(said).to_have_text("Your PIN is needed.")
    for name in ("Flo", "Nobody"):
        await type_sign_in(page, name, "264907")
        await expect(said).to_have_text("The name or the PIN is wrong.")
        await expect(page.get_by_label("PIN", exact=True)).to_have_value("")
    await type_sign_in(page, "Flo")
    await expect(page.locator(".who")).to_contain_text("Flo")


@pytest.mark.slow
async def test_a_name_that_is_locked_out_sees_until_when(room: FloorRoom) -> None:
    page = await room.page()
    await page.goto(f"{room.stand.url}/floor")
    button = page.get_by_role("button", name="Sign in", exact=True)
    for _ in range(5):
        await type_sign_in(page, "Flo", "264907")
        await expect(page.get_by_role("alert")).to_be_visible()
        await expect(button).to_be_enabled()
    await type_sign_in(page, "Flo")
    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("Too many wrong PINs. Signing in is locked until")
    minute = await evaluated(page, "format.clock(api.now() + 15 * 60000).slice(0, 2)")
    hour_before = await evaluated(page, "format.clock(api.now() + 13 * 60000).slice(0, 2)")
    said = (await alert.inner_text()).split("until ")[1]
    assert said[:2] in {minute, hour_before}
    assert said[2] == ":"


@pytest.mark.slow
async def test_an_unreachable_service_is_reported(room: FloorRoom) -> None:
    page = await room.page()
    await page.goto(f"{room.stand.url}/floor")
    await page.context.set_offline(True)
    await type_sign_in(page, "Flo")
    await expect(page.get_by_role("alert")).to_have_text(
        "The service does not answer. Try again in a moment."
    )
    await page.context.set_offline(False)
    await type_sign_in(page, "Flo")
    await expect(page.locator(".who")).to_contain_text("Flo")


@pytest.mark.slow
async def test_a_reload_keeps_user_and_view_and_going_back_leaves_no_dialog(
    room: FloorRoom,
) -> None:
    page = await room.signed_in("Sue")
    await go(page, "Links")
    await page.reload()
    await expect(page.locator(".who")).to_contain_text("Sue")
    await expect(page.get_by_role("heading", name="Links")).to_be_visible()
    await go(page, "Wins")
    await page.locator(".wins button").first.click()
    await expect(page.locator("dialog[open]")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("heading", name="Links")).to_be_visible()
    await expect(page.locator("dialog[open]")).to_have_count(0)


@pytest.mark.slow
async def test_a_session_that_the_service_ends_leaves_nothing(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    await press(claim_card(page, CLAIM), "Reject")
    await expect(page.locator("dialog[open]")).to_be_visible()
    await room.stand.user_directory.users.disable("Flo", Actor("Ada"))
    await expect(page.locator(".notice.wait")).to_contain_text(
        "Your session has ended.", timeout=15_000
    )
    await check_dark(page, room)


@pytest.mark.slow
async def test_who_signs_out_while_the_service_is_away_is_out(room: FloorRoom) -> None:
    page = await room.signed_in("Flo")
    await expect(claim_card(page, CLAIM)).to_be_visible()
    await page.route("**/sign-out", lambda route: route.abort())
    await press(page, "Sign out")
    await check_dark(page, room)
    await type_sign_in(page, "Finn")
    await expect(page.locator(".who")).to_contain_text("Finn")
    await page.reload()
    await expect(page.locator(".who")).to_contain_text("Finn")


@pytest.mark.slow
async def test_signing_in_and_out_shows_on_every_page_of_the_browser(room: FloorRoom) -> None:
    first = await room.page()
    await first.goto(f"{room.stand.url}/floor")
    second = await first.context.new_page()
    await second.goto(f"{room.stand.url}/floor")
    await type_sign_in(first, "Flo")
    await expect(second.locator(".who")).to_contain_text("Flo")
    await expect(claim_card(second, CLAIM)).to_be_visible()
    await press(first, "Sign out")
    await expect(second.locator(".notice.wait")).to_have_text("You were signed out.")
    await check_dark(second, room)
