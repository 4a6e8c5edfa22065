"""Signals that stop what runs in an event loop in good order (see `meters.process.signals`)."""

import asyncio
import signal
from collections.abc import Callable, Sequence


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
