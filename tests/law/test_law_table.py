"""The table of subsections is complete and correct: each has tests that prove it."""

from collections import Counter
from itertools import chain

import pytest

from tests.law.law_table import LAW, SUBSECTIONS, read_law, subsections
from tests.proofs import proofs

TABLE = read_law(LAW.read_text(encoding="utf-8"))
STANDS = [*TABLE.in_rows, *chain(*TABLE.listed)]


def test_every_subsection_is_in_a_table_or_a_list_once() -> None:
    stands = Counter(STANDS)
    assert [cite for cite in SUBSECTIONS if not stands[cite]] == []
    assert [cite for cite, times in stands.items() if times > 1] == []


def test_nothing_else_is_there() -> None:
    assert set(STANDS) - set(SUBSECTIONS) == set()
    assert TABLE.unread == ()


def test_subsections_are_in_order() -> None:
    firsts = ([cites[0] for cites in of] for of in (TABLE.rows, TABLE.listed))
    for cites in (*firsts, *TABLE.rows, *TABLE.listed):
        assert list(cites) == sorted(cites, key=SUBSECTIONS.index)


def test_every_subsection_of_a_row_has_a_proof() -> None:
    assert [cite for cite in TABLE.in_rows if cite not in proofs()] == []


def test_every_proof_is_in_a_row() -> None:
    proved = {
        mark
        for mark, tests in proofs().items()
        if "a." in mark and any(not file.endswith(".txt") for file, _ in tests)
    }
    assert proved - set(TABLE.in_rows) == set()


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
    ("text", "cites"),
    [
        ("649a.6(e)", ["649a.6(e)"]),
        ("649a.6(e), 649a.12(g)", ["649a.6(e)", "649a.12(g)"]),
        ("649a.12(g) and parts", ["649a.12(g)", "649a.12(g)(1)", "649a.12(g)(2)"]),
        ("682a.11(d) to (f)", ["682a.11(d)", "682a.11(e)", "682a.11(f)"]),
        ("649a.11(c)(4) to (6)", ["649a.11(c)(4)", "649a.11(c)(5)", "649a.11(c)(6)"]),
    ],
)
def test_the_subsections_of_a_row(text: str, cites: list[str]) -> None:
    assert list(subsections(text)) == cites


@pytest.mark.parametrize(
    "line",
    [
        "| 649a.12(b) | Ante Bonus | |",
        "| 649a.12(b) and (c) | Ante Bonus | `tests/law/rounds/649a.txt` (2) |",
        "| 649a.12 | odds | `tests/law/rounds/649a.txt` (2) |",
        "- 649a.13: nothing",
        "- 649a.13(b)",
        "* 649a.13(b): a star",
    ],
)
def test_a_line_that_says_something_else_is_not_passed_over(line: str) -> None:
    table = read_law(f"# Law\n\n{line}\n")
    assert table.unread == (line,)
