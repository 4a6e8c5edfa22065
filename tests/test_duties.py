"""The table of the controller's duties, compared with the tests that it names."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.test_tree import ROOMS, ROOT, marks, marks_in, of_room, parsed

TABLE: Final = ROOT / "deploy" / "docs" / "compliance" / "duties.md"
DUTIES: Final = [f"D{number}" for number in range(1, 23)]

_ROW: Final = re.compile(r"^\| (D\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
_TEST: Final = re.compile(r"`(tests/[\w/]+\.py)::([\w:]+)`")
_CITED: Final = re.compile(r"\bdut(?:y|ies) (D\d+(?:(?:, | and |, and )D\d+)*)")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def rows() -> dict[str, list[tuple[str, str]]]:
    """Return the tests that the table names for each duty: the file, and the name within it."""
    found = _ROW.findall(TABLE.read_text(encoding="utf-8"))
    assert [duty for duty, *_ in found] == DUTIES
    return {duty: _TEST.findall(tests) for duty, _, _, tests in found}


def functions(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, Function]]:
    """Yield a module's functions by name. A method has the name of its class before its own."""
    for node in body:
        if isinstance(node, Function):
            yield within + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node.body, f"{node.name}::")


@functools.cache
def marked(path: Path) -> dict[str, frozenset[str]]:
    """Return each function of a file with its duties, including those of the module's mark."""
    body = parsed(path).body
    of_module = frozenset().union(
        *(marks_in(ast.unparse(node), "duty") for node in body if isinstance(node, ast.Assign))
    )
    return {
        name: of_module.union(*(marks_in(ast.unparse(one), "duty") for one in node.decorator_list))
        for name, node in functions(body)
    }


@pytest.mark.parametrize("duty", DUTIES)
def test_each_duty_names_tests_that_carry_it(duty: str) -> None:
    named = rows()[duty]
    assert named
    for file, name in named:
        carried = marked(ROOT / file)
        assert name in carried, f"there is no test {name} in {file}"
        assert duty in carried[name], f"{name} does not carry {duty}"


def test_every_mark_names_an_existing_duty() -> None:
    assert marks("duty") <= set(DUTIES)


def test_every_duty_that_the_code_cites_exists() -> None:
    cited = {
        duty
        for path in of_room(*ROOMS)
        for found in _CITED.findall(path.read_text(encoding="utf-8"))
        for duty in re.findall(r"D\d+", found)
    }
    assert cited
    assert cited <= set(DUTIES)
