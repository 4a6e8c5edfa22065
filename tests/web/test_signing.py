"""Signing in over HTTP: the cookie, the session's end, and acts reserved to our own pages."""

import re
import time
from http.cookies import SimpleCookie
from typing import Final, Self

import httpx
import msgspec
import pytest

from meters.floor.roles import Role
from meters.users.sign_in_attempts import EVERYBODY
from meters.users.users import Actor
from meters.web import streams
from meters.web.security import COOKIE, CSRF_HEADER, DEVICE_COOKIE
from tests.servers import RedisServer
from tests.web.events import Events
from tests.web.raw import Raw
from tests.web.stand import CLAIM, PIN, SIGN_IN, Staff, Stand
from tests.web.test_api import error_of
from tests.web.test_roles import check_every_route

VALIDATE = "/api/v1/claims/c1/validate"


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


async def test_signing_out_or_in_again_ends_the_session(stand: Stand) -> None:
    async with stand.signed_in("Flo") as flo:
        answer = await flo.post(SIGN_IN, {"name": "Sue", "pin": PIN})
        assert answer.headers["set-cookie"].partition(";")[0] != flo.client.headers["Cookie"]
        assert (await flo.get("/api/v1/me")).status_code == 401
    async with stand.signed_in("Flo") as flo:
        answer = await flo.post("/api/v1/sign-out")
        assert answer.status_code == 204
        assert "Max-Age=0" in answer.headers["set-cookie"]
        after = await flo.get("/api/v1/me")
        assert (after.status_code, error_of(after)) == (401, "sign_in")


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


@pytest.mark.duty("D20", proof=True)
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


async def test_a_store_that_fails_lets_nobody_in(stand: Stand) -> None:
    async with Stand().running() as nowhere:
        async with stand.signed_in("Flo") as flo:
            headers = dict(flo.client.headers)
        async with httpx.AsyncClient(base_url=nowhere.url, headers=headers) as client:
            for answer in (
                await client.post(SIGN_IN, json={"name": "Flo", "pin": PIN}),
                await client.get("/api/v1/me"),
                await client.get("/api/v1/claims"),
                await client.post(VALIDATE, json={}),
                await client.get("/api/v1/users"),
                await client.get("/api/v1/log"),
            ):
                assert (answer.status_code, error_of(answer)) == (503, "store_failed")
                assert "set-cookie" not in answer.headers
                assert "nowhere" not in answer.text
        assert (await nowhere.get("/api/v1/meters")).status_code == 200
        assert (await nowhere.get("/api/v1/claims")).status_code == 200
        assert nowhere.claims.acts == []


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


@pytest.mark.parametrize("how", ["idle", "sign-out", "disabled", "store", "service stopped"])
async def test_the_stream_ends_with_the_session_or_the_service_and_does_not_keep_it_alive(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(streams, "LOOK_EVERY_S", 0.05)
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
            elif how == "store":
                await stand.redis.hdel(key, "created")
            else:
                await stand.stop()
            with pytest.raises(StopAsyncIteration):
                await events.next_of("never")


STRANGER = "203.0.113.66"
HERS = "203.0.113.7"
GIVEN = WRONG = "264907"
OWN = "905183"
COMMAND = Actor("command line (amy)")
A_DAY_S = 24 * 3600


async def sign_in(
    stand: Stand, client: str, pin: str = PIN, device: str = "", name: str = "Flo"
) -> httpx.Response:
    headers = {"X_Forwarded_For": client, "X_Forwarded_Proto": "https"}
    if device:
        headers["Cookie"] = f"{DEVICE_COOKIE}={device}"
    return await stand.try_to_sign_in(name, pin, **headers)


def device_of(answer: httpx.Response) -> str:
    (cookie,) = [
        each for each in answer.headers.get_list("set-cookie") if each.startswith(DEVICE_COOKIE)
    ]
    value, *rest = [part.strip() for part in cookie.split(";")]
    assert {"httponly", "secure", "samesite=strict", "path=/"} <= {each.lower() for each in rest}
    return value.partition("=")[2]


@pytest.mark.slow
@pytest.mark.duty("D20")
async def test_the_refused_sign_ins_are_counted_by_device_and_reason(
    shared_redis_server: RedisServer,
) -> None:
    """A device that has signed in may go on trying while strangers are slowed or locked out."""
    async with Stand(redis=shared_redis_server).running("Flo") as stand:
        device = device_of(await sign_in(stand, HERS))
        for at in range(EVERYBODY.most - 1):
            await sign_in(stand, f"198.51.100.{at % 9}", WRONG, name=f"Nobody {at}")
        await sign_in(stand, HERS, WRONG, device=device)
        for _ in range(5):
            await sign_in(stand, STRANGER, WRONG)
        again = await sign_in(stand, HERS, device=device)
        assert (again.status_code, device_of(again)) == (200, device)
        for made_up in ("x" * 43, "short", "x" * 5_000):
            assert (await sign_in(stand, STRANGER, device=made_up)).status_code == 429
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
            ("new", "wrong"): EVERYBODY.most, ("new", "locked"): 0, ("new", "slowed"): 8,
        }  # fmt: skip


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


async def refusal(stand: Stand, pin: str) -> tuple[int, str]:
    answer = await stand.try_to_sign_in("Flo", pin)
    return answer.status_code, error_of(answer)


@pytest.mark.slow
@pytest.mark.parametrize("role", list(Role))
async def test_until_one_has_chosen_nothing_else_is_done(stand: Stand, role: Role) -> None:
    """Every route that needs a right is tried by every role, added by somebody or by a command."""
    async with stand.signed_in("Ada") as ada:
        if role in {Role.ADMINISTRATOR, Role.FLOORPERSON}:
            body = {"name": "Zoe", "role": role.value, "pin": GIVEN}
            assert (await ada.post("/api/v1/users", body)).status_code == 201
        else:
            await stand.user_directory.users.add("Zoe", role, GIVEN, COMMAND)
    async with stand.signed_in("Zoe", GIVEN) as zoe:
        assert (zoe.me.choose_pin, zoe.me.rights) == (True, ())
        await check_every_route(stand, zoe.client, role, chooses=True)
        claims = (await zoe.get("/api/v1/claims")).json()
        assert {claim["patron"] for claim in claims} == {None}, "as everybody may see them"
        assert (await zoe.post("/api/v1/me/pin", {"pin": GIVEN, "new_pin": OWN})).status_code == 204
        me = (await zoe.get("/api/v1/me")).json()
        assert (me["choose_pin"], "waiting" in me["rights"]) == (False, True)
        assert (await zoe.get("/api/v1/me/acts")).status_code == 200


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
    await stand.redis.hdel(user, "choose_by")
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
    async with stand.signed_in("Flo", GIVEN) as flo:
        await flo.post("/api/v1/me/pin", {"pin": GIVEN, "new_pin": OWN})
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


_BODY: Final = b"{}"


class Held(Raw):
    """A POST whose headers the service has, while it waits for the body."""

    @classmethod
    async def post(cls, stand: Stand, staff: Staff, path: str) -> Self:
        """Send the headers, and wait until the service asks for the body.

        It does so only after it has looked up the session, because nothing reads the body before.
        """
        held = await cls.to(stand.port)
        headers = {
            "Host": f"127.0.0.1:{stand.port}", "Content-Type": "application/json",
            "Content-Length": str(len(_BODY)), "Expect": "100-continue", "Connection": "close",
            "Cookie": staff.client.headers["Cookie"],
            "X-CSRF-Token": staff.client.headers["X-CSRF-Token"],
        }  # fmt: skip
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        held.send("\r\n".join([*lines, "", ""]).encode())
        asked = await held.head()
        assert asked.startswith(b"HTTP/1.1 100"), asked
        return held

    async def finish(self) -> bytes:
        self.send(_BODY)
        answer = await self.rest()
        self.close()
        return answer


@pytest.mark.parametrize("how", ["still there", "disabled", "signed out", "another PIN", "idle"])
async def test_a_held_request_does_nothing_once_the_session_has_ended(
    stand: Stand, how: str
) -> None:
    users, ada = stand.user_directory.users, Actor("Ada")
    async with stand.signed_in("Sue") as sue:
        claim = await Held.post(stand, sue, "/api/v1/claims/c1/validate")
        link = await Held.post(stand, sue, "/api/v1/links/pit-2/open")
        if how == "disabled":
            await users.disable("Sue", ada)
        elif how == "signed out":
            assert (await sue.post("/api/v1/sign-out")).status_code == 204
        elif how == "another PIN":
            await users.set_pin("Sue", "264907", ada)
        elif how == "idle":
            await stand.idle(sue)
        for held in (claim, link):
            answer = await held.finish()
            assert answer.startswith(b"HTTP/1.1 200" if how == "still there" else b"HTTP/1.1 401")
            if how != "still there":
                assert (b'"pin_needed"' if how == "idle" else b'"sign_in"') in answer
    done = int(how == "still there")
    assert (len(stand.claims.acts), len(stand.links.done)) == (done, done)


async def test_a_held_request_changes_no_user_once_the_session_has_ended(stand: Stand) -> None:
    await stand.add("Bea", Role.ADMINISTRATOR)
    async with stand.signed_in("Ada") as ada:
        held = await Held.post(stand, ada, "/api/v1/users/Flo/disable")
        await stand.user_directory.users.disable("Ada", Actor("Bea"))
        assert (await held.finish()).startswith(b"HTTP/1.1 401")
    assert all(row.enabled for row in await stand.user_directory.users.rows() if row.name == "Flo")
