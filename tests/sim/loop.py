"""Event loop with simulated time, and processes in it that can be killed between two steps.

Nothing waits: when no callback is ready, time advances to the next timer. Code that reaches outside
(Redis, the disk) does so synchronously, so a run depends only on its seed.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Generator
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
    """Simulated process: tasks, their timers and everything they started live and die together."""

    def __init__(self, loop: "VirtualLoop", name: str, disk: Disk | None = None) -> None:
        self.name = name
        self.disk = disk
        self.skew_s = 0.0
        self.tasks: list[asyncio.Task[Any]] = []
        self._loop = loop
        self._context = copy_context()
        self._context.run(_PROCESS.set, self)
        self.alive = True
        self.died: asyncio.Future[None] = loop.create_future()

    def spawn(self, work: Coroutine[Any, Any, _T]) -> "asyncio.Task[_T]":
        return self._loop.create_task(work, context=self._context.copy())

    def again(self, disk: Disk) -> "Process":
        """Return the process that starts after this one, with the same wall clock."""
        made = Process(self._loop, self.name, disk)
        made.skew_s = self.skew_s
        return made

    def kill(self) -> None:
        """Kill it: nothing of it runs any more, not even cleanup code."""
        if self.alive:
            self.alive = False
            self.died.set_result(None)


_PROCESS: Final[ContextVar[Process | None]] = ContextVar("process", default=None)


def current_process() -> Process | None:
    return _PROCESS.get()


class _Handle(asyncio.TimerHandle):
    """Callback that the loop calls once, unless it is canceled or its process is dead."""

    __slots__ = ()

    def __init__(self, callback: Any, args: tuple[Any, ...], context: Context | None) -> None:  # noqa: ANN401
        self._callback = callback
        self._args = args
        self._context = copy_context() if context is None else context
        self._cancelled = False
        self._repr = self._source_traceback = None

    def cancel(self) -> None:
        self._cancelled = True


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop. Callbacks of a dead process are dropped when they are due.

    It has its own timers, handles and turns because those of asyncio watch sockets and can be
    debugged, and a run spends most of its time on them.
    """

    get_debug: Any = staticmethod(bool)
    """A function in C that returns False: each new future calls it."""

    def __init__(self) -> None:
        super().__init__()
        self._now_s = _BEGINS_S
        self._timers: list[tuple[float, int, _Handle]] = []
        self._numbers = count()
        self._outside = Context()
        self._ready: deque[_Handle]
        self._stopping: bool

    def time(self) -> float:
        return self._now_s

    def call_soon(
        self,
        callback: Callable[[*_Ts], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        handle = _Handle(callback, args, context)
        self._ready.append(handle)
        return handle

    def call_at(
        self,
        when: float,
        callback: Callable[[*_Ts], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        handle = _Handle(callback, args, context)
        heappush(self._timers, (when, next(self._numbers), handle))
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[[*_Ts], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now_s + delay, callback, *args, context=context)

    def create_task(
        self,
        coro: Coroutine[Any, Any, _T] | Generator[Any, None, _T],
        *,
        name: object = None,
        context: Context | None = None,
    ) -> asyncio.Task[_T]:
        """Create a task that its process keeps even after its end: dead code is not cleaned up."""
        task = asyncio.Task(coro, loop=self, name=name, context=context)  # type: ignore[arg-type]
        process = _PROCESS.get() if context is None else context.get(_PROCESS)
        if process is not None:
            process.tasks.append(task)
        return task

    def call_exception_handler(self, context: Any) -> None:  # noqa: ANN401
        """Do nothing: killed code leaves many errors."""

    def _run_once(self) -> None:
        """Run turns until the loop stops: what is ready now, otherwise what is due next."""
        timers, ready = self._timers, self._ready
        while True:
            if not ready and not self._stopping:
                while timers and _is_dropped(timers[0][2]):
                    heappop(timers)
                if not timers:
                    raise RuntimeError("nothing will ever happen again")
                self._now_s = max(self._now_s, timers[0][0])
            while timers and timers[0][0] <= self._now_s:
                ready.append(heappop(timers)[2])
            for _ in range(len(ready)):
                handle = ready.popleft()
                if not _is_dropped(handle):
                    try:
                        handle._context.run(handle._callback, *handle._args)
                    except (SystemExit, KeyboardInterrupt):
                        raise
                    except BaseException:  # noqa: S110  (killed code leaves many errors)
                        pass
            if self._stopping:
                return

    def outside(self, delay_s: float, callback: Callable[[*_Ts], object], *args: *_Ts) -> None:
        """Call after a time for the network, a fault or a person, which belong to no process."""
        self.call_at(self.time() + delay_s, callback, *args, context=self._outside.copy())

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


def _is_dropped(handle: _Handle) -> bool:
    """Return whether a callback was canceled or belongs to a dead process."""
    if handle._cancelled:
        return True
    process = handle._context.get(_PROCESS)
    return process is not None and not process.alive
