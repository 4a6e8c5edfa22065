"""Slow, silent and half-open connections end by themselves, and others continue (duty D20)."""

import asyncio
import contextlib
import itertools
import resource
import signal
import socket
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import httpx
import pytest
import pytest_asyncio

from bonus.errors import UserError
from meters.http import request_limits
from meters.http import server as server_module
from meters.http.request_limits import (
    CONNECTIONS_BY_CLIENT,
    CONNECTIONS_MAX,
    FILES_FOR_THE_REST,
    ConnectionLimits,
    room_for_connections,
)
from meters.http.server import serve_web
from meters.web import display_state
from tests.mqtt.events import void, wagers
from tests.mqtt.stand import Stand as RealFloor
from tests.servers import RedisServer
from tests.staff import Colleague, hire
from tests.waiting import eventually_async
from tests.web.events import Events, listening
from tests.web.raw import Raw, get, raw
from tests.web.stand import Stand

STREAM = "/api/v1/meters/stream"
POST = (
    b"POST /api/v1/sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 40\r\n\r\n"
)


@pytest_asyncio.fixture(loop_scope="session")
async def hasty(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stand]:
    monkeypatch.setattr(request_limits, "REQUEST_WITHIN_S", 0.3)
    async with Stand().running(beating=True) as stand:
        yield stand


async def test_a_request_that_does_not_come_whole_ends_its_connection(
    hasty: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    halves = (
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: local",
        POST + b'{"name": ',
        POST.replace(b"Content-Length: 40", b"Transfer-Encoding: chunked") + b"5\r\n{",
        get("/healthz") + b"GET /healthz HTTP/1.1\r\n",
        get(STREAM, "localhost", "Content-Length: 9"),  # a stream whose body does not come
    )
    for half in halves:
        async with raw(hasty.port) as slow:
            slow.send(half)
            await slow.rest()
    # A correct client gets enough time for a busy machine.
    monkeypatch.undo()
    assert (await hasty.get("/healthz")).status_code == 200


async def test_bytes_that_come_one_by_one_win_no_time(hasty: Stand) -> None:
    async with raw(hasty.port) as slow:

        async def drip() -> None:
            for byte in get("/healthz", "localhost", f"X-Slow: {'z' * 5000}"):
                slow.send(bytes([byte]))
                await asyncio.sleep(0.02)

        dripping = asyncio.create_task(drip())
        assert await slow.rest() == b""
        dripping.cancel()


async def test_a_stream_continues_far_beyond_the_time_for_a_request(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_limits, "REQUEST_WITHIN_S", 1.0)
    async with listening(stand.url) as events:
        ends = asyncio.get_running_loop().time() + 2.0
        while asyncio.get_running_loop().time() < ends:
            await events.next_of("controller")
        await events.next_of("controller")


async def test_a_reader_that_takes_nothing_costs_no_memory_is_cut_and_delays_no_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "_STOP_WITHIN_S", 600.0)
    version = 0

    async def put_many() -> None:
        nonlocal version
        for _ in range(2000):
            version += 1
            stand.put(version, version)
            stand.hit(claim=f"c{version % 50}")
            await asyncio.sleep(0)

    async def nothing_more_is_taken() -> bool:
        await put_many()
        return 0 < len(watch._meters) + len(watch._hits) <= 51

    async def gone() -> bool:
        await put_many()
        return not stand.displays._watches

    async with Stand().running() as stand:
        for within_s in (60.0, 0.3):
            monkeypatch.setattr(request_limits, "TAKEN_WITHIN_S", within_s)
            stuck = await Raw.to(stand.port)
            stuck.stop_reading()
            stuck.send(get(STREAM))
            await eventually_async(
                lambda: len(stand.displays._watches) == 1, what="the stuck reader"
            )
            (watch,) = stand.displays._watches
            if within_s < 1:
                await eventually_async(gone, within_s=30, what="the reader cut")
                stuck.close()
            else:
                await eventually_async(nothing_more_is_taken, within_s=30, what="it is full")
                await stand.stop()
                stuck.close()
                await stand.start()


async def test_who_has_said_all_and_reads_on_is_no_trouble(stand: Stand) -> None:
    async with raw(stand.port) as half:
        half.send(get(STREAM))
        assert b" 200 " in await half.head()
        half.half_close()
        await half.rest()
    await eventually_async(lambda: not stand.displays._watches, what="the stream forgotten")
    assert (await stand.get("/healthz")).status_code == 200


async def test_if_all_places_are_taken_the_longest_silent_client_loses_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If all are in use, the next is turned away until one is free."""
    monkeypatch.setattr(server_module, "room_for_connections", lambda: 8)
    async with Stand().running() as stand:
        silent = [await Raw.to(stand.port) for _ in range(20)]
        assert (await stand.get("/healthz")).status_code == 200
        assert await silent[0].rest() == b""
        silent.append(await Raw.to(stand.port))
        for stream in silent[-8:]:
            stream.send(get(STREAM))
            assert b" 200 " in await stream.head()
        async with raw(stand.port) as late:
            late.send(get("/healthz"))
            assert await late.rest() == b""
        silent[-1].close()

        async def served() -> bool:
            async with raw(stand.port) as again:
                again.send(get("/healthz", "localhost", "Connection: close"))
                return b" 200 " in await again.rest()

        await eventually_async(served, what="a free place")
        for each in silent:
            each.close()


def test_one_address_has_only_so_many_connections_and_a_proxy_here_as_many_as_there_are() -> None:
    door = ConnectionLimits(most=CONNECTIONS_BY_CLIENT * 3)
    for client in ("203.0.113.7", "2001:db8::7"):
        assert all(door.admit(client) for _ in range(CONNECTIONS_BY_CLIENT))
        assert not door.admit(client)
    assert all(door.admit("127.0.0.1") for _ in range(CONNECTIONS_BY_CLIENT))
    assert not door.admit("203.0.113.8")
    door.leave("203.0.113.7")
    assert door.admit("203.0.113.7")
    assert door.connected == CONNECTIONS_BY_CLIENT * 3


@pytest.mark.parametrize(
    ("soft", "hard", "asked_for", "room"),
    [
        (1024, 1_048_576, CONNECTIONS_MAX + FILES_FOR_THE_REST, CONNECTIONS_MAX),
        (1024, 1024, 1024, 1024 - FILES_FOR_THE_REST),
        (256, 256, 256, 64),
        (65_536, 65_536, None, CONNECTIONS_MAX),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None, CONNECTIONS_MAX),
        (1024, resource.RLIM_INFINITY, CONNECTIONS_MAX + FILES_FOR_THE_REST, CONNECTIONS_MAX),
    ],
)
def test_connections_leave_files_for_redis_and_the_broker(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, asked_for: int | None, room: int
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits[0]))
    assert room_for_connections() == room
    assert asked == ([] if asked_for is None else [asked_for])


async def test_a_crowd_of_displays_shuts_out_no_floorperson(
    shared_redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display_state, "WATCHERS_MAX", 6)
    monkeypatch.setattr(display_state, "WATCHERS_OF_ONE_MAX", 2)
    async with Stand(redis=shared_redis_server).running("Flo") as stand:
        crowd = [await Raw.to(stand.port) for _ in range(6)]
        for number, each in zip((0, 0, 1, 1, 2, 3), crowd, strict=True):
            each.send(get(STREAM, "localhost", f"X-Forwarded-For: 203.0.113.{number}"))
            assert b" 200 " in await each.head()
        same = await stand.get(STREAM, **{"X-Forwarded-For": "203.0.113.0"})
        other = await stand.get(STREAM, **{"X-Forwarded-For": "203.0.113.3"})
        assert (same.status_code, same.json()["error"]["code"]) == (429, "too_many_streams")
        assert (other.status_code, other.json()["error"]["code"]) == (503, "too_many_streams")
        async with (
            stand.signed_in("Flo") as flo,
            flo.client.stream("GET", "/api/v1/floor/stream") as response,
        ):
            assert (await Events(response).next_of("changed")).event == "changed"
        for each in crowd:
            each.close()


async def test_a_port_in_use_and_an_address_of_another_machine_are_reported() -> None:
    app = Stand().app()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for host, at, said in (
            ("127.0.0.1", port, f"127.0.0.1:{port}: Address already in use"),
            ("no such host", 8080, "cannot serve pages at http://"),
            ("203.0.113.7", 8080, "cannot serve pages at http://"),
        ):
            with pytest.raises(UserError, match=said):
                await serve_web(app, host, at, asyncio.Event())


async def test_it_stops_promptly_with_its_streams_and_starts_again_on_its_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The streams end by themselves: `stop` does not reach its time limit.

    The signals of the process are left alone.
    """
    monkeypatch.setattr(server_module, "GRACE_S", 600)
    monkeypatch.setattr(server_module, "_STOP_WITHIN_S", 600.0)
    before = (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))
    stand = Stand()
    for _ in range(2):
        await stand.start()
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
        stand.beat("tcp-main")
        async with listening(stand.url) as events:
            await events.next_of("controller")
            await stand.stop()
            with pytest.raises(StopAsyncIteration):
                await events.next()
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", stand.port), timeout=1)


_END: Final = b"\r\n\r\n"


def post(*headers: str, body: bytes = b"") -> bytes:
    lines = ["POST /api/v1/sign-in HTTP/1.1", "Host: localhost", *headers]
    return "\r\n".join(lines).encode() + _END + body


_SMUGGLED: Final = get("/api/v1/meters")
_JSON: Final = "Content-Type: application/json"
_CHUNKED: Final = "Transfer-Encoding: chunked"


_DISHONEST: Final = {
    "two lengths": post(_JSON, "Content-Length: 0", "Content-Length: 99", body=_SMUGGLED),
    "a length below zero": post(_JSON, "Content-Length: -1", body=_SMUGGLED),
    "a length with a sign": post(_JSON, "Content-Length: +2", body=b"{}"),
    "a length in hex": post(_JSON, "Content-Length: 0x2", body=b"{}"),
    "an encoding that is not known": post(
        _JSON, "Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"
    ),
    "an encoding that looks alike": post(_JSON, "Transfer-Encoding: xchunked", body=b"0\r\n\r\n"),
    "a space before the colon": post(_JSON, "Transfer-Encoding : chunked", body=b"0\r\n\r\n"),
    "two hosts": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example" + _END,
    "no host": b"GET /healthz HTTP/1.1" + _END,
    "a zero": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\x00b" + _END,
    "a carriage return": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\rSet-Cookie: b" + _END,
    "a path not ASCII": b"GET /health\xffz HTTP/1.1\r\nHost: localhost" + _END,
    "a space in the path": b"GET /a b HTTP/1.1\r\nHost: localhost" + _END,
    "TLS where there is none": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 50 + _END,
    "a path without end": get("/" + "a" * 70_000),
    "a query without end": get("/healthz?" + "q=1&" * 20_000),
    "a header without end": get("/healthz", "localhost", "X: " + "z" * 70_000),
    "headers without end": get("/healthz", "localhost", *["X: y"] * 20_000),
}


async def test_what_is_no_honest_request_is_refused_and_nothing_after_it_is_read(
    stand: Stand, subtests: pytest.Subtests
) -> None:
    for what, sent in _DISHONEST.items():
        with subtests.test(what):
            async with raw(stand.port) as client:
                client.send(sent, _SMUGGLED)
                answer = await client.rest()
            # A reset connection is an answer too: the kernel may drop the refusal if the request
            # was not read completely.
            if answer:
                assert answer.startswith(b"HTTP/1.1 400 "), answer[:200]
                assert answer.count(b"HTTP/1.1 ") == 1
                assert b"x-frame-options: DENY" in answer
                assert b"\r\nSet-Cookie" not in answer
            assert b"tcp-main" not in answer
            assert (await stand.get("/healthz")).status_code == 200


async def test_a_length_together_with_chunks_is_refused(stand: Stand) -> None:
    async with raw(stand.port) as client:
        client.send(post(_JSON, _CHUNKED, "Content-Length: 4", body=b"0\r\n\r\n"), _SMUGGLED)
        assert b" 400 " in await client.head()


_NOWHERE: Final = [
    "http://evil.example/api/v1/meters",
    "/assets/{v}/../../../../etc/passwd", "/assets/{v}/..%2f..%2fapp.py",
    "/assets/{v}/%2e%2e/app.py", "/assets/{v}/..%5capp.py", "/assets/{v}/signage.js%00.css",
    "/assets/{v}//etc/passwd", "/assets/../app.py", "/signage/..%2f..%2ffloor.toml",
    "/signage/logo/..%2f..%2fx", "/schema/..%2fapp.py", "/assets/{v}/",
    "/assets/{v}/SIGNAGE.JS", "/signage/%0d%0aSet-Cookie:%20a=b", "/%0d%0aSet-Cookie:%20a=b",
]  # fmt: skip


async def test_a_path_leads_nowhere_but_to_what_is_served(
    stand: Stand, subtests: pytest.Subtests
) -> None:
    page = (await stand.get("/signage")).text
    version = page.partition('data-version="')[2].partition('"')[0]
    for path in _NOWHERE:
        with subtests.test(path):
            async with raw(stand.port) as client:
                client.send(get(path.format(v=version), "localhost", "Connection: close"))
                answer = await client.rest()
            assert answer.startswith(b"HTTP/1.1 404 "), answer[:300]
            assert b"\r\nSet-Cookie" not in answer
            assert b"root:" not in answer
            assert b"import" not in answer


_NONSENSE: Final = {
    "lists in lists": b"[" * 8_000 + b"]" * 8_000,
    "objects in objects": b'{"a":' * 2_500 + b"1" + b"}" * 2_500,
    "depth in a field": b'{"reason":' + b"[" * 7_000 + b"]" * 7_000 + b"}",
    "depth to be skipped": b'{"unknown":' + b"[" * 7_000 + b"]" * 7_000 + b"}",
    "a number without end": b'{"reason":' + b"9" * 15_000 + b"}",
    "a number too large": b'{"reason":1e999999999}',
    "no number": b'{"reason":NaN}',
    "half a character": b'{"reason":"\\ud800"}',
    "a key twice": b'{"reason":"' + b"x" * 9 + b'","reason":""}',
    "another encoding": '{"reason":"x"}'.encode("utf-16"),
    "a mark before it": b"\xef\xbb\xbf{}",
    "nothing": b"",
    "null": b"null",
    "no text": b"\xff{",
}


async def test_a_body_that_is_a_bomb_or_nonsense_is_refused(
    stand: Stand, subtests: pytest.Subtests
) -> None:
    async with stand.signed_in("Sue") as sue:
        for path in ("claims/c1/reject", "links/pit-2/proposals"):
            for what, body in _NONSENSE.items():
                with subtests.test(what, path=path):
                    answer = await sue.post(f"/api/v1/{path}", body)
                    assert answer.status_code == 400, answer.text[:300]
                    assert len(answer.content) < 1_000
                    assert stand.claims.acts == []
                    assert stand.links.done == []


async def test_a_body_beyond_the_bound_is_refused_before_it_is_all_there(stand: Stand) -> None:
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    for how, body in (("Content-Length: 1000000000", b"{"), (_CHUNKED, chunk)):
        async with raw(stand.port) as client:
            client.send(post(_JSON, how, body=body))
            assert b" 413 " in await client.head(), how


async def test_a_client_that_leaves_within_a_body_leaves_nothing_behind(
    stand: Stand, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(20):
        async with raw(stand.port) as client:
            client.send(post(_JSON, "Content-Length: 40", body=b'{"name": '))
            await asyncio.sleep(0)
    everybody = asyncio.all_tasks
    idle = len(everybody())
    await eventually_async(lambda: len(everybody()) <= idle, what="no task left")
    assert (await stand.get("/healthz")).status_code == 200
    assert "Traceback" not in "".join(capfd.readouterr())


async def test_a_hundred_requests_in_one_go_are_answered_in_their_order(stand: Stand) -> None:
    async with raw(stand.port) as client:
        wanted = [b"200", b"404"] * 50
        paths = ("/healthz", "/nowhere")
        client.send(*(get(paths[number % 2]) for number in range(99)))
        client.send(get("/nowhere", "localhost", "Connection: close"))
        answer = await client.rest()
    assert [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]] == wanted


_NO_ADDRESS: Final = (
    "\x1b[31mevil", "203.0.113.7, nobody", "a" * 4_000, "unknown", "fe80::1%\x1b[2J", "=cmd|x",
    "203.0.113.7:99:1",
)  # fmt: skip


@pytest.mark.slow
async def test_a_proxy_says_an_address_which_is_logged_in_one_spelling_or_is_refused(
    stand: Stand,
) -> None:
    """An invalid address appears in no log, and no lock or count uses it."""
    body = b'{"name": "flo", "pin": "000000"}'
    one = ("2001:DB8::0:7", "[2001:db8::7]:443", "203.0.113.9, 2001:db8:0::7")
    for said, status in (
        *dict.fromkeys(_NO_ADDRESS, 400).items(),
        *dict.fromkeys(one, 401).items(),
    ):
        headers = (f"Content-Length: {len(body)}", "X-Forwarded-Proto: https")
        async with raw(stand.port) as client:
            client.send(post(_JSON, *headers, f"X-Forwarded-For: {said}", body=body))
            assert (await client.rest()).startswith(b"HTTP/1.1 %d " % status), said
    async with stand.signed_in("Ada") as ada:
        log = (await ada.get("/api/v1/log")).json()
    assert {row["client"] for row in log} <= {"", "127.0.0.1", "2001:db8::7"}
    refused = [row["client"] for row in log if row["what"] == "sign_in_refused"]
    assert refused == ["2001:db8::7"] * 3


async def test_headers_that_other_systems_believe_mean_nothing_here(stand: Stand) -> None:
    async with stand.signed_in("Flo") as flo:
        for name in ("Authorization", "X-HTTP-Method-Override", "X-Forwarded-Host"):
            answer = await flo.client.get("/api/v1/claims/c1/validate", headers={name: "POST"})
            assert answer.status_code == 405, name
            shown = await flo.client.get("/signage", headers={name: "evil.example"})
            assert "evil.example" not in shown.text, name
    assert stand.claims.acts == []


async def test_what_is_wrong_is_not_repeated_at_length(stand: Stand) -> None:
    async with stand.signed_in("Flo") as flo:
        for path in ("claims/" + "c" * 9_000, "wins?limit=" + "9" * 9_000):
            answer = await flo.get(f"/api/v1/{path}")
            assert 400 <= answer.status_code < 500
            assert len(answer.content) < 20_000
        strange = await flo.get("/api/v1/wins?" + "&".join(f"p{n}=1" for n in range(1_500)))
    assert isinstance(strange, httpx.Response)
    assert strange.status_code == 200


KINDS: Final = ("silent", "slow headers", "slow body", "stuck reader", "half closed")
CONNECTIONS: Final = 250
GOOD: Final = ("/api/v1/meters", "/api/v1/claims", "/signage", "/floor")
ROUNDS: Final = 8
_DISPLAYS_OF_ONE: Final = 60
_BYTE_EVERY_S: Final = 1.0


async def behave(port: int, number: int, kind: str, opened: Counter[str]) -> None:
    while True:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            async with raw(port) as connection:
                opened[kind] += 1
                if kind == "stuck reader":
                    address = f"X-Forwarded-For: 10.{number // _DISPLAYS_OF_ONE}.0.1"
                    connection.send(get("/api/v1/meters/stream", "localhost", address))
                    await connection.head()
                    connection.stop_reading()
                elif kind != "silent":
                    connection.send(POST if kind == "slow body" else get("/healthz")[:-4])
                    if kind == "half closed":
                        connection.half_close()
                while True:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(_BYTE_EVERY_S):
                            await connection.ended()
                            break
                    if kind.startswith("slow"):
                        connection.send(b" ")
        await asyncio.sleep(_BYTE_EVERY_S)


async def read_pages(port: int, cookie: str) -> None:
    for path in GOOD:
        async with raw(port) as connection:
            connection.send(get(path, "localhost", "Connection: close"))
            answer = await connection.rest()
        assert answer.startswith(b"HTTP/1.1 200 "), (path, answer[:300])
    async with raw(port) as connection:
        connection.send(get("/api/v1/floor/stream", "localhost", f"Cookie: {cookie}"))
        head = await connection.head()
        assert head.startswith(b"HTTP/1.1 200 "), head
        assert await connection.until(b"event: changed")


@pytest.mark.slow
async def test_others_go_on_under_connections_that_are_slow_silent_stuck_or_half_closed(
    tmp_path: Path,
) -> None:
    with RealFloor(tmp_path) as stand:
        port = int(stand.service.url.rpartition(":")[2])
        hire(stand.service.config, "F. Lane", "floorperson")
        cookie = Colleague(stand.service.url, "F. Lane").headers["Cookie"]
        table, opened = stand.table(), Counter[str]()
        kinds = zip(range(CONNECTIONS), itertools.cycle(KINDS), strict=False)
        holding = [asyncio.create_task(behave(port, *each, opened)) for each in kinds]
        each = CONNECTIONS // len(KINDS)
        await eventually_async(lambda: all(opened[kind] >= each for kind in KINDS), within_s=60)
        for number in range(1, ROUNDS + 1):
            await read_pages(port, cookie)
            events = (wagers(2 * number - 1, f"R{number}"), void(2 * number, f"R{number}"))
            await asyncio.to_thread(table.accept, *events)
        for task in holding:
            task.cancel()
        await asyncio.gather(*holding, return_exceptions=True)
        assert stand.service.audit()["balanced"]
