"""Floor of a chaos run: two links of Three Card Poker with all meters, and one of house games."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from tests.chaos.house_rounds import house_terms
from tests.chaos.own_books import OwnTerms, poker_terms
from tests.floor_text import (
    METERS,
    ONE_REJECTS,
    Value,
    floor_text,
    link_text,
    meter_text,
    table_text,
)
from tests.games.naive import HOUSE
from tests.model.second_games import HouseGame, SecondMeter

_POKER: Final = "three_card_poker"
_HOUSE_GAMES: Final = tuple(
    HouseGame(name) for name in ("river_duel", "keystone_stud", "lucky_seven")
)
_WAGERS_CENTS: Final = {
    "keystone_mega": 100,
    "keystone_major": 100,
    "keystone_minor": 100,
    "seven_jackpot": 500,
}
_PAYTABLES: Final = {"seven_jackpot": "A"}


@dataclass(frozen=True)
class ChaosLink:
    """A link of the run."""

    terms: OwnTerms
    meters: tuple[str, ...]
    games: tuple[HouseGame, ...] = ()

    def table(self, name: str, game: HouseGame | None) -> str:
        if game is None:
            return table_text(name, *METERS)
        fed = dict.fromkeys(meter for meters in game.fed.values() for meter in meters)
        return table_text(name, *fed, game=game.name, positions=game.positions)


def _poker_link(wager_cents: int, progressive_bps: int, paytable: str) -> ChaosLink:
    return ChaosLink(
        poker_terms(wager_cents, progressive_bps),
        (
            meter_text("progressive", wager_cents, paytable=paytable),
            *(meter_text(kind, wager_cents) for kind in METERS[1:]),
        ),
    )


LINKS: Final = {
    "one": _poker_link(100, 1_400, "A"),
    "five": _poker_link(500, 2_000, "B"),
    "mixed": ChaosLink(
        house_terms(_HOUSE_GAMES, _WAGERS_CENTS),
        tuple(
            meter_text(meter, cents, paytable=_PAYTABLES.get(meter))
            for meter, cents in _WAGERS_CENTS.items()
        ),
        _HOUSE_GAMES,
    ),
}
TABLES_MIN: Final = len(LINKS) - 1 + len(_HOUSE_GAMES)
"""Least number of tables: one on each link of Three Card Poker, and one of each house game."""


def tables_of(link: str, tables: int) -> Mapping[str, HouseGame | None]:
    """Return the tables of a link with their house games, given the number of tables on all links.

    A third of the tables is on the mixed link, and at least one of each of its games.
    """
    names = [f"C-{number}" for number in range(1, tables + 1)]
    mixed = max(len(_HOUSE_GAMES), tables // len(LINKS))
    if games := LINKS[link].games:
        return dict(zip(names[-mixed:], islice(cycle(games), mixed), strict=True))
    return dict.fromkeys(names[:-mixed][tuple(LINKS).index(link) :: len(LINKS) - 1])


def second_meters(link: str) -> Mapping[str, SecondMeter]:
    """Return the meters of a link of house games for their second settlement."""
    games = LINKS[link].games
    return {
        meter: SecondMeter(
            next(game for game in games if meter in game.meter_of.values()).law(meter),
            cents,
            paytable=_PAYTABLES.get(meter),
        )
        for meter, cents in _WAGERS_CENTS.items()
        if games
    }


def write_floor(path: Path, *, tables: int, broker: str, redis: str, port: int) -> Path:
    """Write the floor file; its data directory is next to it."""
    service: dict[str, Value] = {
        "broker": broker,
        "redis": redis,
        "http": f"127.0.0.1:{port}",
        "data": path.parent / "data",
    }
    links = (
        link_text(
            name,
            *link.meters,
            *(link.table(table, game) for table, game in tables_of(name, tables).items()),
        )
        for name, link in LINKS.items()
    )
    path.write_text(
        floor_text(*links, service=service, games=str(HOUSE), two_people_reject_above=ONE_REJECTS)
    )
    return path
