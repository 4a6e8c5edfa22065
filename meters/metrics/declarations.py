"""Declarations of every metric of the service: its kind, name, labels and help text.

``deploy/docs/reference/metrics.md`` describes each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

_LINK: Final = ("link",)
_METER: Final = ("link", "meter")
_TABLE: Final = ("link", "table")

_BATCH_EVENTS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_SCRIPT_SECONDS: Final = (
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5
)  # fmt: skip
_WAIT_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10)


@dataclass(frozen=True, slots=True)
class MetricDeclaration:
    """One metric.

    Attributes:
        kind: its class in the library.
        name: without the `pitlink_` before it, and without the `_total` of a counter.
        told: its help text.
        labels: the names of its labels.
        from_start: whether it has a value for each of the floor's labels from the start.
        buckets: the upper bounds of a histogram's buckets.
    """

    kind: type[Counter | Gauge | Histogram]
    name: str
    told: str
    labels: tuple[str, ...] = ()
    from_start: bool = True
    buckets: Sequence[float] = ()


_counter = partial(MetricDeclaration, Counter)
_counter_later = partial(MetricDeclaration, Counter, from_start=False)
_gauge = partial(MetricDeclaration, Gauge)
_gauge_later = partial(MetricDeclaration, Gauge, from_start=False)
_histogram = partial(MetricDeclaration, Histogram)

PLAY: Final = (
    _counter_later("events", "Table events answered.", ("link", "type", "status")),
    _counter_later("refusals", "Table events refused, by code.", ("link", "code")),
    _counter("wagers", "Wagers accepted.", _METER),
    _counter("wagered_cents", "Accepted wagers in cents.", _METER),
    _counter("contributions_cents", "Contributions of accepted wagers, in cents.", _METER),
    _counter("wins", "Progressive wins, at odds or a percentage.", (*_METER, "kind")),
    _counter("won_cents", "Amount of progressive wins, in cents.", (*_METER, "kind")),
    _counter("table_wagers", "Wagers accepted at a table.", _TABLE),
    _counter("table_wagered_cents", "Wagers accepted at a table, in cents.", _TABLE),
    _counter("table_voids_after_cards",
        "Rounds of a table that were void after cards were entered.", _TABLE),
    _counter("table_hands_reentered",
        "Hands of a table that were taken back and entered differently.", _TABLE),
    _counter("table_corrections_unconfirmed",
        "Voids after cards and results with hands entered differently that nobody confirmed.",
        _TABLE),
    _counter("cards_dealt_twice",
        "Results with the round id and the cards of another table's.", _LINK),
)  # fmt: skip

BOOKS: Final = (
    _gauge("meter_amount_cents", "A meter's value.", _METER),
    _gauge_later("meter_reserve_cents", "A meter's reserve.", _METER),
    _gauge_later("meter_overflow_cents", "A meter's overflow above its payout limit.", _METER),
    _gauge("claims_pending", "Wins that wait for a floorperson.", _LINK),
    _gauge("claims_oldest_age_seconds",
        "Waiting time of the oldest of them; 0 if there is none.", _LINK),
    _gauge("hand_pays_pending", "The hand pays among them.", _LINK),
    _gauge("hand_pays_oldest_age_seconds",
        "Waiting time of the oldest hand pay; 0 if there is none.", _LINK),
    _gauge("envy_unpaid", "Hands whose Envy Bonuses are owed and not confirmed as paid.", _LINK),
    _gauge("envy_oldest_age_seconds",
        "Time since the oldest of them was won; 0 if there is none.", _LINK),
    _gauge("corrections_pending", "Correction requests that wait for a floorperson.", _LINK),
    _gauge("corrections_oldest_age_seconds",
        "Time since the oldest of them was requested; 0 if there is none.", _LINK),
    _gauge("proposals_pending", "Proposals that wait for a second person.", _LINK),
    _gauge("approvals_due", "1 while the floor file differs from its last approval.", _LINK),
    _gauge("rounds_open", "Rounds with wagers and no result yet.", _LINK),
    _gauge("ledger_entries", "Ledger entries ever written.", _LINK),
    _gauge("ledger_live_entries", "Ledger entries in Redis.", _LINK),
    _gauge("ledger_archived_entries", "Ledger entries in sealed archives.", _LINK),
    _gauge("ledger_sealed_entries", "The last entry that an audit found correct.", _LINK),
    _counter("audits", "Audits by result.", ("link", "result")),
    _gauge("operators_log_holds",
        "1 if the last audit found the operators' log and the users correct."),
    _gauge_later("audit_balanced", "1 if the last audit found no problem.", _LINK),
    _gauge_later("audit_timestamp_seconds", "When the last audit ended.", _LINK),
    _gauge_later("audit_duration_seconds", "How long the last audit took.", _LINK),
    _gauge("reading_timestamp_seconds",
        "When the meters were last read for a gaming day; 0 for never.", _LINK),
    _gauge("archive_timestamp_seconds", "When a gaming day was last archived; 0 for never.", _LINK),
)  # fmt: skip

PROCESS: Final = (
    _counter("messages_dropped", "Messages dropped in a flood on one topic.", _LINK),
    _counter("events_not_taken", "Events that were not applied because of a defect.", _LINK),
    _histogram("batch_events", "Events of one link applied in one step.", buckets=_BATCH_EVENTS),
    _histogram("script_seconds",
        "Duration of one atomic step, measured by the service.", buckets=_SCRIPT_SECONDS),
    _histogram("intake_lag_seconds",
        "Waiting time of the first message of each batch.", buckets=_WAIT_SECONDS),
    _histogram("reply_seconds",
        "From the arrival of each batch's first event until all its replies were posted.",
        buckets=_WAIT_SECONDS),
    _gauge("link_operable", "1 while the link is operable here.", _LINK),
    _gauge("link_closed", "1 while people have closed the link.", _LINK),
    _counter("link_outages", "Number of times that the link stopped operating here.", _LINK),
    _counter("link_inoperable_seconds", "Time in which the link did not operate here.", _LINK),
    _gauge("beat_timestamp_seconds", "When the link last beat here.", _LINK),
    _counter("beats_missed", "Beats that were due and came late or not.", _LINK),
    _gauge("tables_online", "Tables whose agent is connected.", _LINK),
    _gauge("tables_expected", "Tables in the floor file.", _LINK),
    _gauge("table_online", "1 while the table's agent is connected.", _TABLE),
    _gauge("redis_ready", "1 while Redis answers and keeps its data.", _LINK),
    _gauge_later("redis_memory_used_bytes", "Memory that Redis uses.", _LINK),
    _gauge_later("redis_memory_limit_bytes", "Memory that Redis may use; 0 for no limit.", _LINK),
    _gauge("broker_connected", "1 while the broker is connected."),
    _counter("broker_connections", "Number of connections to the broker."),
    _gauge_later("streams_open", "Event streams that are read now.", ("reader",)),
    _gauge("self_check_passed", "1 while the self-check finds no problem."),
    _gauge("audit_noted_timestamp_seconds",
        "When the last audit of this scope was noted; 0 for never.", ("scope",)),
    _gauge("audit_noted_in_order",
        "1 if the noted audit of this scope found no problem; 0 otherwise.", ("scope",)),
    _gauge("archive_look_timestamp_seconds",
        "When the archive's files were last checked; 0 for never."),
    _gauge("archive_sound", "1 if the last check found every file unaltered; 0 otherwise."),
    _gauge("data_free_bytes", "Free space on the disk of the data directory."),
    _gauge("data_size_bytes", "Size of the disk of the data directory."),
    _gauge("backup_timestamp_seconds",
        "When a backup was last noted in the data directory; 0 for never."),
)  # fmt: skip
