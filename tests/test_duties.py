"""The table of the controller's duties is complete, and tests prove each duty."""

import ast
import re
from typing import Final

from tests.proofs import proofs, proved_in
from tests.test_tree import ROOMS, ROOT, marks, of_room

TABLE: Final = ROOT / "deploy" / "docs" / "compliance" / "duties.md"
DUTIES: Final = [f"D{number}" for number in range(1, 23)]

_ROW: Final = re.compile(r"^\| (D\d+) \| [^|]+ \| [^|]+ \| [^|]+ \|$", re.MULTILINE)
_CITED: Final = re.compile(r"\bdut(?:y|ies) (D\d+(?:(?:, | and |, and )D\d+)*)")


def test_the_table_has_each_duty_once_and_in_order() -> None:
    assert _ROW.findall(TABLE.read_text(encoding="utf-8")) == DUTIES


def test_each_duty_has_a_proof() -> None:
    assert [duty for duty in DUTIES if duty not in proofs()] == []


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


def test_what_a_file_proves_is_read_from_its_marks() -> None:
    module = ast.parse("""
pytestmark = [pytest.mark.duty("D1", proof=True), pytest.mark.duty("D2")]

@pytest.mark.duty("D3", "D4", proof=True)
@pytest.mark.section("649a.6(a)")
def test_one(): ...

def helper(): ...

@pytest.mark.section("649a.6(b)", proof=True)
class TestTwo:
    async def test_three(self): ...
""")
    assert dict(proved_in(module)) == {
        "test_one": frozenset({"D1", "D3", "D4"}),
        "TestTwo::test_three": frozenset({"D1", "649a.6(b)"}),
    }
