"""A floor page whose user did nothing for some minutes: it watches, and acts with the PIN."""

from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.waiting import eventually_async
from tests.web.floor_hand import (
    ROYAL,
    FloorRoom,
    answer,
    check_accessible,
    claim_card,
    dialog,
    go,
    lapse,
    press,
)
from tests.web.stand import PIN, SMALL

pytestmark = pytest.mark.duty("D20")

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
    """Return a page of Flo, who did nothing for five minutes."""
    page = await room.page(size, bypass_csp=True)
    await page.clock.install()
    await page.add_init_script(RECORD)
    await room.sign_in(page, "Flo")
    await do_nothing(room, page)
    return page


async def do_nothing(room: FloorRoom, page: Page) -> None:
    """Let the session of a page lapse, and five minutes of its time pass."""
    await expect(claim_card(page)).to_be_visible()
    await lapse(room, page)
    await page.clock.fast_forward("05:01")
    await expect(page.locator(".lapsed")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["desk", "phone"])
async def test_a_page_that_nobody_touches_announces_new_wins(room: FloorRoom, kind: str) -> None:
    page = await lapsed_page(room)
    await page.evaluate("(kind) => { window.kind = kind; }", kind)
    room.stand.claims.put(ROYAL)
    await expect(claim_card(page, ROYAL)).to_be_visible()
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


async def test_an_act_of_a_lapsed_page_needs_the_pin_in_its_dialog(room: FloorRoom) -> None:
    page = await lapsed_page(room)
    await press(claim_card(page), "Validate")
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
    await expect(claim_card(page)).to_contain_text("Validated by Flo")
    await expect(page.locator(".lapsed")).to_have_count(0)
    assert room.acts == [("c1", "validate", "Flo")]
    room.stand.claims.put(ROYAL)
    await expect(claim_card(page, ROYAL)).to_be_visible()
    await press(claim_card(page, SMALL), "Validate")
    await answer(page, "Validate $70.00")
    await expect(claim_card(page, SMALL)).to_have_count(0)


@pytest.mark.slow
async def test_a_session_that_lapses_while_a_dialog_is_open_needs_the_pin(room: FloorRoom) -> None:
    """The page does not know it yet. The service refuses the act, and the dialog asks."""
    page = await room.signed_in("Flo")
    await press(claim_card(page, SMALL), "Reject")
    await dialog(page).get_by_text("Hand misread").click()
    await lapse(room, page)
    await answer(page, "Reject $70.00")
    await expect(dialog(page).get_by_role("alert")).to_contain_text("enter your PIN")
    assert room.acts == []
    await enter_pin(page, "Flo")
    await answer(page, "Reject $70.00")
    await expect(claim_card(page, SMALL)).to_have_count(0)
    assert room.acts == [("c2", "reject", "Flo")]


@pytest.mark.slow
async def test_the_pin_can_be_entered_before_an_act_and_prints_a_slip(room: FloorRoom) -> None:
    page = await lapsed_page(room)
    await press(page, "Enter PIN")
    await enter_pin(page, "Flo")
    await answer(page, "Continue")
    await expect(page.locator(".lapsed")).to_have_count(0)
    await press(claim_card(page), "Validate")
    await expect(dialog(page).get_by_label("PIN of Flo")).to_have_count(0)
    await answer(page, "Cancel")
    await do_nothing(room, page)
    await claim_card(page).get_by_role("link", name="Payout slip").click()
    await enter_pin(page, "Flo")
    slip = page.context.expect_event("request", lambda sent: "/claims/c1/slip.pdf" in sent.url)
    async with page.context.expect_page(), slip:
        await answer(page, "Continue")
    await expect(claim_card(page)).to_be_visible()


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
    await press(page, "Keep the screen on")
    await expect(page.get_by_role("button", name="Screen stays on")).to_be_visible()
    await eventually_async(lambda: page.evaluate("window.held === 1"))
    await page.reload()
    await expect(page.get_by_role("button", name="Screen stays on")).to_be_visible()
    await eventually_async(lambda: page.evaluate("window.held === 1"))
    await press(page, "Sign out")
    await eventually_async(lambda: page.evaluate("window.held === 0"))
