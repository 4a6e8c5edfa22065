"""Signals that make an event loop finish its work and stop (see `meters.process.signals`)."""

import asyncio
import signal
from collections.abc import Callable, Sequence


def on_stop(
    stop: Callable[[], object], numbers: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM)
) -> None:
    loop = asyncio.get_running_loop()
    for number in numbers:
        loop.add_signal_handler(number, stop)


def interrupt() -> None:
    """Interrupt the running event loop, as the first Ctrl-C does by default."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.remove_signal_handler(number)
    signal.raise_signal(signal.SIGINT)
