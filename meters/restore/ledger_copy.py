"""Copies of a link's ledger: the archive of its closed gaming days."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple, Protocol

from meters.archive.archive_days import ArchiveFiles
from meters.books.checkpoint import EMPTY, Checkpoint

Entry = tuple[int, Mapping[str, bytes]]


class ClosedDay(NamedTuple):
    """A gaming day, and the books at its close."""

    day: date
    closing: Checkpoint


class LedgerCopy(Protocol):
    """A copy of a ledger. It may be read several times."""

    @property
    def opening(self) -> Checkpoint:
        """The books before its first entry."""
        ...

    @property
    def last(self) -> int:
        """The number of its last entry, 0 for none."""
        ...

    @property
    def days(self) -> Sequence[ClosedDay]:
        """The gaming days that were closed and archived, in order."""
        ...

    def entries(self, after: int = 0) -> AsyncIterator[Entry]:
        """Yield the entries that follow one, in order."""
        ...


class ArchivedLedger:
    """The archive's copy of a link's ledger.

    Raises:
        ArchiveError: a file cannot be read, or a day between two others is missing.
    """

    def __init__(self, directory: Path, link: str) -> None:
        self._files = ArchiveFiles(directory, link).files()
        self.opening = self._files[0].day.opening if self._files else EMPTY
        self.last = self._files[-1].head.last if self._files else 0
        self.days = [ClosedDay(file.head.day, file.day.closing) for file in self._files]

    async def entries(self, after: int = 0) -> AsyncIterator[Entry]:
        """Yield the entries that follow one, in order.

        Raises:
            ArchiveError: a file is not as it was written.
        """
        for file in self._files:
            if file.head.last > after:
                file.verify()
                for entry in file.entries(after):
                    yield entry
