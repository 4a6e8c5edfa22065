import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(eq=False)
class OpenedFiles:
    """The files of an archive that were opened, in order, with repetitions."""

    archive: str
    paths: list[str] = field(default_factory=list)

    @property
    def days(self) -> list[str]:
        return sorted({Path(path).name.partition(".")[0] for path in self.paths})


_COUNTING: list[OpenedFiles] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and isinstance(path := arguments[0], str) and path.endswith(".zst"):
        for one in _COUNTING:
            if path.startswith(one.archive):
                one.paths.append(path)


sys.addaudithook(_hear)


@contextmanager
def opened_files(archive: Path) -> Iterator[OpenedFiles]:
    counting = OpenedFiles(f"{archive.resolve()}{os.sep}")
    _COUNTING.append(counting)
    try:
        yield counting
    finally:
        _COUNTING.remove(counting)
