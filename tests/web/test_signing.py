"""Signing in over HTTP: the cookie, the session's end, and acts reserved to our own pages."""

from http.cookies import SimpleCookie

import httpx
import msgspec
import pytest
from playwright.async_api import Browser

from meters.web.api import changes as changes_module
from meters.web.security import COOKIE, CSRF_HEADER, DEVICE_COOKIE
from tests.web.events import Events
from tests.web.stand import CLAIM, PIN, SIGN_IN, Stand
from tests.web.test_api import error_of

VALIDATE = "/api/v1/claims/c1/validate"


@pytest.fixture
def stand(staffed: Stand) -> Stand:
    return staffed


async def test_signing_in_returns_the_user_and_sets_a_cookie_for_this_host_alone(
    stand: Stand,
) -> None:
    answer = await stand.try_to_sign_in("flo")
    me = answer.json()
    assert {name: me[name] for name in me if name != "csrf"} == {
        "name": "Flo", "role": "floorperson", "rights": ["waiting", "wins", "decide"],
        "idle_seconds": 300, "facility": "Keystone <Casino> & Resort",
        "timezone": "America/New_York", "demonstration": False, "choose_pin": False,
        "warn_adjustment_percent": 20,
        "lapsed": False,
    }  # fmt: skip
    session, device = answer.headers.get_list("set-cookie")
    assert device.startswith(f"{DEVICE_COOKIE}=")
    cookie = SimpleCookie(session)[COOKIE]
    assert COOKIE.startswith("__Host-")
    assert (cookie["secure"], cookie["httponly"], cookie["path"]) == (True, True, "/")
    assert cookie["samesite"].lower() == "strict"
    assert (cookie["domain"], cookie["expires"], cookie["max-age"]) == ("", "", "")
    assert cookie.value not in answer.text
    assert answer.headers["cache-control"] == "no-store"


async def test_signing_out_ends_the_session_and_takes_the_cookie_back(stand: Stand) -> None:
    async with stand.signed_in("Flo") as flo:
        answer = await flo.post("/api/v1/sign-out")
        assert answer.status_code == 204
        assert "Max-Age=0" in answer.headers["set-cookie"]
        after = await flo.get("/api/v1/me")
        assert (after.status_code, error_of(after)) == (401, "sign_in")


async def test_a_new_sign_in_has_a_new_token_and_the_old_one_is_of_no_use(stand: Stand) -> None:
    async with stand.signed_in("Flo") as flo:
        body = {"name": "Sue", "pin": PIN}
        answer = await flo.post(SIGN_IN, body)
        assert answer.headers["set-cookie"].partition(";")[0] != flo.client.headers["Cookie"]
        assert (await flo.get("/api/v1/me")).status_code == 401


async def test_wrong_names_and_pins_get_the_same_answer_and_then_a_lock_out(stand: Stand) -> None:
    answers = []
    for _ in range(5):
        for name in ("Flo", "Ghost"):
            answer = await stand.try_to_sign_in(name, "264907")
            error = answer.json()["error"]
            answers.append((answer.status_code, error["code"], error["message"]))
            assert "set-cookie" not in answer.headers
    assert answers[0::2] == answers[1::2]
    assert [status for status, _, _ in answers[0::2]] == [401] * 4 + [429]
    right = await stand.try_to_sign_in("Flo", PIN)
    error = right.json()["error"]
    assert (right.status_code, error["code"]) == (429, "locked_out")
    assert 890 <= int(right.headers["retry-after"]) <= 900
    assert error["until"].endswith("Z")
    assert "set-cookie" not in right.headers


async def test_what_is_no_sign_in_is_refused_and_a_pin_never_repeated(stand: Stand) -> None:
    bodies: list[object] = [
        {"name": "Flo"}, {"pin": PIN}, {"name": "Flo", "pin": 730482}, [],
        {"name": "Flo", "pin": PIN, "role": "administrator"}, {"name": "Flo", "pin": "3" * 201},
    ]  # fmt: skip
    async with httpx.AsyncClient(base_url=stand.url, timeout=10) as client:
        for body in bodies:
            answer = await client.post(SIGN_IN, json=body)
            assert (answer.status_code, error_of(answer)) == (400, "bad_request"), body
            assert PIN not in answer.text
            assert "3333" not in answer.text


async def test_an_act_needs_the_token_of_its_own_session(stand: Stand) -> None:
    async with stand.signed_in("Flo") as flo, stand.signed_in("Finn") as finn:
        for token in ("", "wrong", "é", finn.me.csrf):
            headers = httpx.Headers({CSRF_HEADER: token}, encoding="utf-8")
            answer = await flo.client.post(VALIDATE, json={}, headers=headers)
            assert (answer.status_code, error_of(answer)) == (403, "csrf"), token
        assert stand.claims.acts == []
        answer = await flo.client.post(VALIDATE, json={}, headers={CSRF_HEADER: flo.me.csrf})
    assert (answer.status_code, len(stand.claims.acts)) == (200, 1)


@pytest.mark.parametrize("path", [SIGN_IN, VALIDATE])
async def test_only_our_own_pages_may_act(stand: Stand, path: str) -> None:
    """No form and no script of a foreign page."""
    body = {"name": "Flo", "pin": PIN} if path == SIGN_IN else {}
    foreign: list[tuple[dict[str, str], tuple[int, str]]] = [
        *(({"Origin": origin}, (403, "foreign_origin")) for origin in (
            "https://evil.example", "null", f"{stand.url}.evil.example", "https://127.0.0.1")),
        *(({"Sec-Fetch-Site": site}, (403, "foreign_origin"))
          for site in ("same-site", "cross-site", "none")),
        *(({"Content-Type": kind}, (415, "not_json"))
          for kind in ("", "text/plain", "application/x-www-form-urlencoded")),
    ]  # fmt: skip
    async with stand.signed_in("Flo") as flo:
        text = msgspec.json.encode(body)
        for headers, refused in foreign:
            sent = {"Content-Type": "application/json"} | headers
            answer = await flo.client.post(path, content=text, headers=sent)
            assert (answer.status_code, error_of(answer)) == refused, headers
            assert "set-cookie" not in answer.headers
        assert stand.claims.acts == []
        for headers in ({"Origin": stand.url}, {"Sec-Fetch-Site": "same-origin"}):
            stand.claims.put(CLAIM)
            async with stand.signed_in("Finn") as finn:
                answer = await finn.client.post(path, json=body, headers=headers)
            assert answer.status_code == 200, headers


async def test_a_proxy_that_does_not_announce_https_gets_instructions(stand: Stand) -> None:
    proxied = {"Host": "pit.example", "Origin": "https://pit.example"}
    answer = await stand.try_to_sign_in(**proxied)
    assert (answer.status_code, error_of(answer)) == (403, "foreign_origin")
    assert "X-Forwarded-Proto" in answer.text
    said = await stand.try_to_sign_in(**proxied, X_Forwarded_Proto="https")
    assert said.status_code == 200
    stranger = await stand.try_to_sign_in(Host="pit.example", Origin="https://evil.example")
    assert "X-Forwarded-Proto" not in stranger.text


@pytest.mark.duty("D20")
async def test_a_pin_that_came_over_the_network_in_the_clear_is_refused(stand: Stand) -> None:
    client = {"X_Forwarded_For": "203.0.113.7"}
    for clear in (client, client | {"X_Forwarded_Proto": "http"}):
        answer = await stand.try_to_sign_in(**clear)
        assert (answer.status_code, error_of(answer)) == (403, "https_needed")
        assert "X-Forwarded-Proto" in answer.text
    for headers, address in (
        ({}, "127.0.0.1"), (client | {"X_Forwarded_Proto": "https"}, "203.0.113.7"),
    ):  # fmt: skip
        assert (await stand.try_to_sign_in(**headers)).status_code == 200
        (row,) = await stand.user_directory.log.page(None, 1)
        assert row.client == address


async def test_a_session_lapses_when_nothing_is_done_and_a_page_by_itself_does_nothing(
    stand: Stand,
) -> None:
    async with stand.signed_in("Flo") as flo:
        key = stand.session_key(flo)
        last = await stand.redis.hincrby(key, "touched", -60_000)
        quiet = await flo.client.get("/api/v1/me", headers={"X-Unattended": "1"})
        assert quiet.status_code == 200
        assert int(await stand.redis.hget(key, "touched") or 0) == last
        assert (await flo.get("/api/v1/me")).status_code == 200
        assert int(await stand.redis.hget(key, "touched") or 0) >= last + 60_000
        await stand.redis.pexpire(key, 0)
        gone = await flo.post(VALIDATE)
        assert (gone.status_code, error_of(gone)) == (401, "sign_in")
    assert stand.claims.acts == []


async def test_a_disabled_user_can_do_nothing_more(stand: Stand) -> None:
    async with stand.signed_in("Ada") as ada, stand.signed_in("Flo") as flo:
        assert (await flo.get("/api/v1/me")).status_code == 200
        assert (await ada.post("/api/v1/users/Flo/disable")).status_code == 200
        assert (await flo.post(VALIDATE)).status_code == 401
        again = await flo.post(SIGN_IN, {"name": "Flo", "pin": PIN})
        assert (again.status_code, error_of(again)) == (401, "wrong_name_or_pin")
    assert stand.claims.acts == []


async def test_two_workers_share_the_sessions(stand: Stand) -> None:
    second = Stand(shared_with=stand)
    await second.start()
    async with (
        stand.signed_in("Flo") as flo,
        httpx.AsyncClient(base_url=second.url, headers=flo.client.headers) as elsewhere,
    ):
        done = await elsewhere.post(VALIDATE, json={})
        assert (done.status_code, done.json()["validated_by"]) == (200, "Flo")
        assert (await elsewhere.post("/api/v1/sign-out", json={})).status_code == 204
        assert (await flo.get("/api/v1/me")).status_code == 401
    await second.stop()


async def test_a_store_that_fails_lets_nobody_in(stand: Stand) -> None:
    nowhere = Stand()
    await nowhere.start()
    async with stand.signed_in("Flo") as flo:
        headers = dict(flo.client.headers)
    async with httpx.AsyncClient(base_url=nowhere.url, headers=headers) as client:
        for answer in (
            await client.post(SIGN_IN, json={"name": "Flo", "pin": PIN}),
            await client.get("/api/v1/me"),
            await client.get("/api/v1/claims"),
            await client.post(VALIDATE, json={}),
            await client.get("/api/v1/users"),
        ):
            assert (answer.status_code, error_of(answer)) == (503, "store_failed")
            assert "set-cookie" not in answer.headers
            assert "nowhere" not in answer.text
    assert (await nowhere.get("/api/v1/meters")).status_code == 200
    assert (await nowhere.get("/api/v1/claims")).status_code == 200
    assert nowhere.claims.acts == []
    await nowhere.stop()


async def test_the_stream_sends_changes_immediately_as_they_come(stand: Stand) -> None:
    async with (
        stand.signed_in("Dana") as dana,
        stand.signed_in("Flo") as flo,
        dana.client.stream("GET", "/api/v1/floor/stream") as response,
    ):
        events = Events(response)
        first = await events.next_of("changed")
        assert (await flo.post(VALIDATE)).status_code == 200
        second = await events.next_of("changed")
    assert first.data["count"] != second.data["count"]


@pytest.mark.parametrize("how", ["idle", "sign-out", "disabled", "store"])
async def test_the_stream_ends_with_the_session_and_does_not_keep_it_alive(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(changes_module, "LOOK_EVERY_S", 0.05)
    async with stand.signed_in("Ada") as ada, stand.signed_in("Flo") as flo:
        key = stand.session_key(flo)
        await stand.redis.hincrby(key, "touched", -60_000)
        await stand.redis.pexpire(key, 60_000)
        headers = {"X-Unattended": "1"}
        async with flo.client.stream("GET", "/api/v1/floor/stream", headers=headers) as response:
            events = Events(response)
            await events.next_of("changed")
            await events.next_of("heartbeat")
            assert await stand.redis.pttl(key) <= 60_000
            if how == "idle":
                await stand.redis.pexpire(key, 0)
            elif how == "sign-out":
                assert (await flo.post("/api/v1/sign-out")).status_code == 204
            elif how == "disabled":
                assert (await ada.post("/api/v1/users/Flo/disable")).status_code == 200
            else:
                await stand.redis.hdel(key, "created")
            with pytest.raises(StopAsyncIteration):
                await events.next_of("never")


async def test_the_stream_ends_promptly_with_the_service(stand: Stand) -> None:
    async with (
        stand.signed_in("Dana") as dana,
        dana.client.stream("GET", "/api/v1/floor/stream") as response,
    ):
        events = Events(response)
        await events.next_of("changed")
        await stand.stop()
        with pytest.raises(StopAsyncIteration):
            await events.next_of("never")


async def test_a_browser_keeps_the_cookie_on_loopback_and_hides_it_from_scripts(
    stand: Stand, browser: Browser
) -> None:
    page = await browser.new_page()
    await page.goto(f"{stand.url}/floor")
    signed_in = await page.evaluate(
        """async (body) => {
            const sent = {method: "POST", headers: {"Content-Type": "application/json"}, body};
            const answer = await fetch("/api/v1/sign-in", sent);
            return [answer.status, (await fetch("/api/v1/me")).status, document.cookie];
        }""",
        f'{{"name": "Flo", "pin": "{PIN}"}}',
    )
    assert signed_in == [200, 200, ""]
    cookies = {cookie["name"]: cookie for cookie in await page.context.cookies()}
    assert set(cookies) == {COOKIE, DEVICE_COOKIE}
    for cookie in cookies.values():
        assert (cookie["secure"], cookie["httpOnly"]) == (True, True)
        assert (cookie["sameSite"], cookie["path"]) == ("Strict", "/")
    assert cookies[COOKIE]["expires"] == -1
    await page.close()
