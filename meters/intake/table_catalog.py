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

    `contribution_max_micros` limits what one event adds to the meter (duty D3); 0 is no limit. From
    `threshold_micros`, the rates are the next two; 0 means that the rates do not change. What is
    above the limit goes to the meter `overflow_to`, if it is not empty. `wagers_cents` are the
    amounts that the wager can have.
    """

    meter: str
    wagers_cents: tuple[int, ...]
    primary_bps: int
    reserve_bps: int
    limit_micros: int
    contribution_max_micros: int
    threshold_micros: int
    primary_above_bps: int
    reserve_above_bps: int
    overflow_to: str
    limit_there_micros: int


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table of the floor, with the data for the validation of its events.

    The keys of `meters` and `terms` are kinds of meter; those of `offers` are wagers. `rules` have
    only the wagers that feed a meter. `must_hit_by` are meters that no hand wins. `link` tells
    which meter gets what is above the limit of another.
    """

    address: TableAddress
    table: Table
    meters: Mapping[str, Meter]
    terms: Mapping[str, MeterTerms]
    offers: Mapping[str, tuple[WagerTerms, ...]]
    rules: TableRules
    facility: Facility
    link: Link
    must_hit_by: tuple[Meter, ...] = ()

    @classmethod
    def of(cls, floor: Floor, link: Link, table: Table) -> Self:
        meters = link.meters_of(table)
        terms = {kind: meter.terms_in(table.game) for kind, meter in meters.items()}
        rules = meter_rules(table.game, table.games)
        hidden = link.must_hit_by_of(table)
        address, offers = TableAddress(link.id, table.id), _offers(link, rules, meters, hidden)
        return cls(address, table, meters, terms, offers, rules, floor.facility, link, hidden)

    def feeding(self, link: Link, fed: Collection[str]) -> Self:
        """Return the table with the meters of an open round, even if the floor file changed."""
        every = (*self.meters.values(), *self.must_hit_by)
        if {meter.meter_id for meter in every}.issuperset(fed):
            return self
        then = [meter for meter in link.meter if meter.meter_id in fed]
        by_kind = {meter.kind: meter for meter in then if not meter.must_hit_by}
        terms = {kind: meter.terms_in(self.table.game) for kind, meter in by_kind.items()}
        meters = {**self.meters, **by_kind}
        others = [meter for meter in then if meter.must_hit_by and meter not in self.must_hit_by]
        hidden = (*self.must_hit_by, *others)
        offers = _offers(link, self.rules, meters, hidden)
        return replace(
            self, meters=meters, terms={**self.terms, **terms}, offers=offers, must_hit_by=hidden
        )


def _offers(
    link: Link, rules: TableRules, meters: Mapping[str, Meter], must_hit_by: Collection[Meter]
) -> Mapping[str, tuple[WagerTerms, ...]]:
    return {
        wager: (
            *(_terms(link, meters[kind], meters[kind].wagers_cents) for kind in tables.fed),
            *(
                _terms(link, meter, meters[tables.fed[0]].wagers_cents)
                for meter in must_hit_by
                if wager in meter.wagers
            ),
        )
        for wager, tables in rules.meters.terms.items()
        if all(kind in meters for kind in tables.fed)
    }


def _terms(link: Link, meter: Meter, wagers_cents: tuple[int, ...]) -> WagerTerms:
    terms = meter.terms
    return WagerTerms(
        meter.meter_id,
        wagers_cents,
        terms.primary_bps,
        terms.reserve_bps,
        (meter.limit or 0) * MICROS_PER_CENT,
        (meter.contribution_max or 0) * MICROS_PER_CENT,
        terms.threshold_cents * MICROS_PER_CENT,
        terms.primary_above_bps,
        terms.reserve_above_bps,
        *link.overflow_of(meter),
    )


def table_topics(floor: Floor, link: Link) -> Mapping[TableAddress, CatalogTable]:
    return {
        TableAddress(link.id, table.id): CatalogTable.of(floor, link, table) for table in link.table
    }
