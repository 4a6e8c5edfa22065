"""Signals of a command. SIGTERM ends every command, even if its parent process blocked SIGTERM.

A command inherits from its parent which signals are blocked or ignored. For example, a shell script
makes a command in the background ignore SIGINT.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Final

_HEARD: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


def hear_signals() -> None:
    """Restore the default handling of signals. Every command calls this first.

    Then SIGTERM ends a command immediately, unless the command handles SIGTERM. If SIGINT was
    ignored, it stays ignored: Ctrl-C must not end a command in the background.
    """
    for number in (signal.SIGTERM, signal.SIGCHLD):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)


def begin_worker_process() -> None:
    """Ignore Ctrl-C, and end when the parent ends. Each process of a pool calls this first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def leave_stops_to_parent() -> None:
    """Ignore Ctrl-C and SIGTERM, which a terminal and systemd also send to children.

    While the parent stops, this process must still run. Then the parent ends this process.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def on_stop(
    stop: Callable[[], object], numbers: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM)
) -> None:
    """Call `stop` in the running event loop when one of the signals arrives."""
    import asyncio  # noqa: PLC0415  (a command without an event loop starts faster)

    loop = asyncio.get_running_loop()
    for number in numbers:
        loop.add_signal_handler(number, stop)


def interrupt() -> None:
    """Interrupt the running event loop, as the first Ctrl-C does by default."""
    import asyncio  # noqa: PLC0415

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.remove_signal_handler(number)
    signal.raise_signal(signal.SIGINT)
