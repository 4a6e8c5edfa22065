from pathlib import Path

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from meters.audit.audit_files import backup_note
from meters.floor.floor_file import parse_floor
from meters.ledger.link_state import LedgerHead, LinkState, OpenDay
from meters.service.metric_declarations import Audited
from meters.service.service_metrics import CODES_MAX, Metrics
from meters.store.link_stats import LinkStats, WaitingCount
from tests.floor_text import table_text
from tests.web.stand import FLOOR

TABLE = table_text("TCP-09", "progressive", asset="9")
ON = ("tcp-main", "progressive")


def samples(metrics: Metrics) -> dict[tuple[str, frozenset[str]], float]:
    body, _ = metrics.exposition("text/plain")
    return {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }


def read(metrics: Metrics, name: str, *labels: str) -> float | None:
    return samples(metrics).get((name, frozenset(labels)))


def made(now: float = 0.0, data: Path | None = None) -> Metrics:
    floor = parse_floor(FLOOR + TABLE)
    if data is not None:
        service = msgspec.structs.replace(floor.service, data=str(data))
        floor = msgspec.structs.replace(floor, service=service)
    return Metrics(floor, now=lambda: now)


def shows(metrics: Metrics, *labels: str, **values: float | None) -> None:
    for name, value in values.items():
        assert read(metrics, f"pitlink_{name}", *labels) == value, name


def test_every_meter_link_and_table_is_there_from_the_start() -> None:
    metrics = made()
    shows(metrics, *ON, wagers_total=0, meter_amount_cents=0, meter_reserve_cents=None)
    shows(metrics, *ON, "percent", wins_total=0)
    shows(metrics, *ON, "odds", won_cents_total=0)
    shows(metrics, "tcp-main", link_operable=0, tables_expected=0, cards_dealt_twice_total=0)
    shows(metrics, "pit-2", tables_expected=1)
    shows(metrics, "pit-2", "TCP-09", table_wagers_total=0, table_hands_reentered_total=0)
    shows(metrics, "pit-2", "unknown_table", refusals_total=0)
    shows(metrics, "whole", audit_noted_in_order=0)
    shows(metrics, operators_log_holds=1)
    for result in Audited:
        shows(metrics, "pit-2", result, audits_total=0)
    # What is not known yet has no value: what was not audited is not said to balance.
    unknown = ("redis_memory_used_bytes", "audit_timestamp_seconds", "audit_balanced")
    shows(metrics, "tcp-main", **dict.fromkeys(unknown))
    shows(metrics, "display", streams_open=None)


def test_what_is_counted_and_shown_is_exported() -> None:
    metrics = made(now=500.0)
    for _ in range(2):
        metrics.add({("wagers", *ON): 3, ("wagered_cents", *ON): 300})
        metrics.count("table_wagers", "pit-2", "TCP-09", by=3)
    shows(metrics, *ON, wagers_total=6, wagered_cents_total=600)
    shows(metrics, "pit-2", "TCP-09", table_wagers_total=6)
    metrics.count("events", "tcp-main", "wagers", "accepted")
    metrics.count("events", "tcp-main", "wagers", "accepted", by=4)
    metrics.count("refusals", "tcp-main", "unknown_meter")
    shows(metrics, "tcp-main", "wagers", "accepted", events_total=5)
    shows(metrics, "tcp-main", "unknown_meter", refusals_total=1)
    metrics.set("meter_amount_cents", 112_362, *ON)
    shows(metrics, *ON, meter_amount_cents=112_362)
    metrics.observe("batch_events", 30)
    metrics.observe("reply_seconds", 3.0)
    shows(metrics, batch_events_sum=30, reply_seconds_sum=3, reply_seconds_count=1)
    # An audit that could not be made leaves the last result.
    for result in (Audited.DIFFERS, Audited.FAILED):
        metrics.show_audit("tcp-main", result, 0.5)
    shows(
        metrics, "tcp-main", audit_balanced=0, audit_timestamp_seconds=500,
        audit_duration_seconds=0.5,
    )  # fmt: skip
    shows(metrics, "tcp-main", "failed", audits_total=1)
    for operable, lasted_s, missed in ((False, 1.0, 0), (False, 2.5, 2), (True, 1.0, 0)):
        metrics.show_beat(
            "tcp-main", operable=operable, closed=not operable, missed=missed, lasted_s=lasted_s
        )
    shows(
        metrics, "tcp-main", link_inoperable_seconds_total=3.5, link_operable=1, link_closed=0,
        beats_missed_total=2, beat_timestamp_seconds=500,
    )  # fmt: skip
    online = {"TCP-09"}
    metrics.follow("tables_online", lambda: len(online), "pit-2")
    shows(metrics, "pit-2", tables_online=1)
    online.clear()
    shows(metrics, "pit-2", tables_online=0)


def test_the_books_are_shown_in_whole_cents() -> None:
    metrics = made()
    state = LinkState(
        (), None, rounds_open=3, floor_changes=0, head=LedgerHead(120, ""), day=OpenDay("", "")
    )
    figures = LinkStats(
        {"progressive": 1_234_567}, {"progressive": 19_999}, WaitingCount(), WaitingCount(), 2, 90,
        entries_archived=30, archived_s=1_000.0, read_s=1_001.0,
    )  # fmt: skip
    metrics.show_link_state("tcp-main", state, figures, sealed=100)
    shows(metrics, *ON, meter_reserve_cents=123, meter_overflow_cents=1)
    shows(
        metrics, "tcp-main", rounds_open=3, proposals_pending=2, ledger_entries=120,
        ledger_live_entries=90, ledger_sealed_entries=100, ledger_archived_entries=30,
        archive_timestamp_seconds=1_000, reading_timestamp_seconds=1_001,
    )  # fmt: skip


def test_the_disk_is_that_of_the_data_directory_and_a_backup_counts_once_noted(
    tmp_path: Path,
) -> None:
    metrics = made(data=tmp_path / "not" / "yet")
    assert (read(metrics, "pitlink_data_size_bytes") or 0) > 0
    assert (read(metrics, "pitlink_data_free_bytes") or 0) > 0
    assert read(metrics, "pitlink_backup_timestamp_seconds") == 0
    (tmp_path / "not" / "yet").mkdir(parents=True)
    note = backup_note(tmp_path / "not" / "yet")
    note.parent.mkdir()
    note.touch()
    assert read(metrics, "pitlink_backup_timestamp_seconds") == note.stat().st_mtime


def test_what_strangers_send_makes_no_labels() -> None:
    metrics = made()
    for number in range(500):
        link, meter, table = f"link-{number}", f"meter-{number}", f"table-{number}"
        metrics.count("events", link, f"type-{number}", f"status-{number}")
        metrics.count("refusals", link, f"code-{number}")
        metrics.count("wins", "tcp-main", meter, "odds")
        metrics.count("wagers", "tcp-main", meter)
        metrics.count("table_wagers", "tcp-main", table)
        metrics.set("table_online", 1, "tcp-main", table)
        metrics.set("meter_amount_cents", 1, "tcp-main", meter)
        metrics.set("claims_pending", 1, link)
    seen = samples(metrics)
    assert read(metrics, "pitlink_events_total", "unknown") == 500
    assert read(metrics, "pitlink_table_wagers_total", "unknown") == 500
    codes = {
        frozenset(labels - {"tcp-main", "pit-2"})
        for name, labels in seen
        if name == "pitlink_refusals_total"
    }
    assert len(codes) == CODES_MAX + 1
    strange = ("link-", "type-", "status-", "meter-", "table-")
    assert not any(label.startswith(strange) for _, labels in seen for label in labels)
