"""Tables of the house edge of each wager of the chapters, from the edges that the tests know."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from bonus.display import item_words
from bonus.law.games import chapters
from bonus.odds.odds_words import GameNames
from tests.documents.json_tables import table
from tests.odds.test_edges import EDGES, LONG_RUN

_MINI_ROYAL: Final = "+"
"""Sign after a paytable with an added mini-royal, which the tables leave out."""


def house_edges() -> str:
    """Return the edges of wagers that feed no meter, those with the lowest edge first."""
    return table(("game", "wager", "house edge of each paytable, the lowest first"), _rows())


def progressive_edges() -> str:
    """Return the edges of wagers that feed a meter, at the seed and in the long run."""
    head = ("game", "wager", "paytable", "at the seed", "in the long run")
    return table(
        head,
        (
            (chapters()[game].title, item_words(wager), paytable, *map(_percent, edges))
            for (game, wager), lasting in LONG_RUN.items()
            for paytable, *edges in (
                (name, EDGES[game, wager][name], edge) for name, edge in lasting.items()
            )
        ),
    )


def _rows() -> Iterator[tuple[str, str, str]]:
    for (game, wager), edges in EDGES.items():
        if (game, wager) in LONG_RUN:
            continue
        for reading, of_reading in _by_reading(game, wager, edges).items():
            lowest_first = sorted(of_reading.items(), key=lambda one: Fraction(one[1]))
            cells = (f"{name} {_percent(edge)}".strip() for name, edge in lowest_first)
            _, comma, judged = GameNames({}, {}).wager(wager, reading).partition(",")
            title = f"{item_words(wager)}{(comma + judged) * bool(reading)}"
            yield chapters()[game].title, title, ", ".join(cells)


def _by_reading(game: str, wager: str, edges: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
    readings = [""]
    for tables in chapters()[game].wager:
        if wager in tables.names and tables.readings:
            readings = list(tables.readings.rankings)
    return {
        reading: {
            name.removesuffix(reading): edge
            for name, edge in edges.items()
            if name.endswith(reading) and not name.endswith(_MINI_ROYAL)
        }
        for reading in readings
    }


def _percent(edge: str) -> str:
    return f"{100 * float(Fraction(edge)):.2f} %"
