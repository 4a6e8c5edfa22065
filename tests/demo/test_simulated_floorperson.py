"""The simulated floorperson of a demonstration ends when the service does."""

import asyncio
from collections.abc import Sequence
from typing import cast

from structlog.testing import capture_logs

from meters.claims.claims import Claims
from meters.claims.correction_requests import Asks
from meters.claims.simulated_floorperson import validate_what_waits
from meters.floor_api.errors import ActError
from meters.floor_api.types import AskRow, ClaimRow

OFTEN = 12


class Deaf:
    """Claims whose client loses a cancellation, as one under load can."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def waiting(self) -> Sequence[ClaimRow]:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return ()
        raise AssertionError

    async def asks(self) -> Sequence[AskRow]:
        return ()


async def test_a_cancellation_that_the_client_loses_ends_it_all_the_same() -> None:
    claims = Deaf()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(
            validate_what_waits(cast("Claims", claims), cast("Asks", claims), 0.0)
        )
        await claims.asked.wait()
        task.cancel()
    assert task.done()


class Shut:
    def __init__(self) -> None:
        self.asked = 0
        self.enough = asyncio.Event()

    async def waiting(self) -> Sequence[ClaimRow]:
        self.asked += 1
        if self.asked == OFTEN:
            self.enough.set()
        raise ActError("inoperable", "Redis does not answer")


async def test_an_unreachable_store_is_reported_a_few_times_and_not_at_every_check() -> None:
    claims = Shut()
    with capture_logs() as logs:
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            task = group.create_task(
                validate_what_waits(cast("Claims", claims), cast("Asks", claims), 0.0)
            )
            await claims.enough.wait()
            task.cancel()
    warnings = [each for each in logs if each["event"] == "claims not read"]
    assert 0 < len(warnings) < OFTEN
