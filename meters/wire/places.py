"""Which line of a TOML text a value stands on, so that a mistake is shown where it is."""

import re
from typing import Final

Path = tuple[str | int, ...]

_HEADER: Final = re.compile(r"^\s*(\[\[?)\s*([A-Za-z0-9_.\-\"]+)\s*\]\]?")
_KEY: Final = re.compile(r"^\s*\"?([A-Za-z0-9_\-]+)\"?\s*=")
_VALIDATION: Final = re.compile(r"^(?P<reason>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
_STEP: Final = re.compile(r"\.([A-Za-z0-9_\-]+)|\[(\d+)\]|\[\.\.\.\]")
_NAMED: Final = re.compile(r"field `([^`]+)`")


class Places:
    r"""The lines of a TOML text's tables and keys.

    >>> Places('[a]\nx = 1\n[[b.c]]\ny = 2').line_of(("a", "x"), "")
    2
    """

    def __init__(self, text: str) -> None:
        self._lines: dict[Path, int] = {(): 1}
        counts: dict[Path, int] = {}
        here: Path = ()
        for number, line in enumerate(text.splitlines(), start=1):
            if header := _HEADER.match(line):
                here = self._enter(header[2].replace('"', ""), header[1] == "[[", counts)
                self._lines[here] = number
            elif key := _KEY.match(line):
                self._lines[(*here, key[1])] = number

    @staticmethod
    def _enter(name: str, repeated: bool, counts: dict[Path, int]) -> Path:  # noqa: FBT001
        path: Path = ()
        *parents, last = name.split(".")
        for parent in parents:
            path = (*path, parent)
            if path in counts:
                path = (*path, counts[path] - 1)
        path = (*path, last)
        if repeated:
            counts[path] = counts.get(path, 0) + 1
            path = (*path, counts[path] - 1)
        return path

    def line_of(self, path: Path, reason: str) -> int:
        """The line of a value, or of the nearest thing around it that has one.

        An unknown key is named in the reason alone: its line is looked for too.
        """
        if (named := _NAMED.search(reason)) and (*path, named[1]) in self._lines:
            return self._lines[(*path, named[1])]
        while path not in self._lines:
            path = path[:-1]
        return self._lines[path]


def field_path(error: str) -> tuple[str, Path]:
    """A validation error's reason and the path that it speaks of.

    >>> field_path("Expected `int`, got `str` - at `$.link[0].meter[1].wager`")
    ('Expected `int`, got `str`', ('link', 0, 'meter', 1, 'wager'))
    """
    found = _VALIDATION.match(error)
    if found is None or found["path"] is None:
        return error, ()
    steps = (
        step[1] or int(step[2]) for step in _STEP.finditer(found["path"]) if step[1] or step[2]
    )
    return found["reason"], tuple(steps)
