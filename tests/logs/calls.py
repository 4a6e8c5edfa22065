"""Every call that logs, read from the code: its name, its level and its fields."""

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
LEVELS: Final = {
    "debug": "debug",
    "info": "info",
    "warning": "warning",
    "error": "error",
    "exception": "error",
}
NO_FIELDS: Final = frozenset({"exc_info"})
"""Arguments of a call that appear in the line under another name."""


@dataclass(frozen=True, slots=True)
class Call:
    place: str
    event: str
    level: str
    fields: frozenset[str]


@functools.cache
def calls() -> tuple[Call, ...]:
    """Return all calls of the three packages.

    Raises:
        AssertionError: a name or a field is not a plain constant and cannot be read.
    """
    return tuple(
        call
        for room in ("bonus", "meters", "controllers")
        for path in sorted((ROOT / room).rglob("*.py"))
        for call in _calls_in(path)
    )


def _calls_in(path: Path) -> Iterator[Call]:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    bound = _bound(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=logger, attr=method)) if _name(logger) in bound:
                if method not in LEVELS:
                    assert method in {"bind", "is_enabled_for"}, f"{path}:{node.lineno}: {method}"
                    continue
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                fields = bound[_name(logger)] | _fields(node, place)
                yield Call(place, _event(node, place), LEVELS[method], fields - NO_FIELDS)


def _bound(tree: ast.AST) -> dict[str, frozenset[str]]:
    """Return the loggers of a file, each with the fields that are bound to it."""
    found: dict[str, frozenset[str]] = {}
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign)]
    for node in sorted(assigned, key=lambda each: each.lineno):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        match node.value:
            case ast.Call(func=ast.Attribute(attr="get_logger")):
                found[_name(target)] = frozenset()
    for node in sorted(assigned, key=lambda each: each.lineno):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        match node.value:
            case ast.Call(func=ast.Attribute(value=logger, attr="bind")) as call:
                if _name(logger) in found:
                    found[_name(target)] = found[_name(logger)] | _fields(call, str(node.lineno))
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
