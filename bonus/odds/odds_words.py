"""Wagers, meters, hands and exact numbers of the odds as text for people."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, Self

from bonus.display import short_money
from bonus.law.games import Games

_NAMES: Final = {
    "ante": "Ante and the wager after it",
    "five_of_six_progressive": "5 of 6 progressive",
    "five_card_hand_bonus": "Five card hand bonus, own hand",
    "five_card_hand_bonus_dealer": "Five card hand bonus, dealer's hand",
}
_READINGS: Final = {
    "five_cards": "judged on all five cards, according to the text",
    "best_four": "judged on the best four of the five cards",
}
_BY_WORD: Final = {
    "three_of_a_kind": "three-of-a-kind",
    "four_of_a_kind": "four-of-a-kind",
    "mini_royal": "mini-royal",
    "mini_royal_spades": "mini-royal of spades",
    "royal_flush_spades": "royal flush of spades",
    "super_royal_diamonds": "super royal of diamonds",
    "six_card_royal": "six-card royal",
    "six_card_royal_diamonds": "six-card royal of diamonds",
    "seven_card_straight_flush": "seven-card straight flush",
    "seven_card_straight_flush_with_joker": "seven-card straight flush with joker",
}


@dataclass(frozen=True, slots=True)
class GameNames:
    """Names for people in one game; ``meters`` is empty unless the game is of the house."""

    wagers: Mapping[str, str]
    meters: Mapping[str, str]

    @classmethod
    def of(cls, games: Games, game: str) -> Self:
        house = game in games.digests
        meters = {meter.name: meter.title for meter in games[game].meter} if house else {}
        return cls(games.titles, meters)

    def wager(self, wager: str, reading: str, smaller_cents: int = 0) -> str:
        """Return the name of a wager, with its amount if it is a smaller one on its meters."""
        plain = _NAMES.get(wager, plain_name(wager).capitalize())
        name = self.wagers.get(wager, plain)
        name = f"{name}, {_READINGS.get(reading, reading)}" if reading else name
        return f"{name} of {short_money(smaller_cents)}" if smaller_cents else name

    def meter(self, meter: str) -> str:
        return self.meters.get(meter, plain_name(meter))

    def cell(self, cell: str) -> str:
        """Return the text of a paytable cell, with the names of its meters.

        >>> GameNames({}, {"five_mini": "Mini"}).cell("100% of five_mini + $500")
        '100% of Mini + $500'
        """
        return _METER.sub(lambda found: self.meters.get(found[0], found[0]), cell)


_METER: Final = re.compile(r"(?<=% of )\w+")


def plain_name(name: str) -> str:
    return _BY_WORD.get(name, name.replace("_", " "))


def percent(share: Fraction) -> str:
    return f"{rounded(share * 100, 4)}%"


def rounded(number: Fraction, places: int) -> Decimal:
    return Decimal(round(number * 10**places)).scaleb(-places)


def one_in(chance: Fraction) -> str:
    """Return a probability as text. If the reciprocal is not whole, it has two decimals.

    >>> one_in(Fraction(1, 22_100)), one_in(Fraction(3, 8)), one_in(Fraction(0))
    ('1 in 22,100', '1 in 2.67', 'never')
    """
    if chance == 0:
        return "never"
    if chance.numerator == 1:
        return f"1 in {chance.denominator:,}"
    hundredths = round(100 / chance)
    return f"1 in {hundredths // 100:,}.{hundredths % 100:02}"
