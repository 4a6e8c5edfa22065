"""The example games that are shipped: how often each hand and result comes, and their edges."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from meters.floor.game_files import read_games
from tests.games.naive import hand_of, read_law

GAMES_DIRECTORY: Final = Path(str(files("controllers.demo").joinpath("games")))
GAMES: Final = read_games(GAMES_DIRECTORY)
COUNTED: Final = Enumerator()
OF_PATTERNS: Final = {"shoe_jackpot": 40_000, "crown_queens": 40_000, "red_aces": 40_000}
_DECK: Final = tuple(rank + suit for rank in "23456789TJQKA" for suit in "cdhs")


def odds_of(game: str, wager: str) -> OddsEntry:
    offers = [offer for offer in offers_of(GAMES[game], {}, DrawOdds()) if offer.wager == wager]
    return entry_of(offers[0], COUNTED)


def law_of(game: str) -> Mapping[str, Any]:
    return read_law((GAMES_DIRECTORY / f"{game}.toml").read_text())


def test_there_are_ten_kinds_and_more() -> None:
    assert len(GAMES.digests) == 14


@pytest.mark.parametrize(("game", "deals"), OF_PATTERNS.items())
def test_dealt_hands_come_as_often_as_the_odds_say(game: str, deals: int) -> None:
    """Hands are named by the second settlement, from a shoe of its own."""
    law, rng, found = law_of(game), random.Random(game), Counter[str]()
    deal, wager = law["deal"], law["wager"][0]
    shoe = list(_DECK) * deal.get("decks", 1)
    for _ in range(deals):
        cards = rng.sample(shoe, deal["hand"] + deal["dealer"])
        hand, dealer = cards[: deal["hand"]], cards[deal["hand"] :]
        found[hand_of(law, wager, {"cards": hand}, {"dealer": dealer})] += 1
    for line in odds_of(game, wager["names"][0]).hands:
        expected = float(line.chance)
        spread = 5 * (expected * (1 - expected) / deals) ** 0.5
        assert abs(found[line.hand] / deals - expected) <= spread + 1e-9, line.hand


def chances_by_hand() -> Mapping[str, Sequence[Fraction]]:
    rolls = [sorted(roll) for roll in product(range(1, 7), repeat=3)]
    triples = sum(one == two == three < 6 for one, two, three in rolls)
    sums = Counter(map(sum, rolls))
    return {
        "triple_dice": [
            Fraction(number, 216) for number in (1, triples, sums[17], sums[4])
        ],
        "green_wheel": [Fraction(1, 38), Fraction(1, 38)],
        "ball_draw": [Fraction(1, 1_000), Fraction(1, 100)],
    }  # fmt: skip


@pytest.mark.parametrize(("game", "chances"), chances_by_hand().items())
def test_results_come_as_often_as_counted_by_hand(game: str, chances: Sequence[Fraction]) -> None:
    (wager,) = law_of(game)["wager"]
    lines = odds_of(game, wager["names"][0]).hands
    assert [line.chance for line in lines[:-1]] == chances


@pytest.mark.parametrize("game", sorted(GAMES.digests))
def test_the_house_keeps_a_sensible_share_in_the_long_run(game: str) -> None:
    """Between 3% and 30% of each wager, as at the tables of the law."""
    for offer in offers_of(GAMES[game], {}, DrawOdds()):
        entry = entry_of(offer, COUNTED)
        edge = entry.long_run.house_edge if entry.long_run else entry.house_edge
        assert Fraction(3, 100) < edge < Fraction(3, 10), offer.wager
