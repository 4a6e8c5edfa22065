"""Files and directories that only their owner can read."""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from bonus.errors import UserError


def make_directory(path: Path) -> None:
    """Make a directory that only its owner can use. An existing directory is not changed.

    Raises:
        UserError: the directory cannot be made.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path} cannot be made: {error.strerror}") from None


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file that only its owner can read. On failure, leave the previous file unchanged.

    The file replaces any file of the same name. If root writes the file, the file gets the owner of
    its directory. If root owned the access list, mosquitto could not read it after a SIGHUP.
    mosquitto would continue without the list, and everybody would have all rights.

    Raises:
        UserError: the file cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        ) as file:
            if os.geteuid() == 0:
                home = path.parent.stat()
                os.fchown(file.fileno(), home.st_uid, home.st_gid)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def read_bytes(path: Path) -> bytes | None:
    """Return the contents of a file; None if the file does not exist.

    In a directory of another account, root reads only plain files: this account could lead it to a
    file of root, or stop it with a pipe.

    Raises:
        UserError: the file exists and cannot be read, or is no plain file.
    """
    try:
        with os.fdopen(_open_plain(path), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


def _open_plain(path: Path) -> int:
    foreign = os.geteuid() == 0 and path.parent.stat().st_uid != 0
    flags = os.O_RDONLY | os.O_NONBLOCK | (os.O_NOFOLLOW if foreign else 0)
    opened = os.open(path, flags)
    facts = os.fstat(opened)
    if stat.S_ISREG(facts.st_mode) and not (foreign and facts.st_nlink > 1):
        return opened
    os.close(opened)
    raise OSError(errno.EINVAL, "it is a link, a pipe or no file")
