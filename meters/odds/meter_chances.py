"""The chance of a dollar wagered to win a meter, at each wager that feeds it (duty D21)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import msgspec

from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import Offer
from meters.floor.floor_file import Floor, Link, Meter
from meters.odds.floor_offers import floor_offers


@dataclass(frozen=True, slots=True)
class MeterChance:
    """The chance of one wager for a meter, for each dollar of the wager.

    A part of the meter counts as that part of a chance: a hand that wins 10% of it counts a tenth.
    The player never folds, and a jackpot on the dealer's hand is not divided. ``tables`` are those
    of the link with this wager on the meter.
    """

    game: str
    wager: str
    tables: tuple[str, ...]
    of_a_dollar: Fraction


def shared_offers(floor: Floor, link: Link) -> tuple[tuple[Meter, ...], list[Offer]]:
    """Return the meters of a link that different wagers can win, and the offers that feed them.

    Wagers with the same paytable on hands of as many cards of one ranking are not different.
    """
    offers = [
        offer
        for offer in floor_offers(msgspec.structs.replace(floor, link=(link,)))
        if offer.tables and offer.tables.fed
    ]
    feeding = {
        meter.meter_id: [offer for offer in offers if _tables(link, meter, offer.at, offer.wager)]
        for meter in link.meter
    }
    shared = tuple(
        meter for meter in link.meter if len({*map(_hands, feeding[meter.meter_id])}) > 1
    )
    return shared, [
        offer for offer in offers if any(offer in feeding[meter.meter_id] for meter in shared)
    ]


def _hands(offer: Offer) -> object:
    tables = offer.tables
    if tables is None:
        return None
    cards = tables.cards[tables.names.index(offer.wager)]
    number = sum(offer.chapter.deal.judged(cards))
    return offer.ranking, number, msgspec.json.encode(tables.table), offer.paytable


def meter_chances(
    link: Link, meter: Meter, entries: Iterable[OddsEntry]
) -> tuple[MeterChance, ...]:
    """Return the chance of each wager that feeds a meter of a link, the most likely first.

    Those of `entries` that do not feed the meter are left out.
    """
    found = []
    for entry in entries:
        tables = _tables(link, meter, entry.tables, entry.wager)
        if tables:
            share = next(
                (tier.meter_return for tier in entry.tiers if tier.meter == meter.kind),
                entry.meter_return,
            )
            of_a_dollar = Fraction(share) * 100 / meter.wager
            found.append(MeterChance(entry.game, entry.wager, tables, of_a_dollar))
    return tuple(sorted(found, key=lambda each: -each.of_a_dollar))


def chance_ratio(chances: Sequence[MeterChance]) -> Fraction:
    """Return how many times the lowest chance the highest is; 1 if there are fewer than two."""
    if len(chances) < 2:
        return Fraction(1)
    return chances[0].of_a_dollar / chances[-1].of_a_dollar


def _tables(link: Link, meter: Meter, at: Sequence[str], wager: str) -> tuple[str, ...]:
    """Return the tables of a link, among those with an offer, at which its wager feeds a meter."""
    if wager not in meter.wagers:
        return ()
    return tuple(
        table.id for table in link.table if table.id in at and meter.meter_id in table.meters
    )
