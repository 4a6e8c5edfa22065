import hashlib
import multiprocessing
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import date
from pathlib import Path
from typing import Final, Self, cast

from meters.archive.day_file import ENDING, ArchiveError, DayFile, EntryLine
from meters.ledger.entry_messages import ARCHIVED, Archived
from meters.process.signals import begin_worker_process
from meters.store.link_store import LinkStore

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")

Advance = Callable[[int, int], None]
"""Function that shows progress: it receives the numbers of finished units and of all units."""


def archived_links(directory: Path) -> frozenset[str]:
    return frozenset(path.parent.name for path in directory.glob(f"*/*{ENDING}"))


def day_of(path: Path) -> str:
    return path.name.partition(".")[0]


class ArchiveFiles:
    def __init__(self, directory: Path, link: str) -> None:
        self.directory = directory / link
        self._link = link

    def path(self, day: str) -> Path:
        return self.directory / f"{day}{ENDING}"

    def newest_day(self) -> date | None:
        """Return the gaming day of the last file, by the names of the files; None without a file.

        No file is opened, so a damaged file is not noticed.

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
        """Return the link's archive files, as `opened` yields them."""
        return [*self.opened(since)]

    def opened(self, since: date | None = None) -> Iterator[DayFile]:
        """Open the link's archive files, in order, and check that none between them is missing.

        With `since`, only the files of this gaming day and of later days are opened, or the last
        file if no file is that late. So a long archive takes no longer than a new one.

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


async def archived_and_read(store: LinkStore) -> tuple[int, int]:
    """Return the numbers of the last archived ledger entry and of the last meter reading's entry.

    Without such an entry, the number is 0.
    """
    archived, reading = cast(
        "list[bytes | None]", await store.redis.hmget(store.keys.meters, ["archived", "reading"])
    )
    return int(archived or 0), int(reading or 0)


async def archived_days(store: LinkStore) -> AsyncIterator[tuple[int, Archived]]:
    """Yield the ledger's records about archived days, with their entry numbers, latest first."""
    async for number, fields in store.every_act():
        if fields["kind"] == "archive":
            yield number, ARCHIVED.decode(fields["event"])


def _follows(before: DayFile, file: DayFile) -> bool:
    ends = (before.head.digest, before.head.last + 1, before.head.closing)
    return ends == (file.head.previous, file.head.first, file.head.opening)


_WORTHWHILE_BYTES: Final = 32_000_000
"""If all files together are smaller, starting other processes takes longer than it saves."""
_PROCESSES_MAX: Final = 4


class Verification:
    """The verification of archive files that are read in their order.

    If the files are small, or the machine has one processor, this process verifies them itself.
    """

    def __init__(self, files: Sequence[DayFile]) -> None:
        processes = min(_PROCESSES_MAX, len(os.sched_getaffinity(0)) - 1)
        self._pool: ProcessPoolExecutor | None = None
        self._done: dict[Path, Future[None]] = {}
        if processes and sum(file.path.stat().st_size for file in files) >= _WORTHWHILE_BYTES:
            self._pool = ProcessPoolExecutor(
                processes, multiprocessing.get_context("spawn"), begin_worker_process
            )
            self._done = {file.path: self._pool.submit(_verify, file.path) for file in files}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def lines(self, file: DayFile) -> Iterator[EntryLine]:
        """Yield the lines of a file's ledger entries. After the last line, the file is verified.

        Before the end, the caller must not rely on a line.

        Raises:
            ArchiveError: the file was changed after it was written.
        """
        done = self._done.get(file.path)
        if done is None:
            yield from file.verified_lines()
            return
        yield from file.lines()
        try:
            done.result()
        except BrokenProcessPool:  # somebody ended a process, or the memory was short
            file.verify()


def _verify(path: Path) -> None:
    DayFile(path).verify()
