"""The page of the readings has every reading that a test checks, and none without a test."""

import re
from typing import Final

import pytest

from tests.law.law_table import ROOT
from tests.proofs import proofs

PAGE: Final = (ROOT / "deploy" / "docs" / "compliance" / "readings.md").read_text(encoding="utf-8")
HOUSE_RULE: Final = "G7"
"""The reading that leaves something to the house, so that there is nothing to test."""

_ROW: Final = re.compile(r"^\| (?!reading )([GTPF]\d+|[a-z ]+) \| .+ \| .+ \|.*\|$", re.MULTILINE)


def rows() -> list[str]:
    return _ROW.findall(PAGE)


def proven() -> frozenset[str]:
    return frozenset(one for one in proofs() if "a." not in one and not one.startswith("D"))


@pytest.mark.parametrize("reading", rows())
def test_a_reading_has_a_test_that_is_marked_with_it(reading: str) -> None:
    assert reading == HOUSE_RULE or reading in proven()


def test_every_reading_that_is_tested_is_on_the_page() -> None:
    assert proven() - {*rows()} == set()
