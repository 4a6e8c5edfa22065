"""The page of the readings has every reading that a test checks, and none without a test."""

import ast
import functools
import re
from typing import Final

import pytest

from tests.law.law_rounds import all_cases
from tests.law.law_table import ROOT
from tests.test_tree import nodes, of_room

PAGE: Final = (ROOT / "deploy" / "docs" / "compliance" / "readings.md").read_text(encoding="utf-8")
HOUSE_RULE: Final = "G7"
"""The reading that leaves something to the house, so that there is nothing to test."""

_ROW: Final = re.compile(r"^\| (?!reading )([GTPF]\d+|[a-z ]+) \| .+ \| .+ \|$", re.MULTILINE)


def rows() -> list[str]:
    return _ROW.findall(PAGE)


@functools.cache
def marked() -> frozenset[str]:
    found: set[str] = set()
    for path in of_room("tests"):
        if "pytest.mark.reading(" not in path.read_text(encoding="utf-8"):
            continue
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for call in (part for mark in node.decorator_list for part in ast.walk(mark)):
                    if (
                        isinstance(call, ast.Call)
                        and isinstance(call.func, ast.Attribute)
                        and call.func.attr == "reading"
                    ):
                        found.add(ast.literal_eval(call.args[0]))
    found.update(mark for case in all_cases() for mark in case.marks if "a." not in mark)
    return frozenset(found)


@pytest.mark.parametrize("reading", rows())
def test_a_reading_has_a_test_that_is_marked_with_it(reading: str) -> None:
    assert reading == HOUSE_RULE or reading in marked()


def test_every_reading_that_is_tested_is_on_the_page() -> None:
    assert marked() - {*rows()} == set()
