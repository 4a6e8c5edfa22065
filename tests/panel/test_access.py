"""Access to a panel over real HTTP (duty D20)."""

import asyncio
import re
import stat
import time
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Final

import httpx
import msgspec
import pytest

from bonus.errors import UserError
from controllers.panel import access
from controllers.panel.access import SESSION_S, WRONG_MOST, PanelAccess, panel_key
from tests.controllers.floors import FLOOR, line_of
from tests.controllers.scripted import ScriptedService
from tests.floor_text import section_text
from tests.fuzz.junk import mutated
from tests.fuzz.table_targets import ROUND
from tests.panel.stand import KEY, PanelStand
from tests.processes import run_pitlink

LOCKOUT = b'{"event": "lockout"}'


def later(monkeypatch: pytest.MonkeyPatch, by_s: float) -> None:
    clock = SimpleNamespace(
        time=lambda: time.time() + by_s, monotonic=lambda: time.monotonic() + by_s
    )
    monkeypatch.setattr(access, "time", clock)


def own(panel: PanelStand, **changed: str | None) -> dict[str, str]:
    headers: dict[str, str | None] = {
        "content-type": "application/json",
        "origin": panel.url,
        "sec-fetch-site": "same-origin",
    }
    headers |= {name.replace("_", "-"): value for name, value in changed.items()}
    return {name: value for name, value in headers.items() if value is not None}


async def send(
    panel: PanelStand, client: httpx.AsyncClient, body: bytes, **changed: str | None
) -> httpx.Response:
    headers = own(panel, **changed)
    return await client.post("/api/v1/events", content=body, headers=headers)


@pytest.mark.duty("D20", proof=True)
async def test_without_the_key_nothing_is_shown_but_what_to_do(panel: PanelStand) -> None:
    for number, key in enumerate(("", "wrong", KEY + "x", KEY[:-1])):
        # Too many wrong keys from one address would be another reason to refuse it.
        address = {"X-Forwarded-For": f"192.0.2.{number}"}
        async with panel.client(key=key) as client:
            for path in ("/", "/api/v1/table", "/api/v1/table/stream"):
                answer = await client.get(path, headers=address)
                assert answer.status_code == 401, (key, path)
                assert "?key=" in answer.text
                assert "T-1" not in answer.text
            headers = own(panel) | address
            event = await client.post("/api/v1/events", content=LOCKOUT, headers=headers)
            assert event.status_code == 401, key
    assert panel.agent.table_state.phase == "open"


async def test_the_address_with_the_key_sets_a_cookie_and_goes_on_without_it(
    panel: PanelStand,
) -> None:
    async with panel.client(key="") as client:
        assert (await client.get("/?key=wrong")).status_code == 401
        let_in = await client.get(f"/?key={KEY}")
        assert (let_in.status_code, let_in.headers["location"]) == (303, "/")
        cookie = let_in.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        page = await client.get("/")
        assert page.status_code == 200
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        assert KEY not in page.text


@pytest.mark.slow
@pytest.mark.duty("D20")
@pytest.mark.parametrize("shown", ["key", "cookie"])
async def test_an_address_that_shows_many_wrong_ones_is_not_listened_to_for_a_minute(
    panel: PanelStand, monkeypatch: pytest.MonkeyPatch, shown: str
) -> None:
    """An open session continues meanwhile, and other addresses are admitted."""
    async with panel.client(key="") as stranger, panel.client() as tablet:

        async def show(value: str) -> int:
            if shown == "key":
                return (await stranger.get(f"/?key={value}")).status_code
            cookie = {"Cookie": f"pitlink-panel-T-1={value}"}
            return (await stranger.get("/", headers=cookie)).status_code

        codes = [await show(f"wrong{at}") for at in range(3 * WRONG_MOST)]
        assert codes == [401] * WRONG_MOST + [429] * (2 * WRONG_MOST)
        if shown == "key":
            assert await show(KEY) == 429, "a right key is not looked at either"
            other = {"X-Forwarded-For": "192.0.2.8"}
            assert (await stranger.get(f"/?key={KEY}", headers=other)).status_code == 303
        assert (await tablet.get("/api/v1/table")).status_code == 200
        later(monkeypatch, 60)
        assert await show("wrong") == 401


@pytest.mark.duty("D20")
async def test_a_session_ends_and_the_key_begins_another(panel: PanelStand) -> None:
    lock = PanelAccess(KEY, panel.table)
    began = {
        "just begun": (time.time(), 200),
        "nearly over": (time.time() - SESSION_S + 60, 200),
        "over": (time.time() - SESSION_S - 1, 401),
        "of a clock that was set back": (time.time() + 3_600, 401),
    }
    for what, (at_s, status) in began.items():
        cookie = {"Cookie": f"pitlink-panel-T-1={lock.begin_session(at_s)}"}
        async with panel.client(key="") as client:
            answer = await client.get("/api/v1/table", headers=cookie)
            assert answer.status_code == status, what
            event = await client.post(
                "/api/v1/events", content=b'{"event": "dance"}', headers=own(panel) | cookie
            )
            assert event.status_code == (401 if status == 401 else 400), what
    session = lock.begin_session(time.time() - SESSION_S - 1)
    _, nonce, digest = session.split(".")
    for forged in (f"{int(time.time())}.{nonce}.{digest}", KEY, f"{session}.", "..", "a.b.c"):
        assert not lock.holds(forged)
    assert not PanelAccess("another key", panel.table).holds(lock.begin_session())
    assert not PanelAccess(KEY, "T-2").holds(lock.begin_session())


@pytest.mark.duty("D20")
async def test_what_follows_the_table_ends_with_its_session(
    panel: PanelStand, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        panel.client() as client,
        client.stream("GET", "/api/v1/table/stream") as followed,
        asyncio.timeout(60),
    ):
        parts = followed.aiter_bytes()
        assert b"event: view" in await anext(parts)
        later(monkeypatch, SESSION_S)
        async for part in parts:
            assert b"event: view" not in part


async def test_what_the_page_loads_is_small(panel: PanelStand) -> None:
    async with panel.client() as client:
        page = await client.get("/")
        waiting = [part.split('"')[0] for part in page.text.split("/assets/")[1:]]
        bodies: dict[str, str] = {}
        while waiting:
            if (path := waiting.pop()) not in bodies:
                bodies[path] = (await client.get(f"/assets/{path}")).text
                folder = path.rpartition("/")[0]
                imported = re.findall(r'from "\./([a-z_]+\.js)"', bodies[path])
                waiting += [f"{folder}/{name}".removeprefix("/") for name in imported]
    assert len(bodies) > 8
    assert all(bodies.values())
    assert len(page.content) + sum(len(body.encode()) for body in bodies.values()) < 115_000


FOREIGN: list[tuple[str, dict[str, str | None]]] = [
    ("a form's body", {"content_type": "application/x-www-form-urlencoded"}),
    ("a form's other body", {"content_type": "text/plain"}),
    ("no kind of body", {"content_type": None}),
    ("another site", {"origin": "http://evil.example", "sec_fetch_site": "cross-site"}),
    ("another site that says no more", {"origin": "http://evil.example", "sec_fetch_site": None}),
    ("another port of this host", {"origin": "http://127.0.0.1:1", "sec_fetch_site": "same-site"}),
    ("no origin that is known", {"origin": "null", "sec_fetch_site": None}),
    ("nobody's", {"origin": None, "sec_fetch_site": None}),
]


async def test_what_another_page_sends_is_refused_though_the_cookie_comes_along(
    panel: PanelStand,
) -> None:
    async with panel.client() as client:
        for what, changed in FOREIGN:
            answer = await send(panel, client, LOCKOUT, **changed)
            assert answer.status_code == 403, what
        assert panel.agent.table_state.phase == "open"
        allowed = await send(panel, client, LOCKOUT)
        assert allowed.json() == {"event": "lockout", "ok": True, "draw": None, "chips": 0}


async def test_a_name_that_was_rebound_to_us_is_refused(panel: PanelStand) -> None:
    async with panel.client() as client:
        for host in ("evil.example", f"evil.example:{panel.port}", "127.0.0.1:1", "x:y", ""):
            for path in ("/", f"/?key={KEY}", "/api/v1/table"):
                answer = await client.get(path, headers={"host": host})
                assert answer.status_code == 421, (host, path)
                assert "set-cookie" not in answer.headers
        named = await client.get("/", headers={"host": f"localhost:{panel.port}"})
        assert named.status_code == 200
    # Over HTTPS, the cookie never comes in the clear.
    async with panel.client(key="") as client:
        for scheme, secure in (("http", False), ("https", True)):
            proxied = {"X-Forwarded-Proto": scheme}
            let_in = await client.get(f"/?key={KEY}", headers=proxied)
            assert ("secure" in let_in.headers["set-cookie"].lower()) is secure
            assert ("strict-transport-security" in let_in.headers) is secure


@pytest.mark.slow
async def test_every_answer_of_a_panel_has_the_security_headers(panel: PanelStand) -> None:
    paths = ("/", "/?key=no", "/?key=%00", "/api/v1/table", "/nowhere", "/assets/x/y.js")
    async with panel.client() as client, panel.client(key="") as stranger:
        for path in (*paths, "/api/v1/../events", "/%2e%2e/x", "/" + "a" * 2_000):
            for method in ("GET", "HEAD", "POST", "PUT", "TRACE"):
                for asking in (client, stranger):
                    answer = await asking.request(method, path)
                    headers = answer.headers
                    assert answer.status_code < 500, (method, path)
                    assert headers["content-security-policy"].startswith("default-src 'none'")
                    assert headers["x-frame-options"] == "DENY"
                    assert headers["cache-control"] == "no-store"


async def test_an_invalid_or_refused_event_gets_an_answer(panel: PanelStand) -> None:
    """What an answer repeats of a touch is printable."""
    async with panel.client() as client:
        for body, status, code in (
            (b"", 400, "not_json"),
            (b"[" * 4_000, 400, "bad_event"),
            (b"nonsense", 400, "not_json"),
            (b'{"event": "dance"}', 400, "bad_event"),
            (b'{"event": "settle"}', 409, "not_locked"),
            (b'{"event": "lockout"' + b" " * 5000 + b"}", 413, "request_entity_too_large"),
        ):
            answer = await send(panel, client, body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), body
        answer = await send(panel, client, '{"event": "x\u009b31m\u202ey"}'.encode())
        assert answer.json()["event"] == "x\u009b31m\u202ey"
        assert answer.text.isprintable(), answer.text


@pytest.mark.slow
async def test_a_waiting_event_is_answered_so_within_a_bound_and_sent_once(
    panel: PanelStand, service: ScriptedService
) -> None:
    async with panel.client() as client:
        wager = b'{"event":"wager","position":3,"wager":"progressive","amount":100}'
        assert (await send(panel, client, wager)).status_code == 200
        service.answering = False
        waiting = await send(panel, client, LOCKOUT)
        assert (waiting.status_code, waiting.json()["waiting"]) == (202, True)
        view = (await client.get("/api/v1/table")).json()
        assert (view["unanswered"], view["can"]) == ("lockout", [])
        again = await send(panel, client, LOCKOUT)
        assert (again.status_code, again.json()["error"]["code"]) == (409, "busy")
        service.answering = True
    assert {seq for seq, _ in service.heard} == {1}


def test_the_key_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "tables" / "T-1.panel-key"
    key = panel_key(path)
    assert len(key) > 40
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert panel_key(path) == key
    path.write_text("\n")
    with pytest.raises(UserError, match="empty"):
        panel_key(path)
    with pytest.raises(UserError, match="cannot be read or written"):
        panel_key(path / "below")
    with pytest.raises(ValueError, match="empty"):  # it would let everybody in
        PanelAccess("", "T-1")


@pytest.mark.slow
def test_the_technician_renews_the_key_which_ends_every_session(tmp_path: Path) -> None:
    floor = tmp_path / "floor.toml"
    floor.write_text(FLOOR + section_text("[service]", data=tmp_path))
    path = tmp_path / "tables" / "T-1.panel-key"
    old = panel_key(path)
    done = run_pitlink("table", "T-1", "--config", str(floor), "--renew-panel-key")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "T-1: the panel has a new key; restart its agent to use it\n"
    new = panel_key(path)
    assert new != old
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not PanelAccess(new, "T-1").holds(PanelAccess(old, "T-1").begin_session())
    # The agent of an installed floor has another data directory than its floor file says: no key
    # is made that no agent reads.
    floor.write_text(FLOOR + section_text("[service]", data=tmp_path / "data"))
    for table, said in (
        ("T-9", "there is no table T-9"),
        ("T-1", "/var/lib/pitlink-table/tables/T-1.panel-key"),
    ):
        refused = run_pitlink("table", table, "--config", str(floor), "--renew-panel-key")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert said in refused.stderr
    assert "nothing was renewed" in refused.stderr
    assert not (tmp_path / "data").exists()


async def test_cards_are_not_taken_back_at_the_panel_without_a_reason(
    panel: PanelStand, service: ScriptedService
) -> None:
    async with panel.client() as client:

        async def touch(body: bytes | dict[str, object]) -> tuple[int, str]:
            content = body if isinstance(body, bytes) else msgspec.json.encode(body)
            answer = await send(panel, client, content)
            return answer.status_code, answer.json().get("error", {}).get("code", "")

        for line in ("wager 3 progressive", "lockout", "chips 1", "hand 3 As Ks Qs", "fold 3"):
            assert await touch(line_of(line)) == (200, "")
        assert await touch(line_of("retract fold 3")) == (200, ""), "a fold is no card"
        body: dict[str, object] = {"event": "retract", "position": 3}
        for what in ("hand", "dealer", "community"):
            for said in ({}, {"reason": ""}, {"reason": "  "}):
                status, code = await touch(body | said | {"what": what})
                assert status == 400, what
                assert code in {"reason_missing", "bad_event", "unprintable_text"}, what
        assert panel.agent.table_state.cards_at(3) == ("As", "Ks", "Qs")
        assert await touch(body | {"what": "hand", "reason": "Typed wrong"}) == (200, "")
        assert panel.agent.table_state.cards_at(3) is None
        for line in ("hand 3 2h 3h 4h", "dealer 5c 6c 7c", "settle"):
            assert await touch(line_of(line)) == (200, "")
    assert service.applied[-1]["entered_before"] == [
        {"what": "hand", "position": 3, "cards": ["As", "Ks", "Qs"], "taken_back": True,
         "reason": "Typed wrong"}
    ]  # fmt: skip


INPUTS: Final = 400


@pytest.mark.slow
async def test_any_body_is_taken_or_refused_and_nothing_fails(panel: PanelStand) -> None:
    random, refused = Random(1), 0
    async with panel.client() as client:
        for _ in range(INPUTS):
            before = panel.agent.table_state
            body = mutated(random, ROUND)
            answer = await send(panel, client, body)
            assert answer.status_code in {200, 202, 400, 409, 413}, (body[:200], answer.text)
            reply = msgspec.json.decode(answer.content, type=dict[str, object])
            assert (reply.get("ok") is True) == (answer.status_code == 200)
            if answer.status_code in {400, 409}:
                refused += 1
                after = panel.agent.table_state
                assert msgspec.structs.replace(after, differs=before.differs) == before
    assert refused > INPUTS // 4
