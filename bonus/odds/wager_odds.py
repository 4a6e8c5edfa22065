"""The odds of any wager that is offered, its hit frequency, and the times between its hits."""

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Final

from msgspec.structs import replace

from bonus.cards import DECK
from bonus.law.chapter_file import FourthCard, WagerTables
from bonus.law.paytables import read_payout
from bonus.odds.enumerations import Enumerator, all_hands, with_further_card
from bonus.odds.hand_payouts import (
    PaidHand,
    comes_back,
    mini_royal_cell,
    optional_note,
    paid_hands,
    paytable_of,
)
from bonus.odds.main_edges import main_entry
from bonus.odds.meter_edges import has_tiers, meter_entry, tiers_entry
from bonus.odds.odds_entries import HandLine, HitTimes, MeterTimes, OddsEntry, decimal, exact
from bonus.odds.offers import Offer


def optional_entry(offer: Offer, tables: WagerTables, counted: Enumerator) -> OddsEntry:
    """Return the odds of an optional wager that pays odds or fixed sums."""
    if tables.fourth_card:
        return _with_fourth_card(offer, tables, tables.fourth_card, counted)
    paytable = paytable_of(offer, tables.table, offer.paytable)
    groups = offer.chapter.deal.judged(tables.cards[tables.names.index(offer.wager)])
    deals = counted.get(all_hands(offer.ranking, groups)).deals
    hands = paid_hands(paytable, offer.ranking, deals)
    of = sum(deals.values())
    return _entry(offer, {"": hands}, of, (paytable.rule,))


def _with_fourth_card(
    offer: Offer, tables: WagerTables, fourth: FourthCard, counted: Enumerator
) -> OddsEntry:
    """Return the odds of a wager whose paytable the rank of the fourth card decides.

    679a.12(e), (f).
    """
    size = offer.chapter.deal.hand
    further = len(DECK) - size
    all_deals = counted.get(all_hands(offer.ranking, (size,))).deals
    deals = counted.get(with_further_card(tables, size, fourth.rank)).deals
    others = {hand: number * further - deals[hand] for hand, number in all_deals.items()}
    plain = paytable_of(offer, tables.table, None)
    chosen = paytable_of(offer, fourth.table, offer.paytable)
    of = comb(len(DECK), size) * further
    parts = {
        f"not a {fourth.rank}": paid_hands(plain, offer.ranking, others),
        f"a {fourth.rank}": paid_hands(chosen, offer.ranking, deals),
    }
    return _entry(offer, parts, of, (plain.rule, chosen.rule))


def _entry(
    offer: Offer, parts: dict[str, tuple[PaidHand, ...]], of: int, rules: tuple[str, ...]
) -> OddsEntry:
    """Return the odds of a wager from its hands.

    The keys of ``parts`` are texts about the fourth card, such as ``not a 2``; empty if the wager
    has none. ``of`` is the total number of deals.
    """
    paid = [hand for hands in parts.values() for hand in hands]
    edges = {cents: 1 - comes_back(paid, cents) / of for cents in offer.wagers_cents}
    edge = next(iter(edges.values()))
    sums = any(hand.payout.sum_cents for hand in paid)
    return OddsEntry(
        game=offer.chapter.game,
        wager=offer.wager,
        paytable=offer.paytable,
        house_edge=exact(edge),
        house_edge_decimal=decimal(edge),
        hands=tuple(hand.line(of, card) for card, hands in parts.items() for hand in hands),
        rule=", ".join(rules),
        mini_royal=mini_royal_cell(offer),
        reading=offer.reading,
        house_edge_by_wager=(
            {str(cents): exact(each) for cents, each in edges.items()} if sums else {}
        ),
        note=optional_note(offer, set(rules), sums=sums),
        tables=offer.at,
    )


def with_hit_times(entry: OddsEntry, tables: WagerTables, wagers_per_hour: int) -> OddsEntry:
    """Return the odds of a wager that feeds a meter, with the times between its hits.

    ``wagers_per_hour``, 1 or more, counts the wagers of all tables. Each has the same chance to
    hit: its player never folds.
    """
    paid = [(line, read_payout(line.pays)) for line in entry.hands]

    def hours(lines: list[HandLine]) -> str:
        combinations = sum(line.combinations for line in lines)
        if not combinations:
            return ""
        return exact(Fraction(lines[0].of, combinations * wagers_per_hour))

    def times_of(meter: str) -> MeterTimes:
        # With one meter, the cells do not name it.
        won = [
            (line, payout.percent or dict(payout.percents).get(meter, 0)) for line, payout in paid
        ]
        return MeterTimes(
            meter=meter,
            hours=hours([line for line, percent in won if percent]),
            hours_whole=hours([line for line, percent in won if percent == 100]),
        )

    times = HitTimes(
        wagers_per_hour=wagers_per_hour,
        meters=tuple(times_of(meter) for meter in tables.fed),
        hands={line.hand: hours([line]) for line, payout in paid if payout.wins},
    )
    return replace(entry, hit_times=times)


_RAREST: Final = 100_000_000


def entry_of(offer: Offer, counted: Enumerator) -> OddsEntry:
    entry = _entry_of(offer, counted)
    notes = (entry.note, rare_top_award(entry.hands) if offer.tables else "")
    return replace(
        entry,
        hit_frequency=exact(_hit_frequency(offer, entry)),
        note=" ".join(filter(None, notes)),
    )


def rare_top_award(hands: Sequence[HandLine]) -> str:
    """Return a sentence about a highest paid award that is too rare (duty D22); else empty."""
    top = next((line for line in hands if read_payout(line.pays).wins), None)
    if top is None or top.combinations * _RAREST >= top.of:
        return ""
    often = f"one in {round(Fraction(top.of, top.combinations)):,}" if top.combinations else "never"
    name = top.hand.replace("_", " ")
    return f"The top award, {name}, is rarer than one in {_RAREST:,}: {often} (duty D22)."


def _hit_frequency(offer: Offer, entry: OddsEntry) -> Fraction:
    if offer.tables is None:
        winning = {"not_qualified", "higher"}
        if offer.chapter.main_game.tie.pays:
            winning.add("equal")
        deals = sum(each.combinations for each in entry.outcomes if each.outcome in winning)
        return Fraction(deals, entry.outcomes[0].of)
    deals = sum(line.combinations for line in entry.hands if read_payout(line.pays).wins)
    return Fraction(deals, entry.hands[0].of)


def _entry_of(offer: Offer, counted: Enumerator) -> OddsEntry:
    if offer.tables is None:
        return main_entry(offer, counted)
    if has_tiers(offer.tables) and offer.tables.fed:
        return tiers_entry(offer, offer.tables, counted)
    if offer.tables.fed:
        return meter_entry(offer, offer.tables, counted)
    return optional_entry(offer, offer.tables, counted)
