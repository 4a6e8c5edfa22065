"""Files and directories that only their owner can read, even if the umask would allow more.

What cannot be made or opened raises `OSError`.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from bonus.errors import UserError

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


_LED: Final = "a link of another account is on this path, or a file. Give the path where it leads"


def make_directory(path: Path) -> None:
    """Make a directory that only its owner can use. An existing directory is not changed.

    Another account that put a link in its place is refused.
    """
    try:
        with opened_directory(path, make=True):
            pass
    except OSError as error:
        raise UserError(f"{path} cannot be made: {error.strerror}") from None


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file that only its owner can read. On failure, leave the previous file unchanged.

    A file that root writes gets the owner of its directory. If root owned the access list,
    mosquitto could not read it after a SIGHUP; it would continue without the list, and everybody
    would have all rights.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = f".{path.name}.{secrets.token_hex(4)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        with opened_directory(path.parent) as (home, _):
            try:
                with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=home), "wb") as file:
                    if os.geteuid() == 0:
                        facts = os.fstat(home)
                        os.fchown(file.fileno(), facts.st_uid, facts.st_gid)
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, path.name, src_dir_fd=home, dst_dir_fd=home)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=home)
                raise
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def read_bytes(path: Path) -> bytes | None:
    """Return the contents of a file; None if the file does not exist.

    In a directory of another account, root reads only plain files: this account could lead it to a
    file of root, or stop it with a pipe.
    """
    try:
        with (
            opened_directory(path.parent) as (home, foreign),
            os.fdopen(_open_plain(path.name, home, foreign=foreign), "rb") as file,
        ):
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


@contextlib.contextmanager
def opened_directory(path: Path, *, make: bool = False) -> Iterator[tuple[int, bool]]:
    """Open a directory. Yield it, and True if root works in a directory of another account.

    Below the first directory of another account, root follows no link (OSError): this account could
    lead it to a directory of root. With ``make``, missing directories are made, for their owner
    alone.
    """
    is_root = os.geteuid() == 0
    opened, foreign = os.open("/", os.O_PATH | os.O_DIRECTORY), False
    try:
        for part in path.absolute().parts[1:]:
            before, opened = opened, _open_part(part, opened, foreign=foreign, make=make)
            os.close(before)
            foreign = foreign or (is_root and os.fstat(opened).st_uid != 0)
        yield opened, foreign
    finally:
        os.close(opened)


def _open_part(part: str, parent: int, *, foreign: bool, make: bool) -> int:
    flags = os.O_PATH | os.O_DIRECTORY | (os.O_NOFOLLOW if foreign else 0)
    try:
        return os.open(part, flags, dir_fd=parent)
    except NotADirectoryError as error:
        raise OSError(error.errno, _LED if foreign else error.strerror, part) from None
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, 0o700, dir_fd=parent)
    return os.open(part, flags, dir_fd=parent)


def _open_plain(name: str, home: int, *, foreign: bool) -> int:
    flags = os.O_RDONLY | os.O_NONBLOCK | (os.O_NOFOLLOW if foreign else 0)
    opened = os.open(name, flags, dir_fd=home)
    facts = os.fstat(opened)
    if stat.S_ISREG(facts.st_mode) and not (foreign and facts.st_nlink > 1):
        return opened
    os.close(opened)
    raise OSError(errno.EINVAL, "it is a link, a pipe or no file")
