"""`deploy/docs/reference/logs.md` says what every error and warning means.

The table of all events and their fields is generated from the code (`tests/documents`).
"""

import re
from collections.abc import Iterator
from typing import Final

from tests.logs.calls import in_code, level_of
from tests.test_tree import ROOT

_ROW: Final = re.compile(r"^\| (`[^|]+`) \| [^|]+ \|$", re.MULTILINE)
_WRITTEN_ELSEWHERE: Final = frozenset({"library"})
"""Made from a library's own line, not by one of our calls."""


def _explained(heading: str) -> Iterator[str]:
    """Yield the events that the section with this heading explains."""
    text = (ROOT / "deploy" / "docs" / "reference" / "logs.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    for cell in _ROW.findall(section):
        yield from re.findall(r"`([^`]+)`", cell)


def test_every_error_and_every_warning_is_explained() -> None:
    for heading, level in (("Errors", "error"), ("Warnings", "warning")):
        explained = [*_explained(heading)]
        assert len({*explained}) == len(explained), "an event stands twice"
        logged = {event for event in in_code() if level_of(event) == level}
        assert {*explained} - _WRITTEN_ELSEWHERE == logged


def test_only_events_of_the_code_are_explained_as_records() -> None:
    explained = [*_explained("Records")]
    assert explained
    assert {level_of(event) for event in explained} == {"info", "debug"}


def test_names_are_short_and_plain() -> None:
    """Names are lower-case words; only their blanks need quotes in a shell or a query."""
    assert not [event for event in in_code() if not re.fullmatch(r"[a-z' -]{4,30}", event)]


def test_levels_mean_something() -> None:
    levels = {
        "error": ("link inoperable", "self-check failed", "events lost", "table locked out"),
        "warning": ("broker gone", "event refused", "flooded"),
        "info": (
            "link operable", "link waits", "claim opened", "claim decided", "change confirmed",
            "floor file approved",
        ),
        "debug": ("event arrived", "event judged"),
    }  # fmt: skip
    for level, events in levels.items():
        assert {event: level_of(event) for event in events} == dict.fromkeys(events, level)
