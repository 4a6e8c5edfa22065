"""The events that the code logs, each with its levels, processes and fields."""

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.test_tree import ROOMS, ROOT, SHARED, nodes, of_room

_LEVELS: Final = {name: name for name in ("debug", "info", "warning", "error")} | {
    "exception": "error"
}
_NO_FIELDS: Final = frozenset({"exc_info"})
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
                if method not in _LEVELS:
                    assert method in {"bind", "is_enabled_for"}, f"{path}:{node.lineno}: {method}"
                    continue
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                fields = bound[_name(logger)] | _fields(node, place)
                yield Call(place, _event(node, place), _LEVELS[method], fields - _NO_FIELDS)


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


@functools.cache
def in_code() -> dict[str, list[Call]]:
    """Return the calls that log each event."""
    found: dict[str, list[Call]] = {}
    for path in of_room(*ROOMS):
        for call in _calls_in(path):
            found.setdefault(call.event, []).append(call)
    return found


def level_of(event: str) -> str:
    """Return the level of an event; all calls that log the event must agree on it."""
    (level,) = {call.level for call in in_code()[event]}
    return level


def log_events() -> Iterator[tuple[str, str, str, str]]:
    """Yield each event with its level, the processes that log it, and its fields.

    A field in brackets is not in every line of its event.
    """
    for event, made in sorted(in_code().items()):
        always = frozenset.intersection(*(call.fields for call in made))
        ever = sorted(frozenset.union(*(call.fields for call in made)))
        fields = ", ".join(name if name in always else f"[{name}]" for name in ever)
        yield event, level_of(event), _processes(made), fields


def _processes(made: list[Call]) -> str:
    if all(Path(call.place).parts[1] in SHARED for call in made):
        return "service, table"
    named = {"meters": "service", "controllers": "table"}
    return ", ".join(sorted({named[Path(call.place).parts[0]] for call in made}))
