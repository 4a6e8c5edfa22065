"""Entries of the odds: the exact odds of a wager with one paytable.

Every edge is the house edge: the average loss of the player, as an exact fraction ``"n/d"`` of the
wager. For a main game it is a fraction of the Ante, and it includes the results of the Ante and of
the wager after it. ``house_edge_decimal`` and other decimals are rounded to six places. Sums are in
cents.

If a hand is paid a percentage of a meter, the edge falls as the meter rises. With the meter and the
wager in cents, and a number of other players whose hands may bring an Envy Bonus,

    house_edge = house_edge_at_empty_meter
                 - meter_return x meter / wager
                 - envy_return x other players

The meter here is the amount from which the hand is paid. It includes this round's wagers, and no
other win was taken from it before (reading T14). ``break_even_meter`` is the lowest meter, in whole
cents, at which the house has no edge, by the wager in cents; it rounds percentages down to the cent
(reading G3). Another player's hand brings an Envy Bonus if it stays on the table (reading T8).
"""

from decimal import Decimal
from fractions import Fraction
from typing import Final

import msgspec

_PLACES: Final = 6


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all parts of an entry; fields with their default values are not written."""


class HandLine(_Part, frozen=True):
    """A hand and its number of deals.

    Attributes:
        hand: its name, as in settlements.
        combinations: number of deals with this hand.
        of: total number of deals.
        pays: the printed cell of the paytable; empty if the paytable does not pay the hand.
        beside: other cells of the chapter that also pay the hand, by their item, such as the Win
            Bonus in addition to a Bad Beat Bonus.
        fourth_card: for a Pair Bonus, ``a 2`` or ``not a 2``: the rank of the fourth card.
    """

    hand: str
    combinations: int
    of: int
    pays: str
    beside: dict[str, str] = {}
    fourth_card: str = ""


class OutcomeLine(_Part, frozen=True):
    """Number of deals of a main game with one outcome: a fold, or a result against the dealer."""

    outcome: str
    combinations: int
    of: int


class MixedHand(_Part, frozen=True):
    """A kind of hand that the optimal strategy does not always play in the same way.

    Attributes:
        hand: its name in words.
        hands: number of such hands for each multiple of the Ante that is wagered; 0 is a fold.
    """

    hand: str
    hands: dict[str, int]


class ByRank(_Part, frozen=True):
    """The best strategy that uses only the rank of the player's hand.

    Attributes:
        strategy: the strategy in words.
        house_edge: the house edge under it.
        house_edge_decimal: the same as a decimal.
    """

    strategy: tuple[str, ...]
    house_edge: str
    house_edge_decimal: str


class Folding(_Part, frozen=True):
    """Odds of a wager that a fold forfeits, if the player folds by the main game's strategy.

    Envy Bonuses are not forfeited (649a.11(b)(2), reading T7).
    """

    house_edge: str
    house_edge_decimal: str
    house_edge_at_empty_meter: str
    meter_return: str
    break_even_meter: dict[str, int]
    break_even_meter_with_envy: tuple[dict[str, int], ...]


class Drawn(_Part, frozen=True):
    """Odds of a Magic Card or a Lucky Bonus.

    Attributes:
        every: average number of rounds per draw; 0 for never.
        wager_return: average return as a fraction of the wager.
        house_edge_gone_at: share of rounds with this draw at which the house has no edge, with the
            meter at its seed and the other draw as frequent as it is; empty if the house always has
            an edge.
        house_edge_gone_every: the largest ``every`` at which the house has no edge; 0 if it has an
            edge even with a draw in every round, or no edge even without any draw.
    """

    every: int
    wager_return: str
    house_edge_gone_at: str
    house_edge_gone_every: int


class SharedWager(_Part, frozen=True):
    """Odds of a wager on the dealer's hand, by the number of players who made it.

    They divide a jackpot (649a.12(i)(2), reading T17).
    """

    players: int
    house_edge: str
    house_edge_decimal: str
    meter_return: str
    break_even_meter: dict[str, int]


class OddsEntry(_Part, frozen=True):
    """Odds of a wager with one paytable.

    Attributes:
        game: the game.
        wager: the wager.
        paytable: the choice of the Rules Submission, or null if the chapter leaves none.
        house_edge: the house edge; for a progressive, with the meter at its seed.
        house_edge_decimal: the same as a decimal.
        hands: every hand, highest first.
        rule: the subsection of the paytable.
        mini_royal: the cell of an added mini-royal (649a.12(g)).
        reading: the reading that judges hands (reading F12).
        house_edge_by_wager: the house edge by the wager in cents, if the paytable has fixed sums.
        note: limits of the figures, in words.
        tables: the tables of the floor file that offer this wager with this paytable.
        pays_what: what the paytable of a main game pays, and when.
        strategy: the optimal strategy of a main game, in words.
        mixed: the kinds of hand that it does not always play in the same way.
        by_rank: the best strategy that uses only the rank of the hand, if it is not optimal.
        element_of_risk: the edge of a main game divided by the average total wager.
        element_of_risk_decimal: the same as a decimal.
        average_wager: average total wager, in units of the Ante.
        outcomes: number of deals of each outcome of a main game.
        seed_meter: the first balance of the meter in cents, by the wager in cents.
        house_edge_at_empty_meter: the edge with an empty meter.
        meter_return: reduction of the edge for each multiple of the wager on the meter.
        envy_return: reduction of the edge for each other player, by the wager in cents.
        break_even_meter: the meter without a house edge, in cents, by the wager in cents.
        break_even_meter_with_envy: the same with one to six other players, in this order.
        when_folding: the odds if the player sometimes folds.
        magic_card: the Magic Card.
        lucky: the Lucky Bonus.
        positions: number of positions, without the dealer, for the Lucky Bonus draw.
        when_shared: the odds for one to seven players.
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
    """Return a fraction as ``n/d``, always with the denominator.

    >>> exact(Fraction(-3, 1))
    '-3/1'
    """
    return f"{number.numerator}/{number.denominator}"


def decimal(number: Fraction) -> str:
    """Return a fraction as a decimal with six places.

    >>> decimal(Fraction(686689, 20358520))
    '0.033730'
    """
    return str(Decimal(round(number * 10**_PLACES)).scaleb(-_PLACES).quantize(_SMALLEST))


_SMALLEST: Final = Decimal(1).scaleb(-_PLACES)
