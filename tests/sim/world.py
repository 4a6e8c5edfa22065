"""State that all parts of a run share: loop, randomness, weather, and the trace so far."""

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from tests.sim.loop import Process, VirtualLoop, current_process
from tests.sim.weather import Weather

TRACE_KEPT: Final = 20_000


class SimulationError(Exception):
    """A condition that must hold was violated; the run ends with this error."""


class World:
    """One run."""

    def __init__(self, seed: int, home: Path, loop: VirtualLoop) -> None:
        self.seed = seed
        self.home = home
        self.loop = loop
        self.weather = Weather(seed)
        self.trace: deque[str] = deque(maxlen=TRACE_KEPT)
        self.events = 0
        self._began_s = loop.time()
        self._digest = hashlib.sha256()
        self.failed: asyncio.Future[None] = loop.create_future()

    def chance(self, name: str) -> Random:
        return Random(f"{self.seed}/{name}")

    @property
    def now_s(self) -> float:
        return self.loop.time() - self._began_s

    @property
    def digest(self) -> str:
        """Digest of the whole trace: the same for the same seed."""
        return self._digest.hexdigest()[:16]

    def note(self, what: str) -> None:
        process = current_process()
        line = f"{self.now_s:9.3f} {process.name if process else '-':12} {what}"
        self.trace.append(line)
        self.events += 1
        self._digest.update(line.encode())

    def fail(self, why: str) -> None:
        """End the run because a condition that must hold was violated."""
        self.note(f"FAILED {why}")
        if not self.failed.done():
            self.failed.set_exception(SimulationError(why))
            self.loop.stop()

    async def crash(self, kind: str, kill: Callable[[], None]) -> None:
        """Possibly kill the current process here; if so, the call does not return."""
        if self.weather.strikes(kind):
            self.note(kind)
            kill()
            await self.loop.create_future()

    def process(self, name: str) -> Process:
        return Process(self.loop, name)
