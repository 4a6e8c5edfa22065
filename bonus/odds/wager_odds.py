"""The odds of any wager that is offered, its hit frequency, and the times between its hits."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

from msgspec.structs import replace

from bonus.cards import DECK
from bonus.law.chapter_file import WagerTables
from bonus.law.paytables import rows_of
from bonus.law.results import source_words
from bonus.odds.enumerations import Enumerator, deals_of, with_further_card
from bonus.odds.main_edges import main_entry
from bonus.odds.meter_edges import meter_entry
from bonus.odds.odds_entries import HandLine, HitTimes, MeterTimes, OddsEntry, exact
from bonus.odds.offers import Offer, paid_hands, paytable_of

_RAREST: Final = 100_000_000


def entry_of(offer: Offer, counted: Enumerator) -> OddsEntry:
    if offer.tables is None:
        entry = main_entry(offer, counted)
    elif offer.tables.fed:
        entry = meter_entry(offer, offer.tables, counted)
    else:
        entry = _optional_entry(offer, offer.tables, counted)
    rare = rare_top_award(entry.hands, ordered=offer.judged.ordered) if offer.tables else ""
    return replace(
        entry,
        hit_frequency=_hit_frequency(offer, entry),
        note=" ".join(filter(None, (_best_exchange(offer), entry.note, rare))),
        source=source_words(offer.chapter),
    )


def _best_exchange(offer: Offer) -> str:
    """Return for which exchanges of cards the odds are; empty if players exchange none."""
    most = offer.chapter.deal.exchange
    if not most:
        return ""
    cards = "one card" if most == 1 else f"up to {most} cards"
    best = f"The odds are for players who exchange {cards} in the best way for this wager alone"
    if offer.tables and offer.tables.fed:
        best += (
            ", with meters at their seeds; a break-even amount, for the best way at this amount. At"
            " other amounts, a player who adapts the exchange gets back more"
        )
    return f"{best}. A player who exchanges otherwise gets back less."


def rare_top_award(hands: Sequence[HandLine], *, ordered: bool = True) -> str:
    """Return a sentence about the highest award if it is too rare (duty D22), or an empty text.

    Without an order of the hands, it is about the rarest award.
    """
    winning = [line for line in hands if line.payout.wins]
    top = min(winning, key=lambda line: 0 if ordered else line.combinations, default=None)
    if top is None or top.combinations * _RAREST >= top.of:
        return ""
    often = f"one in {round(Fraction(top.of, top.combinations)):,}" if top.combinations else "never"
    name = top.hand.replace("_", " ")
    return f"The top award, {name}, is rarer than one in {_RAREST:,}: {often} (duty D22)."


def _hit_frequency(offer: Offer, entry: OddsEntry) -> Fraction:
    if offer.tables is None:
        tie = {"equal"} if offer.chapter.main_game.tie.pays else set()
        winning = {"not_qualified", "higher"} | tie
        return sum((each.chance for each in entry.outcomes if each.outcome in winning), Fraction(0))
    return sum((line.chance for line in entry.hands if line.payout.wins), Fraction(0))


def _optional_entry(offer: Offer, tables: WagerTables, counted: Enumerator) -> OddsEntry:
    """Return the odds of a wager; a fourth card can decide its paytable (679a.12(e), (f))."""
    fourth = tables.fourth_card
    paytable = paytable_of(offer, tables.table, None if fourth else offer.paytable)
    worth = {
        hand: Fraction(payout.times + payout.stake_back)
        for hand, (_, payout) in rows_of(paytable, offer.judged).items()
    }
    deals = deals_of(offer, counted, worth)
    of = sum(deals.values())
    rules = [paytable.rule]
    hands = paid_hands(paytable, offer.judged, deals, of)
    if fourth:
        size = offer.chapter.deal.hand
        further = len(DECK) - size
        on_fourth = counted.get(with_further_card(tables, size, fourth.rank)).deals
        others = {hand: number * further - on_fourth[hand] for hand, number in deals.items()}
        of *= further
        chosen = paytable_of(offer, fourth.table, offer.paytable)
        rules.append(chosen.rule)
        hands = (
            *paid_hands(paytable, offer.judged, others, of, f"not a {fourth.rank}"),
            *paid_hands(chosen, offer.judged, on_fourth, of, f"a {fourth.rank}"),
        )
    edges = {
        str(cents): 1 - sum((line.returned(cents) for line in hands), Fraction(0))
        for cents in offer.wagers_cents
    }
    sums = any(line.payout.sum_cents for line in hands)
    notes = []
    if tables.forfeited:
        notes.append(
            f"A player who folds forfeits this wager ({tables.forfeited}); the edge is for a player"
            " who never folds."
        )
    if sums:
        dollars = offer.wagers_cents[0] // 100
        notes.append(
            "The paytable has fixed sums, so the edge depends on the amount of the wager: this edge"
            f" is for ${dollars}."
        )
    return OddsEntry(
        game=offer.chapter.game,
        wager=offer.wager,
        paytable=offer.paytable,
        house_edge=next(iter(edges.values())),
        hands=hands,
        rule=", ".join(rules),
        mini_royal=offer.mini_royal_cell,
        reading=offer.reading,
        house_edge_by_wager=edges if sums else {},
        note=" ".join([*notes, *offer.limit_notes(set(rules))]),
        tables=offer.at,
    )


def with_hit_times(entry: OddsEntry, tables: WagerTables, wagers_per_hour: int) -> OddsEntry:
    """Return the odds of a wager that feeds a meter, with the times between its hits.

    ``wagers_per_hour``, 1 or more, counts the wagers of all tables. The times are for players who
    never fold, so each wager has the same chance to hit.
    """

    def hours(chances: Iterable[Fraction]) -> str:
        chance = sum(chances, Fraction(0))
        return exact(1 / (chance * wagers_per_hour)) if chance else ""

    def times_of(meter: str) -> MeterTimes:
        won = [(line.chance, line.percent_of(meter)) for line in entry.hands]
        if beat := entry.bad_beat:
            won.append((beat.of_wager, beat.percent_of(meter)))
        return MeterTimes(
            meter=meter,
            hours=hours(chance for chance, percent in won if percent),
            hours_whole=hours(chance for chance, percent in won if percent == 100),
        )

    times = HitTimes(
        wagers_per_hour=wagers_per_hour,
        meters=tuple(times_of(meter) for meter in tables.fed),
        hands={line.hand: hours([line.chance]) for line in entry.hands if line.payout.wins},
    )
    return replace(entry, hit_times=times)
