"""Metrics of the service for Prometheus, as in ``deploy/docs/reference/metrics.md``.

Metrics are not accounting records: accounting uses the ledger and its reports, so a loss of metrics
is harmless. The counters of a service start at zero, and count only what this service does. Gauges
of links' data are the same in every service. Money is in cents, because amounts in dollars, the
base unit that Prometheus prefers, would be fractions.
"""

import math
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Final, final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    Metric,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from bonus.wagers import MICROS_PER_CENT
from meters.audit.audit_files import (
    ARCHIVE_NOTE,
    AUDIT_NOTE,
    WHOLE_AUDIT_NOTE,
    ArchiveNote,
    AuditNote,
    backup_note,
    read_note,
)
from meters.floor.floor_file import Floor
from meters.ledger.link_state import LinkState
from meters.selfcheck.record_checks import nearest_existing
from meters.service.metric_declarations import (
    DECLARED,
    FURTHER,
    LINK,
    METER,
    TABLE,
    Audited,
    MetricDeclaration,
)
from meters.store.link_stats import LinkStats

CODES_MAX: Final = 64
"""Limit on the different refusal codes in the metrics; pitlink has far fewer."""

_ADDED_MAX: Final = 65_536
"""Limit on the sums that wait until the metrics are read: strangers can invent many links."""

UNKNOWN: Final = "unknown"
_WAITING: Final = (
    ("claims_pending", "claims_oldest_age_seconds"),
    ("hand_pays_pending", "hand_pays_oldest_age_seconds"),
    ("envy_unpaid", "envy_oldest_age_seconds"),
    ("corrections_pending", "corrections_oldest_age_seconds"),
)
"""The gauges of what waits: the number, and the age of the oldest in seconds."""

Labels = tuple[str, ...]


@final
class Metrics:
    """The service's counters, gauges and histograms, in their own registry.

    The methods name a metric as `DECLARED` does, with the values of its labels. From the start,
    most metrics have the value 0 for each link, meter or table of the floor, so Prometheus sees the
    first increase. Every label has a limited set of values. Any other value, such as a stranger's
    link, becomes ``unknown``. `now` returns seconds since the epoch.
    """

    def __init__(self, floor: Floor, now: Callable[[], float] = time.time) -> None:
        # The creation times of counters, which nobody needs, would double the size of the output.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry: Final = CollectorRegistry()
        self._now = now
        self._floor: Mapping[Labels, Sequence[Labels]] = {
            (): [()],
            LINK: [(link.id,) for link in floor.link],
            METER: [(link.id, meter.meter_id) for link in floor.link for meter in link.meter],
            TABLE: [(link.id, table.id) for link in floor.link for table in link.table],
        }
        self._known = {place: frozenset(labels) for place, labels in self._floor.items()}
        self._codes: set[str] = set()
        self._labels = {one.name: one.labels for one in DECLARED}
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        self._added: dict[Labels, float] = {}
        self.registry.register(_Before(self._count_added))
        self._since_s: dict[Labels, float | None] = {}
        for one in DECLARED:
            self._declare(one)
        self._begin(floor)
        self._follow_files(Path(floor.service.data), Path(floor.archive.directory))
        Info("pitlink_build", "The running version.", registry=self.registry).info(
            {"version": version("pitlink")}
        )
        ProcessCollector(registry=self.registry)

    def _declare(self, one: MetricDeclaration) -> None:
        about = (f"pitlink_{one.name}", one.help_text, one.labels)
        if one.kind is Histogram:
            self._histograms[one.name] = Histogram(
                *about, buckets=one.buckets, registry=self.registry
            )
            return
        made: Counter | Gauge
        if one.kind is Counter:
            made = self._counters[one.name] = Counter(*about, registry=self.registry)
        else:
            made = self._gauges[one.name] = Gauge(*about, registry=self.registry)
        if one.labels and one.from_start:
            place, further = _parts(one.labels)
            for values in product(self._floor[place], *(FURTHER[name] for name in further)):
                made.labels(*values[0], *values[1:])

    def _begin(self, floor: Floor) -> None:
        self.set("operators_log_holds", 1)
        for link in floor.link:
            self.set("tables_expected", len(link.table), link.id)
            self.count("refusals", link.id, "unknown_table", by=0)
            for _, age in _WAITING:
                self.follow(age, partial(self._age_s, age, link.id), link.id)

    def _follow_files(self, data: Path, archive: Path) -> None:
        self.follow("data_free_bytes", lambda: _disk(data)[0])
        self.follow("data_size_bytes", lambda: _disk(data)[1])
        self.follow("backup_timestamp_seconds", lambda: _changed_s(backup_note(data)))
        for scope, name in (("last", AUDIT_NOTE), ("whole", WHOLE_AUDIT_NOTE)):
            read = partial(read_note, data / name, AuditNote)
            self.follow("audit_noted_timestamp_seconds", partial(_noted_s, read), scope)
            self.follow("audit_noted_in_order", partial(_in_order, read), scope)
        look = partial(read_note, archive / ARCHIVE_NOTE, ArchiveNote)
        self.follow("archive_look_timestamp_seconds", partial(_noted_s, look))
        self.follow("archive_sound", partial(_in_order, look))

    def count(self, name: str, *labels: str, by: float = 1) -> None:
        self.add({(name, *labels): by})

    def add(self, counts: Mapping[Labels, float]) -> None:
        """Add numbers to counters. A key is the counter's name with the values of its labels.

        The counters get the sums when somebody reads them: thousands of events come between two
        readings.
        """
        for key, number in counts.items():
            self._added[key] = self._added.get(key, 0) + number
        if len(self._added) > _ADDED_MAX:
            self._count_added()

    def _count_added(self) -> None:
        added, self._added = self._added, {}
        for (name, *labels), number in added.items():
            counter, known = self._counters[name], self._known_labels(name, labels)
            (counter.labels(*known) if known else counter).inc(number)

    def set(self, name: str, value: float, *labels: str) -> None:
        self._gauge(name, labels).set(value)

    def follow(self, name: str, read: Callable[[], float], *labels: str) -> None:
        self._gauge(name, labels).set_function(read)

    def _gauge(self, name: str, labels: Sequence[str]) -> Gauge:
        known = self._known_labels(name, labels)
        return self._gauges[name].labels(*known) if known else self._gauges[name]

    def observe(self, name: str, value: float) -> None:
        self._histograms[name].observe(value)

    def _known_labels(self, name: str, values: Sequence[str]) -> list[str]:
        place, further = _parts(self._labels[name])
        of_floor, others = tuple(values[: len(place)]), values[len(place) :]
        if of_floor not in self._known[place]:
            of_floor = (UNKNOWN,) * len(place)
        return [*of_floor, *map(self._known_value, further, others)]

    def _known_value(self, name: str, value: str) -> str:
        if name != "code":
            return value if value in FURTHER[name] else UNKNOWN
        if value not in self._codes:
            value = value if len(self._codes) < CODES_MAX else UNKNOWN
            self._codes.add(value)
        return value

    def show_link_state(self, link: str, state: LinkState, figures: LinkStats, sealed: int) -> None:
        """Set the metrics of a link's state and data.

        `sealed` is the last ledger entry up to which an audit found no error.
        """
        for meter, micros in figures.reserve_micros.items():
            self.set("meter_reserve_cents", micros // MICROS_PER_CENT, link, meter)
        for meter, micros in figures.overflow_micros.items():
            self.set("meter_overflow_cents", micros // MICROS_PER_CENT, link, meter)
        waiting = (figures.claims, figures.hand_pays, figures.envy, figures.corrections)
        for (name, age), counted in zip(_WAITING, waiting, strict=True):
            self.set(name, counted.count, link)
            self._since_s[age, link] = counted.since_s
        shown = {
            "proposals_pending": figures.proposals,
            "rounds_open": state.rounds_open,
            "ledger_entries": state.head.entry,
            "ledger_live_entries": figures.entries_live,
            "ledger_sealed_entries": sealed,
            "ledger_archived_entries": figures.entries_archived,
            "archive_timestamp_seconds": figures.archived_s,
            "reading_timestamp_seconds": figures.read_s,
        }
        for name, value in shown.items():
            if value is not None:
                self.set(name, value, link)

    def _age_s(self, age: str, link: str) -> float:
        since_s = self._since_s.get((age, link))
        return 0.0 if since_s is None else max(0.0, self._now() - since_s)

    def show_audit(self, link: str, result: Audited, took_s: float) -> None:
        """Count an audit. Unless the audit failed, set the metrics of its result."""
        self.count("audits", link, result)
        if result is not Audited.FAILED:
            self.set("audit_balanced", result is Audited.BALANCED, link)
            self.set("audit_timestamp_seconds", self._now(), link)
            self.set("audit_duration_seconds", took_s, link)

    def show_beat(
        self, link: str, *, operable: bool, closed: bool, missed: int, lasted_s: float
    ) -> None:
        """Set the metrics of a link's heartbeat: the link's state and the missed heartbeats.

        If the link is inoperable, the time `lasted_s` since the last heartbeat counts as
        inoperable.
        """
        self.set("link_operable", operable, link)
        self.set("link_closed", closed, link)
        self.set("beat_timestamp_seconds", self._now(), link)
        self.count("beats_missed", link, by=missed)
        if not operable:
            self.count("link_inoperable_seconds", link, by=lasted_s)

    def exposition(self, accept: str) -> tuple[bytes, str]:
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type


class _Before(Collector):
    """A collector without metrics, which calls a function before the metrics are read."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call

    def collect(self) -> Iterable[Metric]:
        self._call()
        return ()


def _parts(labels: Labels) -> tuple[Labels, Labels]:
    place = labels[: sum(name in {"link", "meter", "table"} for name in labels)]
    return place, labels[len(place) :]


def _disk(data: Path) -> tuple[float, float]:
    """Return the free space and the size in bytes of the disk that has the data directory.

    If the directory does not exist yet, the nearest existing parent counts.
    """
    try:
        disk = shutil.disk_usage(nearest_existing(data))
    except OSError:
        return math.nan, math.nan
    return disk.free, disk.total


def _noted_s(read: Callable[[], AuditNote | ArchiveNote | None]) -> float:
    note = read()
    return note.at_s if note else 0.0


def _in_order(read: Callable[[], AuditNote | ArchiveNote | None]) -> float:
    note = read()
    return float(note is not None and not note.problems)


def _changed_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
