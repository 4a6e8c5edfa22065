"""Verification of many archive files by other processes, while this process reads them."""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Final, Self

from meters.archive.day_file import DayFile
from meters.archive.day_lines import EntryLine
from meters.process.signals import begin_worker_process

_WORTHWHILE_BYTES: Final = 32_000_000
"""Size of the files from which other processes save more time than their start takes."""
_PROCESSES_MAX: Final = 4


class Verification:
    """The verification of archive files that are read in their order.

    If the files are few, or the machine has one processor, this process verifies them itself.
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

        Until then, the caller must not rely on a line.

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
