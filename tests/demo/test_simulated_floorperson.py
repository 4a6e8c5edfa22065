"""The simulated floorperson of a demonstration ends when the service does."""

import asyncio
from collections.abc import Sequence
from typing import cast

from meters.desk.claims import ClaimsDesk
from meters.desk.rows import ClaimRow
from meters.desk.simulated import validate_what_waits


class Deaf:
    """A desk that is read through a client which loses a cancellation, as one under load can."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def waiting(self) -> Sequence[ClaimRow]:
        """Nothing, and not before somebody wants the end of it."""
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return ()
        raise AssertionError


async def test_a_cancellation_that_the_client_loses_ends_it_all_the_same() -> None:
    desk = Deaf()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(validate_what_waits(cast("ClaimsDesk", desk), 0.0))
        await desk.asked.wait()
        task.cancel()
    assert task.done()
