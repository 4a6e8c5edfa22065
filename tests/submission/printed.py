"""Printed paytables, read from the text of a chapter's or a game's file alone.

This shares no code with the product, which reads the files into its own types.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.games.naive import HOUSE
from tests.naive.ranking import THREE_CARD

CHAPTERS = Path(__file__).resolve().parents[2] / "bonus" / "law" / "chapters"

Cells = dict[str, tuple[str, str]]
"""The cell of each hand with its subsection."""


def file_of(game: str) -> Path:
    for path in (*sorted(CHAPTERS.iterdir()), *sorted(HOUSE.iterdir())):
        if path.suffix == ".toml" and tomllib.loads(path.read_text())["game"] == game:
            return path
    raise AssertionError(game)


def column(tables: list[Mapping[str, Any]], choice: str | None) -> Cells:
    """Return the cells of the chosen column; leading blanks are not cells."""
    for table in tables:
        choices = table.get("choices", [])
        if choice is None and not choices:
            return {hand: (cell, table["rule"]) for hand, cell in table["pays"].items()}
        if choice in choices:
            at = choices.index(choice)
            found = {hand: (cells[at], table["rule"]) for hand, cells in table["pays"].items()}
            return {hand: cell for hand, cell in found.items() if cell[0]}
    raise AssertionError(choice)


def cells_of(
    game: str, wager: str, choice: str | None, royals: Mapping[str, int]
) -> dict[tuple[str, str, str], tuple[str, str]]:
    """Return the cells of a wager by item, hand and fourth card.

    `royals` are the odds of a mini-royal that a table adds, by wager or bonus.
    """
    law = tomllib.loads(file_of(game).read_text())
    main = law.get("main")
    if main and wager == main["stake"]:
        return dict(_main_cells(main, choice, royals))
    tables = next(each for each in law["wager"] if wager in each["names"])
    if "fourth_card" in tables:
        rank = tables["fourth_card"]["rank"]
        plain, fourth = (
            column(tables["table"], None),
            column(tables["fourth_card"]["table"], choice),
        )
        return {(wager, hand, f"not a {rank}"): cell for hand, cell in plain.items()} | {
            (wager, hand, f"a {rank}"): cell for hand, cell in fourth.items()
        }
    found = column(tables["table"], choice)
    if wager in royals:
        found["mini_royal"] = (f"{royals[wager]} to 1", tables["mini_royal"]["rule"])
    return {(wager, hand, ""): cell for hand, cell in found.items()}


def _main_cells(
    main: Mapping[str, Any], choice: str | None, royals: Mapping[str, int]
) -> Iterator[tuple[tuple[str, str, str], tuple[str, str]]]:
    for bonus in main.get("bonus", []):
        item = bonus.get("choice") or bonus["item"]
        cells = column(bonus["table"], choice if bonus.get("choice") else None)
        if bonus["item"] in royals:
            cells["mini_royal"] = (f"{royals[bonus['item']]} to 1", bonus["mini_royal"]["rule"])
        for hand, cell in cells.items():
            yield (item, hand, ""), cell
    follow = main.get("follow_pays", {"pays": {}})
    for row, cell in follow["pays"].items():
        hand = row.removesuffix("_or_lower")
        lower = THREE_CARD[: THREE_CARD.index(hand)] if row != hand else ()
        for each in (hand, *lower):
            yield (main["follow"], each, ""), (cell, follow["rule"])
