"""How the service itself does: its links, tables, steps, connections, displays and disk."""

import math
import shutil
import time
from collections.abc import Callable, Sized
from pathlib import Path
from typing import Final, final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from meters.books.audit_notes import (
    ARCHIVE_NOTE,
    AUDIT_NOTE,
    BACKUP_NOTE,
    WHOLE_AUDIT_NOTE,
    ArchiveNote,
    AuditNote,
    read_note,
)
from meters.books.link_stats import RedisMemory
from meters.displays.display_state import DisplayState
from meters.metrics.labels import FloorLabels
from meters.selfcheck.runtime import SelfCheck

_BATCH_EVENTS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_SCRIPT_SECONDS: Final = (
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5
)  # fmt: skip
_WAIT_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10)


@final
class ProcessMetrics:
    """Shows how the service does.

    Args:
        registry: where the metrics are.
        labels: those that there can be.
        data: the service's data directory.
        archive: the directory of archived gaming days.
        now: seconds since the epoch.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        labels: FloorLabels,
        data: Path,
        archive: Path,
        now: Callable[[], float],
    ) -> None:
        self._now = now
        self._labels = labels
        self._there: dict[tuple[str, str], bool] = dict.fromkeys(labels.tables, False)
        self._make_steps(registry)
        self._make_links(registry)
        self._make_parts(registry)
        self._make_disk(registry, data, archive)
        self._waited_s = 0.0
        for link in labels.links:
            self._make_link(link)
        for link, table in labels.tables:
            self._table.labels(link, table)
            self._expected.labels(link).inc()

    def _make_steps(self, of: CollectorRegistry) -> None:
        self._dropped = Counter(
            "pitlink_messages_dropped", "Messages let go: a flood on one topic.", ("link",),
            registry=of,
        )  # fmt: skip
        self._not_taken = Counter(
            "pitlink_events_not_taken", "Events that a defect kept from being taken.", ("link",),
            registry=of,
        )  # fmt: skip
        self._batch = Histogram(
            "pitlink_batch_events", "Events of one link applied in one step.",
            buckets=_BATCH_EVENTS, registry=of,
        )  # fmt: skip
        self._script = Histogram(
            "pitlink_script_seconds", "Duration of one atomic step, as the service waits for it.",
            buckets=_SCRIPT_SECONDS, registry=of,
        )  # fmt: skip
        self._lag = Histogram(
            "pitlink_intake_lag_seconds",
            "How long the first message of each batch had waited to be taken.",
            buckets=_WAIT_SECONDS, registry=of,
        )  # fmt: skip
        self._replies = Histogram(
            "pitlink_reply_seconds",
            "From the arrival of each batch's first event until all its replies were posted.",
            buckets=_WAIT_SECONDS, registry=of,
        )  # fmt: skip

    def _make_links(self, of: CollectorRegistry) -> None:
        link = ("link",)
        self._operable = Gauge(
            "pitlink_link_operable", "1 while the link is operable here.", link, registry=of
        )
        self._closed = Gauge(
            "pitlink_link_closed", "1 while people have closed the link.", link, registry=of
        )
        self._outages = Counter(
            "pitlink_link_outages", "How often the link ceased to operate here.", link, registry=of
        )
        self._inoperable_s = Counter(
            "pitlink_link_inoperable_seconds", "How long the link did not operate here.", link,
            registry=of,
        )  # fmt: skip
        self._beat_at = Gauge(
            "pitlink_beat_timestamp_seconds", "When the link last beat here.", link, registry=of
        )
        self._missed = Counter(
            "pitlink_beats_missed", "Beats that were due and came late or not.", link, registry=of
        )
        self._online = Gauge(
            "pitlink_tables_online", "Tables whose agent is connected.", link, registry=of
        )
        self._expected = Gauge(
            "pitlink_tables_expected", "Tables in the floor file.", link, registry=of
        )
        self._table = Gauge(
            "pitlink_table_online", "1 while the table's agent is connected.", ("link", "table"),
            registry=of,
        )  # fmt: skip

    def _make_parts(self, of: CollectorRegistry) -> None:
        self._redis = Gauge(
            "pitlink_redis_ready", "1 while Redis answers and keeps what it is given.", ("link",),
            registry=of,
        )  # fmt: skip
        self._memory = Gauge(
            "pitlink_redis_memory_used_bytes", "Memory that Redis uses.", ("link",), registry=of
        )
        self._memory_limit = Gauge(
            "pitlink_redis_memory_limit_bytes", "Memory that Redis may use; 0 for no limit.",
            ("link",), registry=of,
        )  # fmt: skip
        self._broker = Gauge(
            "pitlink_broker_connected", "1 while the broker is connected.", registry=of
        )
        self._connections = Counter(
            "pitlink_broker_connections", "How often the broker was connected.", registry=of
        )
        self._streams = Gauge(
            "pitlink_streams_open", "Event streams that are read now.", ("reader",), registry=of
        )
        self._self_check = Gauge(
            "pitlink_self_check_passed", "1 while the self-check holds.", registry=of
        )

    @staticmethod
    def _make_disk(of: CollectorRegistry, data: Path, archive: Path) -> None:
        audited = Gauge(
            "pitlink_audit_noted_timestamp_seconds",
            "When the last audit, and the last whole one, was noted; 0 for never.",
            ("scope",), registry=of,
        )  # fmt: skip
        in_order = Gauge(
            "pitlink_audit_noted_in_order",
            "1 while that audit found all in order; 0 as well for never.",
            ("scope",), registry=of,
        )  # fmt: skip
        looked = Gauge(
            "pitlink_archive_look_timestamp_seconds",
            "When the archive's files were last looked at; 0 for never.",
            registry=of,
        )
        sound = Gauge(
            "pitlink_archive_sound",
            "1 while every file was there and as it was; 0 as well for never.",
            registry=of,
        )
        free = Gauge(
            "pitlink_data_free_bytes", "Free room on the disk of the data directory.", registry=of
        )
        size = Gauge("pitlink_data_size_bytes", "Size of that disk.", registry=of)
        backup = Gauge(
            "pitlink_backup_timestamp_seconds",
            "When a backup was last noted in the data directory; 0 for never.",
            registry=of,
        )
        for scope, name in (("last", AUDIT_NOTE), ("whole", WHOLE_AUDIT_NOTE)):
            _show_note(
                audited.labels(scope),
                in_order.labels(scope),
                lambda path=data / name: read_note(path, AuditNote),  # type: ignore[misc]
            )
        _show_note(looked, sound, lambda: read_note(archive / ARCHIVE_NOTE, ArchiveNote))
        free.set_function(lambda: _disk(data)[0])
        size.set_function(lambda: _disk(data)[1])
        backup.set_function(lambda: _changed_s(data / BACKUP_NOTE))

    def _make_link(self, link: str) -> None:
        for each in (
            self._dropped, self._not_taken, self._operable, self._closed, self._outages,
            self._inoperable_s, self._beat_at, self._missed, self._online, self._expected,
            self._redis,
        ):  # fmt: skip
            each.labels(link)

    def attach(self, check: SelfCheck, displays: DisplayState) -> None:
        """Have the self-check's result and the event streams asked for at each reading."""
        self._self_check.set_function(lambda: check.problem is None)
        self._streams.labels("display").set_function(lambda: displays.watchers(staff=False))
        self._streams.labels("staff").set_function(lambda: displays.watchers(staff=True))

    def count_dropped(self, link: str) -> None:
        """Count a message that was let go; `link` where a table of it sent it."""
        self._dropped.labels(self._labels.link(link)).inc()

    def count_not_taken(self, link: str) -> None:
        """Count an event that a defect of ours kept from being taken."""
        self._not_taken.labels(self._labels.link(link)).inc()

    def observe_step(self, events: int, seconds: float) -> None:
        """Note one atomic step: the events that it applied and how long it took."""
        self._batch.observe(events)
        self._script.observe(seconds)

    def note_wait(self, waited_s: float) -> None:
        """Note how long the first message of a batch, which is taken now, had waited."""
        self._waited_s = waited_s
        self._lag.observe(waited_s)

    def time_replies(self, events: Sized) -> Callable[[object], None]:
        """What is to be called once the events that were just taken have had their replies."""
        if not events:
            return lambda _: None
        arrived_s = time.perf_counter() - self._waited_s
        return lambda _: self._replies.observe(time.perf_counter() - arrived_s)

    def count_outage(self, link: str) -> None:
        """Count that a link ceased to operate."""
        self._outages.labels(link).inc()

    def show_beat(
        self, link: str, *, operable: bool, closed: bool, missed: int, lasted_s: float
    ) -> None:
        """Show a beat: how the link stands, the beats missed before it, and since the last one."""
        self._operable.labels(link).set(int(operable))
        self._closed.labels(link).set(int(closed))
        self._beat_at.labels(link).set(self._now())
        self._missed.labels(link).inc(missed)
        if not operable:
            self._inoperable_s.labels(link).inc(lasted_s)

    def show_table(self, link: str, table: str, *, online: bool) -> None:
        """Show whether the agent of a table that the floor knows is connected."""
        if self._there.get((link, table), online) == online:
            return
        self._there[link, table] = online
        self._table.labels(link, table).set(int(online))
        self._online.labels(link).inc(1 if online else -1)

    def show_redis(self, link: str, *, ready: bool) -> None:
        """Show whether Redis answers and keeps what it is given."""
        self._redis.labels(link).set(int(ready))

    def show_memory(self, link: str, memory: RedisMemory | None) -> None:
        """Show Redis's memory, where it tells of it."""
        if memory is not None:
            self._memory.labels(link).set(memory.used_bytes)
            self._memory_limit.labels(link).set(memory.limit_bytes)

    def show_broker(self, *, connected: bool) -> None:
        """Show that the broker was connected, or that the connection is gone."""
        self._broker.set(int(connected))
        if connected:
            self._connections.inc()


def _disk(data: Path) -> tuple[float, float]:
    """Free room and size in bytes of the disk that the data directory is on, or will be."""
    place = next((each for each in (data, *data.absolute().parents) if each.exists()), data)
    try:
        disk = shutil.disk_usage(place)
    except OSError:
        return math.nan, math.nan
    return disk.free, disk.total


def _show_note(at: Gauge, good: Gauge, read: Callable[[], AuditNote | ArchiveNote | None]) -> None:
    """Have a note's time and result read whenever the metrics are."""

    def at_s() -> float:
        note = read()
        return note.at_s if note else 0.0

    def is_good() -> float:
        note = read()
        return float(note is not None and not note.problems)

    at.set_function(at_s)
    good.set_function(is_good)


def _changed_s(path: Path) -> float:
    """When a file was last changed, 0 where there is none."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
