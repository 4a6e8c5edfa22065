"""Program that keeps an embedded server running while any process uses the server.

Each process that uses the server has a shared lock on the file `users.lock` in the server's home
directory. When the process ends or is killed, the kernel releases the lock. If the supervisor can
lock the file exclusively, no process uses the server, and the supervisor ends the server and
itself. A server that ends while processes use it is started again.

Run it as ``python -m meters.embedded.supervisor HOME COMMAND...``. The server writes to the output
of the supervisor.
"""

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

SUPERVISOR_LOCK: Final = "keeper.lock"
USERS_LOCK: Final = "users.lock"

_LOOK_EVERY_S: Final = 0.05
_STOP_WITHIN_S: Final = 20.0
_FAILED_START_S: Final = 2.0
"""A server whose first run ends by itself within this time cannot run here."""
_BACK_OFF_FIRST_S: Final = 0.2
_BACK_OFF_LONGEST_S: Final = 5.0
_PR_SET_PDEATHSIG: Final = 1


def try_lock(path: Path, operation: int) -> IO[bytes] | None:
    """Lock a file (``LOCK_SH`` or ``LOCK_EX``) until it is closed; None if it is already locked."""
    file = path.open("ab")
    try:
        fcntl.flock(file, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def main(arguments: Sequence[str]) -> int:
    """Run the server until nobody uses it, or until its start fails. Return the exit status."""
    home, *command = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    lock = try_lock(Path(home, SUPERVISOR_LOCK), fcntl.LOCK_EX)
    if lock is None:
        return 0
    status, alone = _keep(Path(home), command)
    # The supervisor's lock is released first. So a process that can lock `users.lock` knows that
    # no supervisor runs.
    lock.close()
    if alone is not None:
        alone.close()
    return status


def _keep(home: Path, command: Sequence[str]) -> tuple[int, IO[bytes] | None]:
    """Run the server until nobody uses it. Return 0 and the exclusive lock of `users.lock`.

    If the server cannot start, return its exit status and None.
    """
    part = _start(command)
    begun = time.monotonic()
    back_off_s = _BACK_OFF_FIRST_S
    first = True
    while True:
        if (alone := try_lock(home / USERS_LOCK, fcntl.LOCK_EX)) is not None:
            _stop(part)
            return 0, alone
        if part.poll() is not None:
            lasted_s = time.monotonic() - begun
            # A negative status is a signal: somebody killed the server; it did not fail by itself.
            if first and lasted_s < _FAILED_START_S and part.returncode >= 0:
                return part.returncode or 1, None
            first = False
            back_off_s = (
                _BACK_OFF_FIRST_S
                if lasted_s > _BACK_OFF_LONGEST_S
                else min(back_off_s * 2, _BACK_OFF_LONGEST_S)
            )
            time.sleep(back_off_s)
            part, begun = _start(command), time.monotonic()
        time.sleep(_LOOK_EVERY_S)


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=_end_with_supervisor)  # noqa: PLW1509  (the supervisor has one thread)


def _end_with_supervisor() -> None:
    """Let the kernel end the server if the supervisor is killed (only on Linux)."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    # The supervisor ignores these signals, but the server must receive them as any program does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _stop(part: subprocess.Popen[bytes]) -> None:
    part.terminate()
    try:
        part.wait(_STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        part.kill()
        part.wait()


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(main(sys.argv[1:]))
