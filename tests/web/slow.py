"""How fast the service answers while thousands of bad connections are held against it.

`python -m tests.web.slow --connections 4000 --seconds 40` starts a redis-server, a mosquitto and
`pitlink serve`, measures good requests and a table's events alone, then again under connections
that are silent, send their headers or bodies byte by byte, never read the event stream, or are
closed on one side; each that is cut is opened again. It prints one line for each measure: the
median and the 95th percentile in milliseconds, without and with, and their ratios.
"""

import argparse
import asyncio
import itertools
import resource
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.mqtt.events import void, wagers
from tests.mqtt.stand import Asker, Stand
from tests.staff import Colleague, hire
from tests.waiting import eventually_async
from tests.web.raw import Raw, get, raw

KINDS: Final = ("silent", "slow headers", "slow body", "stuck reader", "half closed")
GOOD: Final = ("/api/v1/meters", "/api/v1/claims", "/signage", "/floor")
ROUNDS: Final = 25
_DISPLAYS_OF_ONE: Final = 60
_BYTE_EVERY_S: Final = 1.0
_AGAIN_AFTER_S: Final = 2.0
_BODY: Final = (
    b"POST /api/v1/sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 40\r\n\r\n{"
)


@dataclass
class Crowd:
    """The bad connections: how many there are, and how often they were opened and ended."""

    port: int
    opened: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    held: int = 0

    async def one(self, kind: str, number: int) -> None:
        """Hold a connection of a kind, and open it again whenever it ends, until cancelled."""
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
            # Who is turned away comes again, but no kernel is asked for more ports than it has.
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


@asynccontextmanager
async def crowd_of(port: int, count: int) -> AsyncIterator[Crowd]:
    """So many bad connections, the kinds by turns, for as long as the block lasts."""
    crowd = Crowd(port)
    tasks = [
        asyncio.create_task(crowd.one(kind, number))
        for number, kind in zip(range(count), itertools.cycle(KINDS), strict=False)
    ]
    try:
        yield crowd
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


Act = Callable[[], Awaitable[None]]


async def timed_ms(act: Act) -> float:
    """How long it takes, in milliseconds."""
    began = time.perf_counter()
    await act()
    return (time.perf_counter() - began) * 1000


class Honest:
    """Those who want something: pages, a floorperson's page, and a table's events."""

    def __init__(self, stand: Stand) -> None:
        self._port = port_of(stand)
        self._table: Asker = stand.table()
        self._seq = itertools.count(1)
        hire(stand.service.config, "F. Lane", "floorperson")
        self._flo = Colleague(stand.service.url, "F. Lane")

    async def read_pages(self) -> None:
        """One of each page, each on a connection of its own."""
        for path in GOOD:
            async with raw(self._port) as connection:
                connection.send(get(path, "localhost", "Connection: close"))
                answer = await connection.rest()
            assert answer.startswith(b"HTTP/1.1 200 "), (path, answer[:300])

    async def follow_the_floor(self) -> None:
        """The floorpersons' stream, until it says something."""
        async with raw(self._port) as connection:
            cookie = f"Cookie: {self._flo.headers['Cookie']}"
            connection.send(get("/api/v1/floor/stream", "localhost", cookie))
            head = await connection.head()
            assert head.startswith(b"HTTP/1.1 200 "), head
            assert await connection.until(b"event: changed")

    async def play(self) -> None:
        """A round of one table, and its void: two events answered."""
        number = next(self._seq)
        events = (wagers(2 * number - 1, f"R{number}"), void(2 * number, f"R{number}"))
        await asyncio.to_thread(self._table.accept, *events)

    async def measured(self, rounds: int) -> dict[str, list[float]]:
        """How long each takes, in milliseconds, so many times by turns."""
        acts: dict[str, Act] = {
            "four pages": self.read_pages,
            "the floor's stream": self.follow_the_floor,
            "two events of a table": self.play,
        }
        found: dict[str, list[float]] = {what: [] for what in acts}
        for _ in range(rounds):
            for what, act in acts.items():
                found[what].append(await timed_ms(act))
        return found


def port_of(stand: Stand) -> int:
    """Where the service is."""
    return int(stand.service.url.rpartition(":")[2])


def compared(alone: list[float], crowded: list[float]) -> str:
    """Two measures side by side."""
    shown = []
    for name, percent in (("median", 50), ("95th", 95)):
        before, after = (
            statistics.quantiles(each, n=100)[percent - 1] for each in (alone, crowded)
        )
        shown.append(f"{name} {before:.1f} -> {after:.1f} ms, {after / before:.2f} times")
    return "; ".join(shown)


async def run(stand: Stand, count: int, rounds: int, most_s: float) -> tuple[Crowd, list[str]]:
    """Measure alone and under so many bad connections; the crowd, and a line for each measure."""
    honest = Honest(stand)
    await honest.measured(3)
    alone = await honest.measured(rounds)
    async with crowd_of(port_of(stand), count) as crowd:
        least = min(count, 3_000) * 3 // 4
        await eventually_async(lambda: crowd.held >= least, within_s=60, what="the crowd")
        crowded = await honest.measured(rounds)
        until = time.monotonic() + most_s
        while time.monotonic() < until:
            for what, more in (await honest.measured(5)).items():
                crowded[what] += more
    lines = [f"{what}: {compared(alone[what], crowded[what])}" for what in alone]
    return crowd, lines


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=40.0)
    asked = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as home, Stand(Path(home)) as stand:
        crowd, lines = asyncio.run(run(stand, asked.connections, ROUNDS, asked.seconds))
        balanced = stand.service.audit()["balanced"]
    for kind in KINDS:
        print(f"{kind}: opened {crowd.opened[kind]}, ended by the service {crowd.ended[kind]}")  # noqa: T201
    print("\n".join(lines))  # noqa: T201
    print(f"the ledger balances: {balanced}")  # noqa: T201


if __name__ == "__main__":
    _main()
