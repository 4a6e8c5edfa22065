"""Faults of a chaos run, drawn from a seed alone: the same seed is the same plan."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["kill", "kill twice", "freeze", "cut", "hold"]
"""Kinds of faults: SIGKILL and a restart; the same, and again before the process is up; SIGSTOP and
SIGCONT; every connection between tables and broker broken and refused for a time; every connection
open but blocked for a time."""

SERVICES: Final = ("service-1", "service-2")
WIRE: Final = "wire"
AUDITORS: Final = ("auditor-1", "auditor-2")
"""The auditor of each service: the service starts another one."""
CENTRAL: Final = ("redis", "broker", *SERVICES)

_PAUSE_S: Final = (0.2, 4.0)
_DOWN_S: Final = (0.0, 4.0)
_SHORT_S: Final = (0.05, 1.5)
_LONG_S: Final = (4.0, 18.0)
"""Range of lengths in seconds. All exceed the heartbeat's timeout, and many exceed a connection's
keep-alive, so the part seems dead."""
_LONG_PART: Final = 0.3


@dataclass(frozen=True, slots=True)
class Fault:
    target: str
    kind: Kind
    lasts_s: float
    again_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Blow:
    """Faults that begin together, some time after the blow before is over."""

    pause_s: float
    faults: tuple[Fault, ...]


def blows(seed: int, tables: tuple[str, ...]) -> Iterator[Blow]:
    rng = random.Random(f"chaos {seed}")
    last: tuple[str, ...] = ()
    while True:
        targets = _targets(rng, tables, last)
        last = targets
        yield Blow(rng.uniform(*_PAUSE_S), tuple(_fault(rng, target) for target in targets))


def _targets(rng: random.Random, tables: tuple[str, ...], last: tuple[str, ...]) -> tuple[str, ...]:
    """Draw one part, two together, the same as before, some tables, or all central parts."""
    drawn = rng.random()
    if drawn < 0.1 and last:
        return last
    if drawn < 0.45:
        return (rng.choice((*CENTRAL, *AUDITORS, WIRE)),)
    if drawn < 0.65:
        return tuple(rng.sample((*CENTRAL, *AUDITORS, WIRE), 2))
    if drawn < 0.7:
        return CENTRAL
    if drawn < 0.8:
        return (rng.choice(CENTRAL), rng.choice(tables))
    return tuple(rng.sample(tables, min(len(tables), rng.randint(1, 3))))


def _fault(rng: random.Random, target: str) -> Fault:
    lasts_s = rng.uniform(*(_LONG_S if rng.random() < _LONG_PART else _SHORT_S))
    if target == WIRE:
        return Fault(target, rng.choice(("cut", "hold")), lasts_s)
    drawn = rng.random()
    if drawn < 0.45:
        return Fault(target, "freeze", lasts_s)
    down_s = rng.uniform(*_DOWN_S)
    if drawn < 0.85:
        return Fault(target, "kill", down_s)
    return Fault(target, "kill twice", down_s, rng.uniform(0.0, 1.0))
