"""Every cell of the printed tables is in the program's data and equal; the data has no others.

The print comes from the fixtures alone, the data through the loader alone. A dictionary maps the
printed names of hands to those in the data.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import pytest

from bonus.law.chapter_file import Cells, Chapter, PrintedTable
from bonus.law.games import load_chapter
from tests.law.printed_tables import CHAPTERS, NAMES, Cell, printed_cells

NO_RESERVE: Final = "0%"
"""Entry in the data for a meter without a printed reserve."""


class Place(NamedTuple):
    subsection: str
    letter: str | None
    amount: str | None
    name: str

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


def places(cell: Cell) -> Iterator[Place]:
    for name in NAMES[cell.hand]:
        yield Place(cell.subsection, cell.letter, cell.amount, name)


def columns(cells: Cells, choices: tuple[str, ...]) -> Iterator[tuple[str | None, str]]:
    """Yield a row's cells, each with the letter of its column; ``b-A`` means A of (b)."""
    if isinstance(cells, str):
        yield None, cells
    else:
        for choice, cell in zip(choices, cells, strict=True):
            yield choice.rpartition("-")[2], cell


def table_cells(table: PrintedTable) -> Iterator[tuple[Place, str]]:
    for name, row in table.pays.items():
        for letter, cell in columns(row, table.choices):
            yield Place(table.rule, letter, None, name), cell
    rates = table.progression
    if rates is None:
        return
    for name in ("seed", "reseed", "primary", "reserve"):
        for letter, cell in columns(getattr(rates, name), table.choices):
            if (name, cell) != ("reserve", NO_RESERVE):
                yield Place(rates.rule, letter, None, name), cell


def data_cells(chapter: Chapter) -> Iterator[tuple[Place, str]]:
    for bonus in chapter.main_game.bonus:
        for table in bonus.table:
            yield from table_cells(table)
    if pays := chapter.main_game.follow_pays:
        for name, cell in pays.pays.items():
            yield Place(pays.rule, None, None, name), cell
    for wager in chapter.wager:
        for table in (*wager.table, *(wager.fourth_card.table if wager.fourth_card else ())):
            yield from table_cells(table)
        if wager.envy:
            for schedule in wager.envy.schedule:
                for name, cell in schedule.pays.items():
                    yield Place(wager.envy.rule, None, schedule.wager, name), cell
        if wager.draws:
            yield Place(wager.draws.rule, None, None, "magic_card"), wager.draws.magic_card
            yield Place(wager.draws.rule, None, None, "lucky_bonus"), wager.draws.lucky_bonus


PRINT: Final = {
    place: cell.cell
    for chapter in CHAPTERS
    for cell in printed_cells(chapter)
    for place in places(cell)
}
DATA_CELLS: Final = [cell for chapter in CHAPTERS for cell in data_cells(load_chapter(chapter))]
DATA: Final = dict(DATA_CELLS)


@pytest.mark.section(
    "649a.12(b)", "649a.12(c)", "649a.12(d)", "649a.12(e)(1)", "649a.12(e)(3)", "649a.12(e)(5)",
    "649a.12(f)", "649a.12(h)(1)", "649a.12(h)(3)", "649a.12(h)(5)", "649a.12(i)(1)",
    "649a.12(i)(3)", "649a.12(i)(4)", "649a.12(j)(1)", "649a.12(j)(3)", "649a.12(j)(5)",
    "679a.12(b)", "679a.12(c)", "679a.12(d)", "679a.12(e)", "679a.12(f)", "679a.12(g)",
    "682a.12(b)", "682a.12(c)", "682a.12(d)", "682a.12(e)", "682a.12(f)",
    proof=True,
)  # fmt: skip
@pytest.mark.parametrize("place", PRINT, ids=str)
def test_a_printed_cell_is_in_the_data(place: Place) -> None:
    assert place in DATA, f"{place}: printed, and not in the data"
    assert DATA[place] == PRINT[place]


@pytest.mark.parametrize("place", DATA, ids=str)
def test_a_cell_of_the_data_is_printed(place: Place) -> None:
    """A blank is also right if the print lacks the row in that part of a divided table."""
    if DATA[place]:
        assert place in PRINT, f"{place}: {DATA[place]!r} in the data, and not printed"
    assert PRINT.get(place, "") == DATA[place]


def test_no_cell_is_in_the_data_twice() -> None:
    assert len(DATA) == len(DATA_CELLS)


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


def test_every_table_of_the_print_is_read_whole_and_every_name_is_one_place_in_it() -> None:
    cells = [cell for chapter in CHAPTERS for cell in printed_cells(chapter)]
    assert Counter(cell.subsection for cell in cells) == HOW_MANY
    assert {cell.hand for cell in cells} == set(NAMES)
    assert len(PRINT) == sum(len(NAMES[cell.hand]) for cell in cells)


@pytest.mark.parametrize("subsection", sorted({place.subsection for place in PRINT}))
def test_hands_have_the_order_of_the_print(subsection: str) -> None:
    """The test compares the last column, which alone has every hand of a divided table."""
    last = max(place.letter or "" for place in PRINT if place.subsection == subsection)
    printed, data = (
        list(
            dict.fromkeys(
                place.name
                for place in of
                if place.subsection == subsection and (place.letter or "") == last
            )
        )
        for of in (PRINT, DATA)
    )
    assert data == printed


def test_every_table_of_the_print_is_named_in_the_mark() -> None:
    (marked,) = (
        mark
        for mark in vars(test_a_printed_cell_is_in_the_data)["pytestmark"]
        if mark.name == "section"
    )
    assert set(marked.args) == {place.subsection for place in PRINT}


@pytest.mark.section("649a.12(a)", "649a.12(g)(1)", "649a.12(g)(2)", proof=True)
@pytest.mark.section("679a.12(a)", "679a.12(h)", "682a.12(a)", "682a.12(g)", proof=True)
def test_what_the_law_says_in_words() -> None:
    poker, prime, four = (load_chapter(chapter) for chapter in CHAPTERS)
    for chapter in (poker, prime, four):
        assert (chapter.main_game.odds_rule, chapter.main_game.odds) == (
            f"{chapter.chapter}.12(a)",
            "1 to 1",
        )
    royals = [bonus.mini_royal for bonus in poker.main_game.bonus]
    royals += [wager.mini_royal for wager in poker.wager]
    assert [(royal.rule, royal.among, royal.least) for royal in royals if royal] == [
        ("649a.12(g)(1)", "649a.12(b)", "5 to 1"),
        ("649a.12(g)(2)", "649a.12(d)", "40 to 1"),
    ]
    assert poker.limit is None
    assert prime.limit is not None
    assert (prime.limit.rule, prime.limit.least) == ("679a.12(h)", "$50,000")
    assert prime.limit.covers == ("679a.12(a)", "679a.12(b)")
    assert prime.limit.excluded == ()
    assert four.limit is not None
    assert (four.limit.rule, four.limit.least) == ("682a.12(g)", "$50,000")
    assert four.limit.covers == ("682a.12(e)", "682a.12(f)")
    assert four.limit.excluded == ("six_card_royal_diamonds", "six_card_royal")
