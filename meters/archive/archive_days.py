"""The archive of one link: one file for each closed gaming day, in order."""

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Final

from meters.archive.day_file import EARLIER_ENDING, ENDING, ArchiveError, DayFile

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def archived_links(directory: Path) -> frozenset[str]:
    """Return the links of an archive. Each link has a directory with the name of the link."""
    endings = (ENDING, EARLIER_ENDING)
    return frozenset(path.parent.name for end in endings for path in directory.glob(f"*/*{end}"))


class ArchiveFiles:
    """The archive files of one link."""

    def __init__(self, directory: Path, link: str) -> None:
        self.directory = directory / link
        self._link = link

    def path(self, day: str) -> Path:
        """Return the path of the archive file of a gaming day.

        If there is no file yet, return the path of a new file.
        """
        earlier = self.directory / f"{day}{EARLIER_ENDING}"
        return earlier if earlier.exists() else self.directory / f"{day}{ENDING}"

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
        endings = (ENDING, EARLIER_ENDING)
        days = [name[: -len(end)] for end in endings for name in names if name.endswith(end)]
        return max((date.fromisoformat(day) for day in days if _DAY.fullmatch(day)), default=None)

    def files(self) -> Sequence[DayFile]:
        """Return the link's archive files, in order, and check that none between them is missing.

        Raises:
            ArchiveError: a file cannot be read, is of another link, or does not continue the file
                before it.
        """
        paths = (
            path for end in (ENDING, EARLIER_ENDING) for path in self.directory.glob(f"*{end}")
        )
        found = [DayFile(path) for path in sorted(paths, key=lambda path: path.name)]
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
