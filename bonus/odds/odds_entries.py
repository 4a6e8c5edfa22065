"""Structure of the results: the exact odds of a wager with one paytable.

Every edge is a house edge: the average loss of the player, as an exact fraction of the wager. For a
main game, the edge is a fraction of the Ante and includes the results of the wager after the Ante.
Sums are in cents. In JSON (``odds_json``), a fraction is ``"n/d"``, and each ``house_edge`` and
``element_of_risk`` is followed by its decimal, rounded to six places.

A wager that feeds a meter has two edges: one for the meter at its seed, in which the wager's
contributions count as lost, and one for the long run (``LongRun``). If a hand is paid a percentage
of a meter, the edge falls as the meter rises: ``house_edge_at_empty_meter - meter_return x meter /
wager - envy_return x other players``. The meter and the wager are in cents. Other players count
only if their hands stay on the table, because only such hands bring Envy Bonuses (reading T8). The
meter is the amount from which the hand is paid. This amount includes the contributions of this
round's wagers, and no other win of the round is subtracted yet (reading T14). If Envy Bonuses are
percentages, ``envy_return`` is for the meter at its seed: it changes by ``envy_meter_return`` for
each wager in the meter.

``break_even_meter`` has, for each wager in cents, the lowest meter in whole cents at which the
house has no edge. Percentages are rounded down to the cent here (reading G3).

If players exchange cards, they exchange in the way that pays most with every meter at its seed.
Only break-even amounts are for the exchange that pays most at the amount for one player.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Final

import msgspec

from bonus.law.meter_terms import tenths_text
from bonus.law.paytables import Payout, read_payout
from bonus.wagers import Percent

DECIMALS: Final = frozenset({"house_edge", "element_of_risk"})
"""Fractions that the JSON has as decimals too."""

COMMUNITY_SHARE: Final = "community_share"
"""The name of the cells with the parts of a meter that all players of a wager divide."""

_PLACES: Final = 6
_NONE: Final = Fraction()
"""The default of a fraction that an entry does not have; the JSON omits it."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    pass


class HandLine(_Part, frozen=True):
    """A hand with its payout. ``combinations`` counts the deals with the hand, ``of`` all deals.

    If players exchange cards, both count deals and draws under the best exchange. For a result that
    is not cards, only their ratio has a meaning: its chance.

    Attributes:
        pays: the printed cell of the paytable; empty if the paytable does not pay the hand.
        beside: the cells of other paytables that also pay the hand, by the name of the wager or
            bonus: for example, the Win Bonus beside a Bad Beat Bonus, or ``community_share``.
        fourth_card: for a Pair Bonus, the rank of the fourth card: ``a 2`` or ``not a 2``.
    """

    hand: str
    combinations: int
    of: int
    pays: str
    beside: dict[str, str] = {}
    fourth_card: str = ""

    @property
    def chance(self) -> Fraction:
        return Fraction(self.combinations, self.of)

    @property
    def payout(self) -> Payout:
        return read_payout(self.pays)

    def percent_of(self, meter: str) -> Percent:
        """Return the percentage of a meter that the holder and all players together win."""
        shared = read_payout(self.beside.get(COMMUNITY_SHARE, ""))
        return self.payout.percent_of(meter) + shared.percent_of(meter)

    def returned(self, wager_cents: int) -> Fraction:
        """Return what the hand adds to the average payout, in units of the wager.

        A returned wager counts as a payout.
        """
        paid = self.payout
        fixed = Fraction(paid.sum_cents, wager_cents)
        return self.chance * (paid.times + paid.stake_back + fixed)


class OutcomeLine(_Part, frozen=True):
    """The number of deals with a fold, or with one result against the dealer's hand."""

    outcome: str
    combinations: int
    of: int

    @property
    def chance(self) -> Fraction:
        return Fraction(self.combinations, self.of)


class MixedHand(_Part, frozen=True):
    """A kind of hand, in words, that the optimal strategy does not always play in the same way.

    ``hands`` has the number of hands for each wager, a multiple of the Ante; 0 is a fold.
    """

    hand: str
    hands: dict[str, int]


class ByRank(_Part, frozen=True):
    """The best strategy, in words, that uses only the rank of the player's hand."""

    strategy: tuple[str, ...]
    house_edge: Fraction


class LongRun(_Part, frozen=True):
    """The house edge over very many wagers: 1 minus the sum of the three other fields.

    Other wagers on the meter do not change this edge: they change who wins the meter, and not what
    the house adds to the meter.

    Attributes:
        fixed_return: the average payout at odds, in fixed sums and in draws.
        contributions: the rates of all meters that the wager feeds, with the rates of their
            reserves.
        reseeds: what the house pays on average for reseeds, when the whole meter is won.
    """

    house_edge: Fraction
    fixed_return: Fraction
    contributions: Fraction
    reseeds: Fraction


class Folding(_Part, frozen=True):
    """Odds of a wager that a fold forfeits, for a player who folds under the optimal strategy.

    A fold does not forfeit Envy Bonuses (649a.11(b)(2), reading T7).
    """

    house_edge: Fraction
    house_edge_long_run: Fraction
    house_edge_at_empty_meter: Fraction
    meter_return: Fraction
    break_even_meter: dict[str, int]
    break_even_meter_with_envy: tuple[dict[str, int], ...]


class Drawn(_Part, frozen=True):
    """Odds of one kind of draw: the Magic Card or the Lucky Bonus.

    Attributes:
        every: the average number of rounds per draw; 0 for never.
        wager_return: the average payout of the draw, as a fraction of the wager.
        house_edge_gone_at: the smallest fraction of rounds with this draw at which the house has no
            edge. The meter is at its seed, and the other draw keeps its frequency. Empty if the
            house always has an edge.
        house_edge_gone_every: the largest ``every`` at which the house has no edge; 0 if the house
            always has an edge, or never has one.
    """

    every: int
    wager_return: Fraction
    house_edge_gone_at: str
    house_edge_gone_every: int


class SharedWager(_Part, frozen=True):
    """Odds of a wager on the dealer's hand, for a certain number of players who made it.

    These players divide a jackpot equally (649a.12(i)(2), reading T17).
    """

    players: int
    house_edge: Fraction
    house_edge_long_run: Fraction
    meter_return: Fraction
    break_even_meter: dict[str, int]


class TierOdds(_Part, frozen=True):
    """Odds of one of the meters that a wager feeds.

    Attributes:
        seed_meter: the first balance in cents, by the wager in cents.
        meter_return: the reduction of the house edge when the meter rises by one wager.
        hit_chance: the probability that the hand of a wager wins a percentage of the meter;
            ``whole_chance`` is the probability that it wins the whole meter. A community share
            counts as won by the hand that brings it. The bad beats that come for each wager are
            added.
        break_even_meter: the lowest balance at which the house has no edge, by the wager in cents,
            with the other meters at their seeds; ``break_even_meter_with_envy`` is this balance
            with one other player, with two, and so on.
        envy_meter_return: for Envy Bonuses that are percentages, the part of the meter that the
            hand of one other player brings on average, by the wager in cents.
    """

    meter: str
    seed_meter: dict[str, int]
    meter_return: Fraction
    hit_chance: Fraction
    whole_chance: Fraction
    break_even_meter: dict[str, int]
    break_even_meter_with_envy: tuple[dict[str, int], ...] = ()
    envy_meter_return: dict[str, Fraction] = {}


class MeterTimes(_Part, frozen=True):
    """Average hours between the hits of a meter, as exact fractions; empty if there are no hits.

    ``hours_whole`` is between wins of the whole meter, ``hours`` between wins of a percentage.
    """

    meter: str
    hours: str
    hours_whole: str


class HitTimes(_Part, frozen=True):
    """Average times between the wins of a wager that feeds a meter.

    ``wagers_per_hour`` are the wagers of one game at all tables. ``hands`` has the hours between
    wins of each hand; empty for a hand that cannot occur.
    """

    wagers_per_hour: int
    meters: tuple[MeterTimes, ...]
    hands: dict[str, str]


class BadBeatOdds(_Part, frozen=True):
    """How often a bad beat comes in a round of two players with the wager, and what it pays.

    If the dealer's hand beats the player's, this is for one player with the wager. With n players,
    a bad beat among players comes at most n(n - 1)/2 times as often as with two, and one against
    the dealer at most n times as often as with one.

    Attributes:
        lowest: the lowest hand that counts when it is beaten.
        beaten_by: ``players`` or ``dealer``.
        combinations: the number of deals of both hands with a bad beat; ``of`` are all deals.
        pays: the cells of the parts, by who wins them: ``loser``, ``winner`` and ``table``.
    """

    lowest: str
    beaten_by: str
    combinations: int
    of: int
    pays: dict[str, str]

    @property
    def chance(self) -> Fraction:
        return Fraction(self.combinations, self.of)

    @property
    def of_wager(self) -> Fraction:
        """How many bad beats come for each wager of a round."""
        return self.chance / (1 if self.beaten_by == "dealer" else 2)

    def percent_of(self, meter: str) -> Percent:
        """Return the percentage of a meter that the bad beat pays in all."""
        every = (read_payout(cell).percent_of(meter) for cell in self.pays.values())
        return sum(every, Fraction(0))


class FullTable(_Part, frozen=True):
    """Bounds of a wager with a bad beat among players, when each position of the game has it.

    Every two of the players can beat each other. With n players, at most n - 1 times as many bad
    beats come for each wager as with two players, and this number is counted here.

    Attributes:
        players: the positions of the game.
        house_edge: the lowest that the edge can be with every meter at its seed;
            ``house_edge_long_run`` is the lowest in the long run.
        meter_return: the most that a wager wins of each meter on average.
    """

    players: int
    house_edge: Fraction
    house_edge_long_run: Fraction
    meter_return: dict[str, Fraction]

    @property
    def returned(self) -> str:
        """What comes back of a wager at most, rounded up, in words."""
        seed, lasting = (
            tenths_text(Fraction(ceil((1 - edge) * 1_000), 1_000))
            for edge in (self.house_edge, self.house_edge_long_run)
        )
        return f"at most {seed} at the seed of its meters and {lasting} in the long run"


class OddsEntry(_Part, frozen=True):
    """Odds of a wager with one paytable.

    Attributes:
        game: the game, as in the floor file.
        wager: for a main game, the first of the two wagers.
        paytable: the name of the paytable in a Rules Submission; null if the chapter leaves no
            choice.
        house_edge: if the wager feeds a meter, the edge is for the meter at its seed, and what the
            wager adds to the meter counts as lost.
        hit_frequency: the probability that the wager wins. For a main game: that the player does
            not fold, and wins at least one of the two wagers; bonuses do not count. Draws do not
            count.
        hands: every hand, the highest first.
        rule: the subsection with the paytable.
        long_run: only for a wager that feeds a meter.
        strategy: the best strategy for the player, in words.
        mixed: the hands that this strategy does not always play in the same way.
        outcomes: the results against the dealer's hand.
        break_even_meter: the lowest meter in cents at which the house has no edge, by the wager in
            cents.
        when_folding: the odds of a wager that a fold forfeits, for a player who sometimes folds.
        tiers: the odds of each meter that the wager feeds, if there are several.
        mini_royal: the paytable cell of an added mini-royal (649a.12(g)).
        reading: the reading under which hands are judged (reading F12).
        house_edge_by_wager: the house edge by the wager in cents, if the paytable has fixed sums;
            ``house_edge_long_run_by_wager`` is the edge in the long run.
        note: sentences about the limits of these figures.
        source: for a game without cards, where the chances of its results come from.
        tables: the casino tables, in the floor file, that have this offer.
        pays_what: which bonus the paytables of a main game pay, and when.
        by_rank: left out if the best strategy by rank alone is optimal.
        element_of_risk: the house edge of a main game divided by the average total wager
            (``average_wager``, in units of the Ante).
        seed_meter: the first balance of the meter in cents, by the wager in cents.
        meter_return: the reduction of the house edge when the meter rises by one wager.
        envy_return: the reduction of the house edge that the hand of one other player brings, by
            the wager in cents. Envy Bonuses that are percentages count for a meter at its seed.
        break_even_meter_with_envy: the break-even meter with one other player, with two, and so on:
            six at most, and no more than the game has other positions.
        positions: for the Lucky Bonus, the number of positions in the draw, without the dealer.
        when_shared: the odds for one to seven players who share a jackpot on the dealer's hand.
        hit_times: only if the number of wagers in an hour is given.
        envy_meter_return: for Envy Bonuses that are percentages, the part of the meter that the
            hand of one other player brings on average, by the wager in cents.
        largest_wager: the largest amount on the meters in cents, if these are the odds of a smaller
            one, which wins a proportional part of each percentage; otherwise 0.
        bad_beat: the odds of the bad beat. If it is given, the edges are for a round of two players
            with the wager, or of one player if the dealer's hand beats the player's.
        full_table: for a bad beat among players, bounds of the edges at a full table.
    """

    game: str
    wager: str
    paytable: str | None
    house_edge: Fraction
    hands: tuple[HandLine, ...]
    rule: str
    mini_royal: str = ""
    reading: str = ""
    hit_frequency: Fraction = _NONE
    long_run: LongRun | None = None
    house_edge_by_wager: dict[str, Fraction] = {}
    house_edge_long_run_by_wager: dict[str, Fraction] = {}
    note: str = ""
    source: str = ""
    tables: tuple[str, ...] = ()
    pays_what: str = ""
    strategy: tuple[str, ...] = ()
    mixed: tuple[MixedHand, ...] = ()
    by_rank: ByRank | None = None
    element_of_risk: Fraction = _NONE
    average_wager: Fraction = _NONE
    outcomes: tuple[OutcomeLine, ...] = ()
    seed_meter: dict[str, int] = {}
    house_edge_at_empty_meter: Fraction = _NONE
    meter_return: Fraction = _NONE
    envy_return: dict[str, Fraction] = {}
    break_even_meter: dict[str, int] = {}
    break_even_meter_with_envy: tuple[dict[str, int], ...] = ()
    when_folding: Folding | None = None
    magic_card: Drawn | None = None
    lucky: Drawn | None = None
    positions: int = 0
    when_shared: tuple[SharedWager, ...] = ()
    tiers: tuple[TierOdds, ...] = ()
    hit_times: HitTimes | None = None
    envy_meter_return: dict[str, Fraction] = {}
    largest_wager: int = 0
    bad_beat: BadBeatOdds | None = None
    full_table: FullTable | None = None

    @property
    def smaller_wager(self) -> int:
        """The amount in cents if it is a smaller one on its meters; otherwise 0."""
        seeds = self.tiers[0].seed_meter if self.tiers else self.seed_meter
        return int(next(iter(seeds))) if self.largest_wager else 0

    @property
    def has_envy_shares(self) -> bool:
        """True if an Envy Bonus is a percentage of a meter."""
        return bool(self.envy_meter_return or any(each.envy_meter_return for each in self.tiers))

    def fixed_envy(self, wager: str) -> Fraction:
        """Return ``envy_return`` for a wager in cents without the percentages of meters."""
        parts: Sequence[OddsEntry | TierOdds] = self.tiers or (self,)
        shares = (
            each.envy_meter_return[wager] * Fraction(each.seed_meter[wager], int(wager))
            for each in parts
            if wager in each.envy_meter_return
        )
        return self.envy_return[wager] - sum(shares, Fraction(0))


def odds_json(entry: OddsEntry) -> bytes:
    return msgspec.json.encode(_with_decimals(msgspec.to_builtins(entry, enc_hook=exact)))


def _with_decimals(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_with_decimals(each) for each in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, object] = {}
    for name, each in value.items():
        found[name] = _with_decimals(each)
        if name in DECIMALS:
            found[f"{name}_decimal"] = decimal(Fraction(each))
    return found


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
