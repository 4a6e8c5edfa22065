"""What the service knows of each table, worked out once from the floor file."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Self

from bonus.law.meter_terms import MeterTerms
from bonus.wagers import METER_OF, MICROS_PER_CENT, MeterKind
from meters.floor.floor_file import Floor, Link, Meter, Table
from meters.wire.topics import TableAddress


@dataclass(frozen=True, slots=True)
class WagerTerms:
    """A wager that a table takes: its meter, its amount in cents, its rates in basis points.

    Of the meter beside that its limit, and the most that one event may add to it and its reserve;
    0 where there is no such bound (duty D3).
    """

    meter: str
    wager_cents: int
    primary_bps: int
    reserve_bps: int
    limit_micros: int
    contribution_max_micros: int

    @classmethod
    def of(cls, meter: Meter) -> Self:
        """What wagers on a meter are."""
        terms = meter.terms
        return cls(
            meter.meter_id,
            terms.wager_cents,
            terms.primary_bps,
            terms.reserve_bps,
            (meter.limit or 0) * MICROS_PER_CENT,
            (meter.contribution_max or 0) * MICROS_PER_CENT,
        )


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table of the floor, ready to judge its events."""

    link: str
    table: Table
    meters: Mapping[MeterKind, Meter]
    terms: Mapping[MeterKind, MeterTerms]
    offers: Mapping[str, WagerTerms]
    validate_from_cents: int
    confirm_corrections: bool = False

    @classmethod
    def of(cls, floor: Floor, link: Link, table: Table) -> Self:
        """What a table offers, by the terms of its link's meters."""
        meters = link.meters_of(table)
        terms = {kind: meter.terms for kind, meter in meters.items()}
        offers = {
            wager.value: WagerTerms.of(meters[kind])
            for wager, kind in METER_OF.items()
            if kind in meters
        }
        facility = floor.facility
        return cls(
            link.id,
            table,
            meters,
            terms,
            offers,
            facility.validate_from,
            facility.confirm_corrections,
        )

    def feeding(self, link: Link, fed: Collection[str]) -> Self:
        """The table as it was when a round fed these meters: it may feed others since.

        What it offers stays: that is for the next round.
        """
        if {meter.meter_id for meter in self.meters.values()}.issuperset(fed):
            return self
        then = {meter.kind: meter for meter in link.meter if meter.meter_id in fed}
        terms = {kind: meter.terms for kind, meter in then.items()}
        return replace(self, meters={**self.meters, **then}, terms={**self.terms, **terms})


def table_topics(floor: Floor, link: Link) -> Mapping[TableAddress, CatalogTable]:
    """Every table of a link as it operates, as its topic names it."""
    return {
        TableAddress(link.id, table.id): CatalogTable.of(floor, link, table) for table in link.table
    }
