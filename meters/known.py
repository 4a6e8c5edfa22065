"""What the service knows of each table, worked out once from the floor file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from bonus.law.meter_terms import MeterTerms
from bonus.wagers import METER_OF, MeterKind
from meters.wire.floor import Floor, Link, Meter, Table


@dataclass(frozen=True, slots=True)
class Offer:
    """A wager that a table takes: its meter, its amount in cents, its rates in basis points."""

    meter: str
    wager_cents: int
    primary_bps: int
    reserve_bps: int

    @classmethod
    def of(cls, meter: Meter) -> Self:
        """What wagers on a meter are."""
        terms = meter.terms
        return cls(meter.meter_id, terms.wager_cents, terms.primary_bps, terms.reserve_bps)


def link_offers(link: Link) -> tuple[tuple[str, Offer], ...]:
    """Each wager that feeds a meter of the link, with what it feeds; one for each meter."""
    return tuple(
        (wager.value, Offer.of(meter))
        for meter in link.meter
        for wager, kind in METER_OF.items()
        if kind is meter.kind
    )


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table of the floor, ready to judge its events."""

    link: str
    table: Table
    meters: Mapping[MeterKind, Meter]
    terms: Mapping[MeterKind, MeterTerms]
    offers: Mapping[str, Offer]
    validate_from_cents: int

    @classmethod
    def of(cls, floor: Floor, link: Link, table: Table) -> Self:
        """What a table offers, by the terms of its link's meters."""
        meters = link.meters_of(table)
        terms = {kind: meter.terms for kind, meter in meters.items()}
        offers = {
            wager.value: Offer.of(meters[kind])
            for wager, kind in METER_OF.items()
            if kind in meters
        }
        return cls(link.id, table, meters, terms, offers, floor.facility.validate_from)


def known_tables(floor: Floor) -> Mapping[tuple[str, str], KnownTable]:
    """Every table of the floor by its link and its id, as its topic names it."""
    return {
        (link.id, table.id): KnownTable.of(floor, link, table)
        for link in floor.link
        for table in link.table
    }
