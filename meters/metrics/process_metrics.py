import math
import shutil
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final, final

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    Info,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder

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
from meters.metrics.families import PROCESS, MetricFamilies
from meters.metrics.link_metrics import LinkMetrics, PlayMetrics
from meters.process.private_files import nearest_existing
from meters.selfcheck.software import SelfCheck
from meters.store.link_stats import RedisMemory


@final
class ProcessMetrics:
    def __init__(
        self, families: MetricFamilies, data: Path, archive: Path, now: Callable[[], float]
    ) -> None:
        families.declare(PROCESS)
        self._now = now
        self._families = families
        self._there: dict[tuple[str, str], bool] = dict.fromkeys(families.tables, False)
        for link, _ in families.tables:
            families.gauges["tables_expected"].labels(link).inc()
        # The disk, and the notes in files, are read at each request.
        gauges = families.gauges
        gauges["data_free_bytes"].set_function(lambda: _disk(data)[0])
        gauges["data_size_bytes"].set_function(lambda: _disk(data)[1])
        gauges["backup_timestamp_seconds"].set_function(lambda: _changed_s(backup_note(data)))
        for scope, name in (("last", AUDIT_NOTE), ("whole", WHOLE_AUDIT_NOTE)):
            _show_note(
                gauges["audit_noted_timestamp_seconds"].labels(scope),
                gauges["audit_noted_in_order"].labels(scope),
                partial(read_note, data / name, AuditNote),
            )
        _show_note(
            gauges["archive_look_timestamp_seconds"],
            gauges["archive_sound"],
            partial(read_note, archive / ARCHIVE_NOTE, ArchiveNote),
        )

    def attach(self, check: SelfCheck, streams: Mapping[str, Callable[[], int]]) -> None:
        """Set up the metrics of self-check and event streams, which are read at each request.

        `streams` has the functions that count the open ones, by the kind of their readers.
        """
        self._families.gauges["self_check_passed"].set_function(lambda: check.problem is None)
        for kind, count in streams.items():
            self._families.gauges["streams_open"].labels(kind).set_function(count)

    def count_dropped(self, link: str) -> None:
        """Count a dropped message of a table; ``unknown`` if the floor file has no such link."""
        self._families.count("messages_dropped", 1, self._families.known_link(link))

    def count_not_taken(self, link: str) -> None:
        """Count an event that could not be applied because of a defect in the service's code."""
        self._families.count("events_not_taken", 1, self._families.known_link(link))

    def count_sign_in_refused(self, device: str, reason: str) -> None:
        """Count a refused sign-in: on a `known` or `new` device; `wrong`, `locked` or `slowed`."""
        self._families.count("sign_ins_refused", 1, device, reason)

    def observe_step(self, events: int, seconds: float) -> None:
        """Note how many events one call of the Lua script applied, and how many seconds it took."""
        self._families.histograms["batch_events"].observe(events)
        self._families.histograms["script_seconds"].observe(seconds)

    def observe_wait(self, seconds: float) -> None:
        """Note how long the first message of a batch waited until the batch started."""
        self._families.histograms["intake_lag_seconds"].observe(seconds)

    def observe_reply(self, seconds: float) -> None:
        """Note the time from the arrival of a batch's first message until the last reply."""
        self._families.histograms["reply_seconds"].observe(seconds)

    def count_outage(self, link: str) -> None:
        self._families.count("link_outages", 1, link)

    def show_beat(
        self, link: str, *, operable: bool, closed: bool, missed: int, lasted_s: float
    ) -> None:
        """Set the metrics of a link's heartbeat: the link's state and the missed heartbeats.

        `lasted_s`, the time since the last heartbeat, counts as inoperable if the link is.
        """
        self._families.set("link_operable", int(operable), link)
        self._families.set("link_closed", int(closed), link)
        self._families.set("beat_timestamp_seconds", self._now(), link)
        self._families.count("beats_missed", missed, link)
        if not operable:
            self._families.count("link_inoperable_seconds", lasted_s, link)

    def show_table(self, link: str, table: str, *, online: bool) -> None:
        if self._there.get((link, table), online) == online:
            return
        self._there[link, table] = online
        self._families.set("table_online", int(online), link, table)
        self._families.gauges["tables_online"].labels(link).inc(1 if online else -1)

    def show_redis(self, link: str, *, ready: bool) -> None:
        self._families.set("redis_ready", int(ready), link)

    def show_servers_missing(self, link: str, missing: int) -> None:
        self._families.set("redis_servers_missing", missing, link)

    def show_memory(self, link: str, memory: RedisMemory | None) -> None:
        if memory is not None:
            self._families.set("redis_memory_used_bytes", memory.used_bytes, link)
            self._families.set("redis_memory_limit_bytes", memory.limit_bytes, link)

    def show_broker(self, *, connected: bool) -> None:
        self._families.gauges["broker_connected"].set(int(connected))
        if connected:
            self._families.counters["broker_connections"].inc()


def _disk(data: Path) -> tuple[float, float]:
    """Return the free space and the size in bytes of the disk that has the data directory.

    If the directory does not exist yet, its nearest existing parent is used.
    """
    try:
        disk = shutil.disk_usage(nearest_existing(data))
    except OSError:
        return math.nan, math.nan
    return disk.free, disk.total


def _show_note(at: Gauge, good: Gauge, read: Callable[[], AuditNote | ArchiveNote | None]) -> None:
    """Set up two metrics of a note in a file, which is read at each request.

    The first is its time, 0 if there is no note. The second is 1 if the note names no problem,
    otherwise 0.
    """

    def at_s() -> float:
        note = read()
        return note.at_s if note else 0.0

    def is_good() -> float:
        note = read()
        return float(note is not None and not note.problems)

    at.set_function(at_s)
    good.set_function(is_good)


def _changed_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


@final
class Metrics:
    """The service's counters, gauges and histograms, in their own registry.

    Labels for the links, meters and tables of the floor exist from the start with the value 0, so
    Prometheus sees the first increase. `now` returns seconds since the epoch, for the age of
    waiting claims.
    """

    def __init__(self, floor: Floor, now: Callable[[], float] = time.time) -> None:
        # Nobody needs the creation times of counters. They would double the size of the output.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry: Final = CollectorRegistry()
        families = MetricFamilies(self.registry, floor)
        self.play: Final = PlayMetrics(families)
        self.books: Final = LinkMetrics(families, now)
        self.running: Final = ProcessMetrics(
            families, Path(floor.service.data), Path(floor.archive.directory), now
        )
        Info("pitlink_build", "The running version.", registry=self.registry).info(
            {"version": version("pitlink")}
        )
        ProcessCollector(registry=self.registry)

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics for Prometheus, and the media type, which `accept` decides."""
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type
