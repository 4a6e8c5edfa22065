"""State that all parts of a run share: loop, randomness, weather, and the trace so far.

The weather is the kinds of faults in a run and how often each occurs, drawn from the seed.
"""

import asyncio
import hashlib
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from tests.sim.loop import VirtualLoop, current_process

TRACE_KEPT: Final = 20_000
PER_MESSAGE: Final = {
    "message lost": 0.08,
    "message doubled": 0.1,
    "message late": 0.1,
    "publish fails": 0.05,
    "copies in a batch": 0.15,
    "altered in a batch": 0.1,
}
PER_COMMAND: Final = {
    "redis cut before": 0.01,
    "redis cut after": 0.02,
    "redis stalls": 0.006,
    "service killed before": 0.004,
    "service killed after": 0.008,
}
PER_WRITE: Final = {"disk full": 0.02, "agent killed before": 0.01, "agent killed after": 0.015}
PER_SECOND: Final = {
    "service killed": 0.03,
    "service stopped": 0.03,
    "agent killed": 0.05,
    "agent stopped": 0.03,
    "connection cut": 0.08,
    "connection silent": 0.04,
    "broker down": 0.02,
    "redis down": 0.015,
    "redis full": 0.02,
    "redis refuses writes": 0.02,
    "clock set": 0.06,
}
PER_ORDER: Final = {"auditor killed": 0.02, "auditor late": 0.02, "auditor lies": 0.02}
PER_DEATH: Final = {"power lost": 0.4, "outbox write lost": 0.15}
KINDS: Final = {**PER_MESSAGE, **PER_COMMAND, **PER_WRITE, **PER_SECOND, **PER_ORDER, **PER_DEATH}
_ABSENT: Final = 0.35


class Weather:
    """The faults of one run.

    Each kind is off in a third of the runs and has a random rate in the others. If every fault were
    always on, no run would show what happens after a long calm.
    """

    def __init__(self, seed: int) -> None:
        self._chance = Random(f"{seed}/weather")
        self.calm = False
        self.faults: Counter[str] = Counter()
        self._rates = {
            kind: 0.0 if self._chance.random() < _ABSENT else rate * self._chance.uniform(0.2, 2.0)
            for kind, rate in KINDS.items()
        }

    def strikes(self, kind: str) -> bool:
        """Return whether a fault of a kind occurs now; if so, count it."""
        if self._chance.random() >= self._rates[kind] or self.calm:
            return False
        self.faults[kind] += 1
        return True


class SimulationError(Exception):
    """A condition that must hold was violated; the run ends with this error."""


class World:
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
        return self._digest.hexdigest()[:16]

    def note(self, what: str) -> None:
        process = current_process()
        line = f"{self.now_s:9.3f} {process.name if process else '-':12} {what}"
        self.trace.append(line)
        self.events += 1
        self._digest.update(line.encode())

    def fail(self, why: str) -> None:
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
