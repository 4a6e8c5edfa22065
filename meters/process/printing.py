"""The functions with which commands print. No printed text can control the terminal.

Stored text can be older than the checks that refuse control characters, or altered in Redis. So
all text is escaped here or in `console.py`, and commands print nowhere else.
"""

import sys
import traceback
from types import TracebackType
from typing import Final

from bonus.printable import escape_in_json, escape_unprintable

_LINE_END: Final = "\n"


def escape_lines(text: str) -> str:
    return _LINE_END.join(escape_unprintable(line) for line in text.split(_LINE_END))


def print_text(text: str) -> None:
    sys.stdout.write(f"{escape_lines(text)}\n")
    sys.stdout.flush()


def print_error(text: str) -> None:
    sys.stderr.write(f"{escape_lines(text)}\n")


def print_json(text: bytes) -> None:
    sys.stdout.write(f"{escape_in_json(text.decode())}\n")


def print_defect(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print a traceback. The arguments are those of `sys.excepthook`."""
    print_error("".join(traceback.format_exception(kind, error, trace)).rstrip())
