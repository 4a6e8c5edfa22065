"""Tasks that go on after their caller has ended, such as a read for a page that was closed."""

import asyncio
from collections.abc import Coroutine
from typing import Final, Self, TypeVar

import structlog

from meters.process.logs import ThrottledLog

log = structlog.get_logger()

_END_WITHIN_S: Final = 2.0
_T = TypeVar("_T")


class OwnedTasks:
    """Owner of tasks. When the owner ends, it cancels the tasks, and waits a short time for them.

    If a task fails, the failure is logged, even if nobody waits for the task.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()
        self._failed = ThrottledLog()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_END_WITHIN_S)

    def start(self, work: Coroutine[None, None, _T], name: str) -> asyncio.Task[_T]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        name = task.get_name()
        if (more := self._failed.due(name)) is not None:
            log.warning("background task failed", task=name, reason=str(error), kept_back=more)
