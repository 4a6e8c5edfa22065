"""The ledger mark: a file outside Redis that names the last entry seen of a link's ledger.

If Redis has fewer ledger entries than the ledger mark says, Redis has lost entries. Without the
mark, an emptied Redis would look like a new one, and each meter would return to its seed (duties
D10, D15). The mark has the digest of the last entry, and the seal: a digest over all audited
entries. The digest and the seal show if somebody rewrote a part of the ledger (duty D17).
"""

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from bonus.errors import UserError
from meters.process.private_files import make_private_directory, write_private_file
from meters.wire.messages import UNREADABLE

_FILE: Final = "ledger-mark.json"
_TURN_WITHIN_S: Final = 0.05
_TURN_AGAIN_S: Final = 0.001


class MarkError(OSError):
    """A ledger mark that cannot be written, or that cannot be used because it is damaged."""


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a ledger mark.

    Attributes:
        link: the link to which the ledger belongs.
        entries: the number of the last ledger entry that was seen in Redis.
        chain: the digest of entry `entries`.
        sealed: the number of the last audited entry. An audit found no problem up to this entry.
        seal: the seal over all entries up to entry `sealed`.
    """

    link: str
    entries: int = 0
    chain: str = ""
    sealed: int = 0
    seal: str = ""


def marked_links(data: Path) -> frozenset[str]:
    """Return the links whose ledger marks are in a data directory."""
    names = (path.name for path in (data / "marks").glob(f"*.{_FILE}"))
    return frozenset(name.removesuffix(f".{_FILE}") for name in names)


class LedgerMark:
    """The ledger mark of one link: a file in the data directory.

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

        Callers read the mark first, and then the ledger in Redis. In the other order, the mark
        could name an entry that was written after the ledger was read.
        """
        return self._seen

    def problem(self, entries: int, had: int) -> str | None:
        """Return the reason why Redis does not match the ledger mark, or None if Redis matches it.

        Args:
            entries: the count of ledger entries in Redis.
            had: the count of entries according to the mark. The caller must have read the mark
                before Redis.
        """
        if entries >= had:
            return None
        return (
            f"Redis holds {entries} ledger entries and has held {had}: it lost some, or is"
            " another Redis; `pitlink restore` (deploy/docs/recover/restore.md) brings them back;"
            f" to start again without them, remove {self.path}"
        )

    def note(self, entries: int, chain: str) -> None:
        """Write the count of ledger entries and the digest of the last entry into the ledger mark.

        Raises:
            MarkError: the file cannot be written.
        """
        if entries > self._seen.entries:
            self._keep(msgspec.structs.replace(self._seen, entries=entries, chain=chain))

    def note_seal(self, entries: int, seal: str) -> None:
        """Write the seal of an audit without a problem into the ledger mark.

        The seal is the digest over all entries up to entry `entries`.

        Raises:
            MarkError: the file cannot be written.
        """
        if entries > self._seen.sealed:
            self._keep(msgspec.structs.replace(self._seen, sealed=entries, seal=seal))

    def reset(self, entries: int, chain: str, seal: str) -> None:
        """Replace the ledger mark after a restore and an audit without a problem.

        Only `pitlink restore` is allowed to call this, and all services must be stopped. The
        content of the earlier mark is lost.

        Raises:
            MarkError: the file cannot be written.
        """
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise MarkError(f"the ledger mark cannot be written: {error}") from None
        self._seen = Mark(self._link)
        self._keep(Mark(self._link, entries, chain, entries, seal))

    def _keep(self, mark: Mark) -> None:
        try:
            self._replace(mark)
        except MarkError:
            raise
        except OSError as error:
            raise MarkError(f"the ledger mark cannot be written: {error}") from None

    def _replace(self, mark: Mark) -> None:
        """Replace the file of the ledger mark in one step.

        If another process has written a later entry or a later seal, the new file has this entry or
        this seal.

        Several services, and the heartbeat and the audit of one service, can write the file at the
        same time. A lock makes them write one after the other.
        """
        make_private_directory(self.path.parent)
        temporary = self.path.with_suffix(f".{os.getpid()}-{threading.get_ident()}.new")
        with self._in_turn():
            mark = _joined(mark, self._read())
            with write_private_file(temporary) as file:
                file.write(msgspec.json.encode(mark))
                if mark.sealed > self._seen.sealed:
                    # Only a write with a new seal is synced to disk. After a power failure the mark
                    # can be old or empty, but it never names an entry that Redis did not have.
                    file.flush()
                    os.fsync(file.fileno())
            temporary.replace(self.path)
            self._seen = mark

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Lock the ledger mark during a `with` block.

        The wait for the lock is bounded, because the process that holds the lock can be suspended.
        If the wait ends without the lock, the block runs without it.
        """
        lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            until = time.monotonic() + _TURN_WITHIN_S
            while not _locked(lock) and time.monotonic() < until:
                time.sleep(_TURN_AGAIN_S)
            yield
        finally:
            os.close(lock)

    def _read(self) -> Mark:
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
    """Return a ledger mark made from two marks, with the later entry and the later seal of both."""
    seen = max(one, other, key=lambda mark: mark.entries)
    sealed = max(one, other, key=lambda mark: mark.sealed)
    return msgspec.structs.replace(seen, sealed=sealed.sealed, seal=sealed.seal)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
