"""The directory of a submission. It is written completely, or not at all."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

from bonus.errors import UserError


def check_directory(out: Path) -> None:
    """Check that a submission can be written to a directory: missing or empty, in a usable parent.

    Raises:
        UserError: the directory has files, is not a directory, or its parent cannot be used.
    """
    try:
        if out.is_symlink() or (out.exists() and not out.is_dir()):
            raise UserError(f"{out}: is not a directory: name a new one")
        if out.exists() and any(out.iterdir()):
            raise _not_empty(out)
    except OSError as error:
        raise _not_written(out, error) from None
    parent = _parent(out)
    if not parent.is_dir():
        raise UserError(f"{out}: there is no directory {parent}: make it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(f"{out}: {parent} cannot be written: choose another directory")


def write_directory(out: Path, files: Mapping[str, bytes]) -> None:
    """Write files to a new directory, or to an empty one.

    They are written to a temporary directory with a similar name, which is then renamed, so `out`
    never has only some of them, and no file is replaced.

    Raises:
        UserError: the directory has files, or the disk has an error.
    """
    check_directory(out)
    try:
        made = Path(mkdtemp(prefix=f".{out.name}.", dir=_parent(out)))
        try:
            for name, data in files.items():
                _write(made / name, data)
            # The system refuses to rename a directory to one that has files.
            made.rename(out)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    except OSError as error:
        if out.is_dir() and any(out.iterdir()):
            raise _not_empty(out) from None
        raise _not_written(out, error) from None


def _parent(out: Path) -> Path:
    return out.absolute().parent


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _not_empty(out: Path) -> UserError:
    return UserError(f"{out}: the directory has files, and none is replaced: name a new directory")


def _not_written(out: Path, error: OSError) -> UserError:
    return UserError(f"{out}: cannot be written: {error.strerror}: nothing was written")
