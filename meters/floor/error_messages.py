import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bonus.errors import nearest
from meters.floor.source_lines import Path

MONEY: Final = frozenset(
    {
        "wager",
        "validate_from",
        "payout_limit",
        "tax_documents_above",
        "celebrate_from",
        "two_people_reject_above",
    }
)
"""Keys whose values are amounts in cents."""

_TOML: Final = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)")
_BARE_WORD: Final = re.compile(r"=\s*[A-Za-z][^\s\"'=]*\s*(?:#.*)?$")
_CELL: Final = re.compile(r"^[\[\s]*(?:\$|\d+ ?%|[\d,]+ (?:to|for) 1)")
_HEADER: Final = re.compile(r"\s*\[[^\[\]]+\]")
_NAMED: Final = re.compile(r"field `(?P<key>[^`]+)`")
_SECTIONS: Final = frozenset({("facility",), ("service",), ("signage",), ("signage", "wording")})
_REPEATED: Final = frozenset({("link",), ("link", "meter"), ("link", "table")})
_CENTS_A_DOLLAR: Final = 100


def toml_problem(error: Exception, text: str, *, of_game: bool = False) -> tuple[int, str]:
    """Return the number of the line that is not valid TOML, and a text about the error.

    `of_game` is true for a game file, in which amounts are texts such as "$1,000".
    """
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
    """Return advice about a line that names a section for the second time."""
    named = [(_HEADER.match(line) or [""])[0] for line in lines[:number]]
    section = tuple(re.sub(r"[\[\]\s]", "", named[-1]).split("."))
    if not named[-1] or (section in _REPEATED and not of_game) or named[-1] not in named[:-1]:
        return None
    first = named.index(named[-1]) + 1
    return (
        f"the section {named[-1].strip()} is twice, at lines {first} and {number}: write all its"
        " keys into one of them, and delete the other one"
    )


def _advice(what: str, line: str, *, of_game: bool) -> str:
    key, equals, value = (part.strip() for part in line.partition("="))
    twice = any(word in what for word in ("overwrite", "declare", "namespace", "mutate"))
    checks = (
        (
            "\\r" in what,
            "the line ends are of no current system: save the file with other line ends",
        ),
        (re.search("[“”„‘’«»]", line), 'use straight quotes: "…"'),  # noqa: RUF001
        (twice and equals, f"{key} is twice in this section"),
        (twice, "a section that may be repeated has double brackets, such as [[link.table]]"),
        (line.startswith("["), "a section is named in brackets: [service] or [[link.table]]"),
        (not equals, "a line is a key and its value, such as positions = 7"),
        (of_game and _CELL.search(value), 'a cell is a text in quotes, such as "$1,000"'),
        (
            "$" in value or re.search(r"\d,\d{3}", value) or (key in MONEY and value.isalpha()),
            "money is in cents, a whole number without sign or comma: $1 is 100",
        ),
        (value.endswith(","), "remove the comma at the end of the line"),
        (";" in value, "a comment begins with #"),
        (value.count('"') % 2 or value.count("'") % 2, "a quote is missing"),
        (_BARE_WORD.search(line), "a text needs quotes"),
    )
    return next((advice for holds, advice in checks if holds), "this line cannot be read")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The keys and choices that a floor file can have.

    The path of a section in `keys` has no list positions: `link.meter`, not `link.0.meter`.
    """

    keys: Mapping[Path, Collection[str]]
    choices: Mapping[str, Collection[str]]

    def problem(self, reason: str, path: Path) -> tuple[Path, str]:
        """Return the path of an invalid value and a message, from those that msgspec reports."""
        section = tuple(step for step in path if isinstance(step, str))
        if named := _NAMED.search(reason):
            key = named["key"]
            if "unknown" in reason:
                known = self.keys.get(section, ())
                return (*path, key), f"there is no key {key} here{nearest(key, known)}"
            return path, f"{_title((*section, key))} is missing"
        for pattern, words in _WORDS:
            if found := pattern.fullmatch(reason):
                key = section[-1] if section else "the file"
                return path, words(_Spot(key, section, found, self.choices.get(key, ())))
        return path, f"{'.'.join(map(str, section))}: {reason}"


@dataclass(frozen=True, slots=True)
class _Spot:
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
    if spot.key in MONEY:
        return f"{spot.key} is in cents, a whole number without quotes or point: $1 is 100"
    return f"{spot.key} is a whole number, without quotes"


def _bound(spot: _Spot) -> str:
    limit = int(spot.found[2])
    end = "least" if spot.found[1] == ">=" else "most"
    if spot.key not in MONEY:
        return f"{spot.key} is at {end} {limit}"
    dollars = f" (${limit // _CENTS_A_DOLLAR:,})" if limit > _CENTS_A_DOLLAR else ""
    return f"{spot.key} is at {end} {limit} {'cent' if limit == 1 else 'cents'}{dollars}"


def _quoted(spot: _Spot) -> str:
    return f'{spot.key} is a text and needs quotes: {spot.key} = "…"'


def _choice(spot: _Spot) -> str:
    return f'{spot.key}: a choice is a text in quotes, such as "A", or a whole number'


def _cell(spot: _Spot) -> str:
    return f'{spot.key} is a text in quotes, such as "10%", or a list of such texts'


def _listed(spot: _Spot) -> str:
    if spot.section in _REPEATED:
        return f"{spot.key} has double brackets: {_title(spot.section)}"
    return f'{spot.key} is a list: {spot.key} = ["…", "…"]'


def _sectioned(spot: _Spot) -> str:
    return f"{spot.key} is a section of its own: {_title(spot.section)}"


def _length(spot: _Spot) -> str:
    if spot.found[1] == "array":
        return f"there is no {_title(spot.section)}"
    if spot.found[2] == ">=":
        return f"{spot.key} is empty"
    return f"{spot.key} has {spot.found[3]} characters at most"


_METER_ID: Final[Path] = ("link", "meter", "id")


def _spelled(spot: _Spot) -> str:
    signs = "letters, digits and hyphens"
    if spot.section == _METER_ID:
        signs = "letters, digits, hyphens and underscores"
    return f"{spot.key} has {signs} only, 1 to 32 of them"


def _chosen(spot: _Spot) -> str:
    return f"there is no {spot.key} {spot.found[1]}{nearest(spot.found[1], spot.choices)}"


_WORDS: Final[tuple[tuple[re.Pattern[str], Callable[[_Spot], str]], ...]] = (
    (re.compile(r"Expected `str \| array`, got `.*`"), _cell),
    (re.compile(r"Expected `int \| str \| object`, got `.*`"), _choice),
    (re.compile(r"Expected `int(?: \| null)?`, got `.*`"), _number),
    (re.compile(r"Expected `str(?: \| null)?`, got `.*`"), _quoted),
    (re.compile(r"Expected `array`, got `.*`"), _listed),
    (re.compile(r"Expected `object`, got `.*`"), _sectioned),
    (re.compile(r"Expected `int` ([<>]=) (\d+)"), _bound),
    (re.compile(r"Expected `(str|array)` of length ([<>]=) (\d+)"), _length),
    (re.compile(r"Expected `str` matching regex .*"), _spelled),
    (re.compile(r"Invalid enum value '(.*)'", re.DOTALL), _chosen),
)
