"""`deploy/docs/reference/logs.md` lists every event that the code logs, and no other."""

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.test_tree import ROOMS, ROOT, SHARED, nodes, of_room

ROW: Final = re.compile(
    r"^\| `([^`]+)` \| (\w+) \| ([a-z, ]+) \| ([^|]*) \| [^|]+ \|$", re.MULTILINE
)
WRITTEN_ELSEWHERE: Final = frozenset({"library"})
"""Made from a library's own line, not by one of our calls."""

LEVELS: Final = {name: name for name in ("debug", "info", "warning", "error")} | {
    "exception": "error"
}
NO_FIELDS: Final = frozenset({"exc_info"})
"""Arguments of a call that appear in the line under another name."""


@dataclass(frozen=True, slots=True)
class Call:
    place: str
    event: str
    level: str
    fields: frozenset[str]


def _calls_in(path: Path) -> Iterator[Call]:
    bound = _bound(path)
    for node in nodes(path):
        match node:
            case ast.Call(func=ast.Attribute(value=logger, attr=method)) if _name(logger) in bound:
                if method not in LEVELS:
                    assert method in {"bind", "is_enabled_for"}, f"{path}:{node.lineno}: {method}"
                    continue
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                fields = bound[_name(logger)] | _fields(node, place)
                yield Call(place, _event(node, place), LEVELS[method], fields - NO_FIELDS)


def _bound(path: Path) -> dict[str, frozenset[str]]:
    """Return the loggers of a file, each with the fields that are bound to it."""
    found: dict[str, frozenset[str]] = {}
    assigned = [node for node in nodes(path) if isinstance(node, ast.Assign | ast.AnnAssign)]
    for wanted in ("get_logger", "bind"):
        for node in sorted(assigned, key=lambda each: each.lineno):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            match node.value:
                case ast.Call(func=ast.Attribute(value=logger, attr=attr)) as call if (
                    attr == wanted
                ):
                    if wanted == "get_logger":
                        found[_name(target)] = frozenset()
                    elif (base := _name(logger)) in found:
                        found[_name(target)] = found[base] | _fields(call, str(node.lineno))
    return found


def _name(node: ast.expr) -> str:
    return ast.unparse(node)


def _fields(call: ast.Call, place: str) -> frozenset[str]:
    names = [keyword.arg for keyword in call.keywords]
    assert None not in names, f"{place}: its fields are put together, and cannot be listed"
    return frozenset(name for name in names if name is not None)


def _event(call: ast.Call, place: str) -> str:
    match call.args:
        case [ast.Constant(value=str(event))]:
            return event
    raise AssertionError(f"{place}: the name of an event is one text that never changes")


def listed() -> dict[str, tuple[str, str, str]]:
    text = (ROOT / "deploy" / "docs" / "reference" / "logs.md").read_text(encoding="utf-8")
    rows = ROW.findall(text)
    found = {event: (level, source, fields.strip()) for event, level, source, fields in rows}
    assert len(found) == len(rows), "an event stands twice"
    return found


@functools.cache
def in_code() -> dict[str, list[Call]]:
    found: dict[str, list[Call]] = {}
    for path in of_room(*ROOMS):
        for call in _calls_in(path):
            found.setdefault(call.event, []).append(call)
    return found


def row_of(made: list[Call]) -> tuple[str, str, str]:
    """Return the row of an event: level, processes, and fields; [those] are not always there."""
    rooms = {call.place.split("/")[0] for call in made}
    both = all(Path(call.place).parts[1] in SHARED for call in made)
    named = {"meters": "service", "controllers": "table"}
    source = "service, table" if both else ", ".join(sorted(named[room] for room in rooms))
    always = frozenset.intersection(*(call.fields for call in made))
    ever = sorted(frozenset.union(*(call.fields for call in made)))
    fields = ", ".join(name if name in always else f"[{name}]" for name in ever)
    return " or ".join(sorted({call.level for call in made})), source, fields


def test_what_is_listed_is_what_the_code_logs() -> None:
    """Each kind has one level, one or more processes, and the fields of its calls."""
    expected = {event: row_of(made) for event, made in in_code().items()}
    assert {e: row for e, row in listed().items() if e not in WRITTEN_ELSEWHERE} == expected


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
        assert {event: listed()[event][0] for event in events} == dict.fromkeys(events, level)
