"""The declared metrics in a registry, with the values that their labels can have."""

from collections.abc import Iterable
from enum import StrEnum
from itertools import product
from typing import Final, final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from meters.floor.floor_file import Floor
from meters.metrics.declarations import MetricDeclaration

UNKNOWN: Final = "unknown"


class Audited(StrEnum):
    """The outcome of an audit. `failed` means that Redis could not be read."""

    BALANCED = "balanced"
    DIFFERS = "differs"
    FAILED = "failed"


_FURTHER: Final = {
    "kind": ("odds", "percent"), "result": tuple(Audited), "scope": ("last", "whole"),
    "device": ("known", "new"), "reason": ("wrong", "locked", "slowed"),
}  # fmt: skip


@final
class MetricFamilies:
    """The metrics of one registry, by their declared names."""

    def __init__(self, registry: CollectorRegistry, floor: Floor) -> None:
        self._registry = registry
        self.links: Final = tuple(link.id for link in floor.link)
        self.meters: Final = tuple(
            (link.id, meter.meter_id) for link in floor.link for meter in link.meter
        )
        self.tables: Final = tuple(
            (link.id, table.id) for link in floor.link for table in link.table
        )
        self.counters: Final[dict[str, Counter]] = {}
        self.gauges: Final[dict[str, Gauge]] = {}
        self.histograms: Final[dict[str, Histogram]] = {}

    def declare(self, declared: Iterable[MetricDeclaration]) -> None:
        """Register metrics, with values for all combinations of labels if ``from_start``."""
        for one in declared:
            name, of = f"pitlink_{one.name}", self._registry
            if one.kind is Histogram:
                self.histograms[one.name] = Histogram(
                    name, one.help_text, one.labels, buckets=one.buckets, registry=of
                )
                continue
            made: Counter | Gauge
            if one.kind is Counter:
                made = self.counters[one.name] = Counter(
                    name, one.help_text, one.labels, registry=of
                )
            else:
                made = self.gauges[one.name] = Gauge(name, one.help_text, one.labels, registry=of)
            if one.labels and one.from_start:
                for values in self._values(one.labels):
                    made.labels(*values)

    def _values(self, labels: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
        of_floor: Iterable[tuple[str, ...]] = [()]
        if "meter" in labels:
            of_floor = self.meters
        elif "table" in labels:
            of_floor = self.tables
        elif "link" in labels:
            of_floor = [(link,) for link in self.links]
        further = [_FURTHER[label] for label in labels if label in _FURTHER]
        return [(*values, *others) for values in of_floor for others in product(*further)]

    def known_link(self, link: str) -> str:
        return link if link in self.links else UNKNOWN

    def known_meter(self, link: str, meter: str) -> tuple[str, str]:
        return (link, meter) if (link, meter) in self.meters else (UNKNOWN, UNKNOWN)

    def known_table(self, link: str, table: str) -> tuple[str, str]:
        return (link, table) if (link, table) in self.tables else (UNKNOWN, UNKNOWN)
