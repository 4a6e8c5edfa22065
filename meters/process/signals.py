"""Signals of a command: SIGTERM ends every one, whatever the process inherited.

A script that runs a command in the background has it ignore SIGINT; a supervisor may start it with
signals blocked or ignored. Then neither Ctrl-C nor SIGTERM would reach it.
"""

import signal
from typing import Final

_HEARD: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


def hear_signals() -> None:
    """Have signals reach this process as by default; every command begins with it.

    SIGTERM then ends it at once, unless the command stops in good order by itself. An ignored
    SIGINT stays ignored: who started it in the background does not want Ctrl-C to end it.
    """
    for number in (signal.SIGTERM, signal.SIGCHLD):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
