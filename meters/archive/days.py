"""The archive of one link: the files of its closed gaming days, in order."""

from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from meters.archive.day_file import ArchiveError, DayFile, Entry
from meters.books.store import LinkStore

_PAGE: Final = 250


class Archive:
    """The files of a link.

    Args:
        directory: the archive's, as the floor file says.
        link: the link's id.
    """

    def __init__(self, directory: Path, link: str) -> None:
        self.directory = directory / link
        self._link = link

    def path(self, day: str) -> Path:
        """Where the file of a gaming day is."""
        return self.directory / f"{day}.sqlite"

    def files(self) -> Sequence[DayFile]:
        """The files, which follow one another without a gap.

        Raises:
            ArchiveError: one cannot be read, is of another link, or does not follow the one before.
        """
        found = [DayFile(path) for path in sorted(self.directory.glob("*.sqlite"))]
        for file in found:
            if (file.head.link, self.path(file.head.day.isoformat())) != (self._link, file.path):
                raise ArchiveError(
                    f"{file.path} is the day {file.head.day} of link {file.head.link}: it does not"
                    " belong here"
                )
        for before, file in pairwise(found):
            ends = (before.digest, before.head.last + 1, before.head.closing)
            if ends != (file.head.previous, file.head.first, file.head.opening):
                raise ArchiveError(f"{file.path} does not follow {before.path}: a day is missing")
        return found


async def every_entry(store: LinkStore, archive: Archive, after: int = 0) -> AsyncIterator[Entry]:
    """A link's ledger from an entry on: what is archived from its files, what follows from Redis.

    Raises:
        ArchiveError: a file cannot be read, or the files and the store leave a gap between them.
        RedisError: the store failed.
    """
    for file in archive.files():
        if file.head.last > after:
            for number, fields in file.entries(after):
                yield number, fields
                after = number
    while page := await store.entries(after, _PAGE):
        if page[0][0] != after + 1:
            raise ArchiveError(
                f"entries {after + 1} to {page[0][0] - 1} of link {store.link.id} are neither in"
                f" Redis nor in {archive.directory}: say where the archive is, under [archive]"
            )
        for number, fields in page:
            yield number, fields
            after = number
