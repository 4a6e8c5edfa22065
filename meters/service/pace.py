"""How often a service checks and audits, and how its audits wait for the tables' events."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a service checks and audits.

    Attributes:
        check_every_s: between two checks of a link, and between two heartbeats.
        answered_within_s: if Redis does not answer for this time, it has failed. Displays report
            the failure later.
        audit_every_s: between two audits of a ledger, and of the operators' log.
        audit_again_s: between an audit that Redis interrupted and the next attempt.
        audited_again: the number of entries that each audit reads again although an earlier audit
            found them correct. So every audit causes the same load.
        checkpoint_every: the number of new entries after which an audit writes its checkpoint
            again. A start replays about this number of entries, and the entries of the last minute.
        behind_max: if an audit has at least this number of entries to read, it no longer waits for
            the tables' events. After a failure, these entries keep the link inoperable for about
            ten seconds.
        slice_s: how long an audit that is `behind_max` entries behind runs before other tasks run.
            If it is further behind, it runs longer, up to `slice_max_s`, so that it catches up.
        mark_every_s: between two writes of the mark of the operators' log.
    """

    check_every_s: float = 1.0
    answered_within_s: float = 2.0
    audit_every_s: float = 60.0
    audit_again_s: float = 1.0
    audited_again: int = 1_000
    checkpoint_every: int = 5_000
    behind_max: int = 300_000
    slice_s: float = 0.005
    slice_max_s: float = 0.02
    mark_every_s: float = 1.0


USUAL = Pace()

WAIT_MAX_S: Final = 0.005
"""Longest wait of an audit before its next entries, even if the tables never pause."""


class BatchesInWork:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._none = asyncio.Event()
        self._none.set()

    def add(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        self._none.clear()
        task.add_done_callback(self._remove)

    def _remove(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks:
            self._none.set()

    @property
    def none(self) -> bool:
        return not self._tasks

    async def give_way(self) -> None:
        """Let other tasks run, and wait until no batch is in work, for at most `WAIT_MAX_S`."""
        await asyncio.sleep(0)
        if self._tasks:
            with suppress(TimeoutError):
                async with asyncio.timeout(WAIT_MAX_S):
                    await self._none.wait()
