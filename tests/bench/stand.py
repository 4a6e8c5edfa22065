"""Private servers and processes of a benchmark: brokers, Redis, service and load."""

import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from bonus.errors import UserError
from meters.embedded.broker import LOOPBACK, broker_answers, broker_command
from meters.embedded.redis_server import redis_answers, redis_command, socket_path
from meters.service.ledger_auditing import FOLLOWED_EVERY_S
from tests.approving import approve_before_serve
from tests.bench.cpu import cpu_seconds, used_since
from tests.bench.floor import FloorParts, bench_floor_text
from tests.bench.orders import FINDING, Failed, Finding, Order, Start
from tests.bench.parts import Part, free_port, part
from tests.bench.pipe import subscribe_command, write_command

_PORT_TRIES: Final = 3
_READY_WITHIN_S: Final = 240.0
_REST_S: Final = FOLLOWED_EVERY_S + 1.0
_REST_SHARE: Final = 0.1
"""Share of one processor that the service uses at most while it rests."""
PITLINK: Final = (sys.executable, "-P", "-c", "from meters.cli.main import run; run()")


class AuditResult(msgspec.Struct, frozen=True):
    balanced: bool
    entries: int
    links: dict[str, "AuditedLink"]
    totals: "AuditedTotals"


class AuditedLink(msgspec.Struct, frozen=True):
    meters: dict[str, "AuditedMeter"]


class AuditedMeter(msgspec.Struct, frozen=True):
    amount_micros: int


class AuditedTotals(msgspec.Struct, frozen=True):
    """Counts of the ledger: rounds, and wagers less those of voided rounds."""

    rounds: int
    wagers: int


@dataclass(frozen=True, slots=True)
class Stand:
    """Running benchmark, with the load connected and every link in operation."""

    home: Path
    load: Part
    measured: Sequence[Part]

    async def ask(self, order: Order, *, within_s: float) -> Finding:
        """Have the load carry out an order."""
        pipe_in, pipe_out = self.load.process.stdin, self.load.process.stdout
        if pipe_in is None or pipe_out is None:
            raise ValueError("the load has no pipes")
        pipe_in.write(msgspec.json.encode(order) + b"\n")
        answer = asyncio.create_task(pipe_out.readline(), name="answer")
        ends = {asyncio.create_task(one.process.wait()): one for one in self.measured}
        tasks: set[asyncio.Task[bytes] | asyncio.Task[int]] = {answer, *ends}
        try:
            await asyncio.wait(tasks, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
            ended = [one for end, one in ends.items() if end.done()]
            line = answer.result() if answer.done() else b""
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if ended:
            raise UserError(f"{ended[0].name} ended{ended[0].last_words()}")
        if not line:
            raise UserError(f"the load did not answer{self.load.last_words()}")
        finding: Finding = FINDING.decode(line)
        if isinstance(finding, Failed):
            words = "".join(f"\n{one.name}:{one.last_words()}" for one in self.measured)
            raise UserError(f"the benchmark cannot go on: {finding.reason}{words}")
        return finding

    async def rest(self, *, within_s: float) -> None:
        """Wait until the service has audited what it accepted.

        Its audits wait while tables send events, so they come later. They must not take processor
        time from the programs with which the service is compared.
        """
        service, end_s = {"service": self.measured[0].pid}, time.monotonic() + within_s
        while time.monotonic() < end_s:
            before = cpu_seconds(service)
            await asyncio.sleep(_REST_S)
            if used_since(before, service)["service"] < _REST_SHARE * _REST_S:
                return
        raise UserError(f"the service was busy for {within_s:.0f} s without any event")

    async def audit(self, *, within_s: float) -> AuditResult:
        """Have `pitlink audit` replay the ledger."""
        command = [*PITLINK, "audit", "--json", "--config", str(self.home / "floor.toml")]
        async with part("the audit", command, self.home / "audit", piped=True) as audit:
            try:
                async with asyncio.timeout(within_s):
                    said, _ = await audit.process.communicate()
                return msgspec.json.decode(said, type=AuditResult)
            except (TimeoutError, msgspec.DecodeError) as error:
                words = audit.last_words()
                raise UserError(f"the audit did not answer: {error}{words}") from None


@asynccontextmanager
async def stand(tables: int, seed: int) -> AsyncIterator[Stand]:
    """Start everything for a number of tables; on exit end all of it and delete its files."""
    for name in ("mosquitto", "mosquitto_sub", "redis-cli"):
        if shutil.which(name) is None:
            found = "it is often in /usr/sbin" if name == "mosquitto" else "see the README"
            raise UserError(f"no {name} on PATH: the benchmark needs one ({found})")
    async with AsyncExitStack() as stack:
        home = Path(tempfile.mkdtemp(prefix="pitlink-bench-"))
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        broker, port = await start_broker(home / "broker", stack)
        redis, redis_url = await start_redis(home / "redis", stack)
        floor = FloorParts(
            broker=f"mqtt://{LOOPBACK}:{port}",
            redis=redis_url,
            http=f"{LOOPBACK}:{free_port()}",
            data=str(home / "data"),
        )
        (home / "floor.toml").write_text(bench_floor_text(floor, tables), encoding="utf-8")
        arguments = ("serve", "--config", str(home / "floor.toml"))
        await asyncio.to_thread(approve_before_serve, arguments, None, filled=True)
        serve = [*PITLINK, *arguments]
        service = await stack.enter_async_context(part("the service", serve, home / "service"))
        driver = [sys.executable, "-P", "-m", "tests.bench.driver"]
        load = await stack.enter_async_context(part("the load", driver, home / "load", piped=True))
        pipe, pipe_port, pipe_socket = await _start_pipe(home, stack)
        built = Stand(home, load, [service, redis, broker, *pipe.values()])
        pids = {
            "service": service.pid,
            "redis": redis.pid,
            "mosquitto": broker.pid,
            **{name: one.pid for name, one in pipe.items()},
        }
        start = Start(
            port=port,
            pipe_port=pipe_port,
            pipe_redis=pipe_socket,
            tables=tables,
            seed=seed,
            pids=pids,
        )
        await built.ask(start, within_s=_READY_WITHIN_S)
        yield built


async def _start_pipe(home: Path, stack: AsyncExitStack) -> tuple[dict[str, Part], int, str]:
    """Start the pipe of C programs, with a broker and a Redis of its own.

    Returns:
        The processes by the names of their CPU time, the broker's port, and the Redis's socket.
    """
    broker, port = await start_broker(home / "pipe-broker", stack)
    redis, url = await start_redis(home / "pipe-redis", stack)
    socket = url.removeprefix("unix://")
    reads, writes = os.pipe()
    try:
        subscriber = await stack.enter_async_context(
            part("mosquitto_sub", subscribe_command(port), home / "pipe-sub", writes=writes)
        )
        writer = await stack.enter_async_context(
            part("redis-cli", write_command(socket), home / "pipe-cli", reads=reads)
        )
    finally:
        os.close(reads)
        os.close(writes)
    found = {
        "pipe_mosquitto": broker,
        "mosquitto_sub": subscriber,
        "redis_cli": writer,
        "pipe_redis": redis,
    }
    return found, port, socket


def _made(home: Path) -> Path:
    home.mkdir(exist_ok=True)
    return home


async def start_broker(home: Path, stack: AsyncExitStack) -> tuple[Part, int]:
    """Start a mosquitto on a free port; try again if another program takes the port first."""
    for tries_left in reversed(range(_PORT_TRIES)):
        port = free_port()
        attempt = AsyncExitStack()
        broker = await attempt.enter_async_context(
            part("mosquitto", broker_command(_made(home), port), home)
        )
        try:
            await broker.until(partial(broker_answers, port))
        except UserError:
            await attempt.aclose()
            if not tries_left:
                raise
        else:
            stack.push_async_exit(attempt)
            return broker, port
    raise UserError("no port for mosquitto")


async def start_redis(home: Path, stack: AsyncExitStack) -> tuple[Part, str]:
    """Start a Redis that syncs every write to disk before it answers.

    Automatic rewrites of its append-only file are off: they would begin at random moments and
    distort the measurement.
    """
    path = socket_path(_made(home))
    command = [*redis_command(home), "--auto-aof-rewrite-percentage", "0"]
    redis = await stack.enter_async_context(part("redis-server", command, home))
    await redis.until(partial(redis_answers, path))
    return redis, f"unix://{path}"
