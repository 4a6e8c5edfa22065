"""Line numbers of the values in a TOML text, for error messages."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from itertools import count
from typing import Final

from bonus.printable import unprintable_problem

Path = tuple[str | int, ...]

_BLANK: Final = re.compile(r"(?:\s|#[^\n]*)+")
_OPEN: Final = re.compile(r"\[\[?")
_CLOSE: Final = re.compile(r"[ \t]*\]\]?")
_TEXT: Final = re.compile(
    r"""
    "{3} (?: \\. | [^\\] )*? "{3,5}
    | '{3} .*? '{3,5}
    | " (?: \\. | [^"\\\n] )* "
    | ' [^'\n]* '
    """,
    re.DOTALL | re.VERBOSE,
)
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_DOT: Final = re.compile(r"[ \t]*\.[ \t]*")
_EQUALS: Final = re.compile(r"[ \t]*=[ \t]*")
_BARE: Final = re.compile(r"[^,\]}#\n]+")
_VALIDATION: Final = re.compile(r"^(?P<reason>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
_STEP: Final = re.compile(r"\.([A-Za-z0-9_\-]+)|\[(\d+)\]|\[\.\.\.\]")


class SourceLines:
    r"""Line numbers of the tables, keys and list items in a TOML text.

    The text must be valid TOML. Other text is skipped.

    >>> SourceLines('[a]\nx = 1\n[[b.c]]\ny = [\n  2,\n]').line_of(("b", "c", 0, "y", 0))
    5
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line_ends = [end.start() for end in re.finditer("\n", text)]
        self._lines: dict[Path, int] = {(): 1}
        self._counts: dict[Path, int] = {}
        self._read_document()

    @property
    def known(self) -> Collection[Path]:
        """The paths of all elements that begin on some line of the text."""
        return self._lines.keys()

    def line_of(self, path: Path) -> int:
        """Return the line of the value at a path, or of the nearest element that contains it."""
        while path not in self._lines:
            path = path[:-1]
        return self._lines[path]

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found[0]

    def _match_mark(self, mark: str) -> bool:
        if not self._text.startswith(mark, self._at):
            return False
        self._at += len(mark)
        return True

    def _line(self) -> int:
        return bisect_left(self._line_ends, self._at) + 1

    def _read_document(self) -> None:
        here: Path = ()
        while True:
            self._match(_BLANK)
            line = self._line()
            if opening := self._match(_OPEN):
                here = self._enter(self._key(), repeated=opening == "[[")
                self._lines[here] = line
                self._match(_CLOSE)
            elif not self._pair(here):
                return

    def _enter(self, name: Path, *, repeated: bool) -> Path:
        """Return the path of a TOML table. For a `repeated` table, it ends with a number."""
        path: Path = ()
        for step in name:
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
            path = (*path, step)
        if repeated:
            self._counts[path] = self._counts.get(path, 0) + 1
            path = (*path, self._counts[path] - 1)
        return path

    def _key(self) -> Path:
        """Read a key and return its parts. Only a dotted key has several."""
        self._match(_BLANK)
        steps: list[str] = []
        while step := self._match(_TEXT).strip("\"'") or self._match(_BARE_KEY):
            steps.append(step)
            if not self._match(_DOT):
                break
        return tuple(steps)

    def _pair(self, here: Path) -> bool:
        line = self._line()
        path = (*here, *self._key())
        if not self._match(_EQUALS):
            return False
        for depth in range(len(here) + 1, len(path) + 1):
            self._lines.setdefault(path[:depth], line)
        self._value(path)
        return True

    def _value(self, path: Path) -> None:
        if self._match_mark("["):
            self._list(path)
        elif self._match_mark("{"):
            self._match(_BLANK)
            while not self._match_mark("}") and self._pair(path):
                self._match(_BLANK)
                self._match_mark(",")
                self._match(_BLANK)
        elif not self._match(_TEXT):
            self._match(_BARE)

    def _list(self, path: Path) -> None:
        for index in count():
            self._match(_BLANK)
            began = self._at
            if self._match_mark("]"):
                return
            self._lines[(*path, index)] = self._line()
            self._value((*path, index))
            self._match(_BLANK)
            self._match_mark(",")
            if self._at == began:
                return


def field_path(error: str) -> tuple[str, Path]:
    """Split msgspec's validation error into the reason and the path of the value.

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


def unprintable_texts(
    value: object, path: Path, besides: Collection[str] = ()
) -> Iterator[tuple[Path, str]]:
    """Yield the place of each text of a TOML document that cannot be printed, and a message.

    Names appear on displays, in the ledger and in reports, so they must be printable. `besides` are
    the keys of paths, which can have any characters: they appear only in messages, and are escaped
    there.
    """
    if isinstance(value, dict):
        for key, each in value.items():
            yield from unprintable_texts(each, (*path, key), besides)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from unprintable_texts(each, (*path, number), besides)
    elif isinstance(value, str) and (problem := unprintable_problem(value)):
        key = next(step for step in reversed(path) if isinstance(step, str))
        if key not in besides:
            yield path, f"{key} {problem}"
