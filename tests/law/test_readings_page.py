"""The page of the readings names every reading that a test checks, each with such a test."""

import ast
import functools
import re
from collections import defaultdict
from typing import Final

import pytest

from tests.law.law_rounds import all_cases
from tests.law.law_table import ROOT, named
from tests.test_tree import nodes, of_room

PAGE: Final = (ROOT / "deploy" / "docs" / "compliance" / "readings.md").read_text(encoding="utf-8")
HOUSE_RULE: Final = "G7"
"""The reading that leaves something to the house, so that there is nothing to test."""

_ROW: Final = re.compile(
    r"^\| ([GTPF]\d+|[a-z ]+) \| (.+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE
)


def rows() -> dict[str, str]:
    return {found[1]: found[5] for found in _ROW.finditer(PAGE) if found[1] != "reading"}


@functools.cache
def marked() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path in of_room("tests"):
        if "pytest.mark.reading(" not in path.read_text(encoding="utf-8"):
            continue
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                test = f"`{path.relative_to(ROOT)}::{node.name}`"
                for call in (part for mark in node.decorator_list for part in ast.walk(mark)):
                    if (
                        isinstance(call, ast.Call)
                        and isinstance(call.func, ast.Attribute)
                        and call.func.attr == "reading"
                    ):
                        found[ast.literal_eval(call.args[0])].add(test)
    for case in all_cases():
        for mark in case.marks:
            found[mark].add(f"`{named(case)}`")
    return {mark: tests for mark, tests in found.items() if "a." not in mark}


@pytest.mark.parametrize("reading", rows())
def test_a_reading_names_a_test_that_is_marked_with_it(reading: str) -> None:
    assert reading == HOUSE_RULE or rows()[reading] in marked()[reading]


def test_every_reading_that_is_tested_is_on_the_page() -> None:
    assert {name.lower() for name in marked()} - {name.lower() for name in rows()} == set()
