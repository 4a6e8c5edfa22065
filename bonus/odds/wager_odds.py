from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from msgspec.structs import replace

from bonus.law.cells import read_payout
from bonus.odds.enumerations import Enumerator
from bonus.odds.main_edges import main_entry
from bonus.odds.meter_edges import meter_entry
from bonus.odds.odds_entries import HandLine, OddsEntry, exact
from bonus.odds.offers import Offer
from bonus.odds.optional_edges import optional_entry
from bonus.odds.tier_edges import has_tiers, tiers_entry

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
