"""The data of the floor file with which the service validates a table's events."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Self

from bonus.law.meter_terms import MeterTerms
from bonus.settling.table_rules import TableRules, meter_rules
from bonus.wagers import MICROS_PER_CENT
from meters.floor.facility import Facility
from meters.floor.floor_file import Floor, Link, Meter, Table
from meters.wire.topics import TableAddress


@dataclass(frozen=True, slots=True)
class WagerTerms:
    """A wager that a table offers, with data of one meter to which the wager contributes.

    `contribution_max_micros` limits what one event adds to the meter (duty D3); 0 is no limit.
    """

    meter: str
    wager_cents: int
    primary_bps: int
    reserve_bps: int
    limit_micros: int
    contribution_max_micros: int


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table of the floor, with the data for the validation of its events.

    The keys of `meters` and `terms` are kinds of meter; those of `offers` are wagers. `rules` have
    only the wagers that feed a meter.
    """

    address: TableAddress
    table: Table
    meters: Mapping[str, Meter]
    terms: Mapping[str, MeterTerms]
    offers: Mapping[str, tuple[WagerTerms, ...]]
    rules: TableRules
    facility: Facility

    @classmethod
    def of(cls, floor: Floor, link: Link, table: Table) -> Self:
        meters = link.meters_of(table)
        terms = {kind: meter.terms_in(table.game) for kind, meter in meters.items()}
        rules = meter_rules(table.game, table.games)
        address, offers = TableAddress(link.id, table.id), _offers(rules, meters)
        return cls(address, table, meters, terms, offers, rules, floor.facility)

    def feeding(self, link: Link, fed: Collection[str]) -> Self:
        """Return the table with the meters of an open round, even if the floor file changed."""
        if {meter.meter_id for meter in self.meters.values()}.issuperset(fed):
            return self
        then = {meter.kind: meter for meter in link.meter if meter.meter_id in fed}
        terms = {kind: meter.terms_in(self.table.game) for kind, meter in then.items()}
        meters = {**self.meters, **then}
        offers = _offers(self.rules, meters)
        return replace(self, meters=meters, terms={**self.terms, **terms}, offers=offers)


def _offers(rules: TableRules, meters: Mapping[str, Meter]) -> Mapping[str, tuple[WagerTerms, ...]]:
    return {
        wager: tuple(_terms(meters[kind]) for kind in tables.fed)
        for wager, tables in rules.meters.terms.items()
        if all(kind in meters for kind in tables.fed)
    }


def _terms(meter: Meter) -> WagerTerms:
    terms = meter.terms
    return WagerTerms(
        meter.meter_id,
        terms.wager_cents,
        terms.primary_bps,
        terms.reserve_bps,
        (meter.limit or 0) * MICROS_PER_CENT,
        (meter.contribution_max or 0) * MICROS_PER_CENT,
    )


def table_topics(floor: Floor, link: Link) -> Mapping[TableAddress, CatalogTable]:
    return {
        TableAddress(link.id, table.id): CatalogTable.of(floor, link, table) for table in link.table
    }
