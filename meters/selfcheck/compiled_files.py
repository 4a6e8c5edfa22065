"""Whether a module's compiled form, which is what runs, is that of its source."""

import importlib.util
import marshal
from pathlib import Path
from typing import Final

_HEADER: Final = 16
_BY_DIGEST: Final = 1
"""The flag of a compiled form that names its source by digest, and may not be compared at all."""


def is_of_its_source(source: Path, text: bytes) -> bool:
    """Whether Python would run this source, rather than something else that was put beside it.

    A form that Python itself takes for outdated, or for another Python's, is not run.

    Raises:
        OSError: the compiled form cannot be read.
    """
    try:
        compiled = Path(importlib.util.cache_from_source(str(source))).read_bytes()
    except FileNotFoundError:
        return True
    if not compiled.startswith(importlib.util.MAGIC_NUMBER):
        return True
    flags, moment, size = (
        int.from_bytes(compiled[place : place + 4], "little") for place in (4, 8, 12)
    )
    there = source.stat()
    if not flags & _BY_DIGEST and (moment, size) != (int(there.st_mtime), there.st_size):
        return True
    try:
        held: object = marshal.loads(compiled[_HEADER:])  # noqa: S302  (as Python itself would)
        return held == compile(text, str(source), "exec", dont_inherit=True)
    except (ValueError, EOFError, TypeError, SyntaxError):
        return False
