"""Signals of a command. SIGTERM ends every command, even if its parent process blocked SIGTERM.

A script that runs a command in the background makes the command ignore SIGINT. A supervisor can
start a command with blocked or ignored signals. Then neither Ctrl-C nor SIGTERM would have an
effect.
"""

import signal
from typing import Final

_HEARD: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


def hear_signals() -> None:
    """Restore the default handling of signals. Every command calls this first.

    After this call, SIGTERM ends a command immediately, unless the command handles SIGTERM to stop
    in order. If SIGINT was ignored, it stays ignored. A person who starts a command in the
    background does not want Ctrl-C to end it.
    """
    for number in (signal.SIGTERM, signal.SIGCHLD):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
