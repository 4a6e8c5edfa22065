from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

LINK: Final = ("link",)
METER: Final = ("link", "meter")
TABLE: Final = ("link", "table")

_BATCH_EVENTS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_SCRIPT_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_WAIT_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10)


@dataclass(frozen=True, slots=True)
class MetricDeclaration:
    """The declaration of one metric.

    The name has neither the prefix `pitlink_` nor the suffix `_total` of a counter. If `from_start`
    is true, the metric has a value for each combination of its labels when the service starts.
    `buckets` are the upper limits of a histogram's buckets.
    """

    kind: type[Counter | Gauge | Histogram]
    name: str
    help_text: str
    labels: tuple[str, ...] = ()
    from_start: bool = True
    buckets: Sequence[float] = ()


_counter = partial(MetricDeclaration, Counter)
_counter_later = partial(MetricDeclaration, Counter, from_start=False)
_gauge = partial(MetricDeclaration, Gauge)
_gauge_later = partial(MetricDeclaration, Gauge, from_start=False)
_histogram = partial(MetricDeclaration, Histogram)

DECLARED: Final = (
    _counter_later("events",
        "Table events answered, by type and by status of the reply.", ("link", "type", "status")),
    _counter_later("refusals",
        "Table events refused, by code. A repeated event that is refused again counts again.",
        ("link", "code")),
    _counter("wagers", "Wagers accepted on the meter.", METER),
    _counter("wagered_cents", "Sum of the wagers accepted on the meter, in cents.", METER),
    _counter("contributions_cents",
        "Sum of the contributions of accepted wagers, in cents.", METER),
    _counter("wins",
        "Progressive wins, at odds or of a percentage of the meter.", (*METER, "kind")),
    _counter("won_cents", "Sum of the progressive wins, in cents.", (*METER, "kind")),
    _counter("table_wagers", "Wagers accepted at the table.", TABLE),
    _counter("table_wagered_cents", "Sum of the wagers accepted at the table, in cents.", TABLE),
    _counter("table_voids_after_cards",
        "Rounds of the table that were void after cards had been entered.", TABLE),
    _counter("table_hands_reentered",
        "Hands of the table that were taken back and entered differently.", TABLE),
    _counter("table_wagers_corrected",
        "Wagers of the table that were added or taken back after lock-out.", TABLE),
    _counter("table_corrections_unconfirmed",
        "Voids after cards, and results with hands entered differently, that no"
        " floorperson confirmed.",
        TABLE),
    _counter("cards_dealt_twice",
        "Results with the round id and the cards of another table's result.", LINK),
    # Data of the links in Redis.
    _gauge("meter_amount_cents", "Present value of the meter, in cents.", METER),
    _gauge_later("meter_reserve_cents", "Present value of the meter's reserve, in cents.", METER),
    _gauge_later("meter_overflow_cents",
        "Overflow of the meter, in cents: the money above its payout limit.", METER),
    _gauge("claims_pending", "Wins that wait for a decision or for their hand pay.", LINK),
    _gauge("claims_oldest_age_seconds",
        "Time since the oldest waiting win was won; 0 if no win waits.", LINK),
    _gauge("hand_pays_pending", "Hand pays that are not paid or rejected yet.", LINK),
    _gauge("hand_pays_oldest_age_seconds",
        "Time since the oldest waiting hand pay was won; 0 if no hand pay waits.", LINK),
    _gauge("envy_unpaid",
        "Winning hands with Envy Bonuses that are due and not confirmed as paid.", LINK),
    _gauge("envy_oldest_age_seconds",
        "Time since the oldest hand with unpaid Envy Bonuses was won; 0 if there is none.", LINK),
    _gauge("corrections_pending", "Correction requests that wait for a floorperson.", LINK),
    _gauge("corrections_oldest_age_seconds",
        "Time since the oldest waiting correction request was made; 0 if no request waits.", LINK),
    _gauge("proposals_pending", "Proposals that wait for a second person.", LINK),
    _gauge("approvals_due",
        "1 while people must approve the floor file: it is new, or differs from the floor file"
        " that was last approved.", LINK),
    _gauge("rounds_open",
        "Open rounds: they have wagers and no result, and are not void.", LINK),
    _gauge("ledger_entries", "Ledger entries ever written.", LINK),
    _gauge("ledger_live_entries", "Ledger entries in Redis.", LINK),
    _gauge("ledger_archived_entries", "Ledger entries in the archive.", LINK),
    _gauge("ledger_sealed_entries",
        "Number of the last ledger entry that an audit found in order.", LINK),
    _counter("audits", "Audits, by result.", ("link", "result")),
    _gauge("operators_log_holds",
        "0 if the last audit found a fault in the operators' log or in the users; otherwise 1."),
    _gauge_later("audit_balanced",
        "1 if the last completed audit found everything in order; 0 if it found a fault.", LINK),
    _gauge_later("audit_timestamp_seconds", "When the last completed audit ended.", LINK),
    _gauge_later("audit_duration_seconds", "How long the last completed audit took.", LINK),
    _gauge("reading_timestamp_seconds",
        "When the meters were last read at the close of a gaming day; 0 for never.", LINK),
    _gauge("archive_timestamp_seconds", "When a gaming day was last archived; 0 for never.", LINK),
    # The state of this process.
    _counter("messages_dropped", "Messages dropped because too many arrived on one topic.", LINK),
    _counter("events_not_taken",
        "Events that were not processed because of a defect in pitlink.", LINK),
    _histogram("batch_events",
        "Number of events that one script call applied to a link.", buckets=_BATCH_EVENTS),
    _histogram("script_seconds",
        "Duration of one script call, measured by the service.", buckets=_SCRIPT_SECONDS),
    _histogram("intake_lag_seconds",
        "How long the first message of a batch waited before the service processed it.",
        buckets=_WAIT_SECONDS),
    _histogram("reply_seconds",
        "Time from the arrival of a batch's first event until all replies of the batch were ready"
        " to send.",
        buckets=_WAIT_SECONDS),
    _gauge("link_operable", "1 while this service operates the link.", LINK),
    _gauge("link_closed", "1 while the link is closed by people.", LINK),
    _counter("link_outages", "How often the link stopped operating on this service.", LINK),
    _counter("link_inoperable_seconds", "How long the link did not operate on this service.", LINK),
    _gauge("beat_timestamp_seconds", "When this service last made a heartbeat for the link.", LINK),
    _counter("beats_missed", "Heartbeats that were late or missing.", LINK),
    _gauge("tables_online", "Tables whose agent is connected.", LINK),
    _gauge("tables_expected", "Tables in the floor file.", LINK),
    _gauge("table_online", "1 while the table's agent is connected.", TABLE),
    _gauge("redis_ready",
        "1 while Redis answers, accepts writes, and has the required settings.", LINK),
    _gauge("redis_servers_missing",
        "Sentinels, replicas and cluster nodes that are missing. The link operates without them.",
        LINK),
    _gauge_later("redis_memory_used_bytes", "Memory that Redis uses.", LINK),
    _gauge_later("redis_memory_limit_bytes", "Memory limit of Redis; 0 for no limit.", LINK),
    _gauge("auditor_up", "1 while this service's auditor runs."),
    _gauge("broker_connected", "1 while this service is connected to the broker."),
    _counter("broker_connections", "How often this service connected to the broker."),
    _gauge_later("streams_open",
        "Event streams that displays or staff have open now.", ("reader",)),
    _counter("sign_ins_refused",
        "Sign-ins refused, by device (new or known to the user's name) and reason.",
        ("device", "reason")),
    _gauge("self_check_passed", "1 while the self-check finds everything in order."),
    _gauge("audit_noted_timestamp_seconds",
        "When the command pitlink audit last ended an audit of this scope; 0 for never.",
        ("scope",)),
    _gauge("audit_noted_in_order",
        "1 if the last audit of this scope found everything in order; 0 if not, or"
        " if there was none.",
        ("scope",)),
    _gauge("archive_look_timestamp_seconds",
        "When the archive's files were last checked; 0 for never."),
    _gauge("archive_sound",
        "1 if the last check found every file of the archive present and unchanged; otherwise 0."),
    _gauge("data_free_bytes", "Free space on the disk of the data directory."),
    _gauge("data_size_bytes", "Size of the disk of the data directory."),
    _gauge("backup_timestamp_seconds",
        "Time of the file last-backup next to the data directory; 0 if there is none."),
)  # fmt: skip


class Audited(StrEnum):
    """The outcome of an audit. `failed`: the auditor ended, or Redis could not be read."""

    BALANCED = "balanced"
    DIFFERS = "differs"
    FAILED = "failed"


FURTHER: Final[Mapping[str, Sequence[str]]] = {
    "type": ("wagers", "correct_wager", "result", "void", "withdrawal", "hello"),
    "status": ("accepted", "refused", "unconfirmed", "out_of_order", "repeated"),
    "kind": ("odds", "percent"), "result": tuple(Audited), "scope": ("last", "whole"),
    "device": ("known", "new"), "reason": ("wrong", "locked", "slowed"),
    "reader": ("display", "staff"),
}  # fmt: skip
"""The values of all labels except refusal codes and parts of the floor."""
