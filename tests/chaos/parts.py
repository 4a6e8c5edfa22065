import contextlib
import os
import signal
import subprocess
import time
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import httpx

from tests.approving import approve_before_serve
from tests.chaos.plan import Fault
from tests.chaos.wire import Wire
from tests.processes import pitlink_command
from tests.servers import Server
from tests.waiting import LONG_S, dies_with_us

_END_WITHIN_S: Final = LONG_S
_ASK_WITHIN_S: Final = 3.0


class Part(Protocol):
    """Process that a fault may hit."""

    @property
    def pid(self) -> int | None: ...

    def kill(self) -> None: ...

    def start(self) -> None: ...


@dataclass(frozen=True)
class ServerPart:
    server: Server

    @property
    def pid(self) -> int | None:
        return self.server.pid if self.server.running else None

    def kill(self) -> None:
        self.server.kill()

    def start(self) -> None:
        self.server.start()


class ServicePart:
    """One `pitlink serve`. One file has its log across all its starts."""

    def __init__(self, name: str, config: Path, port: int, log: Path, *options: str) -> None:
        self.name = name
        self.url = f"http://127.0.0.1:{port}"
        self.log = log
        self._arguments = ("serve", "--config", str(config), *options)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        running = self._process is not None and self._process.poll() is None
        return self._process.pid if self._process and running else None

    def start(self) -> None:
        if self._process is None:
            approve_before_serve(self._arguments, None)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                dies_with_us(pitlink_command(*self._arguments)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(_END_WITHIN_S)

    def stop(self) -> int:
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(_END_WITHIN_S)

    def ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=_ASK_WITHIN_S).status_code == 200
        except httpx.HTTPError:
            return False


class AuditorPart:
    """The auditor of a service. A dead or frozen one is replaced by its service."""

    def __init__(self, service: ServicePart) -> None:
        self._service = service

    @property
    def pid(self) -> int | None:
        service = self._service.pid
        if service is None:
            return None
        with contextlib.suppress(OSError):
            for pid in Path(f"/proc/{service}/task/{service}/children").read_text().split():
                if b"auditor_process" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    return int(pid)
        return None

    def kill(self) -> None:
        if (pid := self.pid) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def start(self) -> None:
        """Do nothing: its service starts it."""


def strike(part: Part, fault: Fault, hands: Executor) -> None:
    """Apply a fault to a part, and repair the part afterwards.

    The threads of `hands` start the processes: the kernel ends a process with the thread that
    started it.
    """
    match fault.kind:
        case "kill":
            part.kill()
            rest(fault.lasts_s)
            part.start()
        case "kill twice":
            part.kill()
            rest(fault.lasts_s)
            restarting = hands.submit(part.start)
            rest(fault.again_s)
            restarting.result(_END_WITHIN_S)
            part.kill()
            part.start()
        case "freeze":
            _freeze(part, fault.lasts_s)
        case _:
            raise ValueError(f"{fault.kind} is no fault of a process")


def _freeze(part: Part, lasts_s: float) -> None:
    pid = part.pid
    if pid is None:
        return
    os.kill(pid, signal.SIGSTOP)
    try:
        rest(lasts_s)
    finally:
        # Nobody else may have waited for the process meanwhile, so the number is still its own. But
        # a service replaces its frozen auditor.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def strike_wire(wire: Wire, fault: Fault) -> None:
    if fault.kind == "cut":
        wire.cut()
    else:
        wire.hold()
    try:
        rest(fault.lasts_s)
    finally:
        wire.mend()


def rest(seconds: float) -> None:
    """Let time pass: a chaos run tests the passing of time, so this is not a wait."""
    time.sleep(seconds)
