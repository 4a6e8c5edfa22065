"""Every row of the law and of the duties has a defect that its tests must find."""

import pytest

from tests.mutation.mutants import ROOT, Mutant, mutants, named_tests

ROWS = {row for mutant in mutants() for row in mutant.rows}
TESTS = {row for row in ROWS if row.startswith("tests/")}


def test_every_row_has_a_defect() -> None:
    assert named_tests().keys() == ROWS - TESTS


def test_every_row_that_is_a_test_exists() -> None:
    for file, _, name in (test.partition("::") for test in TESTS):
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: f"{mutant.file} {mutant.rows[0]}")
def test_a_defect_changes_a_text_that_is_there_once(mutant: Mutant) -> None:
    assert mutant.applied(ROOT) != (ROOT / mutant.file).read_text(encoding="utf-8")
