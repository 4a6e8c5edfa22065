"""Configuration files: replaced whole, with the owner and the mode of the file before."""

import os
import stat
from pathlib import Path
from typing import Final

from bonus.errors import UserError

_FILE: Final = 0o644
_DIRECTORY: Final = 0o755


def replace_file(path: Path, data: bytes, owner: tuple[int, int] | None = None) -> None:
    """Write a file in one step, so that an interruption leaves the old or the new one.

    A new file can be read by everybody: it has no secrets. The owner, a user id and a group id, is
    by default that of the file before.

    Raises:
        UserError: the file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        make_open_directory(path.parent)
        temporary.unlink(missing_ok=True)  # an interrupted run can have left it
        before = path.stat() if path.exists() else None
        with temporary.open("xb") as file:
            os.fchmod(file.fileno(), before.st_mode & 0o777 if before else _FILE)
            if before and owner is None and os.geteuid() == 0:
                owner = (before.st_uid, before.st_gid)
            if owner is not None:
                os.fchown(file.fileno(), *owner)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def give_file(path: Path, owner: tuple[int, int]) -> None:
    """Give a file to a system user.

    Raises:
        UserError: the path is no file of its own. The user of a server can put a link to a file of
            another user there, because the directory belongs to them.
    """
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise UserError(f"{path} cannot be opened: {error.strerror}") from None
    try:
        facts = os.fstat(opened)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
            raise UserError(f"{path} is a link, or no file: remove it, then repeat the command")
        os.fchown(opened, *owner)
    finally:
        os.close(opened)


def make_open_directory(path: Path) -> None:
    """Make a directory that everybody can read, and its missing parents."""
    if not path.is_dir():
        make_open_directory(path.parent)
        path.mkdir()
        path.chmod(_DIRECTORY)
