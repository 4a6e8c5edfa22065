"""The table of subsections is complete and correct: each has tests that cover it."""

from collections import Counter

import pytest

from tests.law.law_table import LAW, Row, marks_of, read_law, stands_for
from tests.law.printed_tables import PRINTED

TABLE = read_law(LAW.read_text(encoding="utf-8"))
SUBSECTIONS = (PRINTED / "subsections.txt").read_text(encoding="utf-8").split()
"""Every subsection and paragraph of .6, .7, .11, .12 and .13 of the three chapters, as printed.

Of .2, .8, .9 and .10 those that ask something of a progressive system or of a sign.
"""


def test_every_subsection_is_in_a_table_or_a_list_once() -> None:
    stands = Counter([row.subsection for row in TABLE.rows])
    stands.update(TABLE.listed)
    assert [cite for cite in SUBSECTIONS if not stands[cite]] == []
    assert [cite for cite, times in stands.items() if times > 1] == []


def test_nothing_else_is_there() -> None:
    stands = {row.subsection for row in TABLE.rows} | set(TABLE.listed)
    assert stands - set(SUBSECTIONS) == set()
    assert TABLE.unread == ()


def test_subsections_are_in_order() -> None:
    for cites in ([row.subsection for row in TABLE.rows], list(TABLE.listed)):
        assert cites == sorted(cites, key=SUBSECTIONS.index)


@pytest.mark.parametrize("row", TABLE.rows, ids=lambda row: row.subsection)
def test_every_test_named_exists_and_is_marked_with_the_subsection(row: Row) -> None:
    rounds = {path for path, name in row.carried_by if not name}
    assert len(row.tests) >= len(row.carried_by), f"{rounds} have no round of {row.subsection}"
    for path, name in row.carried_by:
        if path in rounds:
            continue
        tests = marks_of(path)
        assert name in tests, f"{path} has no {name}"
        assert any(stands_for(mark, row.subsection) for mark in tests[name]), (
            f"{path}::{name} is marked with {sorted(tests[name])}, not with {row.subsection}"
        )


def test_the_sections_are_whole() -> None:
    """The fixture has 257 subsections of whole sections, counted in the print, and 12 others."""
    per_section = Counter(cite.split("(")[0] for cite in SUBSECTIONS)
    assert per_section == {
        "649a.2": 5, "649a.8": 1, "649a.9": 1, "649a.10": 1, "679a.2": 2, "682a.2": 2,
        "649a.6": 18, "649a.7": 17, "649a.11": 41, "649a.12": 31, "649a.13": 7,
        "679a.6": 18, "679a.7": 9, "679a.11": 25, "679a.12": 8, "679a.13": 7,
        "682a.6": 30, "682a.7": 9, "682a.11": 23, "682a.12": 7, "682a.13": 7,
    }  # fmt: skip
    assert len(SUBSECTIONS) == len(set(SUBSECTIONS)) == 269


@pytest.mark.parametrize(
    ("mark", "subsection", "stands"),
    [
        ("649a.12(e)(4)", "649a.12(e)(4)", True),
        ("649a.12(e)", "649a.12(e)(4)", True),
        ("649a.12(e)(4)", "649a.12(e)", True),
        ("649a.12", "649a.12(e)", False),
        ("649a.12(e)(4)", "649a.12(e)(5)", False),
        ("649a.11(c)(5)(i)", "649a.11(c)(5)(ii)", False),
        ("679a.12(e)", "649a.12(e)", False),
    ],
)
def test_subsections_that_a_mark_covers(mark: str, subsection: str, *, stands: bool) -> None:
    assert stands_for(mark, subsection) is stands


@pytest.mark.parametrize(
    "line",
    [
        "| 649a.12(b) | Ante Bonus | |",
        "| 649a.12(b) | Ante Bonus | by hand |",
        "| 649a.12(b) | Ante Bonus | `tests/law/test_x.py::test_y` and others |",
        "| 649a.12 | odds | `tests/law/test_x.py::test_y` |",
        "- 649a.13: nothing",
        "- 649a.13(b)",
        "* 649a.13(b): a star",
    ],
)
def test_a_line_that_says_something_else_is_not_passed_over(line: str) -> None:
    table = read_law(f"# Law\n\n{line}\n")
    assert table.unread == (line,)
