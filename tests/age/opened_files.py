"""A count of the archive files that this process opens."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_COUNTING: "list[OpenedFiles]" = []


class OpenedFiles:
    """The files of an archive that were opened, in order, with repetitions."""

    def __init__(self, archive: Path) -> None:
        self._archive = f"{archive.resolve()}{os.sep}"
        self.paths: list[str] = []

    @property
    def days(self) -> list[str]:
        """The gaming days of the opened files, each once."""
        return sorted({Path(path).name.partition(".")[0] for path in self.paths})

    def note(self, path: object) -> None:
        """Note a file that is opened."""
        if isinstance(path, str) and path.startswith(self._archive) and path.endswith(".zst"):
            self.paths.append(path)


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        for one in _COUNTING:
            one.note(arguments[0])


sys.addaudithook(_hear)


@contextmanager
def opened_files(archive: Path) -> Iterator[OpenedFiles]:
    """Count the files of an archive that are opened until the end of the block."""
    counting = OpenedFiles(archive)
    _COUNTING.append(counting)
    try:
        yield counting
    finally:
        _COUNTING.remove(counting)
