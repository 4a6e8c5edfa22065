"""Speed of the service while thousands of bad connections are held open to it.

`python -m tests.web.slow --connections 4000 --seconds 40` starts a redis-server, a mosquitto and
`pitlink serve`. It measures good requests and a table's events alone, and then again under bad
connections. These are silent, send their headers or bodies byte by byte, never read the event
stream, or are closed on one side; a connection that the service closes is opened again. The command
prints one line for each measure: the median and the 95th percentile in milliseconds, without and
with bad connections, and their ratios.

A separate process holds the bad connections, because a process that holds thousands and measures
too would measure itself. The output also shows how late the measuring process itself was and how
busy the machine was. If it was very late, the figures do not describe the service.
"""

import argparse
import asyncio
import itertools
import os
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from tests.mqtt.events import void, wagers
from tests.mqtt.stand import Asker, Stand
from tests.staff import Colleague, hire
from tests.waiting import dies_with_us, eventually_async
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
    """The bad connections: how many are open, and how often they were opened and ended."""

    port: int
    opened: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    held: int = 0

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
            # A refused client comes again, but the kernel is never asked for more ports than it
            # has.
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


async def hold(port: int, count: int) -> None:
    """Hold bad connections, the kinds in turn, and report their state each second."""
    crowd = Crowd(port)
    kinds = zip(range(count), itertools.cycle(KINDS), strict=False)
    async with asyncio.TaskGroup() as group:
        for number, kind in kinds:
            group.create_task(crowd.one(kind, number))
        while True:
            report = CrowdReport(crowd.held, dict(crowd.opened), dict(crowd.ended))
            print(msgspec.json.encode(report).decode(), flush=True)  # noqa: T201
            await asyncio.sleep(1)


class CrowdReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Report on the bad connections by kind: how many are open, were opened and were ended."""

    held: int
    opened: dict[str, int]
    ended: dict[str, int]


class Watched:
    """The crowd as its process reports it."""

    def __init__(self) -> None:
        self.last = CrowdReport(0, {}, {})

    async def listen(self, report: asyncio.StreamReader) -> None:
        """Read its reports until they end."""
        async for line in report:
            self.last = msgspec.json.decode(line, type=CrowdReport)


@asynccontextmanager
async def crowd_of(port: int, count: int) -> AsyncIterator[Watched]:
    """Yield bad connections held by another process until the end of the block."""
    command = [sys.executable, "-m", "tests.web.slow", "--hold", str(port)]
    process = await asyncio.create_subprocess_exec(
        *dies_with_us([*command, "--connections", str(count)]), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    watched = Watched()
    listening = asyncio.create_task(watched.listen(process.stdout))
    try:
        yield watched
    finally:
        process.kill()
        await process.wait()
        await listening


async def note_lateness(found_ms: list[float]) -> None:
    """Record how late this process resumes after its waits, until canceled."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.01)
        found_ms.append((time.perf_counter() - began - 0.01) * 1000)


Act = Callable[[], Awaitable[None]]


async def timed_ms(act: Act) -> float:
    """Return the duration of a call in milliseconds."""
    began = time.perf_counter()
    await act()
    return (time.perf_counter() - began) * 1000


class Honest:
    """Correct clients: pages, a floorperson's page, and a table's events."""

    def __init__(self, stand: Stand) -> None:
        self._port = port_of(stand)
        self._table: Asker = stand.table()
        self._seq = itertools.count(1)
        hire(stand.service.config, "F. Lane", "floorperson")
        self._flo = Colleague(stand.service.url, "F. Lane")

    async def read_pages(self) -> None:
        """Read each page once, each over its own connection."""
        for path in GOOD:
            async with raw(self._port) as connection:
                connection.send(get(path, "localhost", "Connection: close"))
                answer = await connection.rest()
            assert answer.startswith(b"HTTP/1.1 200 "), (path, answer[:300])

    async def follow_the_floor(self) -> None:
        """Follow the floorpersons' stream until its first event."""
        async with raw(self._port) as connection:
            cookie = f"Cookie: {self._flo.headers['Cookie']}"
            connection.send(get("/api/v1/floor/stream", "localhost", cookie))
            head = await connection.head()
            assert head.startswith(b"HTTP/1.1 200 "), head
            assert await connection.until(b"event: changed")

    async def play(self) -> None:
        """Play a round of one table, and void it: two answered events."""
        number = next(self._seq)
        events = (wagers(2 * number - 1, f"R{number}"), void(2 * number, f"R{number}"))
        await asyncio.to_thread(self._table.accept, *events)

    async def measured(self, rounds: int) -> dict[str, list[float]]:
        """Return durations in milliseconds of a number of repetitions, the measures in turn."""
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
    """Return the port of the service."""
    return int(stand.service.url.rpartition(":")[2])


def compared(alone: list[float], crowded: list[float]) -> str:
    """Return a line that compares two measures."""
    shown = []
    for name, percent in (("median", 50), ("95th", 95)):
        before, after = (
            statistics.quantiles(each, n=100)[percent - 1] for each in (alone, crowded)
        )
        shown.append(f"{name} {before:.1f} -> {after:.1f} ms, {after / before:.2f} times")
    return "; ".join(shown)


async def run(
    stand: Stand, count: int, rounds: int, most_s: float
) -> tuple[CrowdReport, list[str]]:
    """Measure alone and under bad connections; return the crowd, and a line for each measure."""
    honest = Honest(stand)
    await honest.measured(3)
    alone = await honest.measured(rounds)
    async with crowd_of(port_of(stand), count) as crowd:
        least = min(count, 3_000) * 3 // 4
        each = count // len(KINDS)

        def there() -> bool:
            report = crowd.last
            came = all(report.opened.get(kind, 0) >= each for kind in KINDS)
            return came and report.held >= least and report.ended.get("half closed", 0) > 0

        await eventually_async(there, within_s=60, what="the crowd")
        late_ms: list[float] = []
        noting = asyncio.create_task(note_lateness(late_ms))
        crowded = await honest.measured(rounds)
        until = time.monotonic() + most_s
        while time.monotonic() < until:
            for what, more in (await honest.measured(5)).items():
                crowded[what] += more
        noting.cancel()
    lines = [f"{what}: {compared(alone[what], crowded[what])}" for what in alone]
    late = statistics.quantiles(late_ms, n=100)
    lines.append(f"own lateness: 95th {late[94]:.1f} ms, most {max(late_ms):.1f} ms")
    return crowd.last, lines


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument(
        "--hold",
        type=int,
        metavar="PORT",
        help="only hold bad connections to this port",
    )
    asked = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if asked.hold is not None:
        asyncio.run(hold(asked.hold, asked.connections))
        return
    with tempfile.TemporaryDirectory() as home, Stand(Path(home)) as stand:
        crowd, lines = asyncio.run(run(stand, asked.connections, ROUNDS, asked.seconds))
        balanced = stand.service.audit()["balanced"]
    for kind in KINDS:
        print(f"{kind}: opened {crowd.opened[kind]}, ended {crowd.ended.get(kind, 0)}")  # noqa: T201
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")  # noqa: T201
    print("\n".join(lines))  # noqa: T201
    print(f"the ledger balances: {balanced}")  # noqa: T201


if __name__ == "__main__":
    _main()
