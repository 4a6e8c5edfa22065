"""Signals of a command: SIGTERM ends every command, whatever the process inherited.

A script that runs a command in the background makes it ignore SIGINT. A supervisor may start it
with blocked or ignored signals. Then neither Ctrl-C nor SIGTERM would have an effect.
"""

import signal
from typing import Final

_HEARD: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


def hear_signals() -> None:
    """Restore the default delivery of signals; every command begins with it.

    SIGTERM then ends the command immediately, unless the command stops in order by itself. An
    ignored SIGINT stays ignored: the person who started it in the background does not want Ctrl-C
    to end it.
    """
    for number in (signal.SIGTERM, signal.SIGCHLD):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
