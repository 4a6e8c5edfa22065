"""Where a process logs to: a log that cannot be written never stops what it tells of."""

import contextlib
from typing import Final, TextIO


class LogFile:
    """A text file for log lines; what a full disk or a closed pipe refuses is dropped."""

    def __init__(self, file: TextIO) -> None:
        self._file: Final = file

    def write(self, text: str) -> int:
        """Write, if it can be written."""
        with contextlib.suppress(OSError, ValueError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Have it written, if it can be."""
        with contextlib.suppress(OSError, ValueError):
            self._file.flush()
