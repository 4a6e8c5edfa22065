"""The floor page in the language of each person."""

from typing import Final

import pytest
from playwright.async_api import Page, expect

from meters.acts.meter_changes import Adjustment
from tests.browsers import check_accessible, check_fits
from tests.spoken import bracket, unsaid
from tests.web.floor_hand import ROYAL, SIZES, FloorRoom
from tests.web.in_memory import ASK_RESULT
from tests.web.stand import CLAIM, PIN, STAFF

NAMES: Final = (
    *STAFF, "Keystone <Casino> & Resort", "Three Card Poker Jackpot", "Pit 2", "Progressive", "TCP",
    "Hand Bonus <b>Grand</b>", "Walter Ng", "5 of 6 Progressive", "Five-Card Progressive",
    "Five Card Hand Bonus (dealer)", "Progressive Payout Wager", "Mini-Royal, spades", "EST", "P3",
    "nov oct", "Prog Dealer", "the test", "Table added positions", "CSV",
    "it It was typed twice", "as approved",
)  # fmt: skip
"""Names, what people typed, and what the service says in English."""
READS: Final = "⟦Reading"


async def sign_in(page: Page, room: FloorRoom, name: str, view: str) -> None:
    await page.goto(f"{room.stand.url}/floor#{view}")
    await page.locator("[name=name]").fill(name)
    await page.locator("[name=pin]").fill(PIN)
    await page.locator(".sign-in .go").click()
    await expect(page.locator(".who")).to_contain_text(name)


async def says_all(page: Page, what: str) -> None:
    await expect(page.get_by_text(READS)).to_have_count(0)
    assert await unsaid(page, *NAMES) == [], what


async def opens(page: Page, button: str) -> None:
    """Press a button that opens a dialog, which then says everything, and close the dialog."""
    await page.locator(button).first.click()
    await expect(page.locator("dialog[open]")).to_be_visible()
    await says_all(page, button)
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog[open]")).to_have_count(0)


async def test_every_word_of_the_floor_page_is_said_in_the_persons_language(
    room: FloorRoom,
) -> None:
    """Each view, with what is open in it, in a language of brackets."""
    stand = room.stand
    stand.claims.put(ROYAL)
    validated = {"state": "validated", "validated_by": "Flo", "validated_at": CLAIM.at}
    stand.claims.put(CLAIM, claim="c3", **validated)
    stand.asks.put()
    stand.asks.put(ASK_RESULT)
    reason = "it was typed twice"
    await stand.links.propose(
        "tcp-main", "Sam", Adjustment(meter="progressive", amount=5_000, reason=reason)
    )
    stand.links.put_unapproved("pit-2", first_by=None, first_at=None)
    page = await room.page("desk")
    await bracket(page)
    await page.goto(f"{stand.url}/floor")
    await expect(page.locator(".sign-in")).to_be_visible()
    await says_all(page, "sign-in")
    await sign_in(page, room, "Sue", "inbox")
    rows = (
        f"[data-claim='{ROYAL.claim}']", "[data-claim=c3]", "[data-claim=c1]", "[data-ask]",
        "[data-proposal]",
    )  # fmt: skip
    for row in rows:
        await page.locator(f".list {row} a").first.click()
        await expect(page.locator(f".detail{row}")).to_be_visible()
        await says_all(page, row)
        if row == "[data-claim=c1]":
            await opens(page, ".detail .acts .stop")
    await page.locator(".who").click()
    await says_all(page, "account")
    await page.keyboard.press("Escape")
    for view in ("floor", "wins", "meters", "history", "find"):
        await page.goto(f"{stand.url}/floor#{view}")
        await expect(page.locator(f'main[data-view="{view}"]')).to_be_visible()
        await says_all(page, view)
    await page.goto(f"{stand.url}/floor#find/tcp-main%2F15")
    await expect(page.locator(".found-round")).to_be_visible()
    await says_all(page, "a round")
    await page.goto(f"{stand.url}/floor#meters/tcp-main%2Fprogressive")
    await expect(page.locator(".of-meter")).to_be_visible()
    for tab in range(3):
        await page.locator(".tabs button").nth(tab).click()
        await says_all(page, f"tab {tab}")
    await opens(page, ".of-meter .acts-bar button")


async def test_every_word_about_people_is_said_in_the_persons_language(room: FloorRoom) -> None:
    page = await room.page("tablet")
    await bracket(page)
    await sign_in(page, room, "Ada", "people")
    await expect(page.locator(".users li")).to_have_count(len(STAFF))
    await says_all(page, "people")
    await opens(page, ".view .go")
    await opens(page, ".users .acts button")


@pytest.mark.parametrize("language", ["es", "zh-Hans", "vi"])
async def test_each_language_fits_on_each_size(room: FloorRoom, language: str) -> None:
    room.stand.claims.put(ROYAL)
    page = await room.page("phone", bypass_csp=True)
    await page.add_init_script(f"localStorage.setItem('pitlink.language', '{language}')")
    await sign_in(page, room, "Sue", "inbox")
    await expect(page.locator("html")).to_have_attribute("lang", language)
    for size in SIZES:
        width, height = SIZES[size]
        await page.set_viewport_size({"width": width, "height": height})
        for view in (
            "inbox",
            f"inbox/{ROYAL.claim}",
            "floor",
            "wins",
            "meters",
            "history",
            "reports",
            "find",
        ):
            await page.goto(f"{room.stand.url}/floor#{view}")
            name = view.partition("/")[0]
            await expect(page.locator("main")).to_have_attribute("data-view", name)
            await check_fits(page, 36, f"{language} {size} {view}")
    await check_accessible(page, language)


async def test_a_person_chooses_a_language_which_the_device_remembers(room: FloorRoom) -> None:
    """The reason of a rejection is recorded in English."""
    page = await room.signed_in("Flo", size="desk")
    await page.locator(".who").click()
    await page.locator("#account .language").select_option("es")
    await expect(page.locator("html")).to_have_attribute("lang", "es")
    await expect(page.locator(".who")).to_contain_text("encargado de piso")
    await page.locator(".list [data-claim=c2] a").click()
    await page.get_by_role("button", name="Rechazar: Mesa TCP-03, posición 5").click()
    await page.get_by_text("Mano mal leída").click()
    await page.get_by_role("button", name="Rechazar $70.00").click()
    await expect(page.locator(".receipt")).to_contain_text("Rechazado $70.00")
    assert [act[3] for act in room.stand.claims.acts] == ["Hand misread"]
    await page.get_by_role("button", name="Cuenta de Flo").click()
    await page.get_by_role("button", name="Cerrar sesión").click()
    await expect(page.locator(".sign-in .go")).to_have_text("Iniciar sesión")
