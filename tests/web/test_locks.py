"""Too many wrong PINs over HTTP: a stranger locks out only themselves (duty D20)."""

import httpx
import pytest
from playwright.async_api import expect

from meters.users.sign_in_attempts import EVERYBODY
from meters.web.security import DEVICE_COOKIE
from tests.web.floor_hand import FloorRoom, answer, check_accessible, press
from tests.web.stand import PIN, Stand
from tests.web.test_api import error_of

pytestmark = pytest.mark.slow

STRANGER = "203.0.113.66"
HERS = "203.0.113.7"
WRONG = "264907"


@pytest.fixture
def stand(staffed: Stand) -> Stand:
    return staffed


async def sign_in(
    stand: Stand, client: str, pin: str = PIN, device: str = "", name: str = "Flo"
) -> httpx.Response:
    headers = {"X_Forwarded_For": client, "X_Forwarded_Proto": "https"}
    if device:
        headers["Cookie"] = f"{DEVICE_COOKIE}={device}"
    return await stand.try_to_sign_in(name, pin, **headers)


def device_of(answer: httpx.Response) -> str:
    """Return the token that a browser received for its device."""
    (cookie,) = [
        each for each in answer.headers.get_list("set-cookie") if each.startswith(DEVICE_COOKIE)
    ]
    value, *rest = [part.strip() for part in cookie.split(";")]
    assert {"httponly", "secure", "samesite=strict", "path=/"} <= {each.lower() for each in rest}
    return value.partition("=")[2]


@pytest.mark.duty("D20")
async def test_a_stranger_who_tries_again_and_again_locks_nobody_else_out(stand: Stand) -> None:
    for _ in range(3):
        answers = [await sign_in(stand, STRANGER, WRONG) for _ in range(6)]
        assert answers[-1].status_code == 429
        assert (await sign_in(stand, STRANGER)).status_code == 429
        assert (await sign_in(stand, HERS)).status_code == 200


async def test_a_device_that_has_signed_in_may_try_while_strangers_have_locked_the_name(
    stand: Stand,
) -> None:
    """For example behind a proxy that hides addresses, so all clients seem to have the same one."""
    first = await sign_in(stand, HERS)
    device = device_of(first)
    for at in range(20):
        await sign_in(stand, HERS, WRONG, name="Flo" if at < 5 else f"Nobody {at}")
    locked = await sign_in(stand, HERS)
    assert (locked.status_code, locked.json()["error"]["code"]) == (429, "locked_out")
    again = await sign_in(stand, HERS, device=device)
    assert again.status_code == 200
    assert device_of(again) == device
    for made_up in ("x" * 43, "short", "x" * 5_000):
        assert (await sign_in(stand, HERS, device=made_up)).status_code == 429


async def test_the_refused_sign_ins_are_counted_by_device_and_reason(stand: Stand) -> None:
    device = device_of(await sign_in(stand, HERS))
    for at in range(EVERYBODY.most - 1):
        await sign_in(stand, f"198.51.100.{at % 9}", WRONG, name=f"Nobody {at}")
    await sign_in(stand, HERS, WRONG, device=device)
    for _ in range(5):
        await sign_in(stand, STRANGER, WRONG)
    slowed = await sign_in(stand, "203.0.113.8")
    assert (slowed.status_code, slowed.json()["error"]["code"]) == (429, "slowed")
    assert 0 < int(slowed.headers["retry-after"]) <= 10
    refused = {
        (sample.labels["device"], sample.labels["reason"]): sample.value
        for family in stand.metrics.registry.collect()
        for sample in family.samples
        if sample.name == "pitlink_sign_ins_refused_total"
    }
    assert refused == {
        ("known", "wrong"): 1, ("known", "locked"): 0, ("known", "slowed"): 0,
        ("new", "wrong"): EVERYBODY.most, ("new", "locked"): 0, ("new", "slowed"): 5,
    }  # fmt: skip


async def test_an_administrator_unlocks_and_enabling_needs_a_disabled_user(stand: Stand) -> None:
    for _ in range(5):
        await sign_in(stand, STRANGER, WRONG)
    async with stand.signed_in("Ada") as ada:
        (row,) = [row for row in (await ada.get("/api/v1/users")).json() if row["name"] == "Flo"]
        (lock,) = row["locked"]
        assert (lock["where"], lock["address"]) == ("name", STRANGER)
        assert lock["until"].endswith("Z")
        refused = await ada.post("/api/v1/users/Flo/enable")
        assert (refused.status_code, error_of(refused)) == (409, "wrong_state")
        unlocked = await ada.post("/api/v1/users/Flo/unlock")
        assert (unlocked.status_code, unlocked.json()["locked"]) == (200, [])
    assert (await sign_in(stand, STRANGER)).status_code == 200


async def test_the_page_shows_a_lock_and_lifts_it(room: FloorRoom) -> None:
    for _ in range(5):
        await sign_in(room.stand, STRANGER, WRONG)
    page = await room.signed_in("Ada", "people", bypass_csp=True)
    user = page.locator('[data-user="Flo"]')
    await expect(user).to_contain_text(f"Locked out at {STRANGER} until")
    await check_accessible(page)
    await press(user, "Unlock")
    await answer(page, "Unlock")
    await expect(user).not_to_contain_text("Locked out")
    await expect(page.locator(".log li").first).to_contain_text("User unlocked")
    assert (await sign_in(room.stand, STRANGER)).status_code == 200
