"""Pages, a floorperson's stream and a table's events under hundreds of bad connections."""

import asyncio
import itertools
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.mqtt.events import void, wagers
from tests.mqtt.stand import Stand
from tests.staff import Colleague, hire
from tests.waiting import eventually_async
from tests.web.raw import Raw, get, raw

KINDS: Final = ("silent", "slow headers", "slow body", "stuck reader", "half closed")
CONNECTIONS: Final = 250
GOOD: Final = ("/api/v1/meters", "/api/v1/claims", "/signage", "/floor")
ROUNDS: Final = 8
_DISPLAYS_OF_ONE: Final = 60
_BYTE_EVERY_S: Final = 1.0
_AGAIN_AFTER_S: Final = 2.0
_BODY: Final = (
    b"POST /api/v1/sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 40\r\n\r\n{"
)


class Crowd:
    """The bad connections: how many are open, and how often each kind was opened and ended."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.opened: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.held = 0

    async def one(self, kind: str, number: int) -> None:
        """Hold a connection of a kind, and open it again whenever it ends, until canceled."""
        while True:
            try:
                connection = await Raw.to(self.port)
            except OSError:
                await asyncio.sleep(_BYTE_EVERY_S)
                continue
            self.opened[kind] += 1
            self.held += 1
            try:
                await self._behave(connection, kind, number)
            except (OSError, asyncio.IncompleteReadError):
                pass
            finally:
                connection.close()
                self.held -= 1
            self.ended[kind] += 1
            await asyncio.sleep(_AGAIN_AFTER_S)

    async def _behave(self, connection: Raw, kind: str, number: int) -> None:
        from_where = f"X-Forwarded-For: 10.{number // _DISPLAYS_OF_ONE}.0.1"
        if kind == "stuck reader":
            connection.send(get("/api/v1/meters/stream", "localhost", from_where))
            await connection.head()
            connection.stop_reading()
        elif kind == "half closed":
            connection.send(b"GET /healthz HTTP/1.1\r\nHost: local")
            connection.half_close()
        elif kind != "silent":
            connection.send(_BODY if kind == "slow body" else b"GET /healthz HTTP/1.1\r\nX: ")
            await asyncio.gather(connection.ended(), self._drip(connection))
            return
        await connection.ended()

    async def _drip(self, connection: Raw) -> None:
        while not connection.closing:
            await asyncio.sleep(_BYTE_EVERY_S)
            connection.send(b" ")

    def is_there(self) -> bool:
        """Return whether all came, most are held, and one that was closed on one side has ended."""
        each = CONNECTIONS // len(KINDS)
        came = all(self.opened[kind] >= each for kind in KINDS)
        return came and self.held >= CONNECTIONS * 3 // 4 and self.ended["half closed"] > 0


async def read_pages(port: int, cookie: str) -> None:
    """Read each page over its own connection, and the floorpersons' stream to its first event."""
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
    with Stand(tmp_path) as stand:
        port = int(stand.service.url.rpartition(":")[2])
        hire(stand.service.config, "F. Lane", "floorperson")
        cookie = Colleague(stand.service.url, "F. Lane").headers["Cookie"]
        table, crowd = stand.table(), Crowd(port)
        kinds = zip(range(CONNECTIONS), itertools.cycle(KINDS), strict=False)
        holding = [asyncio.create_task(crowd.one(kind, number)) for number, kind in kinds]
        await eventually_async(crowd.is_there, within_s=60, what="the crowd")
        for number in range(1, ROUNDS + 1):
            await read_pages(port, cookie)
            events = (wagers(2 * number - 1, f"R{number}"), void(2 * number, f"R{number}"))
            await asyncio.to_thread(table.accept, *events)
        for task in holding:
            task.cancel()
        await asyncio.gather(*holding, return_exceptions=True)
        assert stand.service.audit()["balanced"]
