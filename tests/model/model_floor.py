"""The floor that the state machine plays on: its file, its second books, its chance."""

from random import Random
from typing import Any, Final

from tests.model.law import FIVE_CARD, FIVE_OF_SIX, HAND_BONUS, PROGRESSIVE
from tests.model.second_books import SecondBooks, SecondMeter, SecondTable

FLOOR: Final = """
[facility]
name = "Keystone Casino"
timezone = "America/New_York"
validate_from = 700

[[link]]
id = "model"
name = "Three Card Poker Jackpot"

[[link.meter]]
kind = "progressive"
wager = 100
paytable = "A"

[[link.meter]]
id = "high"
kind = "progressive"
wager = 500
paytable = "B"

[[link.meter]]
kind = "five_card_progressive"
wager = 100
limit = 1000150

[[link.meter]]
kind = "five_of_six_progressive"
wager = 500

[[link.meter]]
id = "bonus"
kind = "five_card_hand_bonus"
wager = 137
magic_card_every = 2
lucky_every = 3
limit = 1370200

[[link.table]]
id = "T-1"
asset = "1"
game = "three_card_poker"
positions = 7
meters = ["progressive", "five_card_progressive", "five_of_six_progressive", "bonus"]

[[link.table]]
id = "T-2"
asset = "2"
game = "three_card_poker"
positions = 6
meters = ["progressive", "five_card_progressive", "five_of_six_progressive", "bonus"]

[[link.table]]
id = "T-3"
asset = "3"
game = "three_card_poker"
positions = 7
meters = ["high", "five_of_six_progressive"]
"""

TABLES: Final = ("T-1", "T-2", "T-3")
REPLIES_KEPT: Final = 6
"""Fewer than the service keeps, so that some are asked for that are kept no longer."""

WORKERS: Final = (0, 1)
_LOW: Final = {
    "progressive": "progressive",
    "five_card_progressive": "five_card_progressive",
    "five_of_six_progressive": "five_of_six_progressive",
    "five_card_hand_bonus": "bonus",
}
_HIGH: Final = {"progressive": "high", "five_of_six_progressive": "five_of_six_progressive"}


def second_books() -> SecondBooks:
    """The second set of books for the floor above."""
    return SecondBooks(
        meters={
            "progressive": SecondMeter(PROGRESSIVE["A"], 100),
            "high": SecondMeter(PROGRESSIVE["B"], 500),
            "five_card_progressive": SecondMeter(FIVE_CARD, 100, limit_cents=1_000_150),
            "five_of_six_progressive": SecondMeter(FIVE_OF_SIX, 500),
            "bonus": SecondMeter(HAND_BONUS, 137, limit_cents=1_370_200),
        },
        tables={
            "T-1": SecondTable(7, _LOW),
            "T-2": SecondTable(6, _LOW),
            "T-3": SecondTable(7, _HIGH),
        },
        validate_from_cents=700,
        replies_kept=REPLIES_KEPT,
    )


class Chance:
    """Stands where the service draws its cards, so that a run can be had again."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def choice(self, population: Any) -> Any:  # noqa: ANN401
        """One of them."""
        return self._random.choice(population)

    def randbelow(self, most: int) -> int:
        """A number below."""
        return self._random.randrange(most)
