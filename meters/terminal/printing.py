"""The one place where commands print: no text can make the terminal do anything.

Stored text may be older than the checks that refuse control characters, or come from a store that
somebody altered. So whatever is printed is escaped here, or in the console of this room,
and nowhere else.
"""

import sys
import traceback
from types import TracebackType
from typing import Final

from bonus.printable import escape_in_json, escape_unprintable

_LINE_END: Final = "\n"


def escape_lines(text: str) -> str:
    """Escape what cannot be printed of a text of several lines."""
    return _LINE_END.join(escape_unprintable(line) for line in text.split(_LINE_END))


def print_text(text: str) -> None:
    """Print a text to standard output, at once."""
    sys.stdout.write(f"{escape_lines(text)}\n")
    sys.stdout.flush()


def print_error(text: str) -> None:
    """Print a text to standard error."""
    sys.stderr.write(f"{escape_lines(text)}\n")


def print_json(text: bytes) -> None:
    """Print a JSON text to standard output."""
    sys.stdout.write(f"{escape_in_json(text.decode())}\n")


def print_defect(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print the traceback of a defect; it takes what `sys.excepthook` is given."""
    print_error("".join(traceback.format_exception(kind, error, trace)).rstrip())
