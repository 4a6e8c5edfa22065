"""House edges of wagers that feed meters (649a.12(e), (h), (i), (j)); they fall as it rises."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Final

from bonus.law.chapter_file import DrawPays as DrawsPay
from bonus.law.chapter_file import WagerTables
from bonus.law.paytables import Rates, read_cents, read_payout, read_seed, read_times
from bonus.odds.enumerations import Enumerator, all_hands, fives
from bonus.odds.hand_payouts import (
    PaidHand,
    chance_of,
    comes_back,
    long_run,
    paid_hands,
    paytable_of,
    percent_of,
)
from bonus.odds.main_edges import folded_strengths
from bonus.odds.odds_entries import (
    Drawn,
    Folding,
    LongRun,
    OddsEntry,
    SharedWager,
    TierOdds,
    decimal,
    exact,
)
from bonus.odds.offers import OTHERS_MAX, Offer

PLAYERS_MAX: Final = 7

_DECK_SIZE: Final = 52


@dataclass(frozen=True, slots=True)
class Metered:
    """Payouts of a wager whose hands can win a percentage of a meter.

    ``of`` is the total number of deals, and ``drawn`` the average payout of the draws, in units of
    the wager. ``shares`` is the number of players who divide a percentage of the meter (reading
    T17).
    """

    hands: tuple[PaidHand, ...]
    of: int
    rates: Rates
    drawn: Fraction = Fraction(0)
    shares: int = 1

    @property
    def edge_at_empty_meter(self) -> Fraction:
        """House edge with an empty meter, in units of the wager."""
        return 1 - comes_back(self.hands, 1) / self.of - self.drawn

    @property
    def meter_return(self) -> Fraction:
        """Fraction of the meter that one wager wins on average."""
        percent = sum(hand.deals * hand.payout.percent for hand in self.hands)
        return Fraction(percent, 100 * self.of * self.shares)

    def edge(self, meter_wagers: int) -> Fraction:
        """Return the house edge when the meter is ``meter_wagers`` times the wager."""
        return self.edge_at_empty_meter - self.meter_return * meter_wagers

    @property
    def long_run(self) -> LongRun:
        fixed = 1 - self.edge_at_empty_meter
        return long_run(fixed, self.hands, self.of, {"": self.rates}, shares=self.shares)

    def break_even_cents(self, wager_cents: int, envy_cents: Fraction = Fraction(0)) -> int:
        """Return the lowest meter, in cents, at which the house has no edge.

        ``envy_cents`` is the average amount of Envy Bonuses.
        """
        lacking = self.edge_at_empty_meter * wager_cents - envy_cents
        meter_cents = max(0, ceil(lacking / self.meter_return))
        # Percentages and shares are rounded down to the cent. So the meter must be a little higher
        # than the exact result.
        while self._meter_pays_cents(meter_cents) < lacking:
            meter_cents += 1
        return meter_cents

    def _meter_pays_cents(self, meter_cents: int) -> Fraction:
        paid = sum(
            hand.deals * (meter_cents * hand.payout.percent // 100 // self.shares)
            for hand in self.hands
        )
        return Fraction(paid, self.of)


def meter_entry(offer: Offer, tables: WagerTables, counted: Enumerator) -> OddsEntry:
    """Return the odds of a wager that feeds a meter; a paytable without seed is a ValueError."""
    paytable = paytable_of(offer, tables.table, offer.paytable)
    rates = paytable.rates.get("")
    if rates is None:
        raise ValueError(f"{paytable.rule} has no seed")
    seed = read_seed(rates.seed)
    column = tables.names.index(offer.wager)
    groups = offer.chapter.deal.judged(tables.cards[column])
    deals = counted.get(all_hands(offer.ranking, groups)).deals
    of = sum(deals.values())
    hands = paid_hands(paytable, offer.ranking, deals)
    drawn = _Draws(offer, tables.draws, sum(groups)) if tables.draws else None
    metered = Metered(hands, of, rates, drawn.comes_back if drawn else Fraction(0))
    envy = dict(_envy(offer, tables, hands, of))
    edge = metered.edge(seed)
    folding = _when_folding(offer, tables, counted, rates)
    of_dealer = tables.cards[column] == "dealer_and_community"
    return OddsEntry(
        game=offer.chapter.game,
        wager=offer.wager,
        paytable=offer.paytable,
        house_edge=exact(edge),
        house_edge_decimal=decimal(edge),
        hands=tuple(hand.line(of) for hand in hands),
        rule=paytable.rule,
        note=_note(offer, tables, of_dealer=of_dealer),
        tables=offer.at,
        long_run=metered.long_run,
        seed_meter={str(cents): seed * cents for cents in offer.wagers_cents},
        house_edge_at_empty_meter=exact(metered.edge_at_empty_meter),
        meter_return=exact(metered.meter_return),
        envy_return={str(cents): exact(each / cents) for cents, each in envy.items()},
        break_even_meter=_break_even(metered, offer.wagers_cents),
        break_even_meter_with_envy=_with_envy(metered, envy),
        when_folding=_folding(folding, offer, seed, envy) if folding else None,
        magic_card=drawn.magic_card(edge) if drawn else None,
        lucky=drawn.lucky(edge) if drawn else None,
        positions=offer.draws.positions if drawn else 0,
        when_shared=tuple(_shared(metered, offer, seed)) if of_dealer else (),
    )


def _break_even(metered: Metered, wagers_cents: tuple[int, ...]) -> dict[str, int]:
    return {str(cents): metered.break_even_cents(cents) for cents in wagers_cents}


def _with_envy(metered: Metered, envy: dict[int, Fraction]) -> tuple[dict[str, int], ...]:
    """Return the break-even meters for each number of other players from 1 to 6.

    ``envy`` has, by the wager in cents, the average Envy Bonus in cents that the hand of one other
    player brings.
    """
    if not envy:
        return ()
    return tuple(
        {str(cents): metered.break_even_cents(cents, others * each) for cents, each in envy.items()}
        for others in range(1, OTHERS_MAX + 1)
    )


def _envy(
    offer: Offer, tables: WagerTables, hands: tuple[PaidHand, ...], of: int
) -> Iterator[tuple[int, Fraction]]:
    """Yield each amount of the wager, and the average Envy Bonus from one other player's hand.

    Both are in cents. The cards of another player have the same distribution as the player's own,
    and the average for several is the sum, so each player is considered separately. An Envy Bonus
    is paid only for a hand that stays on the table (reading T8).
    """
    for schedule in tables.envy.schedule if tables.envy else ():
        wager_cents = read_cents(schedule.wager)
        if wager_cents in offer.wagers_cents:
            brings_cents = sum(
                hand.deals * read_cents(schedule.pays[hand.hand])
                for hand in hands
                if hand.hand in schedule.pays
            )
            yield wager_cents, Fraction(brings_cents, of)


def _when_folding(
    offer: Offer, tables: WagerTables, counted: Enumerator, rates: Rates
) -> Metered | None:
    """Return the average payout of the Five-Card Progressive for a player who sometimes folds.

    None for any other wager. A fold forfeits the Five-Card Progressive (649a.11(b)(2), reading T7).
    It also forfeits the Three-Card Progressive, but this makes no difference: the lowest hand that
    wins it is a straight, which the optimal strategy never folds.
    """
    three_and_two = offer.chapter.main is not None and offer.chapter.deal.community == 2
    if not tables.forfeited or tables.cards != ("hand_and_community",) or not three_and_two:
        return None
    folded = folded_strengths(offer.chapter, counted)
    played: Counter[str] = Counter()
    of = 0
    for strength, deals in counted.get(fives(offer.chapter.main_game.ranking)).deals.items():
        of += sum(deals.values())
        if strength not in folded:
            played.update(deals)
    paytable = paytable_of(offer, tables.table, offer.paytable)
    return Metered(paid_hands(paytable, offer.ranking, played), of, rates)


def _folding(metered: Metered, offer: Offer, seed: int, envy: dict[int, Fraction]) -> Folding:
    return Folding(
        house_edge=exact(metered.edge(seed)),
        house_edge_decimal=decimal(metered.edge(seed)),
        house_edge_long_run=metered.long_run.house_edge,
        house_edge_at_empty_meter=exact(metered.edge_at_empty_meter),
        meter_return=exact(metered.meter_return),
        break_even_meter=_break_even(metered, offer.wagers_cents),
        break_even_meter_with_envy=_with_envy(metered, envy),
    )


def _shared(metered: Metered, offer: Offer, seed: int) -> Iterator[SharedWager]:
    """Yield the odds of a wager on the dealer's hand, for 1 to 7 players who share a jackpot."""
    for players in range(1, PLAYERS_MAX + 1):
        share = replace(metered, shares=players)
        yield SharedWager(
            players=players,
            house_edge=exact(share.edge(seed)),
            house_edge_decimal=decimal(share.edge(seed)),
            house_edge_long_run=share.long_run.house_edge,
            meter_return=exact(share.meter_return),
            break_even_meter=_break_even(share, offer.wagers_cents),
        )


class _Draws:
    """Average payouts of the Magic Card and the Lucky Bonus (649a.12(i)(3), readings T19, T20).

    The Magic Card is one card of the deck, and pays if it is in the hand. The Lucky position is one
    of the table's positions or the dealer.
    """

    def __init__(self, offer: Offer, pays: DrawsPay, cards: int) -> None:
        self._draws = offer.draws
        self._magic = Fraction(cards * read_times(pays.magic_card, "for"), _DECK_SIZE)
        self._lucky = Fraction(read_times(pays.lucky_bonus, "for"), offer.draws.positions + 1)

    @property
    def comes_back(self) -> Fraction:
        """Average payout of both draws, in units of the wager."""
        return _per(self._magic, self._draws.magic_card_every) + _per(
            self._lucky, self._draws.lucky_every
        )

    def magic_card(self, edge: Fraction) -> Drawn:
        return _drawn(self._magic, self._draws.magic_card_every, edge)

    def lucky(self, edge: Fraction) -> Drawn:
        return _drawn(self._lucky, self._draws.lucky_every, edge)


def _per(gives: Fraction, every: int) -> Fraction:
    return gives / every if every else Fraction(0)


def _drawn(gives: Fraction, every: int, edge: Fraction) -> Drawn:
    """Return the odds of one draw, and how frequent it must be to remove the house edge.

    ``gives`` is the payout if the draw occurs in every round, in units of the wager. ``every`` is
    the average number of rounds per draw. ``edge`` is the house edge with both draws; the other
    draw keeps its frequency.
    """
    gone_at = max(Fraction(0), (edge + _per(gives, every)) / gives)
    reached = gone_at <= 1
    return Drawn(
        every=every,
        wager_return=exact(_per(gives, every)),
        house_edge_gone_at=exact(gone_at) if reached else "",
        house_edge_gone_every=floor(1 / gone_at) if 0 < gone_at <= 1 else 0,
    )


def _note(offer: Offer, tables: WagerTables, *, of_dealer: bool) -> str:
    notes = []
    if of_dealer:
        notes.append("For one player with this wager: a percentage is divided among all of them.")
    if tables.forfeited:
        notes.append(
            f"A player who folds forfeits this wager ({tables.forfeited}); the edge is for a player"
            " who never folds."
        )
    if tables.forfeited and tables.cards == ("hand",):
        notes.append("No hand that it pays is folded under the optimal strategy.")
    if tables.envy:
        notes.append(
            "Envy Bonuses are for hands that stay on the table: a hand that is folded and"
            " collected brings none (reading T8)."
        )
    notes.append(
        "The meter is the amount from which the hand is paid. It includes this round's wagers"
        " (reading T14)."
    )
    if not offer.draws.magic_card_every and not offer.draws.lucky_every and tables.draws:
        notes.append("Without a Magic Card or a Lucky Bonus.")
    return " ".join(notes)


@dataclass(frozen=True, slots=True)
class _Tiers:
    """Payouts of a wager with one amount.

    ``of`` is the total number of deals, and ``seeds`` has the seed of each meter as a multiple of
    the wager.
    """

    hands: tuple[PaidHand, ...]
    of: int
    seeds: Mapping[str, int]
    wager_cents: int

    def meter_return(self, meter: str) -> Fraction:
        """Return the fraction of a meter that one wager wins on average."""
        won = sum(hand.deals * percent_of(hand.payout, meter) for hand in self.hands)
        return Fraction(won, 100 * self.of)

    @property
    def fixed_return(self) -> Fraction:
        """Average payout without percentages of meters, in units of the wager."""
        cents = sum(
            hand.deals * (hand.payout.times * self.wager_cents + hand.payout.sum_cents)
            for hand in self.hands
        )
        return Fraction(cents, self.of * self.wager_cents)

    @property
    def edge(self) -> Fraction:
        """House edge with every meter at its seed, in units of the wager."""
        back = sum(self.meter_return(meter) * seed for meter, seed in self.seeds.items())
        return 1 - self.fixed_return - back

    def break_even_cents(self, meter: str, envy_return: Fraction = Fraction(0)) -> int:
        """Return the lowest balance of a meter, in cents, at which the house has no edge.

        All other meters are at their seeds. ``envy_return`` is in units of the wager.
        """
        at_empty = self.edge + self.meter_return(meter) * self.seeds[meter] - envy_return
        lacking = at_empty * self.wager_cents * self.of
        cents = max(0, ceil(at_empty * self.wager_cents / self.meter_return(meter)))
        # Percentages are rounded down to the cent. So the meter must be a little higher than the
        # exact result.
        while self._pays_cents(meter, cents) < lacking:
            cents += 1
        return cents

    def _pays_cents(self, meter: str, held_cents: int) -> int:
        return sum(
            hand.deals * (held_cents * percent_of(hand.payout, meter) // 100) for hand in self.hands
        )


def tiers_entry(offer: Offer, tables: WagerTables, counted: Enumerator) -> OddsEntry:
    """Return the odds of a wager that feeds several meters, or that also pays fixed sums."""
    paytable = paytable_of(offer, tables.table, offer.paytable)
    column = tables.names.index(offer.wager)
    groups = offer.chapter.deal.judged(tables.cards[column])
    deals = counted.get(all_hands(offer.ranking, groups)).deals
    of = sum(deals.values())
    hands = paid_hands(paytable, offer.ranking, deals)
    # A wager that feeds one meter has no name for it in its cells and rates.
    seeds = {meter: read_seed(rates.seed) for meter, rates in paytable.rates.items()}
    by_wager = [_Tiers(hands, of, seeds, cents) for cents in _amounts(offer, tables)]
    first = by_wager[0]
    edges = {str(each.wager_cents): exact(each.edge) for each in by_wager}
    lasting = [long_run(each.fixed_return, hands, of, paytable.rates) for each in by_wager]
    sums = len(set(edges.values())) > 1
    envy = dict(_tier_envy(tables, by_wager))
    return OddsEntry(
        game=offer.chapter.game,
        wager=offer.wager,
        paytable=offer.paytable,
        house_edge=exact(first.edge),
        house_edge_decimal=decimal(first.edge),
        hands=tuple(hand.line(of) for hand in hands),
        rule=paytable.rule,
        long_run=lasting[0],
        house_edge_by_wager=edges if sums else {},
        house_edge_long_run_by_wager=(
            {cents: each.house_edge for cents, each in zip(edges, lasting, strict=True)}
            if sums
            else {}
        ),
        note=_tier_note(tables),
        tables=offer.at,
        tiers=tuple(_tier(by_wager, meter, tables, envy) for meter in seeds),
        envy_return=envy,
    )


def has_tiers(tables: WagerTables) -> bool:
    """Return whether ``tiers_entry`` has the odds of a wager."""
    rows = (row for table in tables.table for row in table.pays.values())
    cells = (cell for row in rows for cell in ([row] if isinstance(row, str) else row))
    return bool(tables.meters) or any(read_payout(cell).sum_cents for cell in cells)


def _amounts(offer: Offer, tables: WagerTables) -> tuple[int, ...]:
    """Return the amounts of the wager for which the game has Envy Bonuses, if it has any."""
    if tables.envy is None:
        return offer.wagers_cents
    paid = [read_cents(schedule.wager) for schedule in tables.envy.schedule]
    return tuple(cents for cents in offer.wagers_cents if cents in paid) or tuple(paid[:1])


def _tier(
    by_wager: list[_Tiers], meter: str, tables: WagerTables, envy: Mapping[str, str]
) -> TierOdds:
    first = by_wager[0]
    return TierOdds(
        meter=meter or tables.meter,
        seed_meter={
            str(each.wager_cents): each.seeds[meter] * each.wager_cents for each in by_wager
        },
        meter_return=exact(first.meter_return(meter)),
        hit_chance=exact(chance_of(first.hands, first.of, meter, Fraction(1, 100))),
        whole_chance=exact(chance_of(first.hands, first.of, meter, 100)),
        break_even_meter={str(each.wager_cents): each.break_even_cents(meter) for each in by_wager},
        break_even_meter_with_envy=tuple(
            {
                str(each.wager_cents): each.break_even_cents(
                    meter, others * Fraction(envy[str(each.wager_cents)])
                )
                for each in by_wager
                if str(each.wager_cents) in envy
            }
            for others in range(1, OTHERS_MAX + 1)
            if envy
        ),
    )


def _tier_envy(tables: WagerTables, by_wager: list[_Tiers]) -> Iterator[tuple[str, str]]:
    """Yield each amount of the wager, and the average Envy Bonus from one other player's hand."""
    for schedule in tables.envy.schedule if tables.envy else ():
        for each in by_wager:
            if each.wager_cents == read_cents(schedule.wager):
                cents = sum(
                    hand.deals * read_cents(schedule.pays[hand.hand])
                    for hand in each.hands
                    if hand.hand in schedule.pays
                )
                yield str(each.wager_cents), exact(Fraction(cents, each.of * each.wager_cents))


def _tier_note(tables: WagerTables) -> str:
    notes = [
        "The house edge is for every meter at its seed.",
        "The break-even balance of a meter is for the other meters at their seeds.",
    ]
    if tables.forfeited:
        notes.append(
            f"A player who folds forfeits this wager ({tables.forfeited}); the edge is for a player"
            " who never folds."
        )
    return " ".join(notes)
