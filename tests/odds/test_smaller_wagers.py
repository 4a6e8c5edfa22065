"""The odds of smaller wagers on a meter: counted outcome by outcome, and simulated."""

import json
import random
import re
from collections.abc import Mapping
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Final

import pytest
from rich.console import Console

from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.wager_odds import entry_of
from bonus.settling.settle_round import settle_line
from meters.cli.odds_plot import plot_edges
from meters.cli.odds_tables import show
from meters.floor.floor_file import Floor, parse_floor
from meters.reports.submission import link_filings
from meters.reports.wager_filings import hand_rows, wager_odds
from meters.selfcheck.floor_offers import floor_offers, meter_chances
from meters.selfcheck.game_returns import return_checks
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.games.rounds import GAMES

FLOOR: Final = floor_text(
    link_text(
        "pit",
        meter_text("dice_jackpot", 500, smaller_wagers=[250, 100]),
        meter_text("trips_jackpot", 500, smaller_wagers=[100]),
        table_text("T-1", "dice_jackpot", game="keystone_dice", positions=8),
        table_text("T-2", "trips_jackpot", game="keystone_trips"),
    ),
    games=str(HOUSE),
)
DICE: Final = {
    "twelve": Fraction(1, 36), "hard_eight": Fraction(1, 36), "eleven": Fraction(2, 36),
    "easy_eight": Fraction(4, 36), "other": Fraction(28, 36),
}  # fmt: skip
TRIPS: Final = {
    "suited_trips": Fraction(1, 468), "straight_flush": Fraction(1, 455),
    "trips": Fraction(1, 189),
}  # fmt: skip


@pytest.fixture(scope="module")
def floor() -> Floor:
    return parse_floor(FLOOR)


@pytest.fixture(scope="module")
def entries(floor: Floor) -> list[OddsEntry]:
    counted = Enumerator()
    return [entry_of(offer, counted) for offer in floor_offers(floor)]


def found(entries: list[OddsEntry], wager: str, cents: int) -> OddsEntry:
    smaller = 0 if cents == 500 else cents
    (entry,) = [one for one in entries if (one.wager, one.smaller_wager) == (wager, smaller)]
    return entry


def paid_back(  # noqa: PLR0917
    game: str, meter: str, wager: str, chances: Mapping[str, Fraction], cents: int, held_cents: int
) -> Fraction:
    """Return the average payout in cents, settling each result of one player's round."""
    back = Fraction(0)
    for result, chance in chances.items():
        own = {"cards": [result]} if game == "keystone_trips" else {}
        of_table = {} if own else {"dealer": [result]}
        smaller = [100] if own else [250, 100]
        played = {
            "game": game, "positions": [{"position": 1, "wagers": {wager: cents}} | own],
            "meters": {meter: {"wager": 500, "smaller_wagers": smaller, "amount": held_cents}},
        } | of_table  # fmt: skip
        settled = settle_line(json.dumps(played).encode(), GAMES)
        back += chance * sum(line.paid for line in settled.lines)
    return back


@pytest.mark.parametrize(
    ("game", "meter", "wager", "chances", "amounts"),
    [
        ("keystone_dice", "dice_jackpot", "dice_bet", DICE, (500, 250, 100)),
        ("keystone_trips", "trips_jackpot", "trips_progressive", TRIPS, (500, 100)),
    ],
)
def test_each_amount_has_the_same_edge_and_break_even_as_every_result_settled(  # noqa: PLR0917
    entries: list[OddsEntry], game: str, meter: str, wager: str,
    chances: Mapping[str, Fraction], amounts: tuple[int, ...],
) -> None:  # fmt: skip
    edges = set[Fraction]()
    for cents in amounts:
        entry = found(entries, wager, cents)
        seed_cents = entry.seed_meter[str(cents)]
        back = paid_back(game, meter, wager, chances, cents, seed_cents)
        assert 1 - back / cents == entry.house_edge
        edges.add(entry.house_edge)
        even_cents = entry.break_even_meter[str(cents)]
        assert paid_back(game, meter, wager, chances, cents, even_cents) >= cents
        assert paid_back(game, meter, wager, chances, cents, even_cents - 1) < cents
    assert len(edges) == 1


def test_a_simulation_of_both_amounts_agrees_with_the_odds(entries: list[OddsEntry]) -> None:
    """Single players with $5 and $1 in turn, at dice of its own and without pitlink.

    Each amount gets back as much for each dollar. The house pays a reseed only for the full wager.
    """
    rng, meter, reserve = random.Random(5), Fraction(10_000), Fraction(0)
    wagered, back, house = {500: 0, 100: 0}, {500: 0, 100: 0}, {500: Fraction(0), 100: Fraction(0)}
    for turn in range(400_000):
        cents = (500, 100)[turn % 2]
        above = meter >= 10_500
        to_meter, to_reserve = (Fraction(75, 1_000), Fraction(175, 1_000)) if above else (
            Fraction(1, 5), Fraction(1, 20)
        )  # fmt: skip
        meter, reserve = meter + cents * to_meter, reserve + cents * to_reserve
        first, second = rng.randint(1, 6), rng.randint(1, 6)
        won, fixed = 0, 0
        if first + second == 12:
            won = int(meter * cents / 500)
        elif first == second == 4:
            won = int(meter * cents / 500 / 8)
        elif first + second == 11:
            fixed = 3 * cents
        meter -= won
        house[cents] += cents - cents * (to_meter + to_reserve) - fixed
        if won and first + second == 12 and cents == 500:
            meter, reserve, house[500] = meter + reserve + 5_000, Fraction(0), house[500] - 5_000
        wagered[cents] += cents
        back[cents] += won + fixed
    for cents, kept in house.items():
        lasting = found(entries, "dice_bet", cents).long_run
        assert lasting is not None
        assert abs(kept / wagered[cents] - lasting.house_edge) < Fraction(1, 50)
    assert abs(Fraction(back[500], wagered[500]) - Fraction(back[100], wagered[100])) < (
        Fraction(1, 40)
    )


def test_a_dollar_has_the_same_chance_with_each_amount(
    floor: Floor, entries: list[OddsEntry]
) -> None:
    (link,) = floor.link
    for meter in link.meter:
        (chance,) = meter_chances(link, meter, entries)
        whole = Fraction(1, 36) + Fraction(1, 8 * 36)
        if meter.kind == "dice_jackpot":
            assert chance.of_a_dollar == whole * 100 / 500


def test_check_and_submission_name_the_amounts(floor: Floor, entries: list[OddsEntry]) -> None:
    names = {one.what for one in return_checks(floor)}
    assert {"return of dice_bet in keystone_dice", "return of dice_bet of $1 in keystone_dice",
            "return of trips_progressive of $1 in keystone_trips"} <= names  # fmt: skip
    offer = next(one for one in floor_offers(floor) if "trips" in one.wager and one.largest_cents)
    entry = found(entries, "trips_progressive", 100)
    assert [(row.hand, row.envy_cents, row.share) for row in wager_odds(offer, entry).envy] == [
        ("suited_trips", 2_000, ""), ("straight_flush", 0, "0.4% of meter"),
    ]  # fmt: skip
    assert [[cell.pays for cell in row.cells] for row in hand_rows(offer, entry)][:2] == [
        ["18% of meter", "2% of meter"], ["2% of meter", "1% of meter"],
    ]  # fmt: skip
    (link,) = link_filings(floor, entries)
    assert [meter.smaller_wagers_cents for meter in link.meters] == [(250, 100), (100,)]


def test_a_plot_names_the_amount_and_a_text_who_wins_the_reserve(
    entries: list[OddsEntry], tmp_path: Path
) -> None:
    dice = [found(entries, "dice_bet", cents) for cents in (500, 100)]
    plot_edges(dice, tmp_path / "edges.svg", GAMES)
    # Text is drawn as shapes, with the words in a comment above.
    drawn = (tmp_path / "edges.svg").read_text("utf-8")
    titles = re.findall(r"<!-- (Keystone Dice: .*) -->", drawn)
    assert [title.endswith(" of $1") for title in titles] == [False, True]
    for entry, smaller in zip(dice, (False, True), strict=True):
        printed = StringIO()
        show([entry], Console(file=printed, width=100), GAMES)
        said = " ".join(printed.getvalue().split())
        for text in (
            "Players with the largest amount win the part that goes to a reserve.",
            "wins none of the reserve.",
            "Players with the largest amount win the reserve later",
        ):
            assert (text in said) == smaller
