"""Sign-in on the floor page in a real browser, and what remains after a session ends."""

import re
from typing import Final

import pytest
from playwright.async_api import Page, expect

from meters.users.users import Actor
from tests.browsers import check_accessible, sees
from tests.waiting import eventually_async
from tests.web.floor_hand import (
    ROYAL,
    FloorRoom,
    account,
    answer,
    back,
    claim_card,
    claim_row,
    dialog,
    evaluated,
    go,
    lapse,
    opened,
    press,
    press_on,
    resize,
    type_sign_in,
    warned,
)
from tests.web.stand import CLAIM, PIN, SMALL
from tests.web.test_floor_access import check_view


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


async def test_signing_in_and_out_shows_on_every_page_of_the_browser(room: FloorRoom) -> None:
    page = await room.page("phone", "/floor")
    second = await page.context.new_page()
    await second.goto(f"{room.stand.url}/floor")
    await page.get_by_label("Name").fill("flo")
    for digit in PIN + "9":
        await page.locator(".keypad").get_by_role("button", name=digit, exact=True).click()
    await press(page, "Delete the last digit")
    await page.get_by_role("button", name="Sign in", exact=True).click()
    for each in (page, second):
        await sees(each.locator(".who"), "Flo floorperson")
        await expect(claim_row(each, CLAIM)).to_be_visible()
    await account(page, "Sign out")
    await expect(second.locator(".notice.wait")).to_have_text("You were signed out.")
    await check_dark(page, room)
    await check_dark(second, room)


async def test_what_a_sign_in_lacks_or_has_wrong_is_said(room: FloorRoom) -> None:
    """A wrong PIN and a wrong name show the same message. The service may not answer."""
    page = await room.page(path="/floor")
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
    await page.context.set_offline(True)
    await type_sign_in(page, "Flo")
    await expect(said).to_have_text("The service does not answer. Try again in a moment.")
    await page.context.set_offline(False)
    await type_sign_in(page, "Flo")
    await sees(page.locator(".who"), "Flo")


@pytest.mark.slow
async def test_a_name_that_is_locked_out_sees_until_when(room: FloorRoom) -> None:
    page = await room.page(path="/floor")
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
async def test_a_reload_keeps_user_and_view_and_going_back_leaves_no_dialog(
    room: FloorRoom,
) -> None:
    page = await room.signed_in("Sue")
    await go(page, "Meters")
    await page.reload()
    await expect(page.locator(".who")).to_contain_text("Sue")
    await expect(page.locator("main[data-view=meters]")).to_be_visible()
    await go(page, "Inbox")
    await press_on(page, "Reject", SMALL)
    await expect(page.locator("dialog[open]")).to_be_visible()
    await page.reload()
    await expect(opened(page, SMALL)).to_be_visible()
    await press_on(page, "Reject", SMALL)
    await page.go_back()
    await page.go_back()
    await expect(page.locator("main[data-view=meters]")).to_be_visible()
    await expect(page.locator("dialog[open]")).to_have_count(0)


@pytest.mark.slow
async def test_a_session_that_ends_leaves_nothing(room: FloorRoom) -> None:
    """Who signs out while the service is away is out; then the service ends a session."""
    page = await room.signed_in("Flo")
    await expect(claim_row(page, CLAIM)).to_be_visible()
    await page.route("**/sign-out", lambda route: route.abort())
    await account(page, "Sign out")
    await check_dark(page, room)
    await type_sign_in(page, "Finn")
    await expect(page.locator(".who")).to_contain_text("Finn")
    await page.reload()
    await expect(page.locator(".who")).to_contain_text("Finn")
    await press_on(page, "Reject")
    await expect(page.locator("dialog[open]")).to_be_visible()
    await room.stand.user_directory.users.disable("Finn", Actor("Ada"))
    await expect(page.locator(".notice.wait")).to_contain_text(
        "Your session has ended.", timeout=15_000
    )
    await check_dark(page, room)


GIVEN, OWN = "264907", "905183"


@pytest.mark.slow
async def test_the_page_asks_for_a_pin_of_ones_own_before_anything_else(room: FloorRoom) -> None:
    """Later, everybody can choose another, and sees who set their PIN."""
    await room.stand.user_directory.users.set_pin("Flo", GIVEN, Actor("command line (amy)"))
    page = await room.page(path="/floor#wins", bypass_csp=True)
    await type_sign_in(page, "Flo", GIVEN)
    await expect(page.get_by_role("heading", name="Choose a PIN")).to_be_focused()
    await expect(page.locator("nav a").first).to_be_hidden()
    await expect(page.locator(".row")).to_have_count(0)
    await check_view(page)
    await press(page, "Choose a PIN")
    for size in ("phone", "tablet"):
        await resize(page, size)
        await check_view(page)
    for old, new, again, why in (
        ("", OWN, OWN, "Your current PIN is needed."),
        (GIVEN, OWN, "905184", "The two PINs differ."),
        (PIN, OWN, OWN, "Your current PIN is wrong"),
        (GIVEN, OWN, OWN, ""),
    ):
        for label, typed in (("Current PIN", old), ("New PIN", new), ("New PIN again", again)):
            await dialog(page).get_by_label(label, exact=True).fill(typed)
        await (warned(page, why, "Change my PIN") if why else answer(page, "Change my PIN"))
    await expect(page.locator("nav a").first).to_be_visible()
    await expect(page.locator("main[data-view=wins]")).to_be_visible()
    await account(page, "My PIN")
    await dialog(page).locator("summary").click()
    entries = dialog(page).locator(".entries li")
    await sees(entries.filter(has_text="New PIN").first, "command line (amy)")
    await page.keyboard.press("Escape")
    await expect(page.locator(".who")).to_be_focused()
    await account(page, "Sign out")
    await type_sign_in(page, "Flo", OWN)
    await sees(page.locator(".who"), "Flo")


@pytest.mark.slow
async def test_an_administrator_unlocks_disables_enables_and_gives_a_pin(room: FloorRoom) -> None:
    client = {"X_Forwarded_For": "203.0.113.66", "X_Forwarded_Proto": "https"}
    for _ in range(5):
        await room.stand.try_to_sign_in("Flo", GIVEN, **client)
    page = await room.signed_in("Ada", "people", bypass_csp=True)
    user, shown = page.locator('[data-user="Flo"]'), dialog(page).locator(".pin")
    await sees(user, "Locked out at 203.0.113.66 until")
    await check_accessible(page)
    await press(user, "Unlock")
    await answer(page, "Unlock")
    await expect(user).not_to_contain_text("Locked out")
    await sees(page.locator(".log li").first, "User unlocked")
    assert (await room.stand.try_to_sign_in("Flo", PIN, **client)).status_code == 200
    own = page.locator('[data-user="Ada"]')
    await expect(own.get_by_role("button", name="Disable")).to_have_count(0)
    for act in ("Disable", "Enable"):
        await press(user, act)
        await answer(page, act)
        await expect(user.locator(".chip")).to_have_text(f"{act}d")
    await press(user, "New PIN")
    await press(dialog(page), "Set the PIN")
    await expect(shown).to_have_text(re.compile(r"^[0-9]{8}$"))
    pin = await shown.inner_text()
    await check_accessible(page)
    await press(dialog(page), "Close")
    await expect(page.locator("dialog")).to_have_count(0)
    assert pin not in await page.content()
    await sees(user, "PIN set by Ada", "valid until")
    assert (await room.stand.try_to_sign_in("Flo", PIN)).status_code == 401
    async with room.stand.signed_in("Flo", pin) as flo:
        assert flo.me.choose_pin


# Records how a page announces a new win. `kind` is a notification of a desk or of a phone, where
# a page cannot make one by itself.
RECORD: Final = """
window.announced = [];
document.hasFocus = () => false;
navigator.vibrate = () => announced.push("vibration");
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...at) {
  announced.push("tone");
  start.apply(this, at);
};
window.Notification = class {
  static permission = "granted";
  constructor(title, { body }) {
    if (window.kind === "phone") throw new TypeError("Illegal constructor");
    announced.push(body);
  }
};
ServiceWorkerRegistration.prototype.showNotification = async (title, { body }) => {
  announced.push(body);
};
"""
ARRIVED: Final = "New win: Table TCP-04, position 7, $23,456.78."


async def enter_pin(page: Page, name: str, pin: str = PIN) -> None:
    await dialog(page).get_by_label(f"PIN of {name}").fill(pin)


async def lapsed_page(room: FloorRoom, size: str = "phone") -> Page:
    page = await room.page(size, bypass_csp=True)
    await page.clock.install()
    await page.add_init_script(RECORD)
    await room.sign_in(page, "Flo")
    await do_nothing(room, page)
    return page


async def do_nothing(room: FloorRoom, page: Page) -> None:
    await expect(page.locator(".list .row").first).to_be_visible()
    await lapse(room, page)
    await page.clock.fast_forward("05:01")
    await expect(page.locator(".lapsed")).to_be_visible()


@pytest.mark.duty("D20")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["desk", "phone"])
async def test_a_page_that_nobody_touches_announces_new_wins(room: FloorRoom, kind: str) -> None:
    page = await lapsed_page(room)
    await page.evaluate("(kind) => { window.kind = kind; }", kind)
    room.stand.claims.put(ROYAL)
    await expect(claim_row(page, ROYAL)).to_be_visible()
    await expect(page).to_have_title("(3) Floor · Keystone <Casino> & Resort")

    async def announced() -> bool:
        return {"tone", "vibration", ARRIVED} <= set(await page.evaluate("window.announced"))

    await eventually_async(announced)
    await expect(page.locator(".lapsed")).to_be_visible()
    await check_accessible(page)
    await go(page, "Wins")
    await expect(page.locator(".wins li").first).to_be_visible()
    await page.reload()
    await expect(page.locator(".lapsed")).to_be_visible()
    assert room.acts == []


@pytest.mark.duty("D20")
async def test_an_act_of_a_lapsed_page_needs_the_pin_in_its_dialog(room: FloorRoom) -> None:
    page = await lapsed_page(room)
    await press_on(page, "Validate")
    await expect(dialog(page)).to_contain_text("$1,510.00")
    await check_accessible(page)
    await answer(page, "Validate $1,510.00")
    said = dialog(page).get_by_role("alert")
    await expect(said).to_have_text("Your PIN is needed.")
    await enter_pin(page, "Flo", "264907")
    await answer(page, "Validate $1,510.00")
    await expect(said).to_have_text("The PIN is wrong.")
    await expect(dialog(page).get_by_label("PIN of Flo")).to_have_value("")
    assert room.acts == []
    await enter_pin(page, "Flo")
    await answer(page, "Validate $1,510.00")
    await expect(opened(page)).to_contain_text("Validated by Flo")
    await expect(page.locator(".lapsed")).to_have_count(0)
    assert room.acts == [("c1", "validate", "Flo")]
    room.stand.claims.put(ROYAL)
    await back(page)
    await expect(claim_row(page, ROYAL)).to_be_visible()
    await press_on(page, "Validate", SMALL)
    await expect(opened(page, SMALL)).to_contain_text("Validated by Flo")
    await back(page)
    await expect(claim_row(page, SMALL)).to_have_count(0)


@pytest.mark.duty("D20")
@pytest.mark.slow
async def test_a_session_that_lapses_while_a_dialog_is_open_needs_the_pin(room: FloorRoom) -> None:
    """The page does not know it yet. The service refuses the act, and the dialog asks."""
    page = await room.signed_in("Flo")
    await press_on(page, "Reject", SMALL)
    await dialog(page).get_by_text("Hand misread").click()
    await lapse(room, page)
    await answer(page, "Reject $70.00")
    await expect(dialog(page).get_by_role("alert")).to_contain_text("enter your PIN")
    assert room.acts == []
    await enter_pin(page, "Flo")
    await answer(page, "Reject $70.00")
    await expect(claim_row(page, SMALL)).to_have_count(0)
    assert room.acts == [("c2", "reject", "Flo")]


@pytest.mark.duty("D20")
@pytest.mark.slow
async def test_the_pin_can_be_entered_before_an_act_and_prints_a_slip(room: FloorRoom) -> None:
    page = await lapsed_page(room)
    await press(page, "Enter PIN")
    await enter_pin(page, "Flo")
    await answer(page, "Continue")
    await expect(page.locator(".lapsed")).to_have_count(0)
    await press_on(page, "Validate")
    await expect(opened(page)).to_contain_text("Validated by Flo")
    await back(page)
    await do_nothing(room, page)
    await (await claim_card(page)).get_by_role("link", name="payout slip, PDF").click()
    await enter_pin(page, "Flo")
    slip = page.context.expect_event("request", lambda sent: "/claims/c1/slip.pdf" in sent.url)
    async with page.context.expect_page(), slip:
        await answer(page, "Continue")
    await expect(opened(page)).to_be_visible()


@pytest.mark.duty("D20")
@pytest.mark.slow
async def test_the_screen_of_a_dedicated_tablet_stays_on(room: FloorRoom) -> None:
    page = await room.page()
    await page.add_init_script("""
      window.held = 0;
      const wakeLock = { request: async () => {
        window.held += 1;
        return { release: () => { window.held -= 1; } };
      } };
      Object.defineProperty(navigator, "wakeLock", { value: wakeLock });
    """)
    await room.sign_in(page, "Flo")
    menu = await account(page, "Keep the screen on")
    await expect(menu.get_by_role("button", name="Screen stays on")).to_be_visible()
    await eventually_async(lambda: page.evaluate("window.held === 1"))
    await page.reload()
    await eventually_async(lambda: page.evaluate("window.held === 1"))
    await account(page, "Sign out")
    await eventually_async(lambda: page.evaluate("window.held === 0"))


async def test_the_colors_follow_the_system_until_somebody_chooses(room: FloorRoom) -> None:
    page = await room.page()
    await page.emulate_media(color_scheme="light")
    await room.sign_in(page, "Flo")
    root = page.locator("html")
    await expect(root).to_have_attribute("data-mode", "light")
    await page.emulate_media(color_scheme="dark")
    await expect(root).to_have_attribute("data-mode", "dark")
    await (await account(page)).get_by_label("Colors").select_option("Light")
    await page.reload()
    await expect(root).to_have_attribute("data-mode", "light")
