"""Configuration files: replaced whole, with the owner and the mode of the file before."""

import os
from pathlib import Path
from typing import Final

from bonus.errors import UserError

_FILE: Final = 0o644
_DIRECTORY: Final = 0o755


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in one step, so that an interruption leaves the file as it was or as it must be.

    A new file can be read by everybody: it has no secrets.

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
            if before and os.geteuid() == 0:
                os.fchown(file.fileno(), before.st_uid, before.st_gid)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def make_open_directory(path: Path) -> None:
    """Make a directory that everybody can read, and its missing parents.

    Raises:
        OSError: a directory cannot be made.
    """
    if not path.is_dir():
        make_open_directory(path.parent)
        path.mkdir()
        path.chmod(_DIRECTORY)
