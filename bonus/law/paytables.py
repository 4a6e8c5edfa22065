from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from bonus.law.cells import NOTHING, ChapterError, Payout, read_payout
from bonus.law.chapter_file import Cells, OneTable, PrintedTable, Progression

_OR_LOWER: Final = "_or_lower"


@dataclass(frozen=True, slots=True)
class Rates:
    rule: str
    seed: str
    reseed: str
    primary: str
    reserve: str


@dataclass(frozen=True, slots=True)
class Paytable:
    """One paytable: a column of a printed table.

    Attributes:
        choice: the name of the paytable in a Rules Submission; None if the law leaves no choice.
        cells: the printed payout of each hand that the paytable names, the highest hand first.
        version: true if the paytable is one of those for the tables that play a version of the game
            under 649a.7(e), and for no other tables.
        rates: the rates of each meter; empty if there is none. The name of the only meter is empty.
    """

    rule: str
    choice: str | None
    cells: Mapping[str, str]
    version: bool = False
    rates: Mapping[str, Rates] = field(default_factory=dict)


def paytables_of(table: PrintedTable | OneTable, hands: Sequence[str]) -> tuple[Paytable, ...]:
    """Return the paytables of a printed table, one for each column.

    ``hands`` are those of the ranking, the highest first. A row ``flush_or_lower`` means the flush
    and every lower hand. Where a column begins with blank cells, their hands are paid like the
    highest hand that has a payout in it (reading T5). Any other blank cell pays nothing (reading
    T3).

    Raises:
        ChapterError: a row does not have one cell for each column, or its hand does not exist.
    """
    if isinstance(table, OneTable):
        return (Paytable(table.rule, None, _cells(table.rule, table.pays, hands)),)
    return tuple(_column(table, index, hands) for index in range(len(_choices(table))))


def chosen_of(
    tables: Iterable[PrintedTable], hands: Sequence[str], choice: str | None
) -> Paytable | None:
    """Return the paytable named ``choice``, or the only one for None; None if there is none."""
    for table in tables:
        if choice in _choices(table):
            return _column(table, _choices(table).index(choice), hands)
    return None


def with_mini_royal(paytable: Paytable, times: int) -> Paytable:
    """Return a copy of a three-card paytable that pays mini-royals ``times`` to 1 (649a.12(g))."""
    cells = {"mini_royal": f"{times:,} to 1", **paytable.cells}
    return Paytable(paytable.rule, paytable.choice, MappingProxyType(cells), paytable.version)


def rows_of(paytable: Paytable, hands: Sequence[str]) -> dict[str, tuple[str, Payout]]:
    """Return the name and the payout that a paytable has for every hand of a ranking.

    If a royal has no separate row, it has the name and the payout of the first row.
    """
    first = next(iter(paytable.cells))
    above = hands[: hands.index(first)]
    shown = {hand: first if hand in above else hand for hand in hands}
    return {
        hand: (name, read_payout(paytable.cells[name]) if name in paytable.cells else NOTHING)
        for hand, name in shown.items()
    }


def _choices(table: PrintedTable) -> Sequence[str | None]:
    return table.choices or (None,)


def _column(table: PrintedTable, index: int, hands: Sequence[str]) -> Paytable:
    choice = _choices(table)[index]
    of = f"{table.rule} {choice or ''}".rstrip()
    column = {
        hand: _cell(cells, index, len(table.choices), of) for hand, cells in table.pays.items()
    }
    progressions = {"": table.progression} if table.progression else table.progressions
    rates = {name: _rates(each, table, index, of) for name, each in progressions.items()}
    return Paytable(table.rule, choice, _cells(of, column, hands), table.version, rates)


def _rates(progression: Progression, table: PrintedTable, index: int, of: str) -> Rates:
    seed, reseed, primary, reserve = (
        cells if isinstance(cells, str) else _cell(cells, index, len(_choices(table)), of)
        for cells in (
            progression.seed,
            progression.reseed,
            progression.primary,
            progression.reserve,
        )
    )
    return Rates(progression.rule, seed, reseed, primary, reserve)


def _cell(cells: Cells, index: int, choices: int, of: str) -> str:
    if isinstance(cells, str):
        if choices:
            raise ChapterError(f"{of}: {cells!r} is one cell, but each choice needs its own")
        return cells
    if not choices or len(cells) != choices:
        raise ChapterError(
            f"{of}: a row needs one cell for each choice ({choices}), and has {len(cells)}"
        )
    return cells[index]


def _cells(of: str, column: Mapping[str, str], hands: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for row, cell in column.items():
        if not found and cell == "":
            if row not in hands:
                raise ChapterError(f"{of}: {row!r} is not a hand of its ranking")
            continue
        hand = row.removesuffix(_OR_LOWER)
        if hand not in hands:
            raise ChapterError(f"{of}: {hand!r} is not a hand of its ranking")
        rest = hands[hands.index(hand) :] if row != hand else (hand,)
        found.update(dict.fromkeys(rest, cell))
    return MappingProxyType(found)
