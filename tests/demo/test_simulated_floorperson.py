"""The simulated floorperson of a demonstration ends when the service does."""

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest
from structlog.testing import capture_logs

from meters.acts.act_refusals import ActError
from meters.acts.claim_types import AskRow, ClaimRow
from meters.acts.claims import Claims
from meters.acts.correction_decisions import Asks
from meters.acts.simulated_floorperson import validate_what_waits

OFTEN = 12


class Unreadable:
    """Claims of a store that cannot be reached, or whose client loses a cancellation under load."""

    def __init__(self, *, deaf: bool) -> None:
        self._deaf = deaf
        self._asked = 0
        self.enough = asyncio.Event()

    async def waiting(self) -> Sequence[ClaimRow]:
        self._asked += 1
        if self._deaf or self._asked == OFTEN:
            self.enough.set()
        if self._deaf:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return ()
        raise ActError("inoperable", "Redis does not answer")

    async def asks(self) -> Sequence[AskRow]:
        return ()


@pytest.mark.parametrize("deaf", [True, False])
async def test_it_ends_and_reports_an_unreachable_store_a_few_times(*, deaf: bool) -> None:
    claims = Unreadable(deaf=deaf)
    with capture_logs() as logs:
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            task = group.create_task(
                validate_what_waits(cast("Claims", claims), cast("Asks", claims), 0.0)
            )
            await claims.enough.wait()
            task.cancel()
    assert task.done()
    warnings = [each for each in logs if each["event"] == "claims not read"]
    assert len(warnings) < OFTEN
    assert bool(warnings) is not deaf
