"""Files and directories that only their owner can read, even if the umask would allow more.

What cannot be made or opened raises `OSError`.
"""

import contextlib
import os
from pathlib import Path
from typing import BinaryIO, Final

_DIRECTORY: Final = 0o700
_FILE: Final = 0o600
_OTHERS: Final = 0o077


def make_private_directory(path: Path) -> None:
    """Make a private directory and its missing parents. Existing ones are not changed."""
    if path.is_dir():
        return
    make_private_directory(path.parent)
    path.mkdir(mode=_DIRECTORY, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file if it does not exist; remove other users' rights from an existing one."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, _FILE))
    if path.stat().st_mode & _OTHERS:
        # Only the owner of a file can change its mode.
        with contextlib.suppress(PermissionError):
            path.chmod(_FILE)


def write_private_file(path: Path) -> BinaryIO:
    """Open a private file for writing from its beginning."""
    make_private_file(path)
    return path.open("wb")
