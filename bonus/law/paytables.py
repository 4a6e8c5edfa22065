"""The printed paytables of the law: cells (odds, sums, seeds, rates) and columns.

A cell without the required form is a ChapterError.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Final

from bonus.display import percent_text
from bonus.hands.rankings import Ranking
from bonus.law.chapter_file import Cells, OneTable, PrintedTable, Progression
from bonus.wagers import PERCENT, Percent, part_of_percent, percent_bps, read_percent

Path = tuple[str | int, ...]
"""A place in a chapter's file: keys, and numbers of list elements from 0."""


class ChapterError(ValueError):
    """Error in a chapter's file: the file cannot be read, or it contradicts itself.

    ``place`` is the place of the error, and ``text`` the wrong text in the file. Each is empty if
    it is not known.
    """

    def __init__(self, message: str, place: Path = (), *, text: str = "") -> None:
        super().__init__(message)
        self.place = place
        self.text = text


@contextmanager
def placed(*place: str | int) -> Iterator[None]:
    """Put ``place`` in front of the place of each ``ChapterError`` in the block."""
    try:
        yield
    except ChapterError as error:
        error.place = (*place, *error.place)
        raise


@contextmanager
def cell_of(where: str, cell: str) -> Iterator[None]:
    """Add the cell and its place to each ``ChapterError`` of the block."""
    try:
        yield
    except ChapterError as error:
        raise ChapterError(f"{where}: {error}", error.place, text=f'"{cell}"') from None


@dataclass(frozen=True, slots=True)
class Payout:
    """Payout in a cell of a paytable; a payout with only default values pays nothing.

    ``times`` is a multiple of the wager. ``percents`` has percentages by the name of the meter; a
    wager's only meter has the name ``meter``. ``stake_back`` is true if the wager is also returned:
    with "to 1" or a fixed sum. With "for 1", the payout includes the wager (reading G2).
    ``sum_cents`` is a fixed sum for every amount of the wager (reading T5).
    """

    times: int = 0
    stake_back: bool = False
    percents: tuple[tuple[str, Percent], ...] = ()
    sum_cents: int = 0

    @property
    def wins(self) -> bool:
        return bool(self.times or self.percents or self.sum_cents)

    @property
    def worth(self) -> tuple[Percent, int, int] | None:
        """Sort key in a paytable; None if a percentage is of one of several meters."""
        percents = dict(self.percents)
        percent = percents.pop(_ONLY, 0)
        return None if percents else (percent, self.sum_cents, self.times)

    def percents_of(self, only: str) -> tuple[tuple[str, Percent], ...]:
        """Return the percentages by meter; ``only`` names the wager's only meter, or is empty."""
        return tuple((only or name, percent) for name, percent in self.percents)

    def percent_of(self, meter: str) -> Percent:
        return next((percent for name, percent in self.percents if name in {meter, _ONLY}), 0)


_ONLY: Final = "meter"
NOTHING: Final = Payout()

_NUMBER: Final = r"([1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]*)"
_DOLLARS: Final = re.compile(rf"\${_NUMBER}")
_SEED: Final = re.compile(rf"\${_NUMBER} for 1|\$0")
_ODDS: Final = re.compile(rf"{_NUMBER} (to|for) 1")
_OF_METER: Final = re.compile(rf"({PERCENT.pattern})% of ([a-z][a-z0-9_]*)")


@cache
def read_payout(cell: str) -> Payout:
    """Return the payout in a cell of a paytable.

    A cell is ``35 to 1``, ``500 for 1``, ``10% of meter``, ``$1,000,000``, ``N/A`` or blank. A
    percentage can have one or two decimals. If a wager feeds several meters, its cells name the
    meter: ``100% of major``. A cell can have several payouts: ``100% of major + 10% of mega + 50
    for 1``.

    >>> read_payout("1,000 for 1")
    Payout(times=1000, stake_back=False, percents=(), sum_cents=0)
    >>> read_payout("12.5% of meter").percents
    (('meter', Fraction(25, 2)),)
    """
    if cell in {"", "N/A"}:
        return NOTHING
    parts = [_read_part(part) for part in cell.split(" + ")]
    fixed = [part for part in parts if not part.percents]
    percents = tuple(each for part in parts for each in part.percents)
    if len(fixed) > 1 or len(dict(percents)) < len(percents):
        raise ChapterError(f"{cell!r} has two payouts of one kind: add them up")
    return replace(fixed[0] if fixed else NOTHING, percents=percents)


def _read_part(cell: str) -> Payout:
    if match := _ODDS.fullmatch(cell):
        return Payout(times=_number(match[1]), stake_back=match[2] == "to")
    if (match := _OF_METER.fullmatch(cell)) and 0 < (percent := read_percent(match[1])) <= 100:
        return Payout(percents=((match[4], percent),))
    if _DOLLARS.fullmatch(cell):
        return Payout(sum_cents=read_cents(cell), stake_back=True)
    raise ChapterError(
        f"{cell!r} is not a payout: write 'N to 1', 'N for 1', 'N% of meter', '$N' or 'N/A'. If the"
        " wager feeds several meters, write the name of one instead of 'meter'. A percentage is at"
        " most 100, and has at most two decimals"
    )


def part_of_cell(cell: str, wagered_cents: int, wager_cents: int) -> str:
    """Return the cell of a smaller wager on a meter, which wins a part of each percentage.

    >>> part_of_cell("25% of meter + 50 for 1", 100, 500)
    '5% of meter + 50 for 1'
    """

    def part_of(payout: str) -> str:
        match = _OF_METER.fullmatch(payout)
        if match is None:
            return payout
        percent = part_of_percent(read_percent(match[1]), wagered_cents, wager_cents)
        return f"{percent_text(percent)}% of {match[4]}"

    return " + ".join(map(part_of, cell.split(" + ")))


def read_envy(cell: str) -> Payout:
    """Return an Envy Bonus: a sum of whole dollars, percentages of meters, or ``N/A`` for none.

    >>> read_envy("$300").sum_cents, read_envy("2% of meter").percents
    (30000, (('meter', 2),))
    """
    if cell == "N/A":
        return NOTHING
    if not cell.startswith("$"):
        return read_shares(cell, "'$N', 'N% of meter' or 'N/A'")
    return Payout(sum_cents=read_cents(cell))


def read_shares(cell: str, form: str = "'N% of meter'") -> Payout:
    """Return the percentages of meters in a cell that has nothing else; ``form`` is for people."""
    if "% of " not in cell:
        raise ChapterError(f"{cell!r} is not a share of a meter: write {form}")
    payout = read_payout(cell)
    if payout.times or payout.sum_cents:
        raise ChapterError(f"{cell!r} has more than shares of meters: write {form}")
    return payout


def read_times(cell: str, of: str) -> int:
    """Return the N of odds ``N to 1`` or ``N for 1``; ``of`` is "to" or "for"."""
    match = _ODDS.fullmatch(cell)
    if match is None or match[2] != of:
        raise ChapterError(f"{cell!r} does not have the form 'N {of} 1'")
    return _number(match[1])


def read_seed(cell: str) -> int:
    """Return a seed, ``$1,000 for 1`` or ``$0``, as a multiple of the wager."""
    match = _SEED.fullmatch(cell)
    if match is None:
        raise ChapterError(f"{cell!r} is not a seed: write '$N for 1' or '$0'")
    return _number(match[1] or "0")


def read_from(cell: str) -> int:
    """Return the amount of a meter from which other rates apply, as a multiple of the wager.

    >>> read_from("$50,000 for 1")
    50000
    """
    match = _SEED.fullmatch(cell)
    if match is None or not match[1]:
        raise ChapterError(f"{cell!r} is no amount of a meter: write '$N for 1'")
    return _number(match[1])


def read_rate_bps(cell: str) -> int:
    """Return a rate below 100%, such as ``2.25%``, in basis points.

    >>> read_rate_bps("14%"), read_rate_bps("2.25%"), read_rate_bps("0.5%")
    (1400, 225, 50)
    """
    if not cell.endswith("%") or not PERCENT.fullmatch(cell[:-1]):
        raise ChapterError(f"{cell!r} is not a rate: write 'N%', with at most two decimals")
    rate_bps = percent_bps(read_percent(cell[:-1]))
    if rate_bps >= 10_000:
        raise ChapterError(f"{cell!r} is not a rate: it must be below 100%")
    return rate_bps


def read_cents(cell: str) -> int:
    """Return a sum of whole dollars, such as ``$1,000``, in cents."""
    match = _DOLLARS.fullmatch(cell)
    if match is None:
        raise ChapterError(f"{cell!r} is not a sum: write '$N'")
    return _number(match[1]) * 100


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))


_OR_LOWER: Final = "_or_lower"


@dataclass(frozen=True, slots=True)
class Rates:
    """The printed seed, reseed and rates of a meter.

    From the amount ``above``, the rates are ``primary_above`` and ``reserve_above``. The three are
    empty if the rates do not change.
    """

    rule: str
    seed: str
    reseed: str
    primary: str
    reserve: str
    above: str = ""
    primary_above: str = ""
    reserve_above: str = ""


@dataclass(frozen=True, slots=True)
class Paytable:
    """One paytable: a column of a printed table.

    Attributes:
        choice: the name in a Rules Submission; None if the law leaves no choice.
        cells: the printed payout of each hand that the paytable names, the highest hand first.
        version: true if only tables that play a version of the game (649a.7(e)) use the paytable.
        rates: the rates by the name of the meter. A wager's only meter has an empty name.
    """

    rule: str
    choice: str | None
    cells: Mapping[str, str]
    version: bool = False
    rates: Mapping[str, Rates] = field(default_factory=dict)


def paytables_of(table: PrintedTable | OneTable, hands: Sequence[str]) -> tuple[Paytable, ...]:
    """Return the paytables of a printed table, one for each column.

    ``hands`` are the hands of the ranking, the highest first. A row ``flush_or_lower`` is for the
    flush and every lower hand. If a column begins with blank cells, their hands are paid like the
    highest hand that has a payout in the column (reading T5). Any other blank cell pays nothing
    (reading T3).

    Raises:
        ChapterError: a row does not have one cell for each column, or its hand does not exist.
    """
    if isinstance(table, OneTable):
        return (Paytable(table.rule, None, _cells(table.rule, table.pays, hands)),)
    return tuple(_column(table, index, hands) for index in range(len(_choices(table))))


def chosen_of(
    tables: Iterable[PrintedTable], hands: Sequence[str], choice: str | None
) -> Paytable | None:
    """Return the paytable with the name ``choice``; None if it does not exist."""
    for table in tables:
        if choice in _choices(table):
            return _column(table, _choices(table).index(choice), hands)
    return None


def with_mini_royal(paytable: Paytable, times: int) -> Paytable:
    """Return a three-card paytable that also pays mini-royals ``times`` to 1 (649a.12(g))."""
    cells = {"mini_royal": f"{times:,} to 1", **paytable.cells}
    return Paytable(paytable.rule, paytable.choice, MappingProxyType(cells), paytable.version)


def rows_of(paytable: Paytable, ranking: Ranking) -> dict[str, tuple[str, Payout]]:
    """Return the name and the payout that a paytable has for every hand of a ranking.

    A royal without a row of its own has the name and the payout of the first row.
    """
    first, hands = next(iter(paytable.cells)), ranking.names
    above = hands[: hands.index(first)] if ranking.ordered else ()
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
    each = [progression.seed, progression.reseed, progression.primary, progression.reserve]
    if above := progression.above:
        each += [above.amount, above.primary, above.reserve]
    printed = [
        cells if isinstance(cells, str) else _cell(cells, index, len(_choices(table)), of)
        for cells in each
    ]
    if not all(printed[4:]):
        raise ChapterError(f"{of}: write no empty text in [wager.table.progression.above]")
    return Rates(progression.rule, *printed)


def _cell(cells: Cells, index: int, choices: int, of: str) -> str:
    if isinstance(cells, str):
        if choices:
            raise ChapterError(f"{of}: {cells!r} is one cell, but each choice needs its own")
        return cells
    if not choices or len(cells) != choices:
        raise ChapterError(
            f"{of}: a row has {len(cells)} cells, but the table has {choices} choices: write one"
            " cell for each choice, or one text if the table has no choices"
        )
    return cells[index]


def _cells(of: str, column: Mapping[str, str], hands: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for row, cell in column.items():
        if not found and cell == "":
            if row not in hands:
                raise ChapterError(f"{of}: {row!r} is not a hand of the ranking")
            continue
        hand = row.removesuffix(_OR_LOWER)
        if hand not in hands:
            raise ChapterError(f"{of}: {hand!r} is not a hand of the ranking")
        rest = hands[hands.index(hand) :] if row != hand else (hand,)
        found.update(dict.fromkeys(rest, cell))
    return MappingProxyType(found)
