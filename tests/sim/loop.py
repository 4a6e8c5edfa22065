"""Event loop with simulated time, and processes in it that can be killed between two steps.

Nothing waits: when no callback is ready, time advances to the next timer. Code that reaches outside
(Redis, the disk) does so synchronously, so a run depends only on its seed.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor
from contextvars import Context, ContextVar, copy_context
from typing import Any, Final, Protocol, TypeVar, TypeVarTuple

_Ts = TypeVarTuple("_Ts")
_T = TypeVar("_T")
_BEGINS_S: Final = 1_000.0


class Disk(Protocol):
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


class _Pauses(selectors.SelectSelector):
    """Selector of a loop in which nothing is waited for: time passes instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = _BEGINS_S

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("nothing will ever happen again")
        self.now_s += max(0.0, timeout)
        return []


def _while_alive(callback: Callable[[*_Ts], object], *args: *_Ts) -> None:
    process = _PROCESS.get()
    if process is None or process.alive:
        callback(*args)


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop. Callbacks of a dead process are dropped when they are due."""

    def __init__(self) -> None:
        self._pauses = _Pauses()
        super().__init__(self._pauses)
        self._outside = Context()

    def time(self) -> float:
        return self._pauses.now_s

    def call_soon(
        self, callback: Callable[[*_Ts], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        return super().call_soon(_while_alive, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*_Ts], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return super().call_at(when, _while_alive, callback, *args, context=context)

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

    def outside(self, delay_s: float, callback: Callable[[*_Ts], object], *args: *_Ts) -> None:
        """Call after a time for the network, a fault or a person, which belong to no process."""
        self.call_at(self.time() + delay_s, callback, *args, context=self._outside.copy())

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*_Ts], _T], *args: *_Ts
    ) -> "asyncio.Future[_T]":
        process = current_process()
        if process is None or process.disk is None:
            raise RuntimeError(f"{func} is called where there is no disk")
        done: asyncio.Future[Any] = self.create_future()
        process.disk.call(lambda: func(*args), done)
        return done
