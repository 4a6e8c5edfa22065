"""Errors in a TOML file, with the line of each, in words for the person who writes the file."""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path as PathOfFile
from typing import Final, TypeVar

import msgspec
from msgspec import inspect

from bonus.errors import UserError, nearest
from bonus.printable import unprintable_problem

Path = tuple[str | int, ...]

Document = TypeVar("Document", bound=msgspec.Struct)

_MONEY: Final = frozenset({
    "wager", "limit", "contribution_max", "validate_from", "payout_limit", "tax_documents_from",
    "celebrate_from", "two_people_reject_above", "adds",
})  # fmt: skip
"""Keys of amounts in cents. If such a value is wrong, the message explains the unit."""

_TOML: Final = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)")
_BARE_WORD: Final = re.compile(r"=\s*[A-Za-z][^\s\"'=]*\s*(?:#.*)?$")
_CELL: Final = re.compile(r"^[\[\s]*(?:\$|\d+ ?%|[\d,]+ (?:to|for) 1)")
_HEADER: Final = re.compile(r"\s*\[[^\[\]]+\]")
_NAMED: Final = re.compile(r"field `(?P<key>[^`]+)`")
_SECTIONS: Final = frozenset({("facility",), ("service",), ("signage",), ("signage", "wording")})
_REPEATED: Final = frozenset({
    ("link",), ("link", "meter"), ("link", "table"), ("link", "promotion"),
    ("link", "fixed_jackpot"),
})  # fmt: skip
_CENTS_A_DOLLAR: Final = 100

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


def read_toml(
    text: str,
    name: str,
    document: type[Document],
    refusal: type[UserError],
    *,
    of_game: bool = False,
) -> tuple[Document, Mapping[str, object], "SourceLines"]:
    """Return a TOML text as a document and as plain values, with the lines of the values.

    `of_game` is true for a game file: its amounts are texts such as "$1,000".

    Raises:
        UserError: the text is not such a document. The error is a `refusal` with line and reason.
    """
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        line, reason = _toml_problem(error, text, of_game=of_game)
        raise refusal(f"{name}:{line}: {reason}") from None
    lines = SourceLines(text)
    try:
        return msgspec.convert(raw, document), raw, lines
    except msgspec.ValidationError as error:
        path, reason = _problem(*field_path(str(error)), document)
        raise refusal(f"{name}:{lines.line_of(path)}: {reason}") from None


def read_file(path: PathOfFile, refusal: type[UserError]) -> str:
    """Return the text of a file. A byte order mark is left out, and CR LF becomes a line feed.

    Raises:
        UserError: the file cannot be read, or is not UTF-8. The error is a `refusal`.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise refusal(f"{path}: there is no such file: check its path") from None
    except OSError as error:
        raise refusal(f"{path}: cannot be read: {error.strerror}") from None
    return text_of(data, path, refusal)


def text_of(data: bytes, path: PathOfFile, refusal: type[UserError]) -> str:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise refusal(f"{path}:{line}: the file is not UTF-8: save it as UTF-8") from None


def _toml_problem(error: Exception, text: str, *, of_game: bool) -> tuple[int, str]:
    found = _TOML.fullmatch(str(error))
    if found is None:
        return 1, f"this cannot be read as TOML: {error}"
    lines = text.split("\n")
    number = int(found["line"] or len(lines))
    what = found["what"]
    line = lines[min(number, len(lines)) - 1].strip()
    advice = _twice(lines, number, of_game=of_game) or _advice(what, line, of_game=of_game)
    return number, f"{advice} (TOML: {what[:1].lower()}{what[1:]})"


def _twice(lines: Sequence[str], number: int, *, of_game: bool) -> str | None:
    named = [(_HEADER.match(line) or [""])[0] for line in lines[:number]]
    section = tuple(re.sub(r"[\[\]\s]", "", named[-1]).split("."))
    if not named[-1] or (section in _REPEATED and not of_game) or named[-1] not in named[:-1]:
        return None
    first = named.index(named[-1]) + 1
    return (
        f"the section {named[-1].strip()} appears twice, at lines {first} and {number}: write all"
        " keys into one section, and delete the other section"
    )


def _advice(what: str, line: str, *, of_game: bool) -> str:
    key, equals, value = (part.strip() for part in line.partition("="))
    twice = any(word in what for word in ("overwrite", "declare", "namespace", "mutate"))
    checks = (
        (
            "\\r" in what,
            "this line ends with a carriage return alone: save the file with other line ends (LF)",
        ),
        (re.search("[“”„‘’«»]", line), 'use straight quotes: "…"'),  # noqa: RUF001
        (twice and equals, f"{key} appears twice in this section"),
        (twice, "a section that may be repeated has double brackets, such as [[link.table]]"),
        (line.startswith("["), "a section is named in brackets: [service] or [[link.table]]"),
        (not equals, "a line is a key and its value, such as positions = 7"),
        (of_game and _CELL.search(value), 'a cell is a text in quotes, such as "$1,000"'),
        (
            "$" in value or re.search(r"\d,\d{3}", value) or (key in _MONEY and value.isalpha()),
            "money is in cents, a whole number without sign or comma: $1 is 100",
        ),
        (value.endswith(","), "remove the comma at the end of the line"),
        (";" in value, "a comment begins with #"),
        (value.count('"') % 2 or value.count("'") % 2, "a quote is missing"),
        (_BARE_WORD.search(line), "a text needs quotes"),
    )
    return next((advice for holds, advice in checks if holds), "this line cannot be read")


def _problem(reason: str, path: Path, document: type[msgspec.Struct]) -> tuple[Path, str]:
    keys: dict[Path, Collection[str]] = {}
    choices: dict[str, Collection[str]] = {}
    _collect(inspect.type_info(document), (), keys, choices)
    section = tuple(step for step in path if isinstance(step, str))
    if named := _NAMED.search(reason):
        key = named["key"]
        if "unknown" in reason and not section and ("link", key) in _REPEATED:
            return (key,), f"{key} is a section of a link: write {_title(('link', key))}"
        if "unknown" in reason:
            return (*path, key), f"there is no key {key} here{nearest(key, keys.get(section, ()))}"
        return path, f"{_title((*section, key))} is missing"
    key = section[-1] if section else "the file"
    for pattern, words in _WORDS:
        if found := pattern.fullmatch(reason):
            if isinstance(words, str):
                return path, words.format(key=key, title=_title(section))
            return path, words(_Spot(key, section, found, choices.get(key, ())))
    return path, f"{'.'.join(section)}: {reason}"


def _collect(
    kind: inspect.Type,
    section: tuple[str, ...],
    keys: dict[Path, Collection[str]],
    choices: dict[str, Collection[str]],
) -> None:
    # The path of a section has no list positions: `link.meter`, not `link.0.meter`.
    match kind:
        case inspect.StructType(fields=fields):
            keys[section] = [field.encode_name for field in fields]
            for field in fields:
                _collect(field.type, (*section, field.encode_name), keys, choices)
        case inspect.LiteralType(values=values):
            choices[section[-1]] = [str(value) for value in values]
        case inspect.EnumType(cls=members):
            choices[section[-1]] = [str(member.value) for member in members]
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            _collect(item, section, keys, choices)
        case inspect.Metadata(type=kind):
            _collect(kind, section, keys, choices)
        case inspect.UnionType(types=kinds):
            for each in kinds:
                _collect(each, section, keys, choices)


@dataclass(frozen=True, slots=True)
class _Spot:
    """The place of a wrong value, and the match of msgspec's reason."""

    key: str
    section: Path
    found: re.Match[str]
    choices: Collection[str]


def _title(section: Path) -> str:
    name = ".".join(map(str, section))
    if section in _REPEATED:
        return f"[[{name}]]"
    return f"[{name}]" if section in _SECTIONS else str(section[-1])


def _number(spot: _Spot) -> str:
    if spot.key in _MONEY:
        return f"{spot.key} is in cents, a whole number without quotes or point: $1 is 100"
    return f"{spot.key} is a whole number, without quotes"


def _bound(spot: _Spot) -> str:
    limit = int(spot.found[2])
    end = "least" if spot.found[1] == ">=" else "most"
    if spot.key not in _MONEY:
        return f"{spot.key} is at {end} {limit}"
    dollars = f" (${limit // _CENTS_A_DOLLAR:,})" if limit > _CENTS_A_DOLLAR else ""
    return f"{spot.key} is at {end} {limit} {'cent' if limit == 1 else 'cents'}{dollars}"


def _listed(spot: _Spot) -> str:
    if spot.section in _REPEATED:
        return f"{spot.key} has double brackets: {_title(spot.section)}"
    return f'{spot.key} is a list: {spot.key} = ["…", "…"]'


def _length(spot: _Spot) -> str:
    if spot.found[1] == "array" and spot.section in _REPEATED:
        return f"there is no {_title(spot.section)}"
    if spot.found[2] == ">=":
        return f"{spot.key} is empty"
    return f"{spot.key} has {spot.found[3]} characters at most"


_FORMS: Final = {
    "[0-9]{4}-": 'is a day such as "2026-12-01"',
    "2[0-3]": 'is a time of day such as "18:00"; midnight is "00:00"',
    "gold|silver": 'has gold, silver, copper or a color such as "#b8c4d4"',
    "#[0-9A-Fa-f]": 'is a color such as "#ffd36b"',
    "[A-Za-z0-9_.-]": "names a file of the folder, with letters, digits, points, - and _ only",
    "[a-z0-9_]*": "has small letters, digits and _ only, and begins with a letter",
}
"""What a text must be, by a part of the pattern that it does not match."""


def _spelled(spot: _Spot) -> str:
    for part, form in _FORMS.items():
        if part in spot.found[0]:
            return f"{spot.key} {form}"
    signs = "letters, digits and hyphens"
    if spot.section in {("link", "meter", "id"), ("link", "fixed_jackpot", "id")}:
        signs = "letters, digits, hyphens and underscores"
    return f"{spot.key} has {signs} only, 1 to 32 of them"


def _chosen(spot: _Spot) -> str:
    what = "day" if spot.key == "days" else spot.key
    return f"there is no {what} {spot.found[1]}{nearest(spot.found[1], spot.choices)}"


_WORDS: Final[tuple[tuple[re.Pattern[str], str | Callable[[_Spot], str]], ...]] = (
    (
        re.compile(r"Expected `str \| array`, got `.*`"),
        '{key} is a text in quotes, such as "10%", or a list of such texts',
    ),
    (
        re.compile(r"Expected `int \| str \| object`, got `.*`"),
        '{key}: a choice is a text in quotes, such as "A", or a whole number',
    ),
    (re.compile(r"Expected `int(?: \| null)?`, got `.*`"), _number),
    (
        re.compile(r"Expected `str(?: \| null)?`, got `.*`"),
        '{key} is a text and needs quotes: {key} = "…"',
    ),
    (re.compile(r"Expected `array`, got `.*`"), _listed),
    (re.compile(r"Expected `object`, got `.*`"), "{key} is a section of its own: {title}"),
    (re.compile(r"Expected `int` ([<>]=) (\d+)"), _bound),
    (re.compile(r"Expected `(str|array)` of length ([<>]=) (\d+)"), _length),
    (re.compile(r"Expected `str` matching regex .*"), _spelled),
    (re.compile(r"Invalid enum value '(.*)'", re.DOTALL), _chosen),
)


class SourceLines:
    r"""Line numbers of the tables, keys and list items in a valid TOML text.

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
        """The paths of all elements that have a line in the text."""
        return self._lines.keys()

    def line_of(self, path: Path) -> int:
        """Return the line of a value. If it has none, return the line of the element around it."""
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
                if opening == "[[":
                    self._lines.setdefault(here[:-1], line)
                self._match(_CLOSE)
            elif not self._pair(here):
                return

    def _enter(self, name: Path, *, repeated: bool) -> Path:
        """Return the path of a TOML table. The path of a `repeated` table ends with a number."""
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
    """Split msgspec's validation error into the reason and the path of the wrong value.

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
    """Yield the path and a message for each text of a TOML document that cannot be printed.

    Names appear on displays, in the ledger and in reports. Texts with a key in `besides` are not
    checked: these texts are paths, which appear only in messages, and messages escape them.
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
