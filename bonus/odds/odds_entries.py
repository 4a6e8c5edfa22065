"""Structure of the results: the exact odds of a wager with one paytable.

Every edge is a house edge: the average loss of the player. It is an exact fraction ``"n/d"`` of the
wager. For a main game, the edge is a fraction of the Ante and includes the results of the wager
after the Ante. ``house_edge_decimal`` and other decimals are rounded to six places. Sums are in
cents.

The edge of a wager that feeds a meter is given twice: now, with the meter at its seed and the
wager's contributions lost, and in the long run, in which players win these contributions
(``LongRun``).

If a hand is paid a percentage of a meter, the house edge falls as the meter rises. The following
formula uses the meter and the wager in cents. ``other players`` is the number of other players
whose hands can bring an Envy Bonus:

    house_edge = house_edge_at_empty_meter
                 - meter_return x meter / wager
                 - envy_return x other players

The meter in this formula is the amount from which the hand is paid. It includes the contributions
of this round's wagers. No other win of the round has been subtracted from it (reading T14). The
hand of another player brings an Envy Bonus if the hand stays on the table (reading T8).

``break_even_meter`` has, for each wager in cents, the lowest meter in whole cents at which the
house has no edge. The calculation includes the rounding of percentages down to the cent (reading
G3).
"""

from decimal import Decimal
from fractions import Fraction
from typing import Final

import msgspec

_PLACES: Final = 6


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base class of all parts of an entry; the JSON omits fields that have their default values."""


class HandLine(_Part, frozen=True):
    """A hand with its payout and its number of deals.

    Attributes:
        hand: the name of the hand, as in settlement lines.
        combinations: the number of deals with this hand.
        of: the total number of deals.
        pays: the printed cell of the paytable; empty if the paytable does not pay the hand.
        beside: the cells of other paytables of the game that also pay the hand, by the name of the
            wager or bonus. An example is the Win Bonus in addition to a Bad Beat Bonus.
        fourth_card: for a Pair Bonus, the rank of the fourth card: ``a 2`` or ``not a 2``. Empty
            for other wagers.
    """

    hand: str
    combinations: int
    of: int
    pays: str
    beside: dict[str, str] = {}
    fourth_card: str = ""


class OutcomeLine(_Part, frozen=True):
    """One possible outcome of a main game, and the number of deals with this outcome.

    ``outcome`` is a fold, or the result of the player's hand against the dealer's hand. ``of`` is
    the total number of deals.
    """

    outcome: str
    combinations: int
    of: int


class MixedHand(_Part, frozen=True):
    """A kind of hand that the optimal strategy does not always play in the same way.

    Attributes:
        hand: the name of the hand in words.
        hands: the number of hands of this kind, by the wager that the strategy makes with them. The
            wager is a multiple of the Ante; 0 is a fold.
    """

    hand: str
    hands: dict[str, int]


class ByRank(_Part, frozen=True):
    """The best strategy that uses only the rank of the player's hand.

    Attributes:
        strategy: the strategy in words.
        house_edge: the house edge under this strategy, as an exact fraction.
        house_edge_decimal: the house edge under this strategy, as a decimal.
    """

    strategy: tuple[str, ...]
    house_edge: str
    house_edge_decimal: str


class LongRun(_Part, frozen=True):
    """The house edge over very many wagers, and what the wagers cost the house.

    The edge is 1 minus the three other shares of the wager. It is the same whatever else feeds the
    meter: other wagers change who wins the meter, and not what the house adds to it.

    Attributes:
        house_edge: the house edge, as an exact fraction.
        house_edge_decimal: the house edge as a decimal.
        fixed_return: the average payout at odds, in fixed sums and in draws.
        contributions: the rates of all meters that the wager feeds, with those of their reserves.
            Players win all of it later.
        reseeds: the average reseed that the house pays when the whole meter is won.
    """

    house_edge: str
    house_edge_decimal: str
    fixed_return: str
    contributions: str
    reseeds: str


class Folding(_Part, frozen=True):
    """Odds of a wager that a fold forfeits, for a player who sometimes folds.

    The player folds under the optimal strategy of the main game. A fold does not forfeit Envy
    Bonuses (649a.11(b)(2), reading T7).
    """

    house_edge: str
    house_edge_decimal: str
    house_edge_long_run: str
    house_edge_at_empty_meter: str
    meter_return: str
    break_even_meter: dict[str, int]
    break_even_meter_with_envy: tuple[dict[str, int], ...]


class Drawn(_Part, frozen=True):
    """Odds of one kind of draw: the Magic Card or the Lucky Bonus.

    Attributes:
        every: the average number of rounds per draw; 0 for never.
        wager_return: the average payout of the draw, as a fraction of the wager.
        house_edge_gone_at: the house has no edge if at least this fraction of the rounds has this
            draw. The calculation assumes that the meter is at its seed, and that the other draw
            keeps its frequency. Empty if the house always has an edge.
        house_edge_gone_every: the largest ``every`` at which the house has no edge. It is 0 in two
            cases: the house always has an edge, or the house never has an edge.
    """

    every: int
    wager_return: str
    house_edge_gone_at: str
    house_edge_gone_every: int


class SharedWager(_Part, frozen=True):
    """Odds of a wager on the dealer's hand, for one number of players who made the wager.

    These players divide a jackpot equally (649a.12(i)(2), reading T17).
    """

    players: int
    house_edge: str
    house_edge_decimal: str
    house_edge_long_run: str
    meter_return: str
    break_even_meter: dict[str, int]


class TierOdds(_Part, frozen=True):
    """Odds of one of the meters that a wager feeds.

    Attributes:
        meter: the name of the meter.
        seed_meter: the first balance of the meter in cents, by the wager in cents.
        meter_return: the reduction of the house edge when the meter rises by the amount of one
            wager.
        hit_chance: the probability that a wager wins a percentage of the meter.
        whole_chance: the probability that a wager wins the whole meter.
        break_even_meter: the lowest balance without a house edge, in cents, by the wager in cents.
            The other meters are at their seeds.
        break_even_meter_with_envy: the same with one to six other players, in this order, if the
            wager has Envy Bonuses.
    """

    meter: str
    seed_meter: dict[str, int]
    meter_return: str
    hit_chance: str
    whole_chance: str
    break_even_meter: dict[str, int]
    break_even_meter_with_envy: tuple[dict[str, int], ...] = ()


class MeterTimes(_Part, frozen=True):
    """Average times between the hits of a meter, in hours, as exact fractions.

    Attributes:
        meter: the name of the meter.
        hours: the time between wins of a percentage of the meter; empty if there are none.
        hours_whole: the time between wins of the whole meter; empty if there are none.
    """

    meter: str
    hours: str
    hours_whole: str


class HitTimes(_Part, frozen=True):
    """Average times between the wins of a wager that feeds a meter, for a number of wagers.

    Attributes:
        wagers_per_hour: the number of wagers in an hour, at all tables together. All of them are
            wagers of one game.
        meters: the times of each meter that the wager feeds.
        hands: the time between wins of each hand, in hours, as an exact fraction. A hand that
            cannot occur has an empty text.
    """

    wagers_per_hour: int
    meters: tuple[MeterTimes, ...]
    hands: dict[str, str]


class OddsEntry(_Part, frozen=True):
    """Odds of a wager with one paytable.

    Attributes:
        game: the name of the game.
        wager: the name of the wager.
        paytable: the name of the paytable in a Rules Submission; null if the chapter leaves no
            choice.
        house_edge: the house edge. For a wager that feeds a meter, the meter is at its seed, and
            what the wager adds to it is lost.
        house_edge_decimal: the house edge as a decimal.
        hit_frequency: the probability that the wager wins. For a main game: that the hand is played
            and at least one of the two wagers wins, without regard to bonuses. Draws do not count.
        long_run: the house edge in the long run, for a wager that feeds a meter; null for others.
        hands: every hand, the highest first.
        rule: the subsection of the paytable.
        mini_royal: the paytable cell of an added mini-royal (649a.12(g)).
        reading: the reading under which hands are judged (reading F12).
        house_edge_by_wager: the house edge by the wager in cents, if the paytable has fixed sums.
        house_edge_long_run_by_wager: the same in the long run, for a wager that feeds meters.
        note: sentences about the limits of these figures.
        tables: the casino tables of the floor file that offer this wager with this paytable.
        pays_what: text about the paytables of a main game: which bonus they pay, and when.
        strategy: the optimal strategy of a main game, in words.
        mixed: the kinds of hand that the optimal strategy does not always play in the same way.
        by_rank: the best strategy that uses only the rank of the hand; null if this strategy is
            optimal.
        element_of_risk: the house edge of a main game divided by the average total wager.
        element_of_risk_decimal: the element of risk as a decimal.
        average_wager: the average total wager of a main game, in units of the Ante.
        outcomes: the number of deals of each outcome of a main game.
        seed_meter: the first balance of the meter in cents, by the wager in cents.
        house_edge_at_empty_meter: the house edge with an empty meter.
        meter_return: the reduction of the house edge when the meter rises by the amount of one
            wager.
        envy_return: the reduction of the house edge by the hand of one other player. The keys are
            the wagers in cents.
        break_even_meter: the lowest meter without a house edge, in cents, by the wager in cents.
        break_even_meter_with_envy: the same as ``break_even_meter``, with one to six other players,
            in this order.
        when_folding: the odds for a player who sometimes folds.
        magic_card: the odds of the Magic Card.
        lucky: the odds of the Lucky Bonus.
        positions: for the Lucky Bonus, the number of positions in the draw, without the dealer.
        when_shared: the odds for one to seven players who share a jackpot on the dealer's hand.
        tiers: the odds of each meter, if the wager feeds several meters.
        hit_times: the average times between hits, if the number of wagers in an hour is given.
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
    hit_frequency: str = ""
    long_run: LongRun | None = None
    house_edge_by_wager: dict[str, str] = {}
    house_edge_long_run_by_wager: dict[str, str] = {}
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
    tiers: tuple[TierOdds, ...] = ()
    hit_times: HitTimes | None = None


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
