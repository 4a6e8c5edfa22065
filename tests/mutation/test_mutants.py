"""Every row of the law and of the duties has a defect that its tests must find."""

import pytest

from tests.mutation.mutants import ROOT, Mutant, mutants, named_tests, simulated

ALL = (*mutants(), *(each for changes in simulated().values() for each in changes))


def test_every_row_has_a_defect() -> None:
    broken = {row for mutant in mutants() for row in mutant.rows}
    assert named_tests().keys() - broken == set()
    assert broken - named_tests().keys() == set()


@pytest.mark.parametrize(
    "mutant", ALL, ids=lambda mutant: f"{mutant.file} {mutant.name or mutant.rows[0]}"
)
def test_a_defect_changes_a_text_that_is_there_once(mutant: Mutant) -> None:
    assert mutant.applied(ROOT) != (ROOT / mutant.file).read_text(encoding="utf-8")
