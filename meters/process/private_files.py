"""Files and directories for their owner alone, whatever umask a process was started with."""

import contextlib
import os
from pathlib import Path
from typing import BinaryIO, Final

_DIRECTORY: Final = 0o700
_FILE: Final = 0o600
_OTHERS: Final = 0o077


def make_private_directory(path: Path) -> None:
    """Make a directory, and those above it that are missing; those that are there stay as they are.

    Raises:
        OSError: it cannot be made.
    """
    if path.is_dir():
        return
    make_private_directory(path.parent)
    path.mkdir(mode=_DIRECTORY, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file where there is none; one that others may read is taken from them.

    Raises:
        OSError: it cannot be made.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, _FILE))
    if path.stat().st_mode & _OTHERS:
        # Somebody else's file can be given modes by them alone.
        with contextlib.suppress(PermissionError):
            path.chmod(_FILE)


def write_private_file(path: Path) -> BinaryIO:
    """Open a file to be written from its beginning.

    Raises:
        OSError: it cannot be opened.
    """
    make_private_file(path)
    return path.open("wb")
