"""Copies of a link's ledger, such as the archive of the closed gaming days."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from meters.archive.archive_days import ArchiveFiles
from meters.archive.day_file import DayFile, entry_of
from meters.books.checkpoint import EMPTY, Checkpoint

Entry = tuple[int, Mapping[str, bytes]]


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
    def days(self) -> Sequence[DayFile]: ...

    def entries(self, after: int = 0) -> AsyncIterator[Entry]:
        """Yield the entries of the copy after entry `after`, in order.

        A file can turn out to be changed after some of its entries.
        """
        ...


class ArchivedLedger:
    """The copy of a link's ledger that is in the archive.

    Raises:
        ArchiveError: a file cannot be read, or a file between two other files is missing.
    """

    def __init__(self, directory: Path, link: str) -> None:
        self.days = ArchiveFiles(directory, link).files()
        self.opening = self.days[0].day.opening if self.days else EMPTY
        self.last = self.days[-1].head.last if self.days else 0

    async def entries(self, after: int = 0) -> AsyncIterator[Entry]:
        """Yield the entries of the archive after entry `after`, in order.

        Raises:
            ArchiveError: somebody has changed a file of the archive.
        """
        for file in self.days:
            if file.head.last > after:
                for line in file.verified_lines():
                    if line.number > after:
                        yield entry_of(line)
