"""Parses the law table (``deploy/docs/compliance/law.md``) and the marks of the tests it names."""

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.law.law_rounds import Case, all_cases

ROOT: Final = Path(__file__).resolve().parents[2]
LAW: Final = ROOT / "deploy" / "docs" / "compliance" / "law.md"
CITE: Final = r"\d+a\.\d+(?:\([a-zA-Z0-9]+\))+"

_ROW: Final = re.compile(rf"\| ({CITE}) \| (\S.*\S) \| (\S.*\S) \|")
_LISTED: Final = re.compile(rf"- ({CITE}(?:, {CITE})*): (\S.*)")
_NAMED: Final = re.compile(r"`(tests/[a-z0-9_/]+\.(?:py|txt))(?:::(test_[a-z0-9_]+))?`")
_ROUNDS_TEST: Final = "tests/law/test_rounds.py::test_a_round_is_settled_as_the_law_says"


@dataclass(frozen=True, slots=True)
class Row:
    """A subsection, what it asks, and the tests or files of marked rounds that cover it."""

    subsection: str
    asks: str
    carried_by: tuple[tuple[str, str], ...]

    @property
    def tests(self) -> tuple[str, ...]:
        rounds = {path for path, test in self.carried_by if not test}
        return tuple(f"{path}::{test}" for path, test in self.carried_by if test) + tuple(
            f"{_ROUNDS_TEST}[{case.id}]"
            for case in all_cases()
            if named(case) in rounds
            and any(stands_for(mark, self.subsection) for mark in case.marks)
        )


@dataclass(frozen=True, slots=True)
class LawTable:
    """Contents of law.md: rows about money, and the other subsections; nothing may be `unread`."""

    rows: tuple[Row, ...]
    listed: tuple[str, ...]
    unread: tuple[str, ...]


def read_law(text: str) -> LawTable:
    rows: list[Row] = []
    listed: list[str] = []
    unread: list[str] = []
    for line in text.splitlines():
        if match := _ROW.fullmatch(line):
            carried = tuple((path, test) for path, test in _NAMED.findall(match[3]))
            whole = ", ".join(
                f"`{path}::{test}`" if test else f"`{path}`" for path, test in carried
            )
            rows.append(Row(match[1], match[2], carried))
            unread += [line] * (not carried or whole != match[3])
        elif match := _LISTED.fullmatch(line):
            listed += match[1].split(", ")
        elif line.startswith(("|", "-", "*")) and not _is_heading(line):
            unread.append(line)
    return LawTable(tuple(rows), tuple(listed), tuple(unread))


def named(case: Case) -> str:
    return case.path.relative_to(ROOT).as_posix()


def _is_heading(line: str) -> bool:
    return line == "| Subsection | Requirement | Tests |" or set(line) <= set("|- ")


@functools.cache
def marks_of(path: str) -> dict[str, frozenset[str]]:
    """Return the subsections in the marks of each test of a file, by the test's name."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"), path)
    of_all: frozenset[str] = frozenset()
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
        ):
            of_all |= _sections(node.value)
    found: dict[str, frozenset[str]] = {}
    _collect(tree.body, of_all, found)
    return found


def _collect(
    body: list[ast.stmt], of_all: frozenset[str], found: dict[str, frozenset[str]]
) -> None:
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        marked = of_all.union(*(_sections(decorator) for decorator in node.decorator_list))
        if isinstance(node, ast.ClassDef):
            _collect(node.body, marked, found)
        elif node.name.startswith("test_"):
            found[node.name] = marked


def _sections(mark: ast.expr) -> frozenset[str]:
    """Return the subsections in ``pytest.mark.section(...)``, or in a list of such marks."""
    return frozenset(
        constant.value
        for call in ast.walk(mark)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "section"
        for argument in call.args
        for constant in ast.walk(argument)
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    )


def stands_for(mark: str, subsection: str) -> bool:
    """Return whether a mark is a subsection, contains it, or is contained by it.

    A whole section does not cover its subsections.
    """
    return "(" in mark and (
        mark == subsection or mark.startswith(f"{subsection}(") or subsection.startswith(f"{mark}(")
    )
