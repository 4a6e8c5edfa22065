"""The terms of a meter: payouts of its wager, Envy Bonuses, seed and rates.

The terms are computed from the paytables of the chapter (649a.12(e), (h), (i), (j)) for one amount
of the wager, because all wagers on a meter have the same amount (reading T22). Only a meter of a
house game can also have smaller amounts, which win a proportional part of each percentage. A meter
that a chapter does not have or allow is a ValueError. For the Five Card Hand Bonus, the average
payout is computed too, with its draws (reading T19).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import comb
from types import MappingProxyType
from typing import Final

from bonus.display import percent_text
from bonus.hands.five import FiveCardHand
from bonus.hands.rankings import Ranking
from bonus.law.chapter_file import Chapter, Envy, WagerTables
from bonus.law.game_rankings import ranking_of
from bonus.law.games import Games, chapter_games
from bonus.law.paytables import (
    NOTHING,
    Payout,
    Paytable,
    Rates,
    paytables_of,
    read_cents,
    read_envy,
    read_payout,
    read_rate_bps,
    read_seed,
    read_times,
    rows_of,
)
from bonus.wagers import MICROS_PER_CENT, BadBeatPart, PaidFrom, Percent, part_of_percent

MeterPool = tuple[int, int, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """Payouts of one hand under the terms of a meter.

    ``hand`` is the name in the paytable; several royals can share one name. ``percents`` has each
    percentage with the name of its meter. ``for_1`` is a multiple of the wager. ``envy_cents`` is
    the Envy Bonus for each wager of another player, if it is a fixed sum; ``envy_percents`` has the
    percentages for each such wager. ``community`` has the percentages that all players of the wager
    divide.
    """

    hand: str
    percents: tuple[tuple[str, Percent], ...]
    for_1: int
    sum_cents: int
    envy_cents: int
    envy_percents: tuple[tuple[str, Percent], ...] = ()
    community: tuple[tuple[str, Percent], ...] = ()

    @property
    def wins(self) -> bool:
        return bool(self.percents or self.for_1 or self.sum_cents)

    @property
    def brings(self) -> bool:
        """True if the hand brings something to other players."""
        return bool(self.envy_cents or self.envy_percents or self.community)

    def percent_of(self, meter: str) -> Percent:
        """Return the percentage of a meter that the holder of the hand wins, or 0."""
        return _percent_in(self.percents, meter)

    def community_of(self, meter: str) -> Percent:
        return _percent_in(self.community, meter)

    def envy_of(self, meter: str) -> Percent:
        """Return the percentage of a meter that each wager of another player wins, or 0."""
        return _percent_in(self.envy_percents, meter)

    def fixed_cents(self, wager_cents: int) -> int:
        return self.for_1 * wager_cents + self.sum_cents


@dataclass(frozen=True, slots=True)
class BadBeatShares:
    """What a bad beat pays of a meter. ``rule`` is the subsection; a part can be 0%."""

    rule: str
    loser: Percent
    winner: Percent
    table: Percent

    def of(self, part: BadBeatPart) -> Percent:
        return {"loser": self.loser, "winner": self.winner, "table": self.table}[part]

    @property
    def total(self) -> Percent:
        return self.loser + self.winner + self.table


@dataclass(frozen=True, slots=True)
class MeterTerms:
    """Terms that a chapter sets for a meter with one amount of the wager.

    Attributes:
        kind: the name of the meter in the chapter.
        paytable: the letter of the chosen paytable; None if there is no choice.
        reseed_cents: the balance after a win of the whole meter, without the reserve that the meter
            also receives (reading T21).
        primary_bps: the share of a wager that is added to the meter; ``reserve_bps`` is the share
            that is added to the reserve.
        paid_from: the source of payouts that are not a percentage of the meter.
        rule: the subsection with the payouts. ``envy_rule`` is the subsection with the Envy
            Bonuses; empty if the wager has none. ``draw_rule`` is the subsection with the Magic
            Card and the Lucky Bonus; empty if the wager has no draws. ``community_rule`` is the
            subsection with the community share; empty if the wager has none.
            ``community_on_link`` is true if the players at all tables of the link divide it.
        tiers: true if the wagers on this meter also feed other meters.
        rows: the payouts of every hand of the ranking; none if no hand wins the meter.
        maximum_cents: the amount by which a must-hit-by meter is won; 0 for every other meter.
        threshold_cents: the balance from which wagers have the other two rates,
            ``primary_above_bps`` and ``reserve_above_bps``; 0 if the rates do not change.
        smaller_wagers: the amounts in cents, below ``wager_cents``, that a wager can also have.
            Each has its own rows in ``smaller_rows``, with its part of each percentage.
        bad_beat: what a bad beat pays of this meter; None if the wager has no bad beat.
    """

    kind: str
    wagers: tuple[str, ...]
    wager_cents: int
    paytable: str | None
    seed_cents: int
    reseed_cents: int
    primary_bps: int
    reserve_bps: int
    paid_from: PaidFrom
    rule: str
    envy_rule: str
    draw_rule: str
    magic_card_for_1: int
    lucky_bonus_for_1: int
    tiers: bool
    rows: Mapping[str, Row] = field(repr=False, compare=False)
    maximum_cents: int = 0
    threshold_cents: int = 0
    primary_above_bps: int = 0
    reserve_above_bps: int = 0
    community_rule: str = ""
    smaller_wagers: tuple[int, ...] = ()
    smaller_rows: Mapping[int, Mapping[str, Row]] = field(
        default_factory=dict, repr=False, compare=False
    )
    bad_beat: BadBeatShares | None = None
    community_on_link: bool = False

    @property
    def wagers_cents(self) -> tuple[int, ...]:
        """Every amount that a wager can have, the largest first."""
        return (self.wager_cents, *self.smaller_wagers)

    def rows_at(self, wagered_cents: int) -> Mapping[str, Row]:
        """Return the payouts of every hand for a wager of this amount."""
        return self.smaller_rows.get(wagered_cents, self.rows)

    @property
    def pool(self) -> MeterPool:
        """What must be equal in all games of a meter: sums in cents, and rates in basis points.

        The order is: seed, reseed, both rates, the balance from which others apply, and those.
        """
        return (
            self.seed_cents,
            self.reseed_cents,
            self.primary_bps,
            self.reserve_bps,
            self.threshold_cents,
            self.primary_above_bps,
            self.reserve_above_bps,
        )

    @property
    def has_reserve(self) -> bool:
        return self.reserve_bps > 0 or self.reserve_above_bps > 0

    def rates_bps(self, meter_micros: int) -> tuple[int, int]:
        """Return the rates of wagers for the meter and for its reserve.

        ``meter_micros`` is the balance of the meter before the wagers of the event.
        """
        if self.threshold_cents and meter_micros >= self.threshold_cents * MICROS_PER_CENT:
            return self.primary_above_bps, self.reserve_above_bps
        return self.primary_bps, self.reserve_bps

    def __hash__(self) -> int:
        """Return a hash of the fields that differ most often; to hash all would take longer."""
        return hash((self.kind, self.wager_cents, self.paytable))


@lru_cache(maxsize=1_024)
def meter_terms(  # noqa: PLR0917  (the cache is slower with keyword arguments)
    kind: str,
    wager_cents: int,
    paytable: str | None = None,
    game: str = "",
    games: Games | None = None,
    smaller_wagers: tuple[int, ...] = (),
) -> MeterTerms:
    """Return the terms of a kind of meter for wagers of ``wager_cents``.

    Without a game, use the first game with this meter; without games, use the chapters. Only in a
    game of the house, ``smaller_wagers`` can be other amounts on the meter.

    Raises:
        ValueError: no game has the meter, the amount is below one cent, the chapter has no Envy
            Bonuses for the amount (reading T22), or the paytable is missing or wrong. Or a smaller
            amount is not possible.
    """
    games = games or chapter_games()
    chapter = _game_of(kind, games, game)
    terms = terms_in(chapter, kind, wager_cents, paytable)
    if not smaller_wagers:
        return terms
    if chapter.game not in games.digests:
        raise ValueError(
            f"{kind}: all wagers on this meter have one amount in {chapter.game}, because its rules"
            " have no smaller wagers (reading T22)"
        )
    return _with_smaller(terms, chapter, smaller_wagers)


def _with_smaller(
    terms: MeterTerms, chapter: Chapter, smaller_wagers: tuple[int, ...]
) -> MeterTerms:
    """Add amounts that are paid in proportion; each must have exact percentages."""
    kind, wager_cents = terms.kind, terms.wager_cents
    if list(smaller_wagers) != sorted({*smaller_wagers}, reverse=True):
        raise ValueError(f"{kind}: write each smaller wager once, the largest first")
    if smaller_wagers[0] >= wager_cents or smaller_wagers[-1] < 1:
        raise ValueError(
            f"{kind}: a smaller wager is from 1 to {wager_cents - 1} cents, because `wager` is"
            f" {wager_cents}"
        )
    if terms.draw_rule:
        raise ValueError(f"{kind}: a wager with draws has only one amount")
    if terms.community_on_link:
        raise ValueError(
            f"{kind}: a wager with a community share for the whole link has only one amount"
        )
    tables, _ = _wager_tables(chapter, kind)
    if terms.bad_beat:
        raise ValueError(
            f"{kind}: players of a bad beat need equal wagers: leave out smaller_wagers"
            f" ({terms.bad_beat.rule})"
        )
    rows = {cents: _rows_in_proportion(terms, tables, cents) for cents in smaller_wagers}
    return replace(terms, smaller_wagers=smaller_wagers, smaller_rows=MappingProxyType(rows))


def _rows_in_proportion(terms: MeterTerms, tables: WagerTables, cents: int) -> Mapping[str, Row]:
    """Return the rows of a smaller wager.

    Envy Bonuses that are fixed sums are not in proportion: the amount has its own schedule.
    """
    brought: Mapping[str, Payout] = {}
    if tables.envy and any(row.envy_cents for row in terms.rows.values()):
        brought = _envy_payouts(terms.kind, tables.envy, cents)
    found: dict[str, Row] = {}
    for hand, row in terms.rows.items():
        own_cents = brought.get(row.hand, NOTHING).sum_cents
        if bool(own_cents) != bool(row.envy_cents):
            raise ValueError(
                f"{terms.kind}: {row.hand} brings a fixed Envy Bonus with a wager of {cents} or of"
                f" {terms.wager_cents} cents, but not with both: correct the schedules"
            )
        found[hand] = replace(
            row,
            percents=_parts(terms, row.hand, row.percents, cents),
            envy_cents=own_cents,
            envy_percents=_parts(terms, row.hand, row.envy_percents, cents),
            community=_parts(terms, row.hand, row.community, cents),
        )
    return MappingProxyType(found)


def _parts(
    terms: MeterTerms, hand: str, percents: Sequence[tuple[str, Percent]], cents: int
) -> tuple[tuple[str, Percent], ...]:
    found = []
    for meter, percent in percents:
        part = part_of_percent(percent, cents, terms.wager_cents)
        if part * 100 % 1:
            raise ValueError(
                f"{terms.kind}: a wager of {cents} cents would win {cents}/{terms.wager_cents} of"
                f" {percent_text(percent)}% for {hand}, which has more than two decimals: choose"
                " another amount or percentage"
            )
        found.append((meter, part))
    return tuple(found)


def must_hit_by_terms(
    kind: str, wagers: tuple[str, ...], *,
    minimum_cents: int, maximum_cents: int, primary_bps: int, rule: str,
) -> MeterTerms:  # fmt: skip
    """Return the terms of a must-hit-by meter: the house sets them, not a game.

    The wager whose contribution takes the meter to its hidden value wins it, whatever the cards. So
    the meter has no paytable, and takes wagers of every amount.
    """
    return MeterTerms(
        kind=kind,
        wagers=wagers,
        wager_cents=0,
        paytable=None,
        seed_cents=minimum_cents,
        reseed_cents=minimum_cents,
        primary_bps=primary_bps,
        reserve_bps=0,
        paid_from=PaidFrom.HAND_PAY,
        rule=rule,
        envy_rule="",
        draw_rule="",
        magic_card_for_1=0,
        lucky_bonus_for_1=0,
        tiers=False,
        rows=MappingProxyType({}),
        maximum_cents=maximum_cents,
    )


def paytable_choices(kind: str, games: Games | None = None, game: str = "") -> tuple[str, ...]:
    """Return the letters of the paytables of a kind of meter; empty if there is no choice.

    >>> paytable_choices("progressive"), paytable_choices("five_card_progressive")
    (('A', 'B'), ())
    """
    chapter = _game_of(kind, games or chapter_games(), game)
    return _choices(_paytables(*_wager_tables(chapter, kind)))


def wager_choices(kind: str, games: Games | None = None, game: str = "") -> tuple[int, ...]:
    """Return the amounts in cents that the wager of a kind of meter can have in a game.

    The result is empty if the wager has no Envy Bonuses: such a wager can have any amount (reading
    T22).

    >>> wager_choices("progressive"), wager_choices("five_card_hand_bonus")
    ((100, 500), ())
    """
    tables, _ = _wager_tables(_game_of(kind, games or chapter_games(), game), kind)
    schedules = tables.envy.schedule if tables.envy else ()
    return tuple(read_cents(schedule.wager) for schedule in schedules)


def _game_of(kind: str, games: Games, game: str = "") -> Chapter:
    if game:
        return games[game]
    for found in games.with_meter(kind):
        return found
    raise ValueError(f"no game has a {kind} meter")


def terms_in(chapter: Chapter, kind: str, wager_cents: int, choice: str | None) -> MeterTerms:
    tables, ranking = _wager_tables(chapter, kind)
    chosen, rates = _choose(tables, kind, ranking, choice)
    if wager_cents < 1:
        raise ValueError(f"{kind}: a wager is at least one cent ({rates.rule})")
    envy = _envy_payouts(kind, tables.envy, wager_cents) if tables.envy else {}
    community = community_payouts(tables)
    draws = tables.draws
    return MeterTerms(
        kind=kind,
        wagers=tables.names,
        wager_cents=wager_cents,
        paytable=choice,
        seed_cents=read_seed(rates.seed) * wager_cents,
        reseed_cents=read_seed(rates.reseed) * wager_cents,
        primary_bps=read_rate_bps(rates.primary),
        reserve_bps=read_rate_bps(rates.reserve),
        paid_from=tables.paid_from,
        rule=chosen.rule,
        envy_rule=tables.envy.rule if tables.envy else "",
        draw_rule=draws.rule if draws else "",
        magic_card_for_1=read_times(draws.magic_card, "for") if draws else 0,
        lucky_bonus_for_1=read_times(draws.lucky_bonus, "for") if draws else 0,
        tiers=len(tables.fed) > 1,
        rows=MappingProxyType(
            {
                hand: Row(
                    name,
                    payout.percents_of(tables.meter),
                    payout.times,
                    payout.sum_cents,
                    envy.get(name, NOTHING).sum_cents,
                    envy.get(name, NOTHING).percents_of(tables.meter),
                    community.get(name, NOTHING).percents_of(tables.meter),
                )
                for hand, (name, payout) in rows_of(chosen, ranking).items()
            }
        ),
        threshold_cents=read_seed(rates.above) * wager_cents if rates.above else 0,
        primary_above_bps=read_rate_bps(rates.primary_above) if rates.above else 0,
        reserve_above_bps=read_rate_bps(rates.reserve_above) if rates.above else 0,
        community_rule=tables.community.rule if tables.community else "",
        bad_beat=_bad_beat_of(tables, kind),
        community_on_link=tables.community is not None and tables.community.among == "link",
    )


def community_payouts(tables: WagerTables) -> dict[str, Payout]:
    """Return the percentages that the players of a wager divide, by the hand in the paytable."""
    pays = tables.community.pays if tables.community else {}
    return {hand: read_payout(cell) for hand, cell in pays.items()}


def _bad_beat_of(tables: WagerTables, kind: str) -> BadBeatShares | None:
    if tables.bad_beat is None:
        return None
    beat = tables.bad_beat
    return BadBeatShares(
        rule=beat.rule,
        loser=read_payout(beat.loser).percent_of(kind),
        winner=read_payout(beat.winner).percent_of(kind),
        table=read_payout(beat.table).percent_of(kind),
    )


def _percent_in(percents: Sequence[tuple[str, Percent]], meter: str) -> Percent:
    return next((percent for name, percent in percents if name == meter), 0)


def _wager_tables(chapter: Chapter, kind: str) -> tuple[WagerTables, Ranking]:
    tables = next((tables for tables in chapter.wager if kind in tables.fed), None)
    if tables is None:
        raise ValueError(f"{chapter.game} has no {kind} meter")
    return tables, ranking_of(chapter, tables.ranking)


def _paytables(tables: WagerTables, ranking: Ranking) -> list[Paytable]:
    return [paytable for table in tables.table for paytable in paytables_of(table, ranking.names)]


def _choices(paytables: Sequence[Paytable]) -> tuple[str, ...]:
    return tuple(paytable.choice for paytable in paytables if paytable.choice)


def _choose(
    tables: WagerTables, meter: str, ranking: Ranking, choice: str | None
) -> tuple[Paytable, Rates]:
    paytables = _paytables(tables, ranking)
    for paytable in paytables:
        if paytable.choice == choice and paytable.rates:
            return paytable, paytable.rates[meter if tables.meters else ""]
    rule = paytables[0].rule
    offered = _choices(paytables)
    if not offered:
        raise ValueError(f"{meter}: {rule} has only one paytable: do not choose one")
    letters = " or ".join(offered)
    if choice is None:
        raise ValueError(f"{meter}: a paytable must be chosen, {letters} of {rule}")
    raise ValueError(f"{meter}: {rule} has the paytables {letters}, not {choice!r}")


def _envy_payouts(kind: str, envy: Envy, wager_cents: int) -> dict[str, Payout]:
    schedules = {read_cents(schedule.wager): schedule for schedule in envy.schedule}
    schedule = schedules.get(wager_cents)
    if schedule is None:
        amounts = " or ".join(schedule.wager for schedule in envy.schedule)
        raise ValueError(
            f"{kind}: the wager is {amounts}, not {wager_cents} cents: {envy.rule} has no Envy"
            " Bonuses for other amounts"
        )
    return {hand: read_envy(cell) for hand, cell in schedule.pays.items()}


_DEALS: Final = comb(52, 5)
_FIVE_CARD_COUNTS: Final = {
    FiveCardHand.ROYAL_FLUSH_SPADES: 1,
    FiveCardHand.ROYAL_FLUSH: 3,
    FiveCardHand.STRAIGHT_FLUSH: 36,
    FiveCardHand.FOUR_OF_A_KIND: 624,
    FiveCardHand.FULL_HOUSE: 3_744,
    FiveCardHand.FLUSH: 5_108,
}
"""Number of deals of each hand that the Five Card Hand Bonus pays, out of all C(52,5)."""


@dataclass(frozen=True, slots=True)
class HandBonusReturn:
    """Average payout of a Five Card Hand Bonus wager, in units of the wager.

    ``at_seed`` is for a meter at its seed. In the long run, players also win the contributions
    (``bonus.odds.meter_edges``).
    """

    at_seed: Fraction
    long_run: Fraction

    @property
    def problem(self) -> str:
        """A warning if players win more than they wager; otherwise empty.

        >>> HandBonusReturn(Fraction(9, 10), Fraction(1081, 1000)).problem
        'which gives back 108.1% in the long run: the house loses'
        """
        for back, when in ((self.at_seed, "at the seed"), (self.long_run, "in the long run")):
            if back > 1:
                return f"which gives back {tenths_text(back)} {when}: the house loses"
        return ""


def tenths_text(back: Fraction) -> str:
    tenths = back * 1000 // 1
    return f"{tenths // 10}.{tenths % 10}%"


def hand_bonus_return(
    terms: MeterTerms, *, magic_card_every: int, lucky_every: int, positions: int
) -> HandBonusReturn:
    """Return the average payout of a Five Card Hand Bonus wager.

    ``magic_card_every`` and ``lucky_every`` are average numbers of rounds per draw; 0 means never.
    The Lucky position is one of ``positions``, or the dealer.

    >>> from bonus.law.meter_terms import meter_terms
    >>> terms = meter_terms("five_card_hand_bonus", 100)
    >>> back = hand_bonus_return(terms, magic_card_every=1, lucky_every=0, positions=7)
    >>> round(float(back.at_seed), 3), round(float(back.long_run), 3)
    (2.315, 2.575)
    """
    fixed, at_seed, reseeds = Fraction(0), Fraction(0), Fraction(0)
    for hand, count in _FIVE_CARD_COUNTS.items():
        row = terms.rows[hand]
        percent = row.percent_of(terms.kind)
        fixed += Fraction(count * row.for_1, _DEALS)
        at_seed += Fraction(count * terms.seed_cents * percent, _DEALS * 100 * terms.wager_cents)
        if percent == 100:
            reseeds += Fraction(count * terms.reseed_cents, _DEALS * terms.wager_cents)
    if magic_card_every:
        fixed += Fraction(5 * terms.magic_card_for_1, 52 * magic_card_every)
    if lucky_every:
        fixed += Fraction(terms.lucky_bonus_for_1, (positions + 1) * lucky_every)
    added = Fraction(terms.primary_bps + terms.reserve_bps, 10_000)
    return HandBonusReturn(at_seed=fixed + at_seed, long_run=fixed + added + reseeds)
