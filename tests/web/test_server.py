"""Start and stop inside the service's own event loop."""

import asyncio
import signal
import socket

import pytest

from bonus.errors import UserError
from meters.http import server as server_module
from meters.http.server import serve_web
from tests.waiting import eventually_async
from tests.web.events import listening
from tests.web.stand import Stand


async def test_a_port_in_use_is_reported_with_its_address() -> None:
    stand = Stand()
    app = stand.app()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"127.0.0.1:{port}: Address already in use"):
            await serve_web(app, "127.0.0.1", port, asyncio.Event())


@pytest.mark.parametrize("host", ["no such host", "203.0.113.7"])
async def test_an_address_of_another_machine_is_reported(host: str) -> None:
    stand = Stand()
    app = stand.app()
    with pytest.raises(UserError, match="cannot serve pages at http://"):
        await serve_web(app, host, 8080, asyncio.Event())


async def test_it_stops_promptly_and_ends_open_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """The streams end by themselves: `stop` does not reach its time limit."""
    monkeypatch.setattr(server_module, "GRACE_S", 600)
    monkeypatch.setattr(server_module, "_STOP_WITHIN_S", 600.0)
    stand = Stand()
    await stand.start()
    stand.beat("tcp-main")
    async with listening(stand.url) as events:
        await events.next_of("controller")
        await stand.stop()
        with pytest.raises(StopAsyncIteration):
            await events.next()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", stand.port), timeout=1)


async def test_a_reader_that_takes_nothing_costs_no_memory_and_delays_no_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "_STOP_WITHIN_S", 600.0)
    stand = Stand()
    await stand.start()
    with socket.socket() as stuck:
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stuck.connect(("127.0.0.1", stand.port))
        stuck.sendall(b"GET /api/v1/meters/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await eventually_async(lambda: len(stand.board._watches) == 1, what="the stuck reader")
        (watch,) = stand.board._watches
        version = 0

        async def nothing_more_is_taken() -> bool:
            nonlocal version
            for _ in range(2000):
                version += 1
                stand.put(version, version)
                stand.hit(claim=f"c{version % 50}")
                await asyncio.sleep(0)
            waiting = len(watch._meters) + len(watch._hits)
            return 0 < waiting <= 51

        await eventually_async(nothing_more_is_taken, within_s=30, what="a full connection")
        await stand.stop()


async def test_it_starts_again_on_its_port_and_leaves_the_signals_of_the_process_alone() -> None:
    before = (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))
    stand = Stand()
    for _ in range(3):
        await stand.start()
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
        assert (await stand.get("/healthz")).status_code == 200
        await stand.stop()
