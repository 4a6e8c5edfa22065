"""What every test of real processes needs: programs, free ports, and waiting for a condition."""

import asyncio
import inspect
import os
import random
import shutil
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar, overload

import httpx
import pytest
import redis

Found = TypeVar("Found")

LONG_S: Final = 60.0
"""How long a condition is waited for: what comes at all has come by then on the busiest machine."""

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
"""What a look at a condition may raise while that has not come; the clients have errors of their
own for what the system says with an OSError."""

_FIRST_PAUSE_S: Final = 0.005
_LONGEST_PAUSE_S: Final = 0.1
_DAEMON_PLACES: Final = ("/usr/local/sbin", "/usr/sbin", "/opt/homebrew/sbin")


def require(program: str) -> str:
    """The path of the system's own program that a test needs.

    Without it the test is skipped, and fails in CI. The environment that runs the tests does not
    count: the wheel of an older Redis puts its redis-server there. The places for daemons do, even
    where they are not on PATH.
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
    """A loopback TCP port that nobody uses just now.

    It lies below those that the kernel gives to outgoing connections, so that none of theirs is
    given to one between its choice and its use. Nor is it chosen by another worker of the same run,
    or by this one again: a server that is started later, or again, finds it free.
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
    """The ports of this worker: each of a run has a part of them to itself."""
    begin, end = _OWN_PORTS
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    part = (end - begin) // workers
    # One that was started in place of a worker that died has a higher number than there are.
    begin += worker % workers * part
    return begin, begin + part


def eventually(
    check: Callable[[], Found], *, within_s: float = LONG_S, what: str = "the condition"
) -> Found:
    """Wait until `check` gives something true, and return it.

    Args:
        check: looked at again and again; one of `NOT_YET` that it raises counts as no.
        within_s: the longest wait, in seconds.
        what: said when it does not come.

    Raises:
        AssertionError: it was not so in time.
    """
    end = time.monotonic() + within_s
    pause_s = _FIRST_PAUSE_S
    while True:
        last: object = None
        try:
            found = check()
        except NOT_YET as error:
            last = error
        else:
            if found:
                return found
            last = found
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come within {within_s} s; last: {last!r}")
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


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
    """Wait on the event loop until `check`, plain or async, gives something true; return it.

    Raises:
        AssertionError: it was not so in time.
    """
    end = time.monotonic() + within_s
    pause_s = _FIRST_PAUSE_S
    while True:
        last: object = None
        try:
            answer = check()
            found = await answer if inspect.isawaitable(answer) else answer
        except NOT_YET as error:
            last = error
        else:
            if found:
                return found
            last = found
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come within {within_s} s; last: {last!r}")
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


def dies_with_us(arguments: Sequence[str]) -> list[str]:
    """The command, so wrapped that the kernel ends the process when the test run is killed."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *arguments] if setpriv else list(arguments)
