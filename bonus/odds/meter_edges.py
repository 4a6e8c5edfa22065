"""House edges of wagers that feed meters (649a.12(e), (h), (i), (j)).

An edge falls as a meter rises. In the long run, players win every micro that wagers add to a meter
or its reserve, because fractions of a cent stay on the meter. So the rates cost the house as much
as payouts at odds do. A win of the whole meter costs the house the reseed. The house pays the seed
only once, so the seed does not count over many wagers.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Final

import msgspec

from bonus.cards import DECK
from bonus.display import short_money
from bonus.errors import UserError
from bonus.law.chapter_file import DEALERS_ALONE, WagerTables
from bonus.law.paytables import (
    Payout,
    Paytable,
    Rates,
    read_cents,
    read_envy,
    read_from,
    read_payout,
    read_rate_bps,
    read_seed,
    read_times,
    rows_of,
)
from bonus.odds.bad_beat_odds import BeatenHands, deals_of_two
from bonus.odds.enumerations import Enumerator, beaten_pairs, deals_of, fives
from bonus.odds.main_edges import folded_strengths
from bonus.odds.odds_entries import (
    COMMUNITY_SHARE,
    BadBeatOdds,
    Drawn,
    Folding,
    FullTable,
    HandLine,
    LongRun,
    OddsEntry,
    SharedWager,
    TierOdds,
    exact,
)
from bonus.odds.offers import OTHERS_MAX, Offer, paid_hands, paytable_of
from bonus.wagers import Percent

PLAYERS_MAX: Final = 7
_DIVIDED: Final = (
    "The edge is for one player with this wager. If several players have this wager, they divide a"
    " percentage of the meter."
)
_SMALLER: Final = (
    "This amount wins its part of each percentage. It never wins the whole meter alone, so it costs"
    " the house no reseed, and wins none of the reserve."
)
_COMMUNITY: Final = (
    "A community share counts in full for the hand that brings it: the hands of the other players"
    " bring this player as much. A hand whose player did not make this wager brings it too; such"
    " hands are not counted."
)
_BAD_BEAT: Final = (
    "The edge is for two players with this wager, who can beat each other. With n players, a bad"
    " beat comes at most n(n - 1)/2 times as often in a round."
)
_BAD_BEAT_BY_DEALER: Final = (
    "The edge is for one player with this wager, whom the dealer's hand can beat. With n players, a"
    " bad beat comes at most n times as often in a round."
)
_BAD_BEAT_LEFT: Final = (
    "A bad beat is paid from what its own hands leave of the meter; the reserve does not count."
)
_READINGS: Final = "compliance/readings.md"
_ONLY: Final = ""
"""The name that a wager's only meter has in the wager's rates."""


@dataclass(frozen=True, slots=True)
class EnvyBrought:
    """What the hand of one other player brings a wager on average.

    ``fixed`` is in units of the wager. ``shares`` has percentages of meters, each with the number
    of the hand's combinations, out of ``of``.
    """

    fixed: Fraction
    shares: tuple[tuple[int, Payout], ...]
    of: int

    def meter_return(self, meter: str) -> Fraction:
        """Return the fraction of a meter that the hand brings."""
        percent = sum(number * payout.percent_of(meter) for number, payout in self.shares)
        return Fraction(percent, 100 * self.of)

    def at_seeds(self, seeds: Mapping[str, Fraction], *, empty: str | None = None) -> Fraction:
        """Return what it brings with the meter ``empty`` at $0, and other meters at their seeds.

        ``seeds`` are in units of the wager.
        """
        won = (self.meter_return(meter) * seed for meter, seed in seeds.items() if meter != empty)
        return self.fixed + sum(won, Fraction(0))

    def cents(self, meter: str, held_cents: int) -> Fraction:
        paid = sum(
            number * (held_cents * payout.percent_of(meter) // 100)
            for number, payout in self.shares
        )
        return Fraction(paid, self.of)


NO_ENVY: Final = EnvyBrought(Fraction(0), (), 1)


@dataclass(frozen=True, slots=True)
class Metered:
    """Payouts of a wager whose hands can win percentages of meters.

    ``drawn`` is the average payout of the draws. ``shares`` is the number of players who divide a
    percentage of the meter (reading T17). Payouts and edges are in units of the wager. ``times`` is
    how often the largest amount on the meters has this amount of the wager. ``beaten`` is the bad
    beat of the wager.
    """

    hands: tuple[HandLine, ...]
    rates: Mapping[str, Rates]
    drawn: Fraction = Fraction(0)
    shares: int = 1
    times: Fraction = Fraction(1)
    beaten: BeatenHands | None = None

    @property
    def seeds(self) -> Mapping[str, Fraction]:
        """The seeds of the meters, in units of the wager."""
        return {meter: self.times * read_seed(each.seed) for meter, each in self.rates.items()}

    @property
    def of(self) -> int:
        return self.hands[0].of

    def fixed_return(self, wager_cents: int) -> Fraction:
        """Return the average payout besides percentages of meters."""
        cents = sum(
            hand.combinations * (hand.payout.times * wager_cents + hand.payout.sum_cents)
            for hand in self.hands
        )
        return Fraction(cents, self.of * wager_cents) + self.drawn

    def meter_return(self, meter: str) -> Fraction:
        """Return the fraction of a meter that one wager wins on average.

        A community share counts in full for the hand that brings it: the hands of the other players
        bring this player as much as this player's hand brings them.
        """
        percent = sum(hand.combinations * hand.percent_of(meter) for hand in self.hands)
        won = Fraction(percent, 100 * self.of * self.shares)
        return won + self.beaten.meter_return(meter) if self.beaten else won

    def chance(self, meter: str, least: Percent) -> Fraction:
        """Return the probability that a hand wins ``least`` percent of a meter, or more.

        The bad beats that come for each wager are added.
        """
        won = (hand.combinations for hand in self.hands if hand.percent_of(meter) >= least)
        chance = Fraction(sum(won), self.of)
        beat = self.beaten.odds if self.beaten else None
        return chance + beat.of_wager if beat and beat.percent_of(meter) >= least else chance

    def reseeds_return(self, meter: str) -> Fraction:
        """Return what a bad beat pays of a reseed, after a hand of its round won the meter."""
        if self.beaten is None:
            return Fraction(0)
        return self.beaten.reseeds_return(meter) * read_seed(self.rates[meter].reseed)

    def edge(self, wager_cents: int, *, empty: str | None = None) -> Fraction:
        """Return the house edge with the meter ``empty`` at $0, and other meters at their seeds."""
        won = (
            self.meter_return(meter) * seed for meter, seed in self.seeds.items() if meter != empty
        )
        reseeds = sum(map(self.reseeds_return, self.rates), Fraction(0))
        return 1 - self.fixed_return(wager_cents) - sum(won, Fraction(0)) - reseeds

    def long_run(self, wager_cents: int) -> LongRun:
        fixed_return = self.fixed_return(wager_cents)
        added_bps = sum(
            read_rate_bps(each.primary) + read_rate_bps(each.reserve)
            for each in self.rates.values()
        )
        contributions = Fraction(added_bps, 10_000)
        # A win of the whole meter costs one reseed, even if several players divide the win.
        reseeds = sum(
            (
                self.chance(meter, 100) * self.times * read_seed(each.reseed) / self.shares
                for meter, each in self.rates.items()
            ),
            Fraction(0),
        )
        return LongRun(
            house_edge=1 - fixed_return - contributions - reseeds,
            fixed_return=fixed_return,
            contributions=contributions,
            reseeds=reseeds,
        )

    def full_table(self, wager_cents: int, players: int, only: str) -> FullTable | None:
        """Return bounds of the odds when so many players can beat each other; None for two or less.

        A bad beat is counted at the higher of seed and reseed: at the seed, no win of the round
        leaves more. ``only`` is the name of a wager's only meter.
        """
        if self.beaten is None or self.beaten.players == 1 or players < 3:
            return None
        beat, beats = self.beaten.odds, self.beaten.odds.of_wager * (players - 1)
        returns: dict[str, Fraction] = {}
        edge, lasting = self.edge(wager_cents), self.long_run(wager_cents).house_edge
        for meter, each in self.rates.items():
            won = beats * Fraction(beat.percent_of(meter)) / 100
            seed, reseed = self.seeds[meter], self.times * read_seed(each.reseed)
            counted = self.beaten.meter_return(meter)
            edge += counted * seed + self.reseeds_return(meter) - won * max(seed, reseed)
            returns[meter or only] = self.meter_return(meter) - counted + won
            if beat.percent_of(meter) == 100:
                lasting -= (beats - beat.of_wager) * reseed
        return FullTable(
            players=players, house_edge=edge, house_edge_long_run=lasting, meter_return=returns
        )

    def break_even(self, meter: str, wagers_cents: tuple[int, ...]) -> dict[str, int]:
        """Return the lowest balance at which the house has no edge, by the wager, in cents.

        The other meters are at their seeds.
        """
        return {str(cents): self._break_even(meter, cents, 0, NO_ENVY) for cents in wagers_cents}

    def with_envy(
        self, meter: str, envy: Mapping[int, EnvyBrought], positions: int
    ) -> tuple[dict[str, int], ...]:
        """Return `break_even` with 1, 2 and more other players at a game with so many positions.

        ``envy`` is by the wager in cents.
        """
        return tuple(
            {str(cents): self._break_even(meter, cents, others, envy[cents]) for cents in envy}
            for others in range(1, min(OTHERS_MAX, positions - 1) + 1)
            if envy
        )

    def _break_even(self, meter: str, wager_cents: int, others: int, envy: EnvyBrought) -> int:
        envy_return = others * envy.at_seeds(self.seeds, empty=meter)
        lacking = (self.edge(wager_cents, empty=meter) - envy_return) * wager_cents
        reseeds = self.reseeds_return(meter) * wager_cents
        share = self.meter_return(meter) + others * envy.meter_return(meter)
        if not share:
            reason = "no deal wins a percentage of its meter: earlier patterns take the cards"
            raise UserError(f"the odds cannot be counted: {reason}")
        held_cents = max(0, ceil(lacking / share))

        def pays(held_cents: int) -> Fraction:
            own = self._pays_cents(meter, held_cents)
            if self.beaten:
                reseed_cents = read_seed(self.rates[meter].reseed) * wager_cents
                own += self.beaten.cents(meter, held_cents, reseed_cents)
            return own + others * envy.cents(meter, held_cents)

        # Percentages and shares are rounded down to the cent. So the meter must be a little higher
        # than the exact result.
        while pays(held_cents) < lacking + reseeds:
            held_cents += 1
        return held_cents

    def _pays_cents(self, meter: str, held_cents: int) -> Fraction:
        paid = 0
        for hand in self.hands:
            own = hand.payout.percent_of(meter)
            community = hand.percent_of(meter) - own
            cents = held_cents * own // 100 // self.shares + held_cents * community // 100
            paid += hand.combinations * cents
        return Fraction(paid, self.of)


def has_tiers(tables: WagerTables) -> bool:
    return bool(tables.meters) or any(read_payout(cell).sum_cents for cell in tables.cells)


def meter_entry(offer: Offer, tables: WagerTables, counted: Enumerator) -> OddsEntry:
    paytable = _in_proportion(paytable_of(offer, tables.table, offer.paytable), offer)
    of_draws = _draws(offer, tables, sum(offer.groups))
    without_hands = Metered(
        hands=(),
        rates=paytable.rates,
        times=Fraction(offer.largest_cents or 1, offer.wagers_cents[0])
        if offer.largest_cents
        else Fraction(1),
        drawn=sum((_per(gives, every) for gives, every in of_draws), Fraction(0)),
    )

    def with_meters_at(held: Mapping[str, Fraction]) -> Metered:
        deals = deals_of(offer, counted, _worth(offer, tables, paytable, held))
        hands = paid_hands(paytable, offer.judged, deals, sum(deals.values()))
        return replace(without_hands, hands=_with_community(tables, hands, offer))

    metered = with_meters_at(without_hands.seeds)
    if tables.bad_beat:
        metered = replace(metered, beaten=_beaten(offer, tables, paytable, metered.hands, counted))
    wagers_cents = _amounts(offer, tables)
    envy = dict(_envy(tables, metered, wagers_cents, offer))
    entry = OddsEntry(
        game=offer.chapter.game,
        wager=offer.wager,
        paytable=offer.paytable,
        house_edge=metered.edge(wagers_cents[0]),
        hands=metered.hands,
        rule=paytable.rule,
        long_run=metered.long_run(wagers_cents[0]),
        tables=offer.at,
        envy_return={str(cents): each.at_seeds(metered.seeds) for cents, each in envy.items()},
        largest_wager=offer.largest_cents,
        bad_beat=metered.beaten.odds if metered.beaten else None,
        full_table=metered.full_table(
            wagers_cents[0], offer.chapter.deal.positions, tables.meter or ""
        ),
    )
    of_dealer = offer.cards in DEALERS_ALONE
    if of_dealer:
        positions = offer.chapter.deal.positions
        players = positions if offer.chapter.result else max(PLAYERS_MAX, positions)
        entry = msgspec.structs.replace(
            entry, when_shared=tuple(_shared(metered, wagers_cents, players))
        )
    at_break_even = {
        meter: _at_break_even(meter, metered, with_meters_at, wagers_cents[0])
        if offer.chapter.deal.exchange
        else metered
        for meter in metered.rates
    }
    if has_tiers(tables):
        return _with_tiers(entry, offer, tables, metered, at_break_even, wagers_cents, envy)
    drawn = [_drawn(*each, entry.house_edge) for each in of_draws]
    folding = _when_folding(offer, tables, counted, paytable, metered.times)
    return msgspec.structs.replace(
        entry,
        note=_note(offer, tables, metered, entry.full_table, of_dealer=of_dealer),
        seed_meter=_seeds(metered, _ONLY, wagers_cents),
        house_edge_at_empty_meter=metered.edge(wagers_cents[0], empty=_ONLY),
        meter_return=metered.meter_return(_ONLY),
        break_even_meter=at_break_even[_ONLY].break_even(_ONLY, wagers_cents),
        break_even_meter_with_envy=at_break_even[_ONLY].with_envy(
            _ONLY, envy, offer.chapter.deal.positions
        ),
        when_folding=_folding(folding, wagers_cents, envy, offer) if folding else None,
        magic_card=drawn[0] if drawn else None,
        lucky=drawn[1] if drawn else None,
        positions=offer.draws.positions if of_draws else 0,
        envy_meter_return=_envy_returns(_ONLY, envy),
    )


def _in_proportion(paytable: Paytable, offer: Offer) -> Paytable:
    cells = {hand: offer.part_of(cell) for hand, cell in paytable.cells.items()}
    return replace(paytable, cells=cells)


def _worth(
    offer: Offer, tables: WagerTables, paytable: Paytable, held: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """Return what each hand pays, in units of the wager, with so much on the meters."""
    found = {}
    for hand, (name, payout) in rows_of(paytable, offer.judged).items():
        line = HandLine(hand=name, combinations=0, of=1, pays=paytable.cells.get(name, ""))
        (line,) = _with_community(tables, (line,), offer)
        percents = sum((line.percent_of(meter) * held[meter] for meter in held), Fraction(0))
        found[hand] = payout.times + percents / 100
    return found


def _at_break_even(
    meter: str,
    metered: Metered,
    with_meters_at: Callable[[Mapping[str, Fraction]], Metered],
    wager_cents: int,
) -> Metered:
    """Return the payouts under the exchange that is the best at the break-even amount of a meter.

    The best exchange at an amount can lower the break-even amount. So the two are found in turn,
    until the amount stays the same.
    """
    found, cents = metered, metered.break_even(meter, (wager_cents,))[str(wager_cents)]
    while True:
        better = with_meters_at({**metered.seeds, meter: Fraction(cents, wager_cents)})
        lower_cents = better.break_even(meter, (wager_cents,))[str(wager_cents)]
        if lower_cents >= cents:
            return found
        found, cents = better, lower_cents


def _with_community(
    tables: WagerTables, hands: tuple[HandLine, ...], offer: Offer
) -> tuple[HandLine, ...]:
    pays = tables.community.pays if tables.community else {}
    return tuple(
        msgspec.structs.replace(line, beside={COMMUNITY_SHARE: offer.part_of(pays[line.hand])})
        if line.hand in pays
        else line
        for line in hands
    )


def _beaten(
    offer: Offer,
    tables: WagerTables,
    paytable: Paytable,
    hands: Sequence[HandLine],
    counted: Enumerator,
) -> BeatenHands | None:
    beat, size = tables.bad_beat, offer.chapter.deal.hand
    if beat is None:
        return None
    names = {hand: name for hand, (name, _) in rows_of(paytable, offer.judged).items()}
    pairs: Counter[tuple[str, str]] = Counter()
    for beaten, by in counted.get(beaten_pairs(offer.ranking, size, beat.lowest)).pairs.items():
        for higher, number in by.items():
            pairs[names[beaten], names[higher]] += number
    of = deals_of_two(size)
    odds = BadBeatOdds(
        lowest=beat.lowest,
        beaten_by=beat.beaten_by,
        # Either of two players can have the beaten hand.
        combinations=pairs.total() * (1 if beat.beaten_by == "dealer" else 2),
        of=of,
        pays={str(part): cell for part, cell in beat.cells.items()},
    )
    return BeatenHands(odds, pairs, of, {line.hand: line for line in hands})


def _bad_beat_notes(tables: WagerTables, full: FullTable | None) -> Iterator[str]:
    if tables.bad_beat:
        by_dealer = tables.bad_beat.beaten_by == "dealer"
        yield _BAD_BEAT_BY_DEALER if by_dealer else _BAD_BEAT
        if full:
            yield f"With {full.players} players, a wager gives back {full.returned}."
        yield _BAD_BEAT_LEFT


def _envy_returns(meter: str, envy: Mapping[int, EnvyBrought]) -> dict[str, Fraction]:
    found = {str(cents): brought.meter_return(meter) for cents, brought in envy.items()}
    return found if any(found.values()) else {}


def _with_tiers(  # noqa: PLR0917
    entry: OddsEntry,
    offer: Offer,
    tables: WagerTables,
    metered: Metered,
    at_break_even: Mapping[str, Metered],
    wagers_cents: tuple[int, ...],
    envy: Mapping[int, EnvyBrought],
) -> OddsEntry:
    edges = {str(cents): metered.edge(cents) for cents in wagers_cents}
    sums = len(set(edges.values())) > 1
    lasting = {str(cents): metered.long_run(cents).house_edge for cents in wagers_cents}
    return msgspec.structs.replace(
        entry,
        house_edge_by_wager=edges if sums else {},
        house_edge_long_run_by_wager=lasting if sums else {},
        note=" ".join(
            [
                "The house edge is for every meter at its seed.",
                "The break-even balance of a meter is for the other meters at their seeds.",
                *([_SMALLER] if offer.largest_cents else []),
                *([_DIVIDED] if entry.when_shared else []),
                *([_COMMUNITY] if tables.community else []),
                *_bad_beat_notes(tables, entry.full_table),
                *_forfeits(tables),
                *_rate_changes(offer, metered),
            ]
        ),
        tiers=tuple(
            TierOdds(
                meter=meter or tables.meter,
                seed_meter=_seeds(metered, meter, wagers_cents),
                meter_return=metered.meter_return(meter),
                hit_chance=metered.chance(meter, Fraction(1, 100)),
                whole_chance=metered.chance(meter, 100),
                break_even_meter=at_break_even[meter].break_even(meter, wagers_cents),
                break_even_meter_with_envy=at_break_even[meter].with_envy(
                    meter, envy, offer.chapter.deal.positions
                ),
                envy_meter_return=_envy_returns(meter, envy),
            )
            for meter in metered.rates
        ),
    )


def _amounts(offer: Offer, tables: WagerTables) -> tuple[int, ...]:
    if tables.envy is None or offer.largest_cents:
        return offer.wagers_cents
    paid = [read_cents(schedule.wager) for schedule in tables.envy.schedule]
    return tuple(cents for cents in offer.wagers_cents if cents in paid) or tuple(paid[:1])


def _seeds(metered: Metered, meter: str, wagers_cents: tuple[int, ...]) -> dict[str, int]:
    return {str(cents): int(metered.seeds[meter] * cents) for cents in wagers_cents}


def _envy(
    tables: WagerTables, metered: Metered, wagers_cents: tuple[int, ...], offer: Offer
) -> Iterator[tuple[int, EnvyBrought]]:
    """Yield each amount of the wager, and the average Envy Bonus from one other player's hand.

    The cards of another player have the same distribution as the player's own, so each player is
    considered separately. An Envy Bonus is paid only for a hand that stays on the table (reading
    T8). Of a smaller wager, the percentages are a part of those of the largest amount.
    """
    schedules = tables.envy.schedule if tables.envy else ()
    pays = {read_cents(each.wager): each.pays for each in schedules}
    for wager_cents in wagers_cents:
        whole = pays.get(offer.largest_cents or wager_cents, {})
        own = pays.get(wager_cents, whole)
        if whole:
            counted = [line for line in metered.hands if line.hand in whole]
            fixed_cents = sum(
                line.combinations * read_envy(own.get(line.hand, "N/A")).sum_cents
                for line in counted
            )
            brings = [
                (line.combinations, read_envy(offer.part_of(whole[line.hand]))) for line in counted
            ]
            shares = tuple((number, payout) for number, payout in brings if payout.percents)
            fixed = Fraction(fixed_cents, metered.of * wager_cents)
            yield wager_cents, EnvyBrought(fixed, shares, metered.of)


def _when_folding(
    offer: Offer, tables: WagerTables, counted: Enumerator, paytable: Paytable, times: Fraction
) -> Metered | None:
    """Return the payouts of a wager for a player who sometimes folds, or None.

    Such payouts exist only for a wager that a fold forfeits, and that is on the hand and two
    community cards: the Five-Card Progressive (649a.11(b)(2), reading T7), or a similar wager of
    the house. A fold also forfeits the Progressive, but this makes no difference: the lowest hand
    that wins the Progressive is a straight, which the optimal strategy never folds.
    """
    five = offer.ranking == "five_card" and offer.groups == (3, 2)
    if offer.chapter.main is None or not tables.forfeited or not five:
        return None
    if tables.cards != ("hand_and_community",):
        return None
    folded = folded_strengths(offer.chapter, counted)
    played: Counter[str] = Counter()
    of = 0
    for strength, deals in counted.get(fives(offer.chapter.main_game.ranking)).deals.items():
        of += sum(deals.values())
        if strength not in folded:
            played.update(deals)
    hands = paid_hands(paytable, offer.judged, played, of)
    return Metered(_with_community(tables, hands, offer), paytable.rates, times=times)


def _folding(
    metered: Metered, wagers_cents: tuple[int, ...], envy: Mapping[int, EnvyBrought], offer: Offer
) -> Folding:
    return Folding(
        house_edge=metered.edge(wagers_cents[0]),
        house_edge_long_run=metered.long_run(wagers_cents[0]).house_edge,
        house_edge_at_empty_meter=metered.edge(wagers_cents[0], empty=_ONLY),
        meter_return=metered.meter_return(_ONLY),
        break_even_meter=metered.break_even(_ONLY, wagers_cents),
        break_even_meter_with_envy=metered.with_envy(_ONLY, envy, offer.chapter.deal.positions),
    )


def _shared(
    metered: Metered, wagers_cents: tuple[int, ...], players_max: int
) -> Iterator[SharedWager]:
    for players in range(1, players_max + 1):
        share = replace(metered, shares=players)
        yield SharedWager(
            players=players,
            house_edge=share.edge(wagers_cents[0]),
            house_edge_long_run=share.long_run(wagers_cents[0]).house_edge,
            meter_return=share.meter_return(_ONLY),
            break_even_meter=share.break_even(_ONLY, wagers_cents),
        )


def _draws(offer: Offer, tables: WagerTables, cards: int) -> tuple[tuple[Fraction, int], ...]:
    """Return the average payout of each draw, and the average number of rounds per draw.

    The payout is for a round with this draw, in units of the wager. The result is empty for a wager
    without draws. The Magic Card is one card of the deck, and pays if it is in the hand. The Lucky
    position is one of the table's positions or the dealer (649a.12(i)(3), readings T19, T20).
    """
    pays, draws = tables.draws, offer.draws
    if pays is None:
        return ()
    return (
        (Fraction(cards * read_times(pays.magic_card, "for"), len(DECK)), draws.magic_card_every),
        (Fraction(read_times(pays.lucky_bonus, "for"), draws.positions + 1), draws.lucky_every),
    )


def _per(gives: Fraction, every: int) -> Fraction:
    return gives / every if every else Fraction(0)


def _drawn(gives: Fraction, every: int, edge: Fraction) -> Drawn:
    """Return the odds of one draw, and how frequent it must be to remove the house edge.

    ``gives`` is the payout, in units of the wager, if the draw occurs in every round. ``every`` is
    the average number of rounds per draw. ``edge`` is the house edge with both draws; the other
    draw keeps its frequency.
    """
    gone_at = max(Fraction(0), (edge + _per(gives, every)) / gives)
    return Drawn(
        every=every,
        wager_return=_per(gives, every),
        house_edge_gone_at=exact(gone_at) if gone_at <= 1 else "",
        house_edge_gone_every=floor(1 / gone_at) if 0 < gone_at <= 1 else 0,
    )


def _forfeits(tables: WagerTables) -> Iterator[str]:
    if tables.forfeited:
        yield (
            f"A player who folds forfeits this wager ({tables.forfeited}); the edge is for a player"
            " who never folds."
        )


def _rate_changes(offer: Offer, metered: Metered) -> Iterator[str]:
    titles = {_ONLY: "the meter"}
    titles |= {meter.name: f"the {meter.title}" for meter in offer.chapter.meter}
    winners = "Players with the largest amount" if offer.largest_cents else "Players"
    for meter, rates in metered.rates.items():
        if rates.above:
            amount = short_money(int(metered.times * read_from(rates.above) * 100))
            yield (
                f"While {titles[meter]} has {amount} or more for each dollar of the"
                f" wager, {rates.primary_above} of a wager goes to it instead of {rates.primary},"
                f" and {rates.reserve_above} to its reserve instead of {rates.reserve}. {winners}"
                " win the reserve later, so the odds in the long run are the same."
            )


def _note(
    offer: Offer, tables: WagerTables, metered: Metered, full: FullTable | None, *, of_dealer: bool
) -> str:
    notes = [_SMALLER] if offer.largest_cents else []
    if of_dealer:
        notes.append(_DIVIDED)
    if tables.community:
        notes.append(_COMMUNITY)
    notes += _bad_beat_notes(tables, full)
    notes += _forfeits(tables)
    if tables.forfeited and tables.cards == ("hand",):
        notes.append("Under the optimal strategy, no hand that wins this wager is folded.")
    if tables.envy:
        notes.append(
            "Envy Bonuses are for hands that stay on the table: a hand that is folded and"
            f" collected brings none (reading T8 in {_READINGS})."
        )
    notes.append(
        "The meter is the amount from which the hand is paid. This amount includes the"
        f" contributions of this round's wagers (reading T14 in {_READINGS})."
    )
    notes += _rate_changes(offer, metered)
    if not offer.draws.magic_card_every and not offer.draws.lucky_every and tables.draws:
        notes.append("These odds are without a Magic Card or a Lucky Bonus.")
    return " ".join(notes)
