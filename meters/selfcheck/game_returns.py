"""Check that wagers of house games do not give back more than is wagered."""

from collections.abc import Iterator
from fractions import Fraction

from meters.floor.floor_file import Floor
from meters.odds.counting import count_entries
from meters.odds.floor_offers import floor_offers
from meters.selfcheck.check_result import Check


def return_checks(floor: Floor) -> Iterator[Check]:
    """Warn if a wager of a house game gives back more than is wagered, at the seeds of its meters.

    Only wagers that feed meters are checked. The exact count takes some seconds for each wager.
    """
    offers = [
        offer
        for offer in floor_offers(floor)
        if offer.chapter.game in floor.games.digests and offer.tables and offer.tables.fed
    ]
    for entry in count_entries(offers, "check") if offers else ():
        back = 1 - Fraction(entry.house_edge)
        tenths = back * 1000 // 1
        paytable = f" {entry.paytable}" if entry.paytable else ""
        yield Check(
            f"return of {entry.wager}{paytable} in {entry.game}",
            holds=back <= 1,
            seen=f"{tenths // 10}.{tenths % 10}% at the seed of its meters"
            + ("" if back <= 1 else ": the house loses, so change the paytable or the seed"),
            warns=True,
        )
