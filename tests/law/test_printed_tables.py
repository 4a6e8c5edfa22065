"""The reader of the printed tables handles the irregularities of the print."""

from collections import Counter

import pytest

from tests.law.printed_tables import CHAPTERS, Cell, printed_cells, read_tables

HOW_MANY = {
    "649a.12(b)": 9, "649a.12(c)": 15, "649a.12(d)": 25,
    "649a.12(e)(1)": 10, "649a.12(e)(3)": 4, "649a.12(e)(5)": 4,
    "649a.12(f)": 39,
    "649a.12(h)(1)": 7, "649a.12(h)(3)": 2, "649a.12(h)(5)": 4,
    "649a.12(i)(1)": 5, "649a.12(i)(3)": 2, "649a.12(i)(4)": 4,
    "649a.12(j)(1)": 7, "649a.12(j)(3)": 2, "649a.12(j)(5)": 4,
    "679a.12(b)": 5, "679a.12(c)": 16, "679a.12(d)": 2, "679a.12(e)": 6, "679a.12(f)": 24,
    "679a.12(g)": 39,
    "682a.12(b)": 3, "682a.12(c)": 12, "682a.12(d)": 4, "682a.12(e)": 80, "682a.12(f)": 39,
}  # fmt: skip
"""Cells in each table, counted manually. The heading of the rates has none."""


def test_every_table_is_read_whole() -> None:
    cells = [cell for chapter in CHAPTERS for cell in printed_cells(chapter)]
    assert Counter(cell.subsection for cell in cells) == HOW_MANY


def test_no_cell_is_printed_twice() -> None:
    for chapter in CHAPTERS:
        cells = printed_cells(chapter)
        places = {(cell.subsection, cell.letter, cell.amount, cell.hand) for cell in cells}
        assert len(places) == len(cells)


@pytest.mark.parametrize(
    ("chapter", "cell"),
    [
        # Columns A to C come first, then D and E below.
        ("649a", Cell("649a.12(d)", "C", None, "Flush", "3 to 1")),
        ("649a", Cell("649a.12(d)", "E", None, "Three-of-a-kind", "25 to 1")),
        # Rows of A to D continue below, before E to H.
        ("682a", Cell("682a.12(e)", "A", None, "Flush", "5 to 1")),
        ("682a", Cell("682a.12(e)", "A", None, "Straight", "4 to 1")),
        ("682a", Cell("682a.12(e)", "H", None, "Two pair", "3 to 1")),
        # There are blanks between pipes and between tabs, and hands that are not offered.
        ("649a", Cell("649a.12(c)", "B", None, "Straight", "")),
        ("679a", Cell("679a.12(c)", "C", None, "Flush", "")),
        ("679a", Cell("679a.12(c)", "D", None, "Flush", "1 to 1")),
        ("649a", Cell("649a.12(e)(1)", "B", None, "Straight", "N/A")),
        # There are a line broken inside a cell, and sums.
        (
            "649a",
            Cell("649a.12(f)", "E", None, "Super Royal of hearts, spades or clubs", "$100,000"),
        ),
        ("649a", Cell("649a.12(f)", "D", None, "Super Royal of diamonds", "")),
        # Rates have letters above them or not.
        ("649a", Cell("649a.12(e)(3)", "B", None, "Seed/reseed", "$1,000 for 1")),
        ("649a", Cell("649a.12(e)(3)", "B", None, "Primary", "20%")),
        ("649a", Cell("649a.12(i)(4)", None, None, "Reserve", "8%")),
        # Envy Bonuses have their headings above the rows or directly before the amount.
        (
            "649a",
            Cell("649a.12(e)(5)", None, "$5", "Ace, king and queen of spades", "$500"),
        ),
        (
            "649a",
            Cell("649a.12(j)(5)", None, "$1", "Royal flush of spades", "$100"),
        ),
        ("679a", Cell("679a.12(b)", None, None, "Flush or lower", "1 to 1")),
    ],
)
def test_the_traps_of_the_print(chapter: str, cell: Cell) -> None:
    assert cell in printed_cells(chapter)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("| <i>Hand</i> | <i>Payout</i> |", "under no subsection"),
        ("§ 649a.12(b)\nA player shall be paid a bonus", "no row"),
        ("§ 649a.12(b)\n| Flush | 4 to 1 |", "no heading"),
        ("§ 649a.12(b)\n<i>Hand</i>\t<i>Paytable A</i>\t<i>Odds</i>", "no headings"),
        ("§ 649a.12(b)\n<i>Hand</i>\t<i>Paytable A</i>\t<i>Paytable B</i>\nFlush\t1 to 1", "cells"),
        ("§ 649a.12(b)\n<i>Hand</i>\t<i>Payout</i>\nFlush\t1 to 1\n\nPair\t1 to 1", "no heading"),
    ],
)
def test_what_is_no_table_is_not_passed_over(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        list(read_tables(text))
