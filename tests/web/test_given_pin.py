"""A PIN set by another person works once within a day, only to choose one's own."""

import asyncio
import re
import time

import pytest
from playwright.async_api import expect

from meters.users.roles import Role
from meters.users.users import Actor
from meters.web.security import RouteAccess
from tests.web.floor_hand import FloorRoom, check_accessible, dialog, press, resize, type_sign_in
from tests.web.stand import PIN, Stand
from tests.web.test_api import error_of
from tests.web.test_floor_access import check_view
from tests.web.test_roles import CASES, send

GIVEN = "264907"
OWN = "905183"
COMMAND = Actor("command line (amy)")
A_DAY_S = 24 * 3600


@pytest.fixture
def stand(staffed: Stand) -> Stand:
    return staffed


async def refusal(stand: Stand, pin: str) -> tuple[int, str]:
    answer = await stand.try_to_sign_in("Flo", pin)
    return answer.status_code, error_of(answer)


async def choose(stand: Stand, name: str, new: str = OWN) -> None:
    """Sign in with the PIN that was set, and choose another."""
    async with stand.signed_in(name, GIVEN) as person:
        body = {"pin": GIVEN, "new_pin": new}
        assert (await person.post("/api/v1/me/pin", body)).status_code == 204


@pytest.mark.slow
@pytest.mark.parametrize("by", ["an administrator", "command"])
@pytest.mark.parametrize("role", list(Role))
async def test_until_one_has_chosen_nothing_else_is_done(stand: Stand, by: str, role: Role) -> None:
    """Every route that needs a right is tried by every role with a set PIN, or as a new user."""
    async with stand.signed_in("Ada") as ada:
        if by == "an administrator":
            body = {"name": "Zoe", "role": role.value, "pin": GIVEN}
            assert (await ada.post("/api/v1/users", body)).status_code == 201
        else:
            await stand.user_directory.users.add("Zoe", role, GIVEN, COMMAND)
    async with stand.signed_in("Zoe", GIVEN) as zoe:
        assert (zoe.me.choose_pin, zoe.me.rights) == (True, ())
        for route, case in CASES.items():
            if route.endswith(("sign-in", "sign-out", "/me/pin")):
                continue
            status, code = await send(zoe.client, route, case)
            if isinstance(case.access, RouteAccess):  # anybody, or every signed-in user
                assert code != "choose_pin"
            else:
                assert (status, code) == (403, "choose_pin"), route
        claims = (await zoe.get("/api/v1/claims")).json()
        assert {claim["patron"] for claim in claims} == {None}, "as everybody may see them"
        assert (await zoe.post("/api/v1/me/pin", {"pin": GIVEN, "new_pin": OWN})).status_code == 204
        me = (await zoe.get("/api/v1/me")).json()
        assert (me["choose_pin"], "waiting" in me["rights"]) == (False, True)
        assert (await zoe.get("/api/v1/me/acts")).status_code == 200


async def test_a_given_pin_serves_once(stand: Stand) -> None:
    await stand.user_directory.users.set_pin("Flo", GIVEN, COMMAND)
    async with stand.signed_in("Flo", GIVEN) as one, stand.signed_in("Flo", GIVEN) as other:
        answers = await asyncio.gather(
            one.post("/api/v1/me/pin", {"pin": GIVEN, "new_pin": OWN}),
            other.post("/api/v1/me/pin", {"pin": GIVEN, "new_pin": "618407"}),
        )
    assert sorted(answer.status_code for answer in answers) in ([204, 401], [204, 403])
    assert await refusal(stand, GIVEN) == (401, "wrong_name_or_pin")


@pytest.mark.slow
async def test_a_given_pin_serves_for_a_day(stand: Stand) -> None:
    await stand.user_directory.users.set_pin("Flo", GIVEN, COMMAND)
    user = stand.user_keys.user("flo")
    until = int(await stand.redis.hget(user, "choose_by") or 0)
    assert abs(until / 1000 - time.time() - A_DAY_S) < 60
    async with stand.signed_in("Flo", GIVEN) as flo:
        await stand.redis.hset(user, "choose_by", str(until - A_DAY_S * 1000))
        late = await flo.post("/api/v1/me/pin", {"pin": GIVEN, "new_pin": OWN})
        assert (late.status_code, error_of(late)) == (401, "sign_in")
    assert await refusal(stand, GIVEN) == (401, "pin_expired")
    assert await refusal(stand, PIN) == (401, "wrong_name_or_pin")
    assert (await stand.user_directory.log.page(None, 1))[0].what == "sign_in_refused"


async def test_a_pin_is_generated_and_shown_once(stand: Stand) -> None:
    async with stand.signed_in("Ada") as ada:
        new = await ada.post("/api/v1/users", {"name": "Zoe", "role": "dealer"})
        again = await ada.post("/api/v1/users/Zoe/pin", {})
        typed = await ada.post("/api/v1/users/Zoe/pin", {"pin": GIVEN})
        pins = [answer.json()["pin"] for answer in (new, again, typed)]
        assert re.fullmatch(r"[0-9]{8}", pins[0])
        assert pins[0] != pins[1]
        assert pins[2] is None
        assert [row.get("pin") for row in (await ada.get("/api/v1/users")).json()] == [None] * 8
    logged = str(await stand.user_directory.log.page(None, 200))
    assert not any(pin in logged for pin in pins[:2])


@pytest.mark.slow
@pytest.mark.duty("D17")
async def test_every_pin_that_is_set_is_on_the_acts_of_who_is_concerned(stand: Stand) -> None:
    async with stand.signed_in("Ada") as ada:
        await ada.post("/api/v1/users/Flo/pin", {"pin": GIVEN})
        await ada.post("/api/v1/users/Finn/disable")
        hers = [(row["what"], row["about"]) for row in (await ada.get("/api/v1/me/acts")).json()]
        assert hers == [("user_disabled", "Finn"), ("pin_set", "Flo"), ("user_added", "Ada")]
    await stand.user_directory.users.set_pin("Flo", GIVEN, COMMAND)
    await choose(stand, "Flo")
    async with stand.signed_in("Flo", OWN) as flo, stand.signed_in("Sue") as sue:
        theirs = [(row["what"], row["by"]) for row in (await flo.get("/api/v1/me/acts")).json()]
        assert theirs == [
            ("pin_chosen", "Flo"), ("pin_set", COMMAND.name), ("pin_set", "Ada"),
            ("user_added", "the test"),
        ]  # fmt: skip
        others = (await sue.get("/api/v1/me/acts")).json()
        assert [row["what"] for row in others] == ["user_added"]
    logged = [row.what for row in await stand.user_directory.log.page(None, 200)]
    assert logged.count("pin_set") == 2


@pytest.mark.slow
async def test_the_page_asks_for_a_pin_of_ones_own_before_anything_else(room: FloorRoom) -> None:
    await room.stand.user_directory.users.set_pin("Flo", GIVEN, COMMAND)
    page = await room.page(bypass_csp=True)
    await page.goto(f"{room.stand.url}/floor#wins")
    await type_sign_in(page, "Flo", GIVEN)
    await expect(page.get_by_role("heading", name="Choose a PIN")).to_be_focused()
    await expect(page.locator("nav a").first).to_be_hidden()
    await expect(page.locator(".claim")).to_have_count(0)
    for size in ("phone", "tablet"):
        await resize(page, size)
        await check_view(page)
    await press(page, "Choose a PIN")
    for label, typed in (("Current PIN", GIVEN), ("New PIN", OWN), ("New PIN again", OWN)):
        await dialog(page).get_by_label(label, exact=True).fill(typed)
    await check_accessible(page)
    await press(dialog(page), "Change my PIN")
    await expect(page.locator("nav a").first).to_be_visible()
    await expect(page.locator("main[data-view=wins]")).to_be_visible()
    await press(page, "My PIN")
    await dialog(page).locator("summary").click()
    entries = dialog(page).locator(".entries li")
    await expect(entries).to_have_count(3)
    await expect(entries.nth(1)).to_contain_text("New PIN")
    await expect(entries.nth(1)).to_contain_text(COMMAND.name)


@pytest.mark.slow
async def test_the_page_shows_a_generated_pin_once(room: FloorRoom) -> None:
    page = await room.signed_in("Ada", "people", bypass_csp=True)
    await press(page.locator('[data-user="Flo"]'), "New PIN")
    await press(dialog(page), "Set the PIN")
    shown = dialog(page).locator(".pin")
    await expect(shown).to_have_text(re.compile(r"^[0-9]{8}$"))
    pin = await shown.inner_text()
    await check_accessible(page)
    await press(dialog(page), "Close")
    await expect(page.locator("dialog")).to_have_count(0)
    assert pin not in await page.content()
    await expect(page.locator('[data-user="Flo"]')).to_contain_text("PIN set by Ada")
    await expect(page.locator('[data-user="Flo"]')).to_contain_text("serves until")
    async with room.stand.signed_in("Flo", pin) as flo:
        assert flo.me.choose_pin
