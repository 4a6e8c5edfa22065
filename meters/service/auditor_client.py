"""The service's side of the auditor: it starts and watches the process, and gives it orders."""

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from typing import Final

import msgspec
import structlog

from meters.audit.auditor import AuditOrder, AuditorReport
from meters.audit.auditor_process import Beat, answer_of, first_frame, order_frame, read_frame
from meters.floor.floor_file import Floor

log = structlog.get_logger()

SILENT_S: Final = 10.0
_STARTED_WITHIN_S: Final = 60.0
"""If a machine starts all its programs at once, the first sign of the auditor can take long."""
_AGAIN_S: Final = 1.0
_ENDED_WITHIN_S: Final = 5.0


class AuditorError(Exception):
    """There is no report, because the auditor does not run or has ended."""


class AuditorProcess:
    """The auditor's process. `show` receives 1 when the process starts, and 0 when it ends.

    If the process sends nothing for `silent_s` seconds, it counts as frozen, and a new process
    replaces it.
    """

    def __init__(
        self, floor: Floor, show: Callable[[float], None], *, silent_s: float = SILENT_S
    ) -> None:
        self._floor = floor
        self._show = show
        self._silent_s = silent_s
        self._process: Process | None = None
        self._waiting: dict[int, asyncio.Future[AuditorReport]] = {}
        self._orders = 0
        self._reason = "it has not started yet"

    async def carry_out(self, order: AuditOrder) -> AuditorReport:
        """Give the auditor an order, and return its report.

        Raises:
            AuditorError: the auditor does not run, or ended before it reported.
        """
        process = self._process
        if process is None or process.stdin is None:
            raise AuditorError(f"the auditor does not run: {self._reason}")
        self._orders += 1
        number = self._orders
        waiting: asyncio.Future[AuditorReport] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        process.stdin.write(order_frame(msgspec.structs.replace(order, number=number)))
        try:
            return await waiting
        finally:
            self._waiting.pop(number, None)

    async def run(self) -> None:
        """Keep an auditor running until canceled."""
        while True:
            try:
                self._reason = await self._serve()
            except OSError as error:
                self._reason = f"it cannot be started: {error}"
            self._show(0)
            log.error("auditor ended", reason=self._reason)
            self._fail()
            await asyncio.sleep(_AGAIN_S)

    async def _serve(self) -> str:
        """Start an auditor, and pass on its reports until it ends. Return why it ended."""
        module = "meters.audit.auditor_process"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", module, stdin=PIPE, stdout=PIPE
        )
        try:
            if process.stdin is None or process.stdout is None:
                raise OSError("it has no pipes")
            process.stdin.write(first_frame(self._floor))
            while True:
                try:
                    started = self._process is not None
                    async with asyncio.timeout(self._silent_s if started else _STARTED_WITHIN_S):
                        answer = answer_of(await read_frame(process.stdout))
                except TimeoutError:
                    return "it sent nothing for too long"
                except (asyncio.IncompleteReadError, msgspec.DecodeError):
                    break
                if self._process is None:
                    self._process = process
                    self._show(1)
                    log.info("auditor started", pid=process.pid)
                self._pass_on(answer)
        finally:
            self._process = None
            await _end(process)
        return f"its exit status was {process.returncode}"

    def _pass_on(self, answer: AuditorReport | Beat) -> None:
        waiting = self._waiting.get(answer.number) if isinstance(answer, AuditorReport) else None
        if isinstance(answer, AuditorReport) and waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def _fail(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(AuditorError(f"the auditor ended: {self._reason}"))


async def _end(process: Process) -> None:
    """End the process: it has nothing to finish."""
    # Not process.kill(), which can take the exit status away from asyncio.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_ENDED_WITHIN_S):
            await process.wait()
