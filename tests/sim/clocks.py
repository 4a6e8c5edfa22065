"""Time and randomness of the production code, put under the control of a run.

A run also reads the program files once for all services.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from functools import cache
from random import Random
from typing import Any, Final

import pytest

import meters.acts.links
import meters.intake.bonus_draws
import meters.process.clock
import meters.selfcheck.software
import meters.service.link_outages
import meters.service.link_publisher
import meters.service.publishing_turn
import meters.store.hidden_value_seal
import meters.wire.broker_client
from controllers.agent.link_reception import MeterValues
from meters.process.logs import ThrottledLog
from meters.selfcheck.software import read_software
from meters.web.display_state import DisplayState
from tests.model.model_floor import Chance
from tests.sim.loop import current_process
from tests.sim.world import World

read_program_files: Final = cache(read_software)
"""Reads the program files once for all services. If called before a fork, also for all seeds."""
_EPOCH_S: Final = datetime(2026, 11, 20, tzinfo=UTC).timestamp()


class _WallClock:
    """Wall clock of the process that calls it: each process may have its own."""

    def __init__(self, world: World) -> None:
        self._world = world

    def time(self) -> float:
        process = current_process()
        return _EPOCH_S + self._world.now_s + (process.skew_s if process else 0.0)

    def now(self, zone: tzinfo) -> datetime:
        return datetime.fromtimestamp(self.time(), zone)

    @staticmethod
    def fromisoformat(text: str) -> datetime:
        return datetime.fromisoformat(text)


class _Tokens:
    def __init__(self, chance: Random) -> None:
        self._chance = chance

    def token_hex(self, size: int) -> str:
        return self._chance.randbytes(size).hex()


class _Near(_Tokens):
    """Hidden values that a few rounds reach, and the secret that seals them."""

    def randbelow(self, most: int) -> int:
        return self._chance.randrange(min(most, 8_000_000))

    def token_bytes(self, size: int) -> bytes:
        return self._chance.randbytes(size)

    token_urlsafe = _Tokens.token_hex


@contextmanager
def under_control(world: World) -> Iterator[None]:
    clock: Any = _WallClock(world)
    loop = world.loop
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meters.process.clock, "datetime", clock)
        patch.setattr(meters.service.link_publisher, "time", clock)
        patch.setattr(meters.intake.bonus_draws, "secrets", Chance(world.seed))
        patch.setattr(meters.acts.links, "secrets", _Tokens(world.chance("names")))
        patch.setattr(meters.service.link_outages, "secrets", _Tokens(world.chance("outages")))
        near = _Near(world.chance("hidden values"))
        patch.setattr(meters.store.hidden_value_seal, "secrets", near)
        patch.setattr(meters.service.link_publisher, "datetime", clock)
        patch.setattr(meters.selfcheck.software, "read_software", read_program_files)
        patch.setattr(meters.service.publishing_turn, "_jitter", world.chance("meter topics"))
        patch.setattr(meters.wire.broker_client, "_jitter", world.chance("broker client"))
        patch.setattr(MeterValues.__init__, "__kwdefaults__", {"clock_s": loop.time})
        patch.setattr(DisplayState.__init__, "__defaults__", (loop.time,))
        patch.setattr(ThrottledLog.__init__, "__defaults__", (loop.time,))
        yield
