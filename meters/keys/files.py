"""Files and directories that only their owner can read."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from bonus.errors import UserError


def make_directory(path: Path) -> None:
    """Make a directory that only its owner can use. An existing directory is not changed.

    Raises:
        UserError: the directory cannot be made, or another account put a link in its place.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        with _opened_directory(path):
            pass
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
    temporary = f".{path.name}.{secrets.token_hex(4)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        with _opened_directory(path.parent) as (home, _):
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

    Raises:
        UserError: the file exists and cannot be read, or is no plain file.
    """
    try:
        with (
            _opened_directory(path.parent) as (home, foreign),
            os.fdopen(_open_plain(path.name, home, foreign=foreign), "rb") as file,
        ):
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


@contextlib.contextmanager
def _opened_directory(path: Path) -> Iterator[tuple[int, bool]]:
    """Open a directory. Yield it, and True if root works in a directory of another account.

    Below the first directory of another account, root follows no link: this account could lead it
    to a directory of root.

    Raises:
        OSError: the directory cannot be opened, or there is such a link.
    """
    is_root = os.geteuid() == 0
    opened, foreign = os.open("/", os.O_PATH | os.O_DIRECTORY), False
    try:
        for part in path.absolute().parts[1:]:
            flags = os.O_PATH | os.O_DIRECTORY | (os.O_NOFOLLOW if foreign else 0)
            before, opened = opened, os.open(part, flags, dir_fd=opened)
            os.close(before)
            foreign = foreign or (is_root and os.fstat(opened).st_uid != 0)
        yield opened, foreign
    finally:
        os.close(opened)


def _open_plain(name: str, home: int, *, foreign: bool) -> int:
    flags = os.O_RDONLY | os.O_NONBLOCK | (os.O_NOFOLLOW if foreign else 0)
    opened = os.open(name, flags, dir_fd=home)
    facts = os.fstat(opened)
    if stat.S_ISREG(facts.st_mode) and not (foreign and facts.st_nlink > 1):
        return opened
    os.close(opened)
    raise OSError(errno.EINVAL, "it is a link, a pipe or no file")
