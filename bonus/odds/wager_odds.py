"""The odds of a wager of any kind."""

from bonus.odds.enumerations import Enumerator
from bonus.odds.main_edges import main_entry
from bonus.odds.meter_edges import meter_entry
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import Offer
from bonus.odds.optional_edges import optional_entry
from bonus.odds.tier_edges import has_tiers, tiers_entry


def entry_of(offer: Offer, counted: Enumerator) -> OddsEntry:
    """Return the odds of a wager that is offered with one paytable."""
    if offer.tables is None:
        return main_entry(offer, counted)
    if has_tiers(offer.tables) and offer.tables.fed:
        return tiers_entry(offer, offer.tables, counted)
    if offer.tables.fed:
        return meter_entry(offer, offer.tables, counted)
    return optional_entry(offer, offer.tables, counted)
