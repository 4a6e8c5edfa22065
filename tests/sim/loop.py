"""Event loop with simulated time, and processes in it that can be killed between two steps.

Nothing waits: when no callback is ready, time advances to the next timer. Code that reaches outside
(Redis, the disk) does so synchronously, so a run depends only on its seed.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Mapping
from concurrent.futures import Executor
from contextvars import Context, ContextVar, copy_context
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final, Protocol, TypeVar, TypeVarTuple

_Ts = TypeVarTuple("_Ts")
_T = TypeVar("_T")
_BEGINS_S: Final = 1_000.0


class Disk(Protocol):
    """Executor of a process's blocking calls."""

    def call(self, work: Callable[[], object], done: "asyncio.Future[object]") -> None:
        """Run a call, now or later, and return or raise what it did."""


class Process:
    """Simulated process: tasks, their timers and everything they started live and die together.

    Attributes:
        name: its name in the trace.
        disk: runs its blocking calls.
        skew_s: error of its wall clock, in seconds.
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
        """True until it is killed."""
        return not self.died.done()

    def spawn(self, work: Coroutine[Any, Any, _T]) -> "asyncio.Task[_T]":
        """Start a task in it."""
        return self._loop.create_task(work, context=self._context.copy())

    def kill(self) -> None:
        """Kill it: nothing of it runs any more, not even cleanup code."""
        if self.alive:
            self.died.set_result(None)
            self._loop.drop(self)


_PROCESS: Final[ContextVar[Process | None]] = ContextVar("process", default=None)


def current_process() -> Process | None:
    """Return the process whose code runs now, or None outside all of them."""
    return _PROCESS.get()


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop. Callbacks of a dead process are dropped when they are due.

    It has its own timers and turns because those of asyncio watch sockets, and a run spends most of
    its time on them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._now_s = _BEGINS_S
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._numbers = count()
        self._outside = Context()
        self._ready: Any
        self._stopping: bool
        self.set_task_factory(_make_task)
        self.set_exception_handler(lambda _loop, _context: None)

    def time(self) -> float:
        """Return the time of this loop, in seconds."""
        return self._now_s

    def call_soon(
        self,
        callback: Callable[[*_Ts], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Call at the next turn, unless its process has died."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return _unless_dead(handle)

    def call_at(
        self,
        when: float,
        callback: Callable[[*_Ts], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call at a time, unless its process has died."""
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heappush(self._timers, (when, next(self._numbers), handle))
        _unless_dead(handle)
        return handle

    def _run_once(self) -> None:
        """Run one turn: everything that is ready now, otherwise what is due next."""
        timers, ready = self._timers, self._ready
        if not ready and not self._stopping:
            while timers and timers[0][2].cancelled():
                heappop(timers)
            if not timers:
                raise RuntimeError("nothing will ever happen again")
            self._now_s = max(self._now_s, timers[0][0])
        while timers and timers[0][0] <= self._now_s:
            ready.append(heappop(timers)[2])
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle.cancelled():
                handle._run()

    def _timer_handle_cancelled(self, _handle: asyncio.TimerHandle) -> None:
        """Do nothing: a canceled timer is dropped when it is due."""

    def outside(self, delay_s: float, callback: Callable[[*_Ts], object], *args: *_Ts) -> None:
        """Call after a time for the network, a fault or a person, which belong to no process."""
        self.call_at(self.time() + delay_s, callback, *args, context=self._outside.copy())

    def drop(self, process: Process) -> None:
        """Drop all tasks and callbacks of a dead process."""
        for handle in (*self._ready, *(timer for _, _, timer in self._timers)):
            _unless_dead(handle)
        assert not process.alive

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*_Ts], _T], *args: *_Ts
    ) -> "asyncio.Future[_T]":
        """Have the process's disk run the call, in this same thread."""
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
    """Create a task that its process keeps, dead or alive: killed code must not be cleaned up."""
    task = asyncio.Task(work, loop=loop, context=context)
    process = (context or copy_context()).get(_PROCESS)
    if process is not None:
        process.tasks.append(task)
    return task
