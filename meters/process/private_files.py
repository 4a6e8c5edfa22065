"""Files that only their owner can read, even if the umask allows more, and files that root writes.

The owner of a directory can replace everything in it. So root opens each directory of a path, and
then reads and writes only in the open directories.
"""

import contextlib
import errno
import os
import stat
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from bonus.errors import UserError

_DIRECTORY: Final = 0o700
_FILE: Final = 0o600
_OPEN_DIRECTORY: Final = 0o755
_OPEN_FILE: Final = 0o644
_OTHERS: Final = 0o077
_LED: Final = (
    "this path has a symbolic link of another system user, or a file in place of a directory: give"
    " the path to which the link leads"
)


def make_private_directory(path: Path) -> None:
    """Make a private directory and its missing parents. Existing directories are not changed."""
    if path.is_dir():
        return
    make_private_directory(path.parent)
    path.mkdir(mode=_DIRECTORY, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file; if it exists, only take away other users' rights to it."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, _FILE))
    if path.stat().st_mode & _OTHERS:
        # Only the owner of a file can change its mode.
        with contextlib.suppress(PermissionError):
            path.chmod(_FILE)


def write_private_file(path: Path) -> BinaryIO:
    make_private_file(path)
    return path.open("wb")


def replace_private_file(path: Path, parts: Iterable[bytes], *, syncs: bool = False) -> None:
    """Replace a private file in one step. Threads and processes can do so at the same time.

    With `syncs`, the content is on the disk before the file has its name.
    """
    make_private_directory(path.parent)
    temporary = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}.new")
    try:
        with write_private_file(temporary) as file:
            file.writelines(parts)
            if syncs:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def make_directory(path: Path) -> None:
    """Make a directory that only its owner can use. An existing directory is not changed.

    Raises:
        UserError: the directory cannot be made, for example because another system user put a link
            in its place.
    """
    try:
        with opened_directory(path, make=True):
            pass
    except OSError as error:
        raise UserError(f"{path} cannot be made: {error.strerror}") from None


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file that only its owner can read. On failure, leave the previous file unchanged.

    If root writes a file, the file gets the owner of its directory. If root owned the access list,
    mosquitto could not read it after a SIGHUP: mosquitto would continue without the list, and all
    clients would have all rights.

    Raises:
        UserError: the file cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        with opened_directory(path.parent) as (home, _):
            facts = os.fstat(home)
            owner = (facts.st_uid, facts.st_gid) if os.geteuid() == 0 else None
            _replace(home, path.name, data, _FILE, owner)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def replace_file(path: Path, data: bytes, owner: tuple[int, int] | None = None) -> None:
    """Write a file in one step: after an interruption, the old or the new file is there.

    A new file can be read by everybody, so it must have no secrets. An existing file keeps its
    mode, and its owner unless `owner` (user id, group id) is given.

    Raises:
        UserError: the file cannot be written.
    """
    try:
        make_open_directory(path.parent)
        before = path.stat() if path.exists() else None
        if before and owner is None and os.geteuid() == 0:
            owner = (before.st_uid, before.st_gid)
        mode = before.st_mode & 0o777 if before else _OPEN_FILE
        with opened_directory(path.parent) as (home, _):
            _replace(home, path.name, data, mode, owner)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def write_new(
    home: int, name: str, data: bytes, owner: tuple[int, int] | None, mode: int = _FILE
) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(name, flags, _FILE, dir_fd=home), "wb") as file:
        os.fchmod(file.fileno(), mode)
        if owner is not None:
            os.fchown(file.fileno(), *owner)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _replace(home: int, name: str, data: bytes, mode: int, owner: tuple[int, int] | None) -> None:
    temporary = f".{name}.new"
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=home)  # an interrupted run can have left it
        write_new(home, temporary, data, owner, mode)
        os.replace(temporary, name, src_dir_fd=home, dst_dir_fd=home)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=home)
        raise


def read_bytes(path: Path) -> bytes | None:
    """Return the contents of a regular file; None if the file does not exist.

    A pipe is refused, because the reader could wait forever. In a directory of another system user,
    root reads no symbolic link and no file with a second hard link. Otherwise, this user could link
    to a file of root there.

    Raises:
        UserError: the file cannot be read, or is refused.
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
    """Open a directory. Yield its descriptor, and whether root works in another user's directory.

    Below the first directory of another system user, root follows no link (OSError), because this
    user could make a link to a directory of root. With ``make``, missing directories are made, for
    their owner alone.
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
    raise OSError(errno.EINVAL, "it is not a regular file, or it has another hard link")


def give_file(path: Path, owner: tuple[int, int]) -> None:
    """Give a file to a system user.

    Raises:
        UserError: the path is not a regular file, or the file has another hard link. The directory
            belongs to the system user of a server, who could link to a file of another user there.
    """
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise UserError(f"{path} cannot be opened: {error.strerror}") from None
    try:
        facts = os.fstat(opened)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
            raise UserError(
                f"{path} is not a regular file, or it has another hard link: remove it, then repeat"
                " the command"
            )
        os.fchown(opened, *owner)
    finally:
        os.close(opened)


def make_open_directory(path: Path) -> None:
    if not path.is_dir():
        make_open_directory(path.parent)
        path.mkdir()
        path.chmod(_OPEN_DIRECTORY)
