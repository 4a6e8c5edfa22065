"""A link in operation. Only the broker is missing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from redis.exceptions import RedisError

from meters.audit.auditor import LinkAuditor
from meters.floor.facility import GamingDays
from meters.intake.batches import Arrival
from meters.selfcheck.software import SelfCheck
from meters.service.ledger_auditing import CarryOut
from meters.service.link_publisher import LinkPublisher
from meters.service.link_service import LinkService
from meters.service.pace import Pace
from meters.service.service_metrics import Metrics
from meters.store.floor_file_approval import Configuration
from meters.store.ledger_mark import LedgerMark
from meters.web.display_state import DisplayState
from meters.wire import topics
from meters.wire.messages import CONTROLLER_BEAT, METER_VALUE, ControllerBeat, MeterValue
from tests.approving import approve_never_approved
from tests.model.pit import Pit
from tests.servers import eventually_async

SOON: Final = Pace(
    check_every_s=0.02, answered_within_s=60.0, audit_every_s=0.02, audit_again_s=0.02
)
"""Heartbeats and audits many times a second.

On a busy machine Redis may answer late without being gone. The wait for Redis stays long, because
otherwise the link would stop and record that in its ledger."""


class Running:
    def __init__(
        self,
        pit: Pit,
        data: Path,
        *,
        adopts: bool = False,
        unfit: str | None = None,
        pace: Pace = SOON,
        carry_out: CarryOut | None = None,
    ) -> None:
        self.pit = pit
        self.data = data
        self.posted: list[tuple[str, bytes, bool]] = []
        self.self_check = SelfCheck(pit.floor)
        self.unfit = unfit
        self.displays = DisplayState()
        metrics = Metrics(pit.floor)
        self.service = LinkService(
            pit.store,
            LedgerMark(data, pit.link.id),
            LinkPublisher(pit.store, self.displays, metrics, self._post),
            metrics,
            days=GamingDays.of_facility(pit.floor.facility),
            configuration=Configuration(
                pit.floor, pit.store, opens_as="service" if adopts else None
            ),
            self_check=self.self_check,
            adopt=lambda _: None,
            ring=lambda: None,
            carry_out=carry_out or LinkAuditor(pit.store, data).carry_out,
            pace=pace,
        )

    @property
    def unfit(self) -> str | None:
        """Why the whole service may not operate."""
        return self.self_check.problem

    @unfit.setter
    def unfit(self, problem: str | None) -> None:
        self.self_check.problem = problem

    def _post(
        self, topic: str, payload: bytes, *, retain: bool = False, expires_s: int | None = None
    ) -> bool:
        self.posted.append((topic, payload, retain))
        return True

    async def take(self, table: str, payload: bytes) -> list[bytes]:
        """Have the service process an event; return its replies, none while inoperable."""
        outcome = await self.service.apply_batch([Arrival(self.pit.known[table], payload)])
        return [reply for _, reply in outcome.replies]

    async def comes_up(self) -> None:
        await eventually_async(
            lambda: self.service.problem is None and self.beat().state == "operable",
            what="an operable link",
        )

    async def goes_down(self, *said: str) -> str:
        """Wait until the link is inoperable for a reason and publishes it; return the reason."""

        def down() -> bool:
            reason = self.beat().reason
            return self.service.problem == reason and all(part in reason for part in said)

        await eventually_async(down, what=f"an inoperable link: {said}")
        assert self.beat().state == "inoperable"
        return self.beat().reason

    def beats(self) -> list[ControllerBeat]:
        return [*map(CONTROLLER_BEAT.decode, self._of(topics.controller(self.pit.link.id)))]

    def beat(self) -> ControllerBeat:
        return self.beats()[-1]

    async def looks_again(self) -> None:
        """Wait until the service has looked at Redis once more: a heartbeat follows each look."""
        beats = len(self.beats())
        # The look of the next heartbeat may have begun before.
        await eventually_async(lambda: len(self.beats()) >= beats + 2, what="another look at Redis")

    def meter(self, meter: str) -> MeterValue:
        return METER_VALUE.decode(self._of(topics.meter(self.pit.link.id, meter))[-1])

    def _of(self, topic: str) -> Sequence[bytes]:
        found = [payload for one, payload, _ in self.posted if one == topic]
        assert found, f"nothing was published on {topic} yet"
        return found


@asynccontextmanager
async def running(
    pit: Pit,
    data: Path,
    *,
    adopts: bool = False,
    unfit: str | None = None,
    approved: bool = True,
    pace: Pace = SOON,
    carry_out: CarryOut | None = None,
) -> AsyncIterator[Running]:
    """Yield the link in operation, with its ledger mark in `data`.

    With `adopts`, a changed floor file is adopted, as in a demonstration. `unfit` says why the
    whole service may not operate. `carry_out` is the auditor. People first approve a floor file
    that was never approved, but nobody approves a Redis that has lost what the mark in `data` has.
    """
    if approved and not adopts and not LedgerMark(data, pit.link.id).seen.entries:
        with contextlib.suppress(RedisError, OSError, ValueError):
            await approve_never_approved(Configuration(pit.floor, pit.store), pit.store)
    link = Running(pit, data, adopts=adopts, unfit=unfit, pace=pace, carry_out=carry_out)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(job) for job in link.service.jobs().values()]
        try:
            yield link
        finally:
            # The client library can lose a cancellation that coincides with an answer.
            while waiting := [task for task in tasks if not task.done()]:
                for task in waiting:
                    task.cancel()
                await asyncio.wait(waiting, timeout=0.1)


@asynccontextmanager
async def operating(
    pit: Pit,
    data: Path,
    *,
    adopts: bool = False,
    pace: Pace = SOON,
    carry_out: CarryOut | None = None,
) -> AsyncIterator[Running]:
    async with running(pit, data, adopts=adopts, pace=pace, carry_out=carry_out) as link:
        await link.comes_up()
        yield link
