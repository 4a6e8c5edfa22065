"""Copies of a link's ledger, such as the archive of the closed gaming days."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple, Protocol

from meters.archive.archive_days import ArchiveFiles
from meters.books.checkpoint import EMPTY, Checkpoint

Entry = tuple[int, Mapping[str, bytes]]


class ClosedDay(NamedTuple):
    """A closed gaming day, and the checkpoint: the balances and claims at the close of this day."""

    day: date
    closing: Checkpoint


class LedgerCopy(Protocol):
    """A copy of a link's ledger, which can be read several times."""

    @property
    def opening(self) -> Checkpoint:
        """The balances and claims before the first entry of this copy."""
        ...

    @property
    def last(self) -> int:
        """The number of the last entry of this copy; 0 if there are no entries."""
        ...

    @property
    def days(self) -> Sequence[ClosedDay]:
        """The closed and archived gaming days of this copy, in order."""
        ...

    def entries(self, after: int = 0) -> AsyncIterator[Entry]:
        """Yield the entries of the copy after entry `after`, in order."""
        ...


class ArchivedLedger:
    """The copy of a link's ledger that is in the archive.

    Raises:
        ArchiveError: a file cannot be read, or a file between two other files is missing.
    """

    def __init__(self, directory: Path, link: str) -> None:
        self._files = ArchiveFiles(directory, link).files()
        self.opening = self._files[0].day.opening if self._files else EMPTY
        self.last = self._files[-1].head.last if self._files else 0
        self.days = [ClosedDay(file.head.day, file.day.closing) for file in self._files]

    async def entries(self, after: int = 0) -> AsyncIterator[Entry]:
        """Yield the entries of the archive after entry `after`, in order.

        Raises:
            ArchiveError: somebody has changed a file of the archive.
        """
        for file in self._files:
            if file.head.last > after:
                file.verify()
                for entry in file.entries(after):
                    yield entry
