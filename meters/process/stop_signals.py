"""Signals that stop what runs in an event loop in good order (see `meters.process.signals`)."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

_Found = TypeVar("_Found")


def on_stop(
    stop: Callable[[], object], numbers: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM)
) -> None:
    """Have the signals that stop a command call something in the event loop that runs."""
    loop = asyncio.get_running_loop()
    for number in numbers:
        loop.add_signal_handler(number, stop)


def interrupt() -> None:
    """Interrupt what runs in the event loop, after all, as a first Ctrl-C does by default."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.remove_signal_handler(number)
    signal.raise_signal(signal.SIGINT)


def run_until_stopped(work: Coroutine[Any, Any, _Found]) -> _Found:
    """Run something to its end; SIGTERM ends it as Ctrl-C does, also where SIGINT is ignored.

    Raises:
        KeyboardInterrupt: it was stopped, and has ended all that it started.
    """

    async def watched() -> _Found:
        task = asyncio.current_task()
        stopped = False

        def stop() -> None:
            nonlocal stopped
            stopped = True
            if task is not None:
                task.cancel()

        on_stop(stop, [signal.SIGTERM])
        try:
            return await work
        except asyncio.CancelledError:
            if stopped:
                raise KeyboardInterrupt from None
            raise

    return asyncio.run(watched())
