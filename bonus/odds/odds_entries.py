"""An entry of the odds: what a wager by one paytable comes to.

Every edge is a fraction of the wager, ``"n/d"`` and in full; for a main game, of the Ante, Ante and
what follows it together. It is the house's: the player's gain on average with the sign changed.
``house_edge_decimal`` and other decimals are rounded to six places. Sums are in cents.

A percentage of a meter makes the edge fall with the meter. For a meter of so many cents and a wager
of so many, with so many other players who may bring an Envy Bonus,

    house_edge = house_edge_at_empty_meter
                 - meter_return x meter / wager
                 - envy_return x other players

The meter is what the hand is paid from, this round's wagers included, and nobody has taken of it
before (reading T14). ``break_even_meter`` is the least meter, in whole cents, at which the edge is
no longer the house's, for a wager of so many cents; there percentages are paid down to the cent
(reading G3). Another player's hand brings an Envy Bonus if it stays on the table (reading T8).
"""

from decimal import Decimal
from fractions import Fraction
from typing import Final

import msgspec

_PLACES: Final = 6


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What all parts of an entry share: what does not apply is left out."""


class HandLine(_Part, frozen=True):
    """A hand, and how often it occurs.

    Attributes:
        hand: its name, as settlements have it.
        combinations: in how many deals it occurs.
        of: how many deals there are.
        pays: the cell of the paytable as printed; empty for a hand that the paytable does not pay.
        beside: other cells of the chapter that pay the hand, by what they pay, such as the Win
            Bonus beside a Bad Beat Bonus.
        fourth_card: for a Pair Bonus, whether the fourth card is a 2 or not.
    """

    hand: str
    combinations: int
    of: int
    pays: str
    beside: dict[str, str] = {}
    fourth_card: str = ""


class OutcomeLine(_Part, frozen=True):
    """How many deals of a main game come to a fold, or to an outcome against the dealer."""

    outcome: str
    combinations: int
    of: int


class MixedHand(_Part, frozen=True):
    """A hand that the optimal strategy does not always play alike.

    Attributes:
        hand: its name in words.
        hands: how many of its kind are played with each multiple of the Ante, 0 being a fold.
    """

    hand: str
    hands: dict[str, int]


class ByRank(_Part, frozen=True):
    """The best that a player can do by the rank of his hand alone.

    Attributes:
        strategy: it, in words.
        house_edge: what the game then comes to.
        house_edge_decimal: the same as a decimal.
    """

    strategy: tuple[str, ...]
    house_edge: str
    house_edge_decimal: str


class Folding(_Part, frozen=True):
    """A wager that a fold forfeits, of a player who folds by the main game's strategy.

    Envy Bonuses are not forfeited (649a.11(b)(2), reading T7).
    """

    house_edge: str
    house_edge_decimal: str
    house_edge_at_empty_meter: str
    meter_return: str
    break_even_meter: dict[str, int]
    break_even_meter_with_envy: tuple[dict[str, int], ...]


class Drawn(_Part, frozen=True):
    """A Magic Card or a Lucky Bonus.

    Attributes:
        every: drawn in one round of so many on average; 0 for never.
        wager_return: what it gives back of the wager.
        house_edge_gone_at: in which share of the rounds the house has nothing left with the meter
            at its seed, the other being drawn as often as it is; empty where it keeps something.
        house_edge_gone_every: the largest ``every`` that leaves it nothing; 0 where it keeps
            something even in every round, or has nothing left without it.
    """

    every: int
    wager_return: str
    house_edge_gone_at: str
    house_edge_gone_every: int


class SharedWager(_Part, frozen=True):
    """A wager on the dealer's hand where so many players made it (649a.12(i)(2), reading T17)."""

    players: int
    house_edge: str
    house_edge_decimal: str
    meter_return: str
    break_even_meter: dict[str, int]


class OddsEntry(_Part, frozen=True):
    """What a wager by one paytable comes to.

    Attributes:
        game: the game.
        wager: the wager.
        paytable: the choice of the Rules Submission, or null where the chapter leaves none.
        house_edge: for a progressive, with the meter at its seed.
        house_edge_decimal: the same as a decimal.
        hands: every hand, highest first.
        rule: the subsection of the paytable.
        mini_royal: what is added for a mini-royal (649a.12(g)).
        reading: the reading by which hands are judged (reading F12).
        house_edge_by_wager: where the paytable has fixed sums, by the wager in cents.
        note: what else has to be known.
        tables: the tables of the floor file that offer it so.
        pays_what: what the paytable of a main game pays, and to whom.
        strategy: the optimal strategy of a main game, in words.
        mixed: the hands that it does not always play alike.
        by_rank: the best by the rank of the hand alone, where that is not the same.
        element_of_risk: the edge of a main game by all that is wagered on average.
        element_of_risk_decimal: the same as a decimal.
        average_wager: what is wagered on average, in units of the Ante.
        outcomes: what a main game comes to.
        seed_meter: what the meter holds at first, by the wager in cents.
        house_edge_at_empty_meter: the edge without anything on the meter.
        meter_return: how far each wager's worth on the meter lowers it.
        envy_return: how far each other player lowers it, by the wager in cents.
        break_even_meter: by the wager in cents.
        break_even_meter_with_envy: the same with one to six other players, in this order.
        when_folding: what a fold makes of it.
        magic_card: the Magic Card.
        lucky: the Lucky Bonus.
        positions: of how many positions, and the dealer, the Lucky Bonus is drawn.
        when_shared: for one to seven players.
    """

    game: str
    wager: str
    paytable: str | None
    house_edge: str
    house_edge_decimal: str
    hands: tuple[HandLine, ...]
    rule: str
    mini_royal: str = ""
    reading: str = ""
    house_edge_by_wager: dict[str, str] = {}
    note: str = ""
    tables: tuple[str, ...] = ()
    pays_what: str = ""
    strategy: tuple[str, ...] = ()
    mixed: tuple[MixedHand, ...] = ()
    by_rank: ByRank | None = None
    element_of_risk: str = ""
    element_of_risk_decimal: str = ""
    average_wager: str = ""
    outcomes: tuple[OutcomeLine, ...] = ()
    seed_meter: dict[str, int] = {}
    house_edge_at_empty_meter: str = ""
    meter_return: str = ""
    envy_return: dict[str, str] = {}
    break_even_meter: dict[str, int] = {}
    break_even_meter_with_envy: tuple[dict[str, int], ...] = ()
    when_folding: Folding | None = None
    magic_card: Drawn | None = None
    lucky: Drawn | None = None
    positions: int = 0
    when_shared: tuple[SharedWager, ...] = ()


def exact(number: Fraction) -> str:
    """A fraction as ``n/d``, the denominator always said.

    >>> exact(Fraction(-3, 1))
    '-3/1'
    """
    return f"{number.numerator}/{number.denominator}"


def decimal(number: Fraction) -> str:
    """A fraction as a decimal of six places.

    >>> decimal(Fraction(686689, 20358520))
    '0.033730'
    """
    return str(Decimal(round(number * 10**_PLACES)).scaleb(-_PLACES).quantize(_SMALLEST))


_SMALLEST: Final = Decimal(1).scaleb(-_PLACES)
