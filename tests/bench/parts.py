"""Processes of the benchmark: each is started with a log and ends with the benchmark."""

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from bonus.errors import UserError
from meters.embedded.broker import LOOPBACK

START_WITHIN_S: Final = 30.0

_STOP_WITHIN_S: Final = 20.0
_LOOK_EVERY_S: Final = 0.02
_LOG_LINES: Final = 6
_PR_SET_PDEATHSIG: Final = 1


@dataclass(frozen=True, slots=True)
class Part:
    """Running process and its log."""

    name: str
    process: asyncio.subprocess.Process
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
        return "".join(f"\n  {line}" for line in lines)

    async def until(self, answers: Callable[[], Awaitable[bool]]) -> None:
        """Wait until it answers."""
        try:
            async with asyncio.timeout(START_WITHIN_S):
                while not await answers():
                    if self.process.returncode is not None:
                        raise UserError(f"{self.name} ended at its start{self.last_words()}")
                    await asyncio.sleep(_LOOK_EVERY_S)
        except TimeoutError:
            raise UserError(f"{self.name} does not answer{self.last_words()}") from None


@asynccontextmanager
async def part(
    name: str,
    command: Sequence[str],
    home: Path,
    *,
    piped: bool = False,
    reads: int = subprocess.DEVNULL,
    writes: int | None = None,
) -> AsyncIterator[Part]:
    """Run a process in its own directory, and end it on exit."""
    log = _log_in(home)
    with log.open("ab") as errors:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=subprocess.PIPE if piped else reads,
            stdout=subprocess.PIPE if piped else errors if writes is None else writes,
            stderr=errors,
            cwd=home,
            # Ctrl-C is only for the benchmark, which ends its processes in order.
            start_new_session=True,
            preexec_fn=partial(_end_with_parent, os.getpid()),
        )
    try:
        yield Part(name, process, log)
    finally:
        await _end(process)


def _log_in(home: Path) -> Path:
    home.mkdir(exist_ok=True)
    return home / "log"


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_WITHIN_S):
                await process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _end_with_parent(parent: int) -> None:
    """Have the kernel end the process if the benchmark is killed. Works on Linux only."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # If the benchmark was killed before the call, the kernel sends no signal.
        if os.getppid() != parent:
            os._exit(1)


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
