"""The ledger mark: a file outside Redis with the number of the last known entry of a link's ledger.

If Redis has fewer ledger entries than the mark says, Redis has lost entries. Without the mark, an
emptied Redis would look like a new one, and each meter would return to its seed (duties D10, D15).
The mark also has the digest of the last entry, and the seal, a digest over all audited entries.
Both digests show if somebody rewrote a part of the ledger (duty D17).
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final

import msgspec

from bonus.errors import UserError
from bonus.json_input import UNREADABLE
from meters.ledger.checkpoint import Mark
from meters.process.private_files import make_private_directory, replace_private_file

_FILE: Final = "ledger-mark.json"
_SIZE_BYTES: Final = 512
"""Size of the file: one sector of a disk, which is written whole or not at all."""
_TURN_WITHIN_S: Final = 0.05
_TURN_AGAIN_S: Final = 0.001


class MarkError(OSError):
    """A ledger mark cannot be written, or is damaged and cannot be used."""


def marked_links(data: Path) -> frozenset[str]:
    names = (path.name for path in (data / "marks").glob(f"*.{_FILE}"))
    return frozenset(name.removesuffix(f".{_FILE}") for name in names)


class LedgerMark:
    """The ledger mark of one link: a file in the data directory.

    If the file cannot be written, every method that writes raises a `MarkError`.

    Raises:
        UserError: the file exists and cannot be read.
    """

    def __init__(self, data: Path, link: str, name: str = "") -> None:
        self.path = data / "marks" / (name or f"{link}.{_FILE}")
        self._link = link
        try:
            self._seen = self._read()
        except MarkError as error:
            raise UserError(str(error)) from None

    @property
    def seen(self) -> Mark:
        """The present content of the ledger mark.

        Read the mark before the ledger in Redis. In the other order, the mark could name an entry
        that was written after the ledger was read.
        """
        return self._seen

    def problem(self, entries: int, had: int) -> str | None:
        """Return the reason why Redis does not match the ledger mark, or None.

        `entries` is the number of the last entry in Redis. `had` is the number in the mark, which
        the caller must have read earlier.
        """
        if entries >= had:
            return None
        return (
            f"Redis holds {entries} ledger entries and has held {had}: it lost some, or is"
            " another Redis; `pitlink restore` (deploy/docs/recover/restore.md) brings them back;"
            f" to start again without them, remove {self.path}"
        )

    def note(self, entries: int, chain: str) -> None:
        if entries > self._seen.entries:
            self._keep(msgspec.structs.replace(self._seen, entries=entries, chain=chain))

    def note_seal(self, entries: int, seal: str) -> None:
        """Write the seal of an audit without errors, over all entries up to entry `entries`."""
        if entries > self._seen.sealed:
            self._keep(msgspec.structs.replace(self._seen, sealed=entries, seal=seal))

    def reset(self, entries: int, chain: str, seal: str) -> None:
        """Replace the ledger mark after a restore and an audit without errors.

        Only `pitlink restore` may call this, and all services must be stopped. The content of the
        earlier mark is lost.
        """
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise MarkError(f"the ledger mark cannot be written: {error}") from None
        self._seen = Mark(self._link)
        self._keep(Mark(self._link, entries, chain, entries, seal))

    def _keep(self, mark: Mark) -> None:
        try:
            self._write(mark)
        except MarkError:
            raise
        except OSError as error:
            raise MarkError(f"the ledger mark cannot be written: {error}") from None

    def _write(self, mark: Mark) -> None:
        """Write the file of the ledger mark in one step.

        If the file has a later entry or seal from another process, the later entry or seal stays.
        Several services, and the heartbeat and the audit of one service, can write at the same
        time: a lock makes each of them wait for its turn.
        """
        make_private_directory(self.path.parent)
        with self._turn_to_write():
            mark = _joined(mark, self._content())
            syncs = mark.sealed > self._seen.sealed
            self._put(msgspec.json.encode(mark).ljust(_SIZE_BYTES))
            self._seen = mark
        if syncs:
            # A write in place is synced to disk only with a new seal. After a power failure, the
            # mark can be old, but it never names an entry that Redis did not have. The lock is free
            # again here, so the next batch does not wait for the disk.
            _sync(self.path)

    def _put(self, content: bytes) -> None:
        """Write the file in place. If the file does not have its full size yet, replace it.

        To rename a file for each batch would stop the service for milliseconds on a busy disk. A
        write in place needs no space on the disk.
        """
        with suppress(FileNotFoundError), self.path.open("r+b", buffering=0) as file:
            if os.fstat(file.fileno()).st_size == len(content):
                file.write(content)
                return
        replace_private_file(self.path, [content], syncs=True)

    def _turn_to_write(self) -> AbstractContextManager[None]:
        lock = self.path.with_suffix(".lock")
        return _turn(os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), fcntl.LOCK_EX)

    def _turn_to_read(self) -> AbstractContextManager[None]:
        try:
            lock = os.open(self.path.with_suffix(".lock"), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            # Nobody has written this mark here: perhaps it is a copy.
            return nullcontext()
        return _turn(lock, fcntl.LOCK_SH)

    def _read(self) -> Mark:
        with self._turn_to_read():
            return self._content()

    def _content(self) -> Mark:
        try:
            mark = msgspec.json.decode(self.path.read_bytes(), type=Mark)
        except FileNotFoundError:
            return Mark(self._link)
        except PermissionError:
            raise MarkError(
                f"the ledger mark {self.path} cannot be read by this user: a command of another"
                " user wrote it; make the services' user its owner (chown)"
            ) from None
        except (OSError, *UNREADABLE) as error:
            raise MarkError(
                f"the ledger mark {self.path} cannot be read: {error}; replace it with a copy, or"
                " stop all services and remove it to start again"
            ) from None
        if mark.link != self._link:
            other = f"the ledger mark {self.path} is of link {mark.link}"
            raise MarkError(f"{other}: replace it with the mark of link {self._link}")
        return mark


def _joined(one: Mark, other: Mark) -> Mark:
    seen = max(one, other, key=lambda mark: mark.entries)
    sealed = max(one, other, key=lambda mark: mark.sealed)
    return msgspec.structs.replace(seen, sealed=sealed.sealed, seal=sealed.seal)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fdatasync(file)
    finally:
        os.close(file)


@contextmanager
def _turn(lock: int, kind: int) -> Iterator[None]:
    """Lock an open lock file during a `with` block, and close it after the block.

    The process that has the lock can be suspended. So after a short wait, the block runs without
    the lock.
    """
    try:
        until = time.monotonic() + _TURN_WITHIN_S
        while not _locked(lock, kind) and time.monotonic() < until:
            time.sleep(_TURN_AGAIN_S)
        yield
    finally:
        os.close(lock)


def _locked(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
