"""Wagers of several amounts on one meter: each wins its part of every percentage."""

import json
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from bonus.law.games import Games
from bonus.law.meter_terms import meter_terms
from bonus.rounds import PercentWon, RoundError, SettlementText
from bonus.settling.settle_round import settle_line
from meters.floor.floor_file import FloorError, Meter, parse_floor
from tests.floor_text import Value, floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE, law_of, settled
from tests.games.rounds import GAMES
from tests.games.test_shares import WHOLE, game, games_of
from tests.games.texts import DRAWN, ROWS, envy_text, tier_rows

TRIPS: Final = ("keystone_trips", "trips_jackpot", "trips_progressive")
DICE: Final = ("keystone_dice", "dice_jackpot", "dice_bet")
BY_HAND: Final = game(community=WHOLE)


def settle(
    text: str,
    wagered: Mapping[int, tuple[int, str]],
    held_cents: int,
    **more: Any,  # noqa: ANN401
) -> SettlementText:
    positions = [
        {"position": position, "cards": cards.split(), "wagers": {"bet": cents} if cents else {}}
        | more.pop(f"at_{position}", {})
        for position, (cents, cards) in wagered.items()
    ]
    meter = {"wager": 500, "smaller_wagers": [250, 100], "amount": held_cents}
    played = {
        "game": "h", "positions": positions, "community": ["Qs", "Js", "Ts"],
        "meters": {"pot": meter | more},
    }  # fmt: skip
    return settle_line(json.dumps(played).encode(), games_of(text))


def won(found: SettlementText) -> list[tuple[int, int, int | str | None]]:
    return [(line.position, line.paid, line.percent) for line in found.lines if line.percent]


def test_a_fifth_of_the_wager_wins_a_fifth_of_the_meter_and_the_rest_stays() -> None:
    """By hand, of $1,000.00: 90% is 18% for $1, and the table divides 10% in three shares."""
    hands = {1: (100, "As Ks"), 2: (500, "2c 3d"), 3: (250, "4c 5d")}
    found = settle(BY_HAND, hands, 100_000)
    assert won(found) == [(1, 18_000, 18), (3, 1_666, 5), (2, 3_333, 10), (1, 666, 2)]
    assert found.meters["pot"].amount == 100_000 - 18_000 - 1_666 - 3_333 - 666


def test_only_the_full_wager_of_every_player_wins_the_whole_meter() -> None:
    for other, after in ((500, 50_000), (100, 4_000)):
        found = settle(BY_HAND, {1: (500, "As Ks"), 2: (other, "2c 3d")}, 100_000)
        assert found.meters["pot"].amount == after, found


def test_the_meter_begins_again_with_the_full_seed() -> None:
    """The seed of "$100 for 1" is $500 for the full wager, whoever else has a smaller one."""
    text = game(rows=ROWS)
    assert settle(text, {1: (500, "As Ks"), 2: (100, "2c 3d")}, 70_000).meters["pot"].amount == (
        50_000
    )
    assert settle(text, {1: (100, "As Ks"), 2: (500, "2c 3d")}, 70_000).meters["pot"].amount == (
        56_000
    )


def test_odds_multiply_the_own_wager_and_fixed_sums_stay() -> None:
    text = game(rows={**ROWS, "straight_flush": "10% of meter + $20"})
    found = settle(text, {1: (100, "9s 8s"), 2: (250, "2s 3s")}, 100_000)
    assert [(line.item, line.paid) for line in found.lines] == [
        ("bet", 5_000), ("bet", 2_000), ("pot_jackpot", 2_000),
    ]  # fmt: skip


def test_a_player_has_one_share_at_the_largest_wager() -> None:
    same = {"patron": "ann"}
    hands = {1: (500, "As Ks"), 2: (500, "2c 3d"), 3: (500, "4c 5d"), 4: (100, "6c 7d")}
    found = settle(BY_HAND, hands, 100_000, at_4=same, at_3=same, at_2=same)
    assert won(found) == [(1, 90_000, 90), (3, 5_000, 10), (1, 5_000, 10)]
    assert found.meters["pot"].amount == 50_000


def test_an_envy_percentage_is_of_the_wager_that_gets_it() -> None:
    envy = envy_text(royal_flush="3% of meter", straight_flush="2% of meter")
    text = game(rows=ROWS | {"royal_flush": "60% of meter"}, envy=envy.replace("$1", "$5"))
    found = settle(text, {1: (100, "As Ks"), 2: (500, "2c 3d"), 3: (100, "4c 5d")}, 100_000)
    assert won(found) == [(1, 12_000, 12), (3, 600, "0.6"), (2, 3_000, 3)]


@pytest.mark.parametrize(("played", "wins"), [(TRIPS, "suited_trips"), (DICE, "twelve")])
def test_a_second_settlement_agrees_line_by_line(played: tuple[str, str, str], wins: str) -> None:
    name, meter, wager = played
    rng, seen, law = random.Random(77), Counter[object](), law_of(name)
    results = [each["name"] for each in law["result"]] + ["other"]
    of_table = law["deal"]["dealer"] > 0
    for _ in range(600):
        amounts = rng.choice(((500,), (100,), (500, 100), (500, 250, 100)))
        wagered = [cents for cents in amounts if cents != 250 or "envy" not in law["wager"][0]]
        boxes = [
            {"position": position, "wagers": {wager: rng.choice(wagered)}}
            | ({"patron": rng.choice("ab")} if rng.random() < 0.6 else {})
            | ({} if of_table else {"cards": [rng.choice(results)]})
            for position in rng.sample(range(1, 8), rng.randint(1, 5))
        ]
        smaller = [100] if "envy" in law["wager"][0] else [250, 100]
        held = {"wager": 500, "smaller_wagers": smaller, "amount": rng.randrange(900_000)}
        held |= {"reserve": rng.randrange(90_000)} if name == "keystone_dice" else {}
        if rng.random() < 0.3:
            held |= {"limit": held["amount"] or 1, "overflow": rng.randrange(90_000)}
            held["amount"] = held["limit"]
        one: dict[str, Any] = {"game": name, "positions": boxes, "meters": {meter: held}}
        one |= {"dealer": [rng.choice(results)]} if of_table else {}
        found = json.loads(msgspec.json.encode(settle_line(json.dumps(one).encode(), GAMES)))
        lines, meters = settled(one)
        assert found["lines"] == lines, one
        assert found["meters"] == meters, one
        seen.update({(line["wagered"], line["item"]) for line in lines if line["paid"]})
        seen.update({"whole": any(line.get("hand") == wins for line in lines)})
    assert min(seen.values()) > 10, seen


def test_a_percentage_of_players_with_different_amounts_is_exact() -> None:
    """Three players of one hand's 10%, of whom one has $5: 1/3 of 10% is won, exactly."""
    take = PercentWon("pot", 10, 3, before=90, payees=1)
    assert take.after * 3 == 280
    assert not take.reseeds
    assert PercentWon("pot", 10, 3, before=take.after, payees=2).after * 3 == 300
    with pytest.raises(ValueError, match="cannot take"):
        PercentWon("pot", 10, 3, payees=4)


@pytest.mark.parametrize(
    ("text", "smaller", "reason"),
    [
        (BY_HAND, (500,), "a smaller wager is from 1 to 499 cents"),
        (BY_HAND, (100, 250), "the largest first"),
        (BY_HAND, (100, 100), "each smaller wager once"),
        (BY_HAND, (0,), "a smaller wager is from 1 to 499 cents"),
        (
            game(rows=ROWS | {"straight_flush": "12.25% of meter"}), (99,),
            r"99/500 of 12.25% for straight_flush, which has more than two decimals",
        ),
        (
            game(rows=ROWS, envy=envy_text(royal_flush="$3").replace('"$1"', '"$5"')), (100,),
            "the wager is .5, not 100 cents: H.4 has no Envy Bonuses for other amounts",
        ),
    ],
)  # fmt: skip
def test_amounts_that_cannot_be_paid_exactly_are_refused(
    text: str, smaller: tuple[int, ...], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        meter_terms("pot", 500, None, "h", games_of(text), smaller)


def test_a_game_of_the_law_or_with_draws_has_one_amount() -> None:
    with pytest.raises(ValueError, match="one amount in three_card_poker"):
        meter_terms("progressive", 500, "A", smaller_wagers=(100,))
    drawn: Games = games_of(DRAWN)
    with pytest.raises(ValueError, match="with draws has only one amount"):
        meter_terms("five_card_hand_bonus", 500, None, "drawn", drawn, (100,))


def test_another_amount_is_refused() -> None:
    with pytest.raises(RoundError, match="needs 500 or 250 or 100 cents"):
        settle(BY_HAND, {1: (200, "As Ks")}, 100_000)


def test_meters_of_one_wager_have_the_same_amounts() -> None:
    """Which part of a percentage would a $1 wager win, if one meter had no smaller wagers?"""
    text = game("mini", "major", rows=tier_rows("mini", "major"))
    for more in ({}, {"smaller_wagers": [250]}, {"wager": 100}):
        position = {"position": 1, "wagers": {"bet": 500}, "cards": ["2c", "3d"]}
        played = {
            "game": "h", "positions": [position], "community": ["Qs", "Js", "Ts"],
            "meters": {
                "mini": {"wager": 500, "smaller_wagers": [100], "amount": 50_000},
                "major": {"wager": 500, "amount": 50_000} | more,
            },
        }  # fmt: skip
        with pytest.raises(RoundError, match="bet feeds mini and major, which must have the same"):
            settle_line(json.dumps(played).encode(), games_of(text))


def trips_floor(*, game: str = "keystone_trips", **meter: Value) -> str:
    given: dict[str, Value] = {"smaller_wagers": [100]}
    return floor_text(
        link_text(
            "pit",
            meter_text(TRIPS[1] if game != "three_card_poker" else "progressive", 500,
                       **given | meter),
            table_text("T-1", TRIPS[1] if game != "three_card_poker" else "progressive", game=game),
        ),
        games=str(HOUSE),
    )  # fmt: skip


def test_a_floor_file_has_the_smaller_wagers_of_a_meter() -> None:
    (meter,) = parse_floor(trips_floor()).link[0].meter
    assert isinstance(meter, Meter)
    assert meter.terms.wagers_cents == (500, 100)
    assert meter.terms.rows_at(100)["suited_trips"].percents == ((TRIPS[1], 18),)
    assert meter.terms.rows_at(100)["suited_trips"].envy_cents == 2_000
    assert meter.terms.seed_cents == 250_000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            trips_floor(smaller_wagers=[250]),
            r"floor file:13: .* not 250 cents: KT.4.c. has no Envy",
        ),
        (trips_floor(game="three_card_poker"), "one amount in three_card_poker"),
        (trips_floor(smaller_wagers=[4, 3, 2, 1]), "smaller_wagers"),
    ],
)
def test_a_floor_file_with_an_impossible_amount_names_its_line(text: str, reason: str) -> None:
    with pytest.raises(FloorError, match=reason):
        parse_floor(text, directory=Path())


def test_a_meter_at_its_limit_can_pay_a_smaller_wager(tmp_path: Path) -> None:
    """The largest wager wins all or nothing, but a $1 wager leaves four fifths on the meter."""
    text = (HOUSE / "keystone_trips.toml").read_text("utf-8")
    for cell, other in (
        ('suited_trips = "90% of meter"', 'suited_trips = "100% of meter"'),
        ('straight_flush = "10% of meter"', 'straight_flush = "50 for 1"'),
        (', straight_flush = "2% of meter"', ""),
        ("[wager.community]\n", ""),
        ('rule = "KT.4(d)"\n', ""),
        ('pays = { suited_trips = "10% of meter", straight_flush = "5% of meter" }\n', ""),
    ):
        text = text.replace(cell, other)
    (tmp_path / "keystone_trips.toml").write_text(text, "utf-8")
    floor = trips_floor(limit=250_000).replace(str(HOUSE), str(tmp_path))
    assert parse_floor(floor).link[0].meter[0].limit == 250_000
    with pytest.raises(FloorError, match="wins the whole meter or nothing"):
        parse_floor(floor.replace("smaller_wagers = [100]", ""))
