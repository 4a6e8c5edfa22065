"""The batches of table events that a service applies now. Audits wait while there are any."""

import asyncio
from contextlib import suppress
from typing import Final

WAIT_MAX_S: Final = 0.005
"""Longest wait of an audit before its next entries, in seconds. So an audit goes on, slowly, even
if the tables keep the service busy all the time."""


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
