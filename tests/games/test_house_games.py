"""Games of the house: their printed cells, and their settlement against a second one."""

import json
import random
from collections import Counter
from collections.abc import Mapping

import msgspec
import pytest

from bonus.display import short_money
from bonus.law.chapter_file import WagerTables
from bonus.law.meter_terms import Row, meter_terms
from bonus.settling.settle import settle_line
from tests.games.naive import cell_of, law_of, settled
from tests.games.rounds import GAMES, random_round

ROUNDS = 600


@pytest.mark.parametrize("game", ["keystone_stud", "lucky_seven"])
def test_a_second_settlement_of_the_file_agrees_line_by_line(game: str) -> None:
    rng = random.Random(17)
    seen: Counter[str] = Counter()
    for _ in range(ROUNDS):
        played = random_round(game, rng)
        if not played["positions"]:
            continue
        found = json.loads(msgspec.json.encode(settle_line(json.dumps(played).encode(), GAMES)))
        lines, meters = settled(played)
        assert found["lines"] == lines, played
        assert found["meters"] == meters
        seen.update(f"{line['item']} {line['outcome']}" for line in lines)
    for item in ("keystone_mega_jackpot", "keystone_major_jackpot", "keystone_minor_jackpot"):
        assert seen[f"{item} paid"] > 3, seen
    for tables in GAMES[game].wager:
        assert seen[f"{tables.names[0]} paid"] > 10
        assert seen[f"{tables.names[0]} collected"] > 10


@pytest.mark.parametrize("game", sorted(GAMES.digests))
def test_each_cell_of_a_meter_is_read_as_printed_and_written_back(game: str) -> None:
    law = law_of(game)
    for tables, printed in zip(GAMES[game].wager, law["wager"], strict=True):
        for meter in tables.fed:
            for choice in tables.table[0].choices or (None,):
                terms = meter_terms(meter, 100, choice, game, GAMES)
                for hand, row in terms.rows.items():
                    choices = {tables.names[0]: choice} if choice else {}
                    cell = cell_of(printed, row.hand, choices)
                    assert _written(tables, row) == cell, (hand, choice)


def _written(tables: WagerTables, row: Row) -> str:
    parts = [f"{percent}% of {'meter' if tables.meter else name}" for name, percent in row.percents]
    if row.for_1:
        parts.append(f"{row.for_1:,} for 1")
    if row.sum_cents:
        parts.append(short_money(row.sum_cents))
    return " + ".join(parts)


def test_a_wager_on_three_meters_pays_each_jackpot_on_its_own_line() -> None:
    """By hand: the royal wins the mega and $1,000; the straight flush wins the major before it."""
    played = {
        "game": "keystone_stud",
        "positions": [
            {"position": 1, "cards": ["As", "Ks"], "wagers": {"keystone_bonus": 100}},
            {"position": 2, "cards": ["2c", "2d"], "wagers": {"keystone_bonus": 100}},
            {"position": 3, "cards": ["9s", "8s"], "wagers": {"keystone_bonus": 100}},
        ],
        "community": ["Qs", "Js", "Ts"],
        "meters": {
            "keystone_mega": {"wager": 100, "amount": 3_000_000, "reserve": 100_000},
            "keystone_major": {"wager": 100, "amount": 70_000},
            "keystone_minor": {"wager": 100, "amount": 5_500},
        },
    }
    found = settle_line(json.dumps(played).encode(), GAMES)
    assert [(line.position, line.item, line.paid, line.percent) for line in found.lines] == [
        (3, "keystone_bonus", 0, None),
        (3, "keystone_major_jackpot", 70_000, 100),
        (2, "keystone_bonus", 0, None),
        (1, "keystone_bonus", 100_000, None),
        (1, "keystone_mega_jackpot", 3_000_000, 100),
        (3, "keystone_bonus_envy", 20_000, None),
        (2, "keystone_bonus_envy", 20_000, None),
    ]
    after: Mapping[str, tuple[int, int | None]] = {
        name: (meter.amount, meter.reserve) for name, meter in found.meters.items()
    }
    assert after == {
        "keystone_mega": (2_100_000, 0),
        "keystone_major": (50_000, None),
        "keystone_minor": (5_500, None),
    }


def test_the_game_against_the_dealer_of_a_house_game_is_settled() -> None:
    """By hand: a call of twice the blind; the dealer's three cards count for the bonus too."""
    played = {
        "game": "river_duel",
        "positions": [
            {
                "position": 4, "cards": ["9h", "9d", "2c"],
                "wagers": {"blind": 500, "call": 1000, "keystone_bonus": 100},
            },
            {
                "position": 2, "cards": ["3c", "5d", "7h"],
                "wagers": {"blind": 500, "call": 500},
            },
        ],
        "dealer": ["9s", "9c", "4d"],
        "meters": {
            "keystone_mega": {"wager": 100, "amount": 2_000_000, "reserve": 0},
            "keystone_major": {"wager": 100, "amount": 50_000},
            "keystone_minor": {"wager": 100, "amount": 6_001},
        },
    }  # fmt: skip
    found = settle_line(json.dumps(played).encode(), GAMES)
    assert [
        (line.position, line.item, line.outcome.value, line.paid, line.returned)
        for line in found.lines
    ] == [
        (4, "blind", "collected", 0, 0),
        (4, "call", "collected", 0, 0),
        (4, "keystone_bonus", "paid", 0, 0),
        (4, "keystone_minor_jackpot", "paid", 6_001, 0),
        (2, "blind", "collected", 0, 0),
        (2, "call", "collected", 0, 0),
    ]
    assert found.meters["keystone_minor"].amount == 5_000
