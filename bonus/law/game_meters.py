"""The meters of games: the wagers that feed each meter, and the items that each meter pays."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from bonus.law.chapter_file import Chapter, WagerTables
from bonus.wagers import LUCKY_BONUS, MAGIC_CARD, envy_item, jackpot_item


@dataclass(frozen=True, slots=True, eq=False)
class GameMeters:
    """The meters of one game or of several games.

    ``titles`` are those for patrons, in the order in which tables and displays show the meters.
    ``terms`` are those of each wager that feeds a meter, in the same order. ``meter_of`` has the
    meter of each item of settlement lines: a wager, or a bonus that is paid with it. What a wager
    that feeds several meters pays at odds belongs to the first of them.
    """

    titles: Mapping[str, str]
    terms: Mapping[str, WagerTables]
    meter_of: Mapping[str, str]

    @classmethod
    def of(cls, games: Iterable[Chapter]) -> Self:
        titles: dict[str, str] = {}
        terms: dict[str, WagerTables] = {}
        meter_of: dict[str, str] = {}
        for game in games:
            for meter in game.meter:
                titles.setdefault(meter.name, meter.title)
                for tables in (each for each in game.wager if meter.name in each.fed):
                    terms.update(dict.fromkeys(tables.names, tables))
                    meter_of.update(dict.fromkeys(_items(tables, meter.name), meter.name))
        return cls(MappingProxyType(titles), MappingProxyType(terms), MappingProxyType(meter_of))

    def wagers_of(self, meter: str) -> tuple[str, ...]:
        return tuple(name for name, tables in self.terms.items() if meter in tables.fed)

    def items_of(self, meter: str) -> tuple[str, ...]:
        return tuple(item for item, paid in self.meter_of.items() if paid == meter)


def _items(tables: WagerTables, meter: str) -> Iterator[str]:
    if len(tables.fed) > 1 or _pays_besides(tables):
        yield jackpot_item(meter)
    if meter != tables.fed[0]:
        return
    yield from tables.names
    if tables.envy:
        yield envy_item(tables.names[0])
    if tables.draws:
        yield from (MAGIC_CARD, LUCKY_BONUS)


def _pays_besides(tables: WagerTables) -> bool:
    """Return whether a hand wins a percentage of the only meter and also a fixed amount."""
    rows = (row for table in tables.table for row in table.pays.values())
    cells = (cell for row in rows for cell in ([row] if isinstance(row, str) else row))
    return any(" + " in cell for cell in cells)
