"""A server that several processes share. It starts with the first process and ends with the last.

Each process locks a file with a shared lock, makes sure that a supervisor runs the server
(`meters.embedded.supervisor`), and releases the lock at its end.
"""

import asyncio
import fcntl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Final

from bonus.errors import UserError
from meters.embedded.supervisor import SUPERVISOR_LOCK, USERS_LOCK, try_lock
from meters.process.private_files import make_private_directory

_START_WITHIN_S: Final = 60.0
_STOP_WITHIN_S: Final = 30.0
_LOOK_EVERY_S: Final = 0.03
_LOG_LINES: Final = 5

_supervisors: list[subprocess.Popen[bytes]] = []
"""Supervisors that this process left running, because other processes use their servers."""

Question = Callable[[], Awaitable[bool]]


class PartFailedError(UserError):
    """An embedded server did not start or end. The message has the last lines of its log."""


class SharedProcess:
    """Embedded server with a supervisor.

    Its files are in the directory `part` of the data directory. Its log is `logs/PART.log`. Missing
    directories are made. If they cannot be made, raise `UserError`.
    """

    def __init__(self, data: Path, part: str) -> None:
        self.home: Final = data.absolute() / part
        self._log = data.absolute() / "logs" / f"{part}.log"
        self._supervisor: subprocess.Popen[bytes] | None = None
        try:
            make_private_directory(self.home)
            make_private_directory(self._log.parent)
        except OSError as error:
            raise UserError(f"the data directory {data} cannot be used: {error}") from None

    @asynccontextmanager
    async def used(
        self, command: Sequence[str], *, answers: Question, retire: Question | None = None
    ) -> AsyncIterator[None]:
        """Keep the server running in the `with` block. Then end it, unless other processes use it.

        `answers` checks if the server is ready. `retire` ends a server that runs without a
        supervisor, and returns True if there was such a server. If a server without a supervisor
        does no harm, `retire` is None.

        Raises:
            PartFailedError: the server did not start, or a previous one did not end.
        """
        self._supervisor = None
        lock = await self._enter()
        try:
            await self._have_it_running(command, answers, retire)
            yield
        finally:
            await self._leave(lock)

    async def _enter(self) -> IO[bytes]:
        """Lock the file `users.lock`, but wait while a supervisor ends the server."""
        end = time.monotonic() + _STOP_WITHIN_S
        while (lock := try_lock(self.home / USERS_LOCK, fcntl.LOCK_SH)) is None:
            if time.monotonic() > end:
                raise PartFailedError(f"{self._name} does not end{self._last_words()}")
            await asyncio.sleep(_LOOK_EVERY_S)
        return lock

    async def _have_it_running(
        self, command: Sequence[str], answers: Question, retire: Question | None
    ) -> None:
        end = time.monotonic() + _START_WITHIN_S
        while True:
            if self._supervisor is not None and self._supervisor.poll():
                raise PartFailedError(f"{self._name} ended at its start{self._last_words()}")
            if self._has_supervisor():
                if await answers():
                    return
            elif not (retire and await retire()) and not self._supervisor_runs():
                self._start_supervisor(command)
            if time.monotonic() > end:
                raise PartFailedError(f"{self._name} does not answer{self._last_words()}")
            await asyncio.sleep(_LOOK_EVERY_S)

    def _start_supervisor(self, command: Sequence[str]) -> None:
        words = [sys.executable, "-P", "-m", "meters.embedded.supervisor", str(self.home), *command]
        with self._log.open("ab") as log:
            self._supervisor = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def _has_supervisor(self) -> bool:
        lock = try_lock(self.home / SUPERVISOR_LOCK, fcntl.LOCK_SH)
        if lock is None:
            return True
        lock.close()
        return False

    def _supervisor_runs(self) -> bool:
        return self._supervisor is not None and self._supervisor.poll() is None

    async def _leave(self, lock: IO[bytes]) -> None:
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if self._supervisor is not None:
                    _supervisors.append(self._supervisor)
                return
        end = time.monotonic() + _STOP_WITHIN_S
        while self._has_supervisor() or self._supervisor_runs():
            if time.monotonic() > end:
                return
            await asyncio.sleep(_LOOK_EVERY_S)

    @property
    def _name(self) -> str:
        return f"the embedded {self.home.name} in {self.home}"

    def _last_words(self) -> str:
        if not self._log.exists():
            return ""
        lines = self._log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
        return "".join(f"\n  {line}" for line in [f"The end of {self._log}:", *lines])
