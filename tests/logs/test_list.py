"""`deploy/docs/reference/logs.md` lists every event that the code logs, and no other."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.logs.calls import ROOT, Call, calls
from tests.test_tree import SHARED

ROW: Final = re.compile(
    r"^\| `([^`]+)` \| (\w+) \| ([a-z, ]+) \| ([^|]*) \| [^|]+ \|$", re.MULTILINE
)
WRITTEN_ELSEWHERE: Final = frozenset({"library"})
"""Made from a library's own line, not by one of our calls."""


def listed() -> dict[str, tuple[str, str, str]]:
    """Return each listed event with its level, its sources, and its fields."""
    text = (ROOT / "deploy" / "docs" / "reference" / "logs.md").read_text(encoding="utf-8")
    rows = ROW.findall(text)
    found = {event: (level, source, fields.strip()) for event, level, source, fields in rows}
    assert len(found) == len(rows), "an event stands twice"
    return found


def in_code() -> dict[str, list[Call]]:
    found: dict[str, list[Call]] = {}
    for call in calls():
        found.setdefault(call.event, []).append(call)
    return found


def source_of(made: list[Call]) -> str:
    """Return the processes that log an event, as the list names them."""
    rooms = {call.place.split("/")[0] for call in made}
    both = all(Path(call.place).parts[1] in SHARED for call in made)
    named = {"meters": "service", "controllers": "table"}
    return "service, table" if both else ", ".join(sorted(named[room] for room in rooms))


def fields_of(made: list[Call]) -> str:
    """Return its fields; those in brackets are not always there."""
    always = frozenset.intersection(*(call.fields for call in made))
    ever = frozenset.union(*(call.fields for call in made))
    return ", ".join(name if name in always else f"[{name}]" for name in sorted(ever))


def test_what_is_listed_is_what_the_code_logs() -> None:
    expected = {
        event: (made[0].level, source_of(made), fields_of(made))
        for event, made in in_code().items()
    }
    assert {e: row for e, row in listed().items() if e not in WRITTEN_ELSEWHERE} == expected


def test_each_kind_has_one_level() -> None:
    assert not [
        [(call.place, call.level) for call in made]
        for made in in_code().values()
        if len({call.level for call in made}) > 1
    ]


def test_names_are_short_and_plain() -> None:
    """Names are lower-case words; only their blanks need quotes in a shell or a query."""
    assert not [event for event in in_code() if not re.fullmatch(r"[a-z' -]{4,30}", event)]


@pytest.mark.parametrize(
    ("event", "level"),
    [
        ("link inoperable", "error"),
        ("self-check failed", "error"),
        ("events lost", "error"),
        ("table locked out", "error"),
        ("broker gone", "warning"),
        ("event refused", "warning"),
        ("flooded", "warning"),
        ("link operable", "info"),
        ("link waits", "info"),
        ("claim opened", "info"),
        ("claim decided", "info"),
        ("change confirmed", "info"),
        ("floor file approved", "info"),
        ("event arrived", "debug"),
        ("event judged", "debug"),
    ],
)
def test_levels_mean_something(event: str, level: str) -> None:
    assert {call.level for call in in_code()[event]} == {level}
