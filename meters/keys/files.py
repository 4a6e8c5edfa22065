"""Files and directories that only their owner can read."""

import contextlib
import os
import secrets
from pathlib import Path

from bonus.errors import UserError


def make_directory(path: Path) -> None:
    """Make a directory for its owner only; an existing one is not changed.

    Raises:
        UserError: it cannot be made.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path} cannot be made: {error.strerror}") from None


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file for its owner only, as a whole or not at all, whatever file was there.

    If root writes it, its owner becomes that of the directory. Otherwise mosquitto could not read
    its access list after a SIGHUP, would continue without it, and would give everybody all rights.

    Raises:
        UserError: it cannot be written.
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
    """Return the content of a file, or None if there is none.

    Raises:
        UserError: it exists and cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
