"""Floor of a chaos run: two links of Three Card Poker with all meters, and one of house games."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from tests.floor_text import (
    ONE_REJECTS,
    Value,
    floor_text,
    link_text,
    meter_text,
    section_text,
    table_text,
)
from tests.games.naive import HOUSE
from tests.model.model_floor import ModelFloor
from tests.model.second_books import SecondBooks, SecondTable
from tests.model.second_games import THREE_CARD_POKER, HouseGame, SecondGame, SecondMeter
from tests.naive.tables_649a import FIVE_CARD, FIVE_OF_SIX, HAND_BONUS, PROGRESSIVE, MeterLaw

_RIVER, _STUD, _LUCKY, _DICE, _TRIPS, _TWENTY_ONE = (
    HouseGame(name)
    for name in (
        "river_duel", "keystone_stud", "lucky_seven", "keystone_dice", "keystone_trips",
        "keystone_twenty_one",
    )
)  # fmt: skip


@dataclass(frozen=True)
class ChaosLink:
    """A link of the run: its meters, and the games of its tables in turn."""

    meters: Mapping[str, SecondMeter]
    games: tuple[SecondGame, ...]


def _poker_link(wager_cents: int, paytable: str) -> ChaosLink:
    laws = {
        "progressive": PROGRESSIVE[paytable],
        "five_card_progressive": FIVE_CARD,
        "five_of_six_progressive": FIVE_OF_SIX,
        "five_card_hand_bonus": HAND_BONUS,
    }
    meters = {meter: SecondMeter(law, wager_cents) for meter, law in laws.items()}
    meters["progressive"] = SecondMeter(laws["progressive"], wager_cents, paytable=paytable)
    return ChaosLink(meters, (THREE_CARD_POKER,))


MYSTERY: Final = SecondMeter(
    MeterLaw(percent={}, for_1={}, seed=300, reseed=300, primary=20, paid_from="hand_pay"),
    wager_cents=1,
    hit_by=("progressive", "five_card_progressive"),
    maximum_cents=2_600,
)
"""A must-hit-by meter of the first link, which a few rounds win."""

_ONE: Final = _poker_link(100, "A")
LINKS: Final = {
    "one": replace(_ONE, meters={**_ONE.meters, "mystery": MYSTERY}),
    "five": _poker_link(500, "B"),
    "mixed": ChaosLink(
        {
            **{f"keystone_{tier}": SecondMeter(_STUD.law(f"keystone_{tier}"), 100)
               for tier in ("mega", "major", "minor")},
            "seven_jackpot": SecondMeter(_LUCKY.law("seven_jackpot"), 500, paytable="A"),
            "dice_jackpot": SecondMeter(_DICE.law("dice_jackpot"), 100),
            "trips_jackpot": SecondMeter(_TRIPS.law("trips_jackpot"), 500),
            "twenty_one_jackpot": SecondMeter(_TWENTY_ONE.law("twenty_one_jackpot"), 100),
        },
        (_RIVER, _STUD, _LUCKY, _DICE, _TRIPS, _TWENTY_ONE),
    ),
}  # fmt: skip
TABLES_MIN: Final = sum(len(link.games) for link in LINKS.values())
"""Least number of tables: one on each link of Three Card Poker, and one of each house game."""


def tables_of(link: str, tables: int) -> Mapping[str, SecondGame]:
    """Return the tables of a link with their games, given the number of tables on all links.

    A third of the tables is on the mixed link, and at least one of each of its games.
    """
    names = [f"C-{number}" for number in range(1, tables + 1)]
    games = LINKS[link].games
    mixed = max(len(LINKS["mixed"].games), tables // len(LINKS))
    mine = names[-mixed:] if link == "mixed" else names[:-mixed][link == "five" :: len(LINKS) - 1]
    return dict(zip(mine, islice(cycle(games), len(mine)), strict=True))


def _table(name: str, game: SecondGame, hidden: tuple[str, ...]) -> tuple[str, SecondTable]:
    fed = {kind: kind for meters in game.fed.values() for kind in meters}
    if not isinstance(game, HouseGame):
        return table_text(name, *fed, *hidden), SecondTable(game, 7, fed, hidden)
    text = table_text(name, *fed, game=game.name, positions=game.positions)
    return text, SecondTable(game, game.positions, fed)


def _meter(meter: str, terms: SecondMeter) -> str:
    if not terms.hit_by:
        return meter_text(meter, terms.wager_cents, paytable=terms.paytable)
    hit_by: dict[str, Value] = {
        "minimum": terms.law.seed,
        "maximum": terms.maximum_cents,
        "rate": f"{terms.law.primary}%",
        "wagers": terms.hit_by,
    }
    return section_text("[[link.meter]]", kind="must_hit_by", id=meter, must_hit_by=hit_by)


def model_of(name: str, tables: int) -> ModelFloor:
    link = LINKS[name]
    meters = (_meter(meter, terms) for meter, terms in link.meters.items())
    hidden = tuple(meter for meter, terms in link.meters.items() if terms.hit_by)
    games = tables_of(name, tables)
    made = {table: _table(table, game, hidden) for table, game in games.items()}

    def second_books() -> SecondBooks:
        return SecondBooks(
            link=name,
            meters=dict(link.meters),
            tables={table: second for table, (_, second) in made.items()},
            validate_from_cents=0,
            two_people_above_cents=ONE_REJECTS,
            replies_kept=0,
        )

    text = link_text(name, *meters, *(section for section, _ in made.values()))
    return ModelFloor(text, second_books, (), {})


def write_floor(path: Path, *, tables: int, broker: str, redis: str, port: int) -> Path:
    service: dict[str, Value] = {
        "broker": broker,
        "redis": redis,
        "http": f"127.0.0.1:{port}",
        "data": path.parent / "data",
    }
    links = (model_of(name, tables).text for name in LINKS)
    path.write_text(
        floor_text(*links, service=service, games=str(HOUSE), two_people_reject_above=ONE_REJECTS)
    )
    return path
