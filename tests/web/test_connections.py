"""Slow, silent and half-open connections end by themselves, and others continue (duty D20)."""

import asyncio
import resource
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from meters.displays import display_state
from meters.http import connection_limits
from meters.http import server as server_module
from meters.http.connection_limits import (
    CONNECTIONS_BY_CLIENT,
    CONNECTIONS_MAX,
    FILES_FOR_THE_REST,
    ConnectionLimits,
    room_for_connections,
)
from tests.servers import RedisServer
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
    """Yield a web side that waits only a moment for a request."""
    monkeypatch.setattr(connection_limits, "REQUEST_WITHIN_S", 0.3)
    stand = Stand()
    await stand.start()
    stand.keep_beating()
    yield stand
    await stand.stop()


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
    monkeypatch.setattr(connection_limits, "REQUEST_WITHIN_S", 1.0)
    async with listening(stand.url) as events:
        ends = asyncio.get_running_loop().time() + 2.0
        while asyncio.get_running_loop().time() < ends:
            await events.next_of("controller")
        await events.next_of("controller")


async def test_a_reader_of_the_stream_who_never_reads_is_cut(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "TAKEN_WITHIN_S", 0.3)
    stuck = await Raw.to(stand.port)
    stuck.stop_reading()
    stuck.send(get(STREAM))
    await eventually_async(lambda: len(stand.board._watches) == 1, what="the reader")
    version = 0

    async def gone() -> bool:
        nonlocal version
        for _ in range(500):
            version += 1
            stand.put(version, version)
            stand.hit(claim=f"c{version % 50}")
            await asyncio.sleep(0)
        return not stand.board._watches

    await eventually_async(gone, within_s=30, what="the reader cut")
    stuck.close()


async def test_who_has_said_all_and_reads_on_is_no_trouble(stand: Stand) -> None:
    async with raw(stand.port) as half:
        half.send(get(STREAM))
        assert b" 200 " in await half.head()
        half.half_close()
        await half.rest()
    await eventually_async(lambda: not stand.board._watches, what="the stream forgotten")
    assert (await stand.get("/healthz")).status_code == 200


async def test_if_all_places_are_taken_the_longest_silent_client_loses_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "room_for_connections", lambda: 8)
    stand = Stand()
    await stand.start()
    silent = [await Raw.to(stand.port) for _ in range(20)]
    assert (await stand.get("/healthz")).status_code == 200
    assert await silent[0].rest() == b""
    silent[-1].send(get("/healthz"))
    assert b" 200 " in await silent[-1].head()
    for each in silent:
        each.close()
    await stand.stop()


async def test_if_all_places_are_in_use_the_next_is_turned_away_until_one_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "room_for_connections", lambda: 2)
    stand = Stand()
    await stand.start()
    streams = [await Raw.to(stand.port) for _ in range(2)]
    for stream in streams:
        stream.send(get(STREAM))
        assert b" 200 " in await stream.head()
    async with raw(stand.port) as late:
        late.send(get("/healthz"))
        assert await late.rest() == b""
    streams[0].close()

    async def served() -> bool:
        async with raw(stand.port) as again:
            again.send(get("/healthz", "localhost", "Connection: close"))
            return b" 200 " in await again.rest()

    await eventually_async(served, what="a free place")
    streams[1].close()
    await stand.stop()


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
    stand = Stand(redis=shared_redis_server)
    await stand.start()
    await stand.add_staff("Flo")
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
    await stand.stop()
