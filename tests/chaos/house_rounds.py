"""Rounds of house games in a chaos run, settled again from the texts of the games' files."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.chaos.own_books import OwnBooks, OwnMeter, OwnTerms
from tests.model.second_books import SecondTable, round_of
from tests.model.second_games import HouseGame, SecondMeter
from tests.naive.shapes import Line


def house_terms(games: Sequence[HouseGame], wagers_cents: Mapping[str, int]) -> OwnTerms:
    """Return the terms of a link of house games, given the wager of each of its meters in cents."""
    laws = {
        meter: next(game for game in games if meter in game.meter_of.values()).law(meter)
        for meter in wagers_cents
    }
    meters = {
        meter: OwnMeter(
            law.seed * wagers_cents[meter],
            law.reseed * wagers_cents[meter],
            int(law.primary * 100),
            int(law.reserve * 100),
        )
        for meter, law in laws.items()
    }
    fed = {wager: meters for game in games for wager, meters in game.fed.items()}
    meter_of = {item: meter for game in games for item, meter in game.meter_of.items()}
    return OwnTerms(meters, fed, meter_of)


class HouseRounds:
    """The rounds of one table of a house game."""

    def __init__(self, game: HouseGame, meters: Mapping[str, SecondMeter]) -> None:
        kinds = {kind: kind for fed in game.fed.values() for kind in fed}
        self._table = SecondTable(game, game.positions, kinds)
        self._meters = {kind: meters[kind] for kind in kinds}

    def wagers(self, event: Mapping[str, Any]) -> None:
        self._table.bets = {bet["position"]: bet for bet in event["positions"]}

    def lines(self, event: dict[str, Any], books: OwnBooks) -> list[Line]:
        """Return the lines of a result, and take its percentages off the meters."""
        lines: list[Line] = []
        played = round_of(self._table, event)
        self._table.game.settle(played, self._meters, books, lines.append)
        return lines
