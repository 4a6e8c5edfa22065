"""The proof of each subsection of the law, reading and duty, from the marks of the tests.

A test proves the readings of its marks, and the subsections and duties of its marks with
`proof=True`. The rounds of a heading in ``tests/law/rounds`` prove those of the heading.
"""

import ast
import functools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from tests.law.law_rounds import all_cases
from tests.test_tree import ROOT, of_room, parsed

_KINDS: Final = {"duty", "section"}
_READING: Final = "reading"
_ROUNDS_TEST: Final = "tests/law/test_rounds.py::test_a_round_is_settled_as_the_law_says"


class Proof(NamedTuple):
    """A test, as pytest names it, and the file in which people read it."""

    file: str
    test: str


@functools.cache
def proofs() -> Mapping[str, tuple[Proof, ...]]:
    """Return the proofs of each subsection, reading and duty."""
    found: dict[str, list[Proof]] = defaultdict(list)
    for case in all_cases():
        for row in case.marks:
            file = case.path.relative_to(ROOT).as_posix()
            found[row].append(Proof(file, f"{_ROUNDS_TEST}[{case.id}]"))
    for path in of_room("tests"):
        text = path.read_text(encoding="utf-8")
        if "proof=True" in text or f"mark.{_READING}(" in text:
            file = path.relative_to(ROOT).as_posix()
            for name, rows in proved_in(parsed(path)):
                for row in rows:
                    found[row].append(Proof(file, f"{file}::{name}"))
    return {row: tuple(tests) for row, tests in found.items()}


def proved_in(module: ast.Module) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each test of a file, with what it proves.

    What `pytestmark` or a class proves, all of its tests prove.
    """
    of_all = frozenset[str]().union(
        *(
            _proved(node.value)
            for node in module.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
        )
    )
    yield from _proved_within(module.body, of_all)


def proof_cell(rows: Iterable[str]) -> str:
    """Return the files that prove some rows, each with the number of its proofs: rounds first."""
    numbers = Counter(file for file, _ in {proof for row in rows for proof in proofs()[row]})
    files = sorted(numbers, key=lambda file: (not file.endswith(".txt"), -numbers[file], file))
    return ", ".join(f"`{file}` ({numbers[file]})" for file in files)


def _proved_within(
    body: list[ast.stmt], of_all: frozenset[str], within: str = ""
) -> Iterator[tuple[str, frozenset[str]]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            rows = of_all.union(*map(_proved, node.decorator_list))
            if isinstance(node, ast.ClassDef):
                yield from _proved_within(node.body, rows, f"{within}{node.name}::")
            elif node.name.startswith("test_"):
                yield within + node.name, rows


def _proved(mark: ast.expr) -> frozenset[str]:
    """Return what a mark proves, or a list of marks."""
    return frozenset(
        ast.literal_eval(argument)
        for call in ast.walk(mark)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.func.attr == _READING
        or (call.func.attr in _KINDS and any(each.arg == "proof" for each in call.keywords))
        for argument in call.args
    )
