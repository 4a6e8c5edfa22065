"""Signals of a command. SIGTERM ends every command, even if its parent process blocked SIGTERM.

The program that starts a command decides which signals the command blocks or ignores at first. For
example, a script that runs a command in the background makes the command ignore SIGINT. Without
this module, a command that starts with blocked signals would not end on Ctrl-C or SIGTERM.
"""

import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import wait
from typing import Final

_HEARD: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


def hear_signals() -> None:
    """Restore the default handling of signals. Every command calls this first.

    After this call, SIGTERM ends a command immediately, unless the command has its own handler for
    SIGTERM. If SIGINT was ignored, it stays ignored, because a person who starts a command in the
    background does not want Ctrl-C to end it.
    """
    for number in (signal.SIGTERM, signal.SIGCHLD):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)


def begin_worker_process() -> None:
    """Leave Ctrl-C to the parent process, and end when it ends, even if it is killed.

    Each process of a process pool calls this first.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os._exit(1)
