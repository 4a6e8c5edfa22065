"""An event loop whose time is made up, and processes in it that can be killed between two steps.

Nothing waits: when no callback is ready, time goes on to the next timer. Whatever reaches outside
(Redis, the disk) does so at once and blocks, so that a run depends on its seed alone.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Generator, Mapping
from concurrent.futures import Executor
from contextvars import Context, ContextVar, copy_context
from typing import Any, Final, Protocol, TypeVar, TypeVarTuple

_Ts = TypeVarTuple("_Ts")
_T = TypeVar("_T")
_BEGINS_S: Final = 1_000.0


class _Selector(selectors.SelectSelector):
    """Finds nothing ready ever, and lets time pass instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = _BEGINS_S

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("nothing will ever happen again")
        self.now_s += max(0.0, timeout)
        return []


class Disk(Protocol):
    """What carries out a process's blocking calls."""

    def call(self, work: Callable[[], object], done: "asyncio.Future[object]") -> None:
        """Carry out a call, now or later, and give what it returned or raised."""


class Process:
    """What lives and dies together: tasks, their timers, and whatever they started.

    Attributes:
        name: what the trace calls it.
        disk: what carries out its blocking calls.
        skew_s: how far its wall clock is off.
        died: done when it is dead.
    """

    def __init__(self, loop: "VirtualLoop", name: str, disk: Disk | None = None) -> None:
        self.name = name
        self.disk = disk
        self.skew_s = 0.0
        self.tasks: list[asyncio.Task[Any]] = []
        self._loop = loop
        self._context = copy_context()
        self._context.run(_PROCESS.set, self)
        self.died: asyncio.Future[None] = loop.create_future()

    @property
    def alive(self) -> bool:
        """Whether it has not been killed."""
        return not self.died.done()

    def spawn(self, work: Coroutine[Any, Any, _T]) -> "asyncio.Task[_T]":
        """Start a task in it."""
        return self._loop.create_task(work, context=self._context.copy())

    def kill(self) -> None:
        """End it at once: nothing of it runs any more, not even what would clean up."""
        if self.alive:
            self.died.set_result(None)
            self._loop.drop(self)


_PROCESS: Final[ContextVar[Process | None]] = ContextVar("process", default=None)


def current_process() -> Process | None:
    """The process whose code runs now, or None in what surrounds them all."""
    return _PROCESS.get()


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop. What belongs to a dead process is dropped when it is due."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)
        self._outside = Context()
        self._ready: Any
        self._scheduled: Any
        self.set_task_factory(_make_task)
        self.set_exception_handler(lambda _loop, _context: None)

    def time(self) -> float:
        """The time of this loop, in seconds."""
        return self._virtual.now_s

    def call_soon(
        self,
        callback: Callable[[*_Ts], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Call at the next turn, unless its process has died."""
        return _unless_dead(super().call_soon(callback, *args, context=context))

    def call_at(
        self,
        when: float,
        callback: Callable[[*_Ts], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call at a time, unless its process has died."""
        handle = super().call_at(when, callback, *args, context=context)
        _unless_dead(handle)
        return handle

    def outside(self, delay_s: float, callback: Callable[[*_Ts], object], *args: *_Ts) -> None:
        """Call after a time on behalf of no process: the network, a fault, a person."""
        self.call_at(self.time() + delay_s, callback, *args, context=self._outside.copy())

    def drop(self, process: Process) -> None:
        """Drop all that a dead process has in hand."""
        for handle in (*self._ready, *self._scheduled):
            _unless_dead(handle)
        assert not process.alive

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*_Ts], _T], *args: *_Ts
    ) -> "asyncio.Future[_T]":
        """Have the process's disk carry it out, in this very thread."""
        process = current_process()
        if process is None or process.disk is None:
            raise RuntimeError(f"{func} is called where there is no disk")
        done: asyncio.Future[Any] = self.create_future()
        process.disk.call(lambda: func(*args), done)
        return done


def _unless_dead(handle: asyncio.Handle) -> asyncio.Handle:
    context: Mapping[ContextVar[Process | None], Process | None] = handle._context  # type: ignore[attr-defined]
    process = context.get(_PROCESS)
    if process is not None and not process.alive:
        handle.cancel()
    return handle


def _make_task(
    loop: asyncio.AbstractEventLoop,
    work: Coroutine[Any, Any, _T] | Generator[Any, None, _T],
    context: Context | None = None,
) -> "asyncio.Task[_T]":
    """A task that its process keeps, dead or alive: what was killed must not be cleaned up."""
    task = asyncio.Task(work, loop=loop, context=context)
    process = (context or copy_context()).get(_PROCESS)
    if process is not None:
        process.tasks.append(task)
    return task
