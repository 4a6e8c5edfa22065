"""The archive of one link: one file for each closed gaming day, in order."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Final

from meters.archive.day_file import ENDING, ArchiveError, DayFile

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def archived_links(directory: Path) -> frozenset[str]:
    """Return the links of an archive. Each link has a directory with the name of the link."""
    return frozenset(path.parent.name for path in directory.glob(f"*/*{ENDING}"))


def day_of(path: Path) -> str:
    """Return the gaming day in the name of an archive file, as text."""
    return path.name.partition(".")[0]


class ArchiveFiles:
    """The archive files of one link."""

    def __init__(self, directory: Path, link: str) -> None:
        self.directory = directory / link
        self._link = link

    def path(self, day: str) -> Path:
        """Return the path of the archive file of a gaming day."""
        return self.directory / f"{day}{ENDING}"

    def newest_day(self) -> date | None:
        """Return the gaming day of the last file, by the names of the files; None without a file.

        The files are not opened, so a damaged file is not found.

        Raises:
            OSError: the directory cannot be read.
        """
        try:
            names = [path.name for path in self.directory.iterdir()]
        except FileNotFoundError:
            return None
        days = [name.removesuffix(ENDING) for name in names if name.endswith(ENDING)]
        return max((date.fromisoformat(day) for day in days if _DAY.fullmatch(day)), default=None)

    def paths(self) -> Sequence[Path]:
        """Return the paths of the link's archive files, in order. No file is opened."""
        return sorted(self.directory.glob(f"*{ENDING}"), key=lambda path: path.name)

    def listing(self, through: str) -> str:
        """Return a digest of the names, sizes and times of the files up to a gaming day.

        Raises:
            OSError: a file cannot be found.
        """
        whole = hashlib.sha256()
        for path in self.paths():
            if day_of(path) <= through:
                found = path.stat()
                whole.update(f"{path.name} {found.st_size} {found.st_mtime_ns}\n".encode())
        return whole.hexdigest()

    def files(self, since: date | None = None) -> Sequence[DayFile]:
        """Return the link's archive files, as `opened` yields them.

        Raises:
            ArchiveError: see `opened`.
        """
        return [*self.opened(since)]

    def opened(self, since: date | None = None) -> Iterator[DayFile]:
        """Open the link's archive files, in order, and check that none between them is missing.

        If `since` is given, only the files of this gaming day and of later days are opened. If
        there are none, only the last file is opened. So an archive of many years takes no longer
        than a new one.

        Raises:
            ArchiveError: a file cannot be read, is of another link, or does not continue the file
                before it.
        """
        paths = self.paths()
        if since is not None:
            paths = [path for path in paths if day_of(path) >= since.isoformat()] or paths[-1:]
        before: DayFile | None = None
        for file in map(DayFile, paths):
            if (file.head.link, self.path(file.head.day.isoformat())) != (self._link, file.path):
                raise ArchiveError(
                    f"{file.path} is the day {file.head.day} of link {file.head.link}: it does not"
                    " belong here"
                )
            if before and not _follows(before, file):
                raise ArchiveError(f"{file.path} does not follow {before.path}: a day is missing")
            yield file
            before = file


def _follows(before: DayFile, file: DayFile) -> bool:
    """Check if a file continues the file of an earlier day."""
    ends = (before.digest, before.head.last + 1, before.head.closing)
    return ends == (file.head.previous, file.head.first, file.head.opening)
