"""Floors of the state machine: their files, their second books and their source of randomness.

One link plays Three Card Poker. The other link, the mixed one, has tables of three games of the
house, which share a meter of three tiers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from meters.ledger.money_terms import Parameter
from tests.floor_text import (
    floor_text,
    link_text,
    meter_text,
    promotion_text,
    section_text,
    table_text,
)
from tests.games.naive import HOUSE
from tests.model.second_books import SecondBooks, SecondPromotion, SecondTable
from tests.model.second_games import THREE_CARD_POKER, HouseGame, SecondMeter
from tests.naive.tables_649a import (
    FIVE_CARD,
    FIVE_OF_SIX,
    HAND_BONUS,
    METER_OF,
    PROGRESSIVE,
    MeterLaw,
)

LINK_GAMES: Final = Path(__file__).parent / "link_games"
"""A game whose community share is for the whole link."""

_FED: Final = ("progressive", "five_card_progressive", "five_of_six_progressive", "bonus")
TWO_REJECT_ABOVE: Final = 110_000
"""Some hand pays are larger and some are not."""

_VALIDATE_FROM: Final = 700

TABLES: Final = ("T-1", "T-2", "T-3")
REPLIES_KEPT: Final = 6
"""Replies that are kept. Fewer than the service keeps, so some requests ask for older ones."""

WORKERS: Final = (0, 1)


@dataclass(frozen=True)
class Change:
    """A parameter that people change while the link is closed, and its possible values."""

    meter: str
    parameter: Parameter
    values: tuple[int | str, ...]


@dataclass(frozen=True)
class ModelFloor:
    """A floor of one link with the tables `TABLES`; `laws` has each paytable's terms, by meter."""

    text: str
    second_books: Callable[[], SecondBooks]
    changes: tuple[Change, ...]
    laws: Mapping[str, Mapping[str, MeterLaw]]


def _floor(link: str, games: Path | None = None) -> str:
    return floor_text(
        link,
        name="Keystone Casino",
        games=games,
        validate_from=_VALIDATE_FROM,
        two_people_reject_above=TWO_REJECT_ABOVE,
    )


def _books(
    link: str,
    meters: dict[str, SecondMeter],
    tables: dict[str, SecondTable],
    promotions: Mapping[str, SecondPromotion] | None = None,
) -> SecondBooks:
    return SecondBooks(
        link=link,
        meters=meters,
        tables=tables,
        validate_from_cents=_VALIDATE_FROM,
        two_people_above_cents=TWO_REJECT_ABOVE,
        replies_kept=REPLIES_KEPT,
        promotions=promotions,
    )


# Three Card Poker.

_LOW: Final = {kind: kind for kind in METER_OF.values()} | {"five_card_hand_bonus": "bonus"}
_HIGH: Final = {"progressive": "high", "five_of_six_progressive": "five_of_six_progressive"}


def _poker_books() -> SecondBooks:
    return _books(
        "model",
        meters={
            "progressive": SecondMeter(PROGRESSIVE["A"], 100),
            "high": SecondMeter(PROGRESSIVE["B"], 500),
            "five_card_progressive": SecondMeter(
                FIVE_CARD, 100, limit_cents=1_000_150, overflow_to="high"
            ),
            "five_of_six_progressive": SecondMeter(FIVE_OF_SIX, 500),
            "bonus": SecondMeter(HAND_BONUS, 137, limit_cents=1_370_200),
        },
        tables={
            "T-1": SecondTable(THREE_CARD_POKER, 7, _LOW),
            "T-2": SecondTable(THREE_CARD_POKER, 6, _LOW),
            "T-3": SecondTable(THREE_CARD_POKER, 7, _HIGH),
        },
    )


POKER: Final = ModelFloor(
    _floor(
        link_text(
            "model",
            meter_text("progressive"),
            meter_text("progressive", 500, id="high", paytable="B"),
            meter_text("five_card_progressive", limit=1_000_150, overflow_to="high"),
            meter_text("five_of_six_progressive", 500),
            meter_text(
                "five_card_hand_bonus", 137,
                id="bonus", magic_card_every=2, lucky_every=3, limit=1_370_200,
            ),
            table_text("T-1", *_FED, asset="1"),
            table_text("T-2", *_FED, asset="2", positions=6),
            table_text("T-3", "high", "five_of_six_progressive", asset="3"),
            name="Three Card Poker Jackpot",
        )
    ),
    _poker_books,
    (
        Change("progressive", "paytable", ("A", "B")),
        Change("high", "paytable", ("A", "B")),
        Change("bonus", "magic_card_every", (0, 2, 3, 5)),
        Change("bonus", "lucky_every", (0, 2, 3, 5)),
    ),
    {"progressive": PROGRESSIVE, "high": PROGRESSIVE},
)  # fmt: skip

# Three Card Poker with a must-hit-by meter, which wagers of two kinds and amounts feed. Its hidden
# values are near (`Near`), so it is won every few rounds, sometimes twice in one.

_MYSTERY: Final = SecondMeter(
    MeterLaw(
        percent={}, for_1={}, seed=300, reseed=300, primary=40, reserve=0, envy_cents={},
        paid_from="hand_pay",
    ),
    wager_cents=1,
    hit_by=("five_card_progressive", "progressive"),
    maximum_cents=30_000,
)  # fmt: skip


_LOW_OF_HIDDEN: Final = (
    "progressive", "five_card_progressive", "five_card_hand_bonus", "mystery",
)  # fmt: skip


def _hidden_books() -> SecondBooks:
    low = {kind: kind for kind in ("progressive", "five_card_progressive", "five_card_hand_bonus")}
    hidden = ("mystery",)
    return _books(
        "hidden",
        meters={
            "progressive": SecondMeter(PROGRESSIVE["A"], 100),
            "high": SecondMeter(PROGRESSIVE["B"], 500),
            "five_card_progressive": SecondMeter(FIVE_CARD, 100, limit_cents=1_000_150),
            "five_card_hand_bonus": SecondMeter(HAND_BONUS, 100),
            "mystery": _MYSTERY,
        },
        tables={
            "T-1": SecondTable(THREE_CARD_POKER, 7, low, hidden),
            "T-2": SecondTable(THREE_CARD_POKER, 6, low, hidden),
            "T-3": SecondTable(THREE_CARD_POKER, 7, {"progressive": "high"}, hidden),
        },
    )


HIDDEN: Final = ModelFloor(
    _floor(
        link_text(
            "hidden",
            meter_text("progressive"),
            meter_text("progressive", 500, id="high", paytable="B"),
            meter_text("five_card_progressive", limit=1_000_150),
            section_text(
                "[[link.meter]]",
                kind="must_hit_by",
                id="mystery",
                must_hit_by={
                    "minimum": 300, "maximum": 30_000, "rate": "40%", "wagers": _MYSTERY.hit_by,
                },
            ),
            meter_text("five_card_hand_bonus", magic_card_every=2, lucky_every=3),
            table_text("T-1", *_LOW_OF_HIDDEN, asset="1"),
            table_text("T-2", *_LOW_OF_HIDDEN, asset="2", positions=6),
            table_text("T-3", "high", "mystery", asset="3"),
            name="Three Card Poker Jackpot",
        )
    ),
    _hidden_books,
    (Change("progressive", "paytable", ("A", "B")),),
    {"progressive": PROGRESSIVE},
)  # fmt: skip

# The mixed link. The wagers of the first table depend on the dealer's cards, those of the other two
# on community cards. Promotions take meters above their limits. One is on for a minute, shortly
# after the beginning of a simulation.

_RIVER, _STUD, _LUCKY = (HouseGame(name) for name in ("river_duel", "keystone_stud", "lucky_seven"))
_TIERS: Final = ("keystone_mega", "keystone_major", "keystone_minor")
_SEVEN: Final = "seven_jackpot"
_LIMITS: Final = {"keystone_mega": 2_000_150, "keystone_minor": 5_030}
_OVERFLOW_TO: Final = {"keystone_minor": "keystone_mega"}
_PROMOTIONS: Final = {
    "mega": SecondPromotion("keystone_mega", 100, "00:00", "24:00"),
    "more": SecondPromotion("keystone_mega", 1_003, "00:00", "24:00"),
    "minor": SecondPromotion("keystone_minor", 77, "00:00", "24:00"),
    "part": SecondPromotion("keystone_minor", 0, "00:00", "24:00", bps=333),
    "minute": SecondPromotion("keystone_major", 50_000, "19:01", "19:02"),
}


def _mixed_books() -> SecondBooks:
    tiers = {meter: meter for meter in _TIERS}
    meters = {
        meter: SecondMeter(
            _STUD.law(meter), 100, _LIMITS.get(meter), overflow_to=_OVERFLOW_TO.get(meter, "")
        )
        for meter in _TIERS
    }
    return _books(
        "mixed",
        meters={**meters, _SEVEN: SecondMeter(_LUCKY.law(_SEVEN), 500, paytable="A")},
        tables={
            "T-1": SecondTable(_RIVER, 7, tiers),
            "T-2": SecondTable(_STUD, 5, tiers),
            "T-3": SecondTable(_LUCKY, 6, tiers | {_SEVEN: _SEVEN}),
        },
        promotions=_PROMOTIONS,
    )


MIXED: Final = ModelFloor(
    _floor(
        link_text(
            "mixed",
            *(
                meter_text(meter, limit=_LIMITS.get(meter), overflow_to=_OVERFLOW_TO.get(meter))
                for meter in _TIERS
            ),
            meter_text(_SEVEN, 500, paytable="A"),
            table_text("T-1", *_TIERS, asset="1", game="river_duel"),
            table_text("T-2", *_TIERS, asset="2", game="keystone_stud", positions=5),
            table_text("T-3", *_TIERS, _SEVEN, asset="3", game="lucky_seven", positions=6),
            *(
                promotion_text(
                    name,
                    one.meter,
                    one.cents or None,
                    raises=f"{one.bps / 100:.2f}%" if one.bps else None,
                    begins=one.begins,
                    ends=one.ends.replace("24:00", "00:00"),
                )
                for name, one in _PROMOTIONS.items()
            ),
            name="Keystone Jackpot",
        ),
        HOUSE,
    ),
    _mixed_books,
    (Change(_SEVEN, "paytable", ("A", "B")),),
    {_SEVEN: dict.fromkeys("AB", _LUCKY.law(_SEVEN))},
)
"""The paytables of the Lucky Seven Jackpot differ only in the payouts, which its game reads."""


# A link of games without poker hands. At the first table, one roll decides for the whole table; at
# the third, each position has a result of its own; the second deals six decks. The wagers at the
# first and the third have several amounts.

_DICE, _TRIPS, _TWENTY_ONE = (
    HouseGame(name) for name in ("keystone_dice", "keystone_trips", "keystone_twenty_one")
)


def _results_books() -> SecondBooks:
    dice, trips, decks = (
        {meter: meter} for meter in ("dice_jackpot", "trips_jackpot", "twenty_one_jackpot")
    )
    return _books(
        "results",
        meters={
            "dice_jackpot": SecondMeter(
                _DICE.law("dice_jackpot"), 500, limit_cents=15_250, smaller_cents=(250, 100)
            ),
            "trips_jackpot": SecondMeter(_TRIPS.law("trips_jackpot"), 500, smaller_cents=(100,)),
            "twenty_one_jackpot": SecondMeter(_TWENTY_ONE.law("twenty_one_jackpot"), 100),
        },
        tables={
            "T-1": SecondTable(_DICE, 8, dice),
            "T-2": SecondTable(_TWENTY_ONE, 4, decks),
            "T-3": SecondTable(_TRIPS, 7, trips),
        },
    )


RESULTS: Final = ModelFloor(
    _floor(
        link_text(
            "results",
            meter_text("dice_jackpot", 500, limit=15_250, smaller_wagers=[250, 100]),
            meter_text("trips_jackpot", 500, smaller_wagers=[100]),
            meter_text("twenty_one_jackpot"),
            table_text("T-1", "dice_jackpot", asset="1", game="keystone_dice", positions=8),
            table_text(
                "T-2", "twenty_one_jackpot", asset="2", game="keystone_twenty_one", positions=4
            ),
            table_text("T-3", "trips_jackpot", asset="3", game="keystone_trips", positions=7),
            name="Keystone Dice Jackpot",
        ),
        HOUSE,
    ),
    _results_books,
    (),
    {},
)


# A link whose tables play one game: the players at all of them divide its community shares.

_LINK: Final = HouseGame("keystone_trips", on_link=True)


def _link_books() -> SecondBooks:
    meters = {"trips_jackpot": "trips_jackpot"}
    return _books(
        "shared",
        meters={"trips_jackpot": SecondMeter(_LINK.law("trips_jackpot"), 500)},
        tables={
            "T-1": SecondTable(_LINK, 7, meters),
            "T-2": SecondTable(_LINK, 4, meters),
            "T-3": SecondTable(_LINK, 7, meters),
        },
    )


LINK: Final = ModelFloor(
    _floor(
        link_text(
            "shared",
            meter_text("trips_jackpot", 500),
            table_text("T-1", "trips_jackpot", asset="1", game="keystone_trips", positions=7),
            table_text("T-2", "trips_jackpot", asset="2", game="keystone_trips", positions=4),
            table_text("T-3", "trips_jackpot", asset="3", game="keystone_trips", positions=7),
            name="Keystone Trips",
        ),
        LINK_GAMES,
    ),
    _link_books,
    (),
    {},
)


# A link of games with wagers on the flop, with a joker, and with a bad beat.

_FLOP, _JOKER, _FIVE = (
    HouseGame(name) for name in ("keystone_flop", "keystone_joker", "keystone_five")
)


def _cards_books() -> SecondBooks:
    flop, joker, five = (
        {meter: meter} for meter in ("flop_jackpot", "joker_jackpot", "five_jackpot")
    )
    return _books(
        "cards",
        meters={
            "flop_jackpot": SecondMeter(_FLOP.law("flop_jackpot"), 100, limit_cents=60_050),
            "joker_jackpot": SecondMeter(_JOKER.law("joker_jackpot"), 100),
            "five_jackpot": SecondMeter(_FIVE.law("five_jackpot"), 100, limit_cents=5_050),
        },
        tables={
            "T-1": SecondTable(_FLOP, 6, flop),
            "T-2": SecondTable(_JOKER, 5, joker),
            "T-3": SecondTable(_FIVE, 5, five),
        },
    )


CARDS: Final = ModelFloor(
    _floor(
        link_text(
            "cards",
            meter_text("flop_jackpot", limit=60_050),
            meter_text("joker_jackpot"),
            meter_text("five_jackpot", limit=5_050),
            table_text("T-1", "flop_jackpot", asset="1", game="keystone_flop", positions=6),
            table_text("T-2", "joker_jackpot", asset="2", game="keystone_joker", positions=5),
            table_text("T-3", "five_jackpot", asset="3", game="keystone_five", positions=5),
            name="Flop Jackpot",
        ),
        HOUSE,
    ),
    _cards_books,
    (),
    {},
)


class Chance:
    """Seeded replacement for the service's source of draws, for runs that can be repeated."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def choice(self, population: Any) -> Any:  # noqa: ANN401
        return self._random.choice(population)

    def randbelow(self, most: int) -> int:
        return self._random.randrange(most)
