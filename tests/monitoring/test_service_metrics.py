from pathlib import Path

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from meters.audit.audit_files import backup_note
from meters.floor.floor_file import parse_floor
from meters.ledger.link_state import LedgerHead, LinkState, OpenDay
from meters.metrics import CODES_MAX, Metrics
from meters.metrics.families import Audited
from meters.store.link_stats import LinkStats, RedisMemory, WaitingCount
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
    play, books, running = metrics.play, metrics.books, metrics.running
    for _ in range(2):
        play.count_wagers(*ON, wagers=3, wagered_cents=300, contributed_micros=605_000)
        play.count_table("pit-2", "TCP-09", wagers=3, wagered_cents=300)
    shows(metrics, *ON, wagers_total=6, wagered_cents_total=600, contributions_cents_total=121)
    shows(metrics, "pit-2", "TCP-09", table_wagers_total=6, table_wagered_cents_total=600)
    play.count_event("tcp-main", "wagers", "accepted")
    play.count_event("tcp-main", "wagers", "accepted", 4)
    play.count_refusal("tcp-main", "unknown_meter")
    for won_cents in (5_000, 2_500):
        play.count_wins(*ON, "odds", wins=1, won_cents=won_cents)
    shows(metrics, "tcp-main", "wagers", "accepted", events_total=5)
    shows(metrics, "tcp-main", "unknown_meter", refusals_total=1)
    shows(metrics, *ON, "odds", wins_total=2, won_cents_total=7_500)
    books.show_amount(*ON, 112_362)
    shows(metrics, *ON, meter_amount_cents=112_362)
    running.observe_step(30, 0.002)
    shows(metrics, batch_events_sum=30, script_seconds_sum=0.002)
    # An audit that could not be made leaves the last result.
    for result in (Audited.DIFFERS, Audited.FAILED):
        books.show_audit("tcp-main", result, 0.5)
    shows(
        metrics, "tcp-main", audit_balanced=0, audit_timestamp_seconds=500,
        audit_duration_seconds=0.5,
    )  # fmt: skip
    shows(metrics, "tcp-main", "failed", audits_total=1)
    running.count_outage("tcp-main")
    for operable, lasted_s, missed in ((False, 1.0, 0), (False, 2.5, 2), (True, 1.0, 0)):
        running.show_beat(
            "tcp-main", operable=operable, closed=not operable, missed=missed, lasted_s=lasted_s
        )
    shows(
        metrics, "tcp-main", link_inoperable_seconds_total=3.5, link_outages_total=1,
        link_operable=1, link_closed=0, beats_missed_total=2, beat_timestamp_seconds=500,
    )  # fmt: skip
    for online, seen in ((True, 1), (True, 1), (False, 0), (False, 0), (True, 1)):
        running.show_table("pit-2", "TCP-09", online=online)
        shows(metrics, "pit-2", tables_online=seen)
        shows(metrics, "pit-2", "TCP-09", table_online=seen)
    for connected in (True, False, True):
        running.show_broker(connected=connected)
    shows(metrics, broker_connected=1, broker_connections_total=2)
    running.show_redis("pit-2", ready=True)
    for memory in (RedisMemory(1_000, 5_000), None):
        running.show_memory("pit-2", memory)
        shows(
            metrics, "pit-2", redis_ready=1, redis_memory_used_bytes=1_000,
            redis_memory_limit_bytes=5_000,
        )  # fmt: skip


def test_waits_and_replies_are_timed() -> None:
    metrics = made()
    metrics.running.observe_wait(2.0)
    metrics.running.observe_reply(3.0)
    shows(metrics, intake_lag_seconds_sum=2, reply_seconds_sum=3, reply_seconds_count=1)


def test_the_books_are_shown_in_whole_cents() -> None:
    metrics = made()
    state = LinkState(
        (), None, rounds_open=3, floor_changes=0, head=LedgerHead(120, ""), day=OpenDay("", "")
    )
    figures = LinkStats(
        {"progressive": 1_234_567}, {"progressive": 19_999}, WaitingCount(), WaitingCount(), 2, 90,
        entries_archived=30, archived_s=1_000.0, read_s=1_001.0,
    )  # fmt: skip
    metrics.books.show_link_state("tcp-main", state, figures, sealed=100)
    metrics.books.show_approval("tcp-main", due=True)
    shows(metrics, *ON, meter_reserve_cents=123, meter_overflow_cents=1)
    shows(
        metrics, "tcp-main", rounds_open=3, proposals_pending=2, ledger_entries=120,
        ledger_live_entries=90, ledger_sealed_entries=100, ledger_archived_entries=30,
        approvals_due=1, archive_timestamp_seconds=1_000, reading_timestamp_seconds=1_001,
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
        metrics.play.count_event(f"link-{number}", f"type-{number}", f"status-{number}")
        metrics.play.count_refusal(f"link-{number}", f"code-{number}")
        metrics.play.count_wins("tcp-main", f"meter-{number}", "odds", wins=1, won_cents=1)
        metrics.play.count_wagers(
            "tcp-main", f"meter-{number}", wagers=1, wagered_cents=1, contributed_micros=1
        )
        metrics.play.count_table("tcp-main", f"table-{number}", wagers=1, wagered_cents=1)
        metrics.running.show_table("tcp-main", f"table-{number}", online=True)
        metrics.running.count_dropped(f"link-{number}")
        metrics.running.count_not_taken(f"link-{number}")
        metrics.books.show_amount("tcp-main", f"meter-{number}", 1)
        metrics.books.show_waiting(f"link-{number}", WaitingCount(1, 0.0), WaitingCount())
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
