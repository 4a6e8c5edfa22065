"""The service of a demonstration: `pitlink serve` as a separate process."""

import asyncio
import contextlib
import errno
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Final

import httpx
import msgspec

from bonus.errors import UserError

LOOPBACK: Final = "127.0.0.1"

_READY_WITHIN_S: Final = 90.0
_STOP_WITHIN_S: Final = 45.0
_AUDIT_WITHIN_S: Final = 600.0
_ANSWER_WITHIN_S: Final = 3.0
_LOOK_EVERY_S: Final = 0.1
_LOG_LINES: Final = 8
_PITLINK: Final = (sys.executable, "-P", "-c", "from meters.cli.main import run; run()")


class MeterShown(msgspec.Struct, frozen=True):
    """A meter from ``/api/v1/meters``; the amount is in cents."""

    link: str
    meter: str
    name: str
    amount: int
    state: str


class LedgerTotals(msgspec.Struct, frozen=True):
    """Totals of the ledger since its first entry, without void rounds.

    A wager counts once for each meter that it feeds.
    """

    rounds: int = 0
    wagers: int = 0
    wagered_cents: int = 0
    contributions_micros: int = 0
    wins: int = 0
    won_cents: int = 0


class AuditReport(msgspec.Struct, frozen=True):
    balanced: bool
    entries: int
    totals: LedgerTotals
    problems: tuple[str, ...] = ()


_METERS: Final = msgspec.json.Decoder(tuple[MeterShown, ...])
_AUDIT: Final = msgspec.json.Decoder(AuditReport)


class DemoService:
    """The process of a service, its log, and a client for its pages; `start` begins the process."""

    _process: asyncio.subprocess.Process

    def __init__(
        self, floor_file: Path, options: Sequence[str], log: Path, client: httpx.AsyncClient
    ) -> None:
        self._floor_file = floor_file
        self._options = options
        self._log = log
        self._running = asyncio.Event()
        self.client: Final = client

    async def start(self, *, again: bool = False) -> None:
        with self._log.open("ab" if again else "wb") as output:
            self._process = await _pitlink(
                "serve", *self._options, floor_file=self._floor_file, stdout=output
            )
        self._running.set()

    async def ended(self) -> None:
        """Wait until the service ends by itself; raise `UserError` with the end of its log."""
        status = await self._process.wait()
        while not self._running.is_set():
            await self._running.wait()
            status = await self._process.wait()
        raise UserError(f"the service ended with status {status}; {last_words(self._log)}")

    async def kill(self) -> None:
        """Kill the service with SIGKILL, and start it again; return when it is ready."""
        self._running.clear()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await self.start(again=True)
        await self.become_ready()

    async def end(self) -> None:
        await _end(self._process)

    async def meters(self) -> tuple[MeterShown, ...]:
        with contextlib.suppress(httpx.HTTPError, msgspec.DecodeError):
            answer = await self.client.get("/api/v1/meters")
            return _METERS.decode(answer.raise_for_status().content)
        return ()

    async def become_ready(self) -> None:
        """Wait until the service says that it is ready.

        Raises:
            UserError: the service ended, or did not become ready in time.
        """
        last = "no answer"
        try:
            async with asyncio.timeout(_READY_WITHIN_S):
                while True:
                    if self._process.returncode is not None:
                        await self.ended()
                    try:
                        answer = await self.client.get("/readyz")
                        if answer.is_success:
                            return
                        last = f"{answer.reason_phrase}: {answer.text[:400]}"
                    except httpx.HTTPError as error:
                        last = str(error)
                    await asyncio.sleep(_LOOK_EVERY_S)
        except TimeoutError:
            raise UserError(
                f"the service did not become ready: {last}; {last_words(self._log)}"
            ) from None


@asynccontextmanager
async def demo_service(
    floor_file: Path, log: Path, port: int, *, auto_floor_after_s: float | None
) -> AsyncIterator[DemoService]:
    """Run `pitlink serve` while the block runs, then stop it and wait until it has ended.

    The log file is replaced. A win waits `auto_floor_after_s` seconds for the simulated
    floorperson; with None, it waits for people.

    Raises:
        UserError: the port is in use.
    """
    check_port(port, "--port")
    options = ["--demo-people"]
    if auto_floor_after_s is not None:
        options += ["--auto-floor", "--auto-floor-after", str(auto_floor_after_s)]
    log.parent.mkdir(parents=True, exist_ok=True)
    # A proxy does not reach our loopback.
    async with httpx.AsyncClient(
        base_url=f"http://{LOOPBACK}:{port}", timeout=_ANSWER_WITHIN_S, trust_env=False
    ) as client:
        service = DemoService(floor_file, options, log, client)
        await service.start()
        try:
            yield service
        finally:
            await service.end()


async def audit(floor_file: Path) -> AuditReport:
    """Replay the ledger with `pitlink audit`.

    Raises:
        UserError: the audit failed or took too long.
    """
    process = await _pitlink(
        "audit", "--json", floor_file=floor_file, stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(_AUDIT_WITHIN_S):
            output, errors = await process.communicate()
        return _AUDIT.decode(output)
    except TimeoutError:
        raise UserError(f"the audit took longer than {_AUDIT_WITHIN_S:.0f} s") from None
    except msgspec.DecodeError:
        raise UserError(f"the audit failed: {errors.decode(errors='replace').strip()}") from None
    finally:
        await _end(process)


def last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
    return "\n  ".join([f"the end of {log}:", *lines])


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_STOP_WITHIN_S):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def check_port(port: int, option: str) -> None:
    """If a port on loopback cannot be used, raise `UserError` with the `option` that sets it."""
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError as error:
        reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used: {error}"
        raise UserError(f"port {port} {reason}; choose another with {option}") from None


async def _pitlink(
    *arguments: str, floor_file: Path, stdout: int | IO[bytes]
) -> asyncio.subprocess.Process:
    """Run pitlink in a new process. On Linux, `setpriv` ends it if the present process is killed.

    Standard error goes to the same place as standard output.
    """
    command = [*_PITLINK, *arguments, "--config", str(floor_file)]
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    if setpriv:
        command = [setpriv, "--pdeathsig", "TERM", *command]
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=stdout,
        stderr=stdout,
        # Ctrl-C must reach only the demonstration, which stops the service after its tables.
        start_new_session=True,
    )
