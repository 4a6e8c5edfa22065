"""House edges of the wagers that feed several meters (tiers), or that also pay fixed sums.

The house edge falls as any of the meters rises.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from bonus.law.cells import read_cents, read_payout, read_seed
from bonus.law.chapter_file import WagerTables
from bonus.odds.enumerations import Enumerator, all_hands
from bonus.odds.hand_payouts import PaidHand, paid_hands, paytable_of
from bonus.odds.long_run import chance_of, long_run, percent_of
from bonus.odds.odds_entries import OddsEntry, TierOdds, decimal, exact
from bonus.odds.offers import OTHERS_MAX, Offer


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
    envy = dict(_envy(tables, by_wager))
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
        note=_note(tables),
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


def _envy(tables: WagerTables, by_wager: list[_Tiers]) -> Iterator[tuple[str, str]]:
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


def _note(tables: WagerTables) -> str:
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
