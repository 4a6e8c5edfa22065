"""Basics for tests of real processes: programs, free ports, and waiting for a condition."""

import asyncio
import inspect
import os
import random
import shutil
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar, overload

import httpx
import pytest
import redis

Found = TypeVar("Found")

LONG_S: Final = 60.0
"""Longest wait for a condition, in seconds. Even on the busiest machine, an event that comes at all
has come by then."""

_OWN_PORTS: Final = (15_000, 32_000)
_ports: Final = random.SystemRandom()
_chosen: Final[set[int]] = set()

NOT_YET: Final = (
    AssertionError,
    OSError,
    httpx.TransportError,
    redis.ConnectionError,
    redis.TimeoutError,
)
"""Errors that reading a condition may raise before it holds. Clients have their own errors for what
the system reports as OSError."""

_FIRST_PAUSE_S: Final = 0.005
_LONGEST_PAUSE_S: Final = 0.1
_DAEMON_PLACES: Final = ("/usr/local/sbin", "/usr/sbin", "/opt/homebrew/sbin")


def require(program: str) -> str:
    """Return the path of a system program that a test needs.

    Without it the test is skipped, or fails in CI. The search leaves out the environment that runs
    the tests, because the wheel of an older Redis puts its redis-server there. It includes the
    directories of daemons even if they are not on PATH.
    """
    ours = Path(sys.executable).parent
    places = [place for place in os.get_exec_path() if Path(place) != ours]
    path = shutil.which(program, path=os.pathsep.join([*places, *_DAEMON_PLACES]))
    if path is None:
        message = f"{program} is not installed"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path


def free_port() -> int:
    """Return a loopback TCP port that is free now.

    The port is below those that the kernel uses for outgoing connections, so no such connection can
    take it between choice and use. No other worker of the run chooses it, and this worker does not
    choose it again, so a server that starts later or restarts finds it free.
    """
    begin, end = _own_ports()
    while True:
        port = _ports.randrange(begin, end)
        if port in _chosen:
            continue
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _chosen.add(port)
        return port


def _own_ports() -> tuple[int, int]:
    """Return the ports of this worker; each worker of a run has its own range."""
    begin, end = _OWN_PORTS
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    part = (end - begin) // workers
    # A worker that replaced a dead one has a number higher than the count of workers.
    begin += worker % workers * part
    return begin, begin + part


def eventually(
    check: Callable[[], Found], *, within_s: float = LONG_S, what: str = "the condition"
) -> Found:
    """Wait until `check` returns a true value, and return that value.

    An error in `NOT_YET` counts as not yet true. `what` is in the message if it never holds.
    """
    last: object = None
    for pause_s in _pauses_s(within_s):
        time.sleep(pause_s)
        try:
            if found := check():
                return found
        except NOT_YET as error:
            last = error
        else:
            last = found
    raise AssertionError(f"{what} did not come within {within_s} s; last: {last!r}")


@overload
async def eventually_async(
    check: Callable[[], Awaitable[Found]], *, within_s: float = ..., what: str = ...
) -> Found: ...
@overload
async def eventually_async(
    check: Callable[[], Found], *, within_s: float = ..., what: str = ...
) -> Found: ...
async def eventually_async(
    check: Callable[[], Found | Awaitable[Found]],
    *,
    within_s: float = LONG_S,
    what: str = "the condition",
) -> Found:
    """Wait on the event loop until `check`, plain or async, returns a true value; return it."""
    last: object = None
    for pause_s in _pauses_s(within_s):
        if pause_s:
            await asyncio.sleep(pause_s)
        try:
            answer = check()
            if found := await answer if inspect.isawaitable(answer) else answer:
                return found
        except NOT_YET as error:
            last = error
        else:
            last = found
    raise AssertionError(f"{what} did not come within {within_s} s; last: {last!r}")


def _pauses_s(within_s: float) -> Iterator[float]:
    """Yield the pauses before the looks: none before the first, and the last one at the end."""
    end, pause_s = time.monotonic() + within_s, _FIRST_PAUSE_S
    yield 0
    while time.monotonic() <= end:
        yield pause_s
        pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


@asynccontextmanager
async def served(serve: Callable[[asyncio.Event], Awaitable[None]]) -> AsyncIterator[None]:
    """Serve until the block ends. The server sets the event that it is given when it is ready."""
    ready = asyncio.Event()
    serving = asyncio.ensure_future(serve(ready))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({serving, waiting}, timeout=LONG_S, return_when="FIRST_COMPLETED")
    waiting.cancel()
    assert ready.is_set(), "the server did not start"
    try:
        yield
    finally:
        serving.cancel()
        await asyncio.wait({serving}, timeout=LONG_S)
        assert serving.done(), "the server did not stop"


def dies_with_us(arguments: Sequence[str]) -> list[str]:
    """Return the command, wrapped so the kernel ends the process when the test run is killed."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *arguments] if setpriv else list(arguments)
