"""Floor of the state machine: its file, its second books and its source of randomness."""

from random import Random
from typing import Any, Final

from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.model.second_books import SecondBooks, SecondMeter, SecondTable
from tests.naive.tables_649a import FIVE_CARD, FIVE_OF_SIX, HAND_BONUS, PROGRESSIVE

_FED: Final = ("progressive", "five_card_progressive", "five_of_six_progressive", "bonus")
TWO_REJECT_ABOVE: Final = 110_000
"""Some hand pays are larger and some are not."""

FLOOR: Final = floor_text(
    link_text(
        "model",
        meter_text("progressive"),
        meter_text("progressive", 500, id="high", paytable="B"),
        meter_text("five_card_progressive", limit=1_000_150),
        meter_text("five_of_six_progressive", 500),
        meter_text(
            "five_card_hand_bonus", 137,
            id="bonus", magic_card_every=2, lucky_every=3, limit=1_370_200,
        ),
        table_text("T-1", *_FED, asset="1"),
        table_text("T-2", *_FED, asset="2", positions=6),
        table_text("T-3", "high", "five_of_six_progressive", asset="3"),
        name="Three Card Poker Jackpot",
    ),
    name="Keystone Casino",
    validate_from=700,
    two_people_reject_above=TWO_REJECT_ABOVE,
)  # fmt: skip

TABLES: Final = ("T-1", "T-2", "T-3")
REPLIES_KEPT: Final = 6
"""Replies that are kept. Fewer than the service keeps, so some requests ask for older ones."""

WORKERS: Final = (0, 1)
_LOW: Final = {
    "progressive": "progressive",
    "five_card_progressive": "five_card_progressive",
    "five_of_six_progressive": "five_of_six_progressive",
    "five_card_hand_bonus": "bonus",
}
_HIGH: Final = {"progressive": "high", "five_of_six_progressive": "five_of_six_progressive"}


def second_books() -> SecondBooks:
    """Return the second set of books for this floor."""
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
        two_people_above_cents=TWO_REJECT_ABOVE,
        replies_kept=REPLIES_KEPT,
    )


class Chance:
    """Seeded replacement for the service's source of draws, for runs that can be repeated."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def choice(self, population: Any) -> Any:  # noqa: ANN401
        """Return one of the items."""
        return self._random.choice(population)

    def randbelow(self, most: int) -> int:
        """Return a number below a bound."""
        return self._random.randrange(most)
