"""Reads the tables of the law as printed, from the fixtures in ``printed``.

A fixture has the printed rows under a line such as ``§ 649a.12(b)``: cells between pipes or tabs,
with the markup of the medium. Reading removes only that markup.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PRINTED: Final = Path(__file__).resolve().parent / "printed"
CHAPTERS: Final = ("649a", "679a", "682a")

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "Ace, king, queen of spades": ("mini_royal_spades",),
    "Ace, king, queen of hearts, diamonds or clubs": ("mini_royal",),
    "Ace, king and queen of spades": ("mini_royal_spades",),
    "Ace, king and queen of hearts, diamonds or clubs": ("mini_royal",),
    "Mini-royal flush": ("mini_royal",),
    "Super Royal of diamonds": ("super_royal_diamonds",),
    "Super Royal of hearts, spades or clubs": ("super_royal",),
    "Six-card royal flush—diamonds": ("six_card_royal_diamonds",),
    "Six-card royal flush—hearts, spades or clubs": ("six_card_royal",),
    "Royal flush of spades": ("royal_flush_spades",),
    "Royal flush of clubs, diamonds or hearts": ("royal_flush",),
    "Royal flush": ("royal_flush",),
    "Straight flush": ("straight_flush",),
    "Four aces": ("four_aces",),
    "Four-of-a-kind": ("four_of_a_kind",),
    "Full house": ("full_house",),
    "Three aces": ("three_aces",),
    "Three-of-a-kind": ("three_of_a_kind",),
    "Straight": ("straight",),
    "Flush": ("flush",),
    "Flush or lower": ("flush_or_lower",),
    "Two pair": ("two_pair",),
    "Two aces": ("two_aces",),
    "Pair": ("pair",),
    "Same color player and dealer hand": ("same_color_player_and_dealer",),
    "Same color player hand": ("same_color_player",),
    "All five the same color": ("all_five_same_color",),
    "Four of the same color": ("four_same_color",),
    "Magic Card": ("magic_card",),
    "Lucky Bonus": ("lucky_bonus",),
    "Seed/reseed": ("seed", "reseed"),
    "Seed": ("seed",),
    "Reseed": ("reseed",),
    "Primary": ("primary",),
    "Reserve": ("reserve",),
}
"""Name in the data for each printed row; one row has two names."""

_CITE: Final = re.compile(r"§ (\d+a\.12(?:\([a-z0-9]+\))+)")
_AMOUNT: Final = re.compile(r"\*(\\\$\d+) Progressive Payout Wager\*(?:\*Hand\*\*Envy Bonus\*)?")
_RULE: Final = re.compile(r"\|(?:-+\|)+")
_LETTER: Final = re.compile(r"<i>Paytable ([A-H])</i>")
_ONE_COLUMN: Final = {"<i>Payout</i>", "<i>Paytable</i>", "<i>Envy Bonus</i>", ""}
_HEADS_ROWS: Final = "Incrementation rate"
"""Matches a row without own cells: the rows below it are rates."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a printed table.

    The letter is None in a table of one column without letters; the amount is the wager in the
    table's heading, such as ``$1``, or None.
    """

    subsection: str
    letter: str | None
    amount: str | None
    hand: str
    cell: str


def printed_cells(chapter: str) -> tuple[Cell, ...]:
    """Return every cell of a chapter's tables, in printed order."""
    return tuple(read_tables((PRINTED / f"{chapter}.txt").read_text(encoding="utf-8")))


def read_tables(text: str) -> Iterator[Cell]:
    """Yield the cells; raise ValueError at a line without a place under a heading."""
    subsection: str | None = None
    amount: str | None = None
    letters: tuple[str | None, ...] = ()
    for line in text.splitlines():
        if match := _CITE.fullmatch(line):
            subsection, amount, letters = match[1], None, ()
        elif match := _AMOUNT.fullmatch(line):
            amount, letters = _plain(match[1]), ()
        elif not line.strip():
            # The table continues below under another heading.
            letters = ()
        elif not _RULE.fullmatch(line):
            hand, *cells = _split(line)
            if subsection is None:
                raise ValueError(f"under no subsection: {line!r}")
            if not letters:
                letters = _letters(hand, cells)
                continue
            if len(cells) != len(letters):
                raise ValueError(f"{len(cells)} cells under {len(letters)} headings: {line!r}")
            if hand == _HEADS_ROWS and not any(cells):
                continue
            for letter, cell in zip(letters, cells, strict=True):
                yield Cell(subsection, letter, amount, _plain(hand), _plain(cell))


def _split(line: str) -> list[str]:
    if line.startswith("|") and line.endswith("|"):
        return [cell.strip() for cell in line[1:-1].split("|")]
    if "\t" in line:
        return line.split("\t")
    raise ValueError(f"no row of a table: {line!r}")


def _letters(hand: str, headings: list[str]) -> tuple[str | None, ...]:
    if hand not in {"<i>Hand</i>", ""}:
        raise ValueError(f"no heading above {hand!r}")
    if len(headings) == 1 and headings[0] in _ONE_COLUMN:
        return (None,)
    matches = [_LETTER.fullmatch(heading) for heading in headings]
    letters = tuple(match[1] for match in matches if match)
    if not letters or len(letters) < len(headings):
        raise ValueError(f"no headings of paytables: {headings}")
    return letters


def _plain(text: str) -> str:
    return text.replace("\\$", "$").replace("<br>", " ")
