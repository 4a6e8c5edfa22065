"""A floor file's mistakes in words that say what to write instead."""

import re
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Final

from meters.wire.places import Path

MONEY: Final = frozenset({"wager", "validate_from", "payout_limit"})
"""The keys whose values are cents."""

_TOML: Final = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)")
_BARE_WORD: Final = re.compile(r"=\s*[A-Za-z][^\s\"'=]*\s*(?:#.*)?$")
_NAMED: Final = re.compile(r"field `(?P<key>[^`]+)`")


def toml_mistake(error: ValueError | RecursionError, text: str) -> tuple[int, str]:
    """The line of a text that is not TOML, and what is wrong there."""
    found = _TOML.fullmatch(str(error))
    if found is None:
        reason = "a number too long" if isinstance(error, ValueError) else "brackets in brackets"
        return 1, f"this cannot be a floor file: {reason}"
    lines = text.split("\n")
    number = int(found["line"] or len(lines))
    line = lines[min(number, len(lines)) - 1].strip()
    what = found["what"]
    return number, f"{_advice(what, line)} ({what[:1].lower()}{what[1:]})"


def _advice(what: str, line: str) -> str:
    """What to do about a line that TOML does not take."""
    value = line.partition("=")[2]
    if re.search("[“”„‘’«»]", line):  # noqa: RUF001  (what a word processor makes of quotes)
        return "only straight quotes will do: \"…\""
    if "Cannot overwrite" in what or "Cannot declare" in what or "namespace" in what:
        if line.startswith("["):
            return "a section that occurs several times has double brackets, such as [[link.table]]"
        return f"{line.partition('=')[0].strip()} stands twice in this section"
    if line.startswith("["):
        return "a section's name stands in brackets, such as [service] or [[link.table]]"
    if "=" not in line:
        return "a line is a key and its value, such as positions = 7"
    if "$" in value or re.search(r"\d,\d{3}", value):
        return "money is in cents, a whole number without sign or comma: $1 is 100"
    if value.count('"') % 2 or value.count("'") % 2:
        return "a quote is missing"
    if _BARE_WORD.search(line):
        return "text stands in quotes"
    return "this is not TOML"


def type_mistake(reason: str, path: Path, keys: Mapping[Path, Collection[str]]) -> tuple[Path, str]:
    """A validation error's place and reason, put for whoever wrote the file.

    Args:
        reason: what msgspec says.
        path: where.
        keys: the keys of each section, by its path without numbers.
    """
    section = tuple(step for step in path if isinstance(step, str))
    named = _NAMED.search(reason)
    if named and "unknown field" in reason:
        key = named["key"]
        known = keys.get(section, ())
        return (*path, key), f"there is no key {key} here{_nearest(key, known)}"
    if named:
        return path, f"{_title((*section, named['key']), named['key'])} is missing"
    key = section[-1] if section else "the file"
    for pattern, words in _WORDS:
        if found := re.fullmatch(pattern, reason):
            return path, words(key, section, found)
    return path, f"{key}: {reason}"


_SECTIONS: Final = {("facility",), ("service",), ("link",), ("link", "meter"), ("link", "table")}
_REPEATED: Final = _SECTIONS - {("facility",), ("service",)}


def _title(section: tuple[str, ...], key: str) -> str:
    if section in _REPEATED:
        return f"[[{'.'.join(section)}]]"
    return f"[{key}]" if section in _SECTIONS else key


def _nearest(word: str, known: Collection[str]) -> str:
    """Where a word has one that is near to it, that; else all that there are."""
    close = get_close_matches(word, known, 1)
    if close:
        return f"; {close[0]} is meant?"
    return f": {', '.join(known)}" if known else ""


Words = Callable[[str, tuple[str, ...], "re.Match[str]"], str]


def _number(key: str, _: tuple[str, ...], __: "re.Match[str]") -> str:
    if key in MONEY:
        return f"{key} is in cents, a whole number without quotes or point: $1 is 100"
    return f"{key} is a whole number, without quotes"


def _bound(key: str, _: tuple[str, ...], found: "re.Match[str]") -> str:
    most = "least" if found[1] == ">=" else "most"
    cents = f" cents (${int(found[2]) // 100:,})" if key in MONEY and int(found[2]) >= 100 else ""
    return f"{key} is {found[2]}{cents or (' cent' if key in MONEY else '')} at {most}"


def _quoted(key: str, _: tuple[str, ...], __: "re.Match[str]") -> str:
    return f'{key} is a text and stands in quotes: {key} = "…"'


def _listed(key: str, section: tuple[str, ...], __: "re.Match[str]") -> str:
    if section in _REPEATED:
        return f"{key} has double brackets: [[{'.'.join(section)}]]"
    return f'{key} is a list: {key} = ["…", "…"]'


def _sectioned(key: str, section: tuple[str, ...], _: "re.Match[str]") -> str:
    return f"{key} is a section of its own: {_title(section, key)}"


def _length(key: str, section: tuple[str, ...], found: "re.Match[str]") -> str:
    if found[1] == "array":
        return f"there is no {_title(section, key)}"
    return f"{key} is empty" if found[2] == ">=" else f"{key} has {found[3]} characters at most"


def _spelled(key: str, _: tuple[str, ...], __: "re.Match[str]") -> str:
    return f"{key} has letters, digits and hyphens, 1 to 32 of them"


def _chosen(key: str, _: tuple[str, ...], found: "re.Match[str]") -> str:
    known = CHOICES.get(key, ())
    return f"there is no {key} {found[1]}{_nearest(found[1], known)}"


CHOICES: Final[dict[str, Collection[str]]] = {}
"""What may stand for the keys that have a choice; filled by the floor file's module."""

_WORDS: Final[tuple[tuple[str, Words], ...]] = (
    (r"Expected `int \| str \| object`, got `.*`", _quoted),
    (r"Expected `int(?: \| null)?`, got `.*`", _number),
    (r"Expected `str(?: \| null)?`, got `.*`", _quoted),
    (r"Expected `array`, got `.*`", _listed),
    (r"Expected `object`, got `.*`", _sectioned),
    (r"Expected `int` ([<>]=) (\d+)", _bound),
    (r"Expected `(str|array)` of length ([<>]=) (\d+)", _length),
    (r"Expected `str` matching regex .*", _spelled),
    (r"Invalid enum value '?(.*?)'?", _chosen),
)
