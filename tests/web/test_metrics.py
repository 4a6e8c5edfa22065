"""What Prometheus reads, by name and label."""

from prometheus_client.parser import text_string_to_metric_families

from meters.metrics import CODES_MAX, Metrics
from meters.wire.floor import parse_floor
from tests.web.stand import FLOOR


def samples(metrics: Metrics) -> dict[tuple[str, frozenset[str]], float]:
    """Every sample by its name and its label values."""
    body, _ = metrics.exposition("text/plain")
    return {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }


def read(metrics: Metrics, name: str, *labels: str) -> float | None:
    return samples(metrics).get((name, frozenset(labels)))


def made(now: float = 0.0) -> Metrics:
    return Metrics(parse_floor(FLOOR), now=lambda: now)


def test_every_meter_and_link_is_there_from_the_start() -> None:
    metrics = made()
    assert read(metrics, "pitlink_wagers_total", "pit-2", "progressive") == 0
    assert read(metrics, "pitlink_wins_total", "pit-2", "progressive", "percent") == 0
    assert read(metrics, "pitlink_link_operable", "tcp-main") == 0


def test_wagers_count_what_they_are_and_what_they_add() -> None:
    metrics = made()
    for _ in range(2):
        metrics.count_wagers(
            "tcp-main", "progressive", wagers=3, wagered_cents=300, contributed_micros=605_000
        )
    on = ("tcp-main", "progressive")
    assert read(metrics, "pitlink_wagers_total", *on) == 6
    assert read(metrics, "pitlink_wagered_cents_total", *on) == 600
    assert read(metrics, "pitlink_contributions_cents_total", *on) == 121


def test_events_refusals_wins_amounts_and_steps_are_told() -> None:
    metrics = made()
    metrics.count_event("tcp-main", "wagers", "accepted")
    metrics.count_event("tcp-main", "wagers", "accepted", 4)
    metrics.count_refusal("tcp-main", "unknown_meter")
    metrics.count_win("tcp-main", "progressive", "odds")
    metrics.show_amount("tcp-main", "progressive", 112_362)
    metrics.show_operable("tcp-main", operable=True)
    metrics.show_tables_online("tcp-main", 4)
    metrics.observe_step(30, 0.002)
    assert read(metrics, "pitlink_events_total", "tcp-main", "wagers", "accepted") == 5
    assert read(metrics, "pitlink_refusals_total", "tcp-main", "unknown_meter") == 1
    assert read(metrics, "pitlink_wins_total", "tcp-main", "progressive", "odds") == 1
    assert read(metrics, "pitlink_meter_amount_cents", "tcp-main", "progressive") == 112_362
    assert read(metrics, "pitlink_link_operable", "tcp-main") == 1
    assert read(metrics, "pitlink_tables_online", "tcp-main") == 4
    assert read(metrics, "pitlink_batch_events_sum") == 30
    assert read(metrics, "pitlink_script_seconds_sum") == 0.002


def test_the_oldest_claim_ages_by_itself() -> None:
    metrics = made(now=1_090.0)
    metrics.show_claims("tcp-main", 2, 1_000.0)
    assert read(metrics, "pitlink_claims_pending", "tcp-main") == 2
    assert read(metrics, "pitlink_claims_oldest_age_seconds", "tcp-main") == 90
    metrics.show_claims("tcp-main", 0, None)
    assert read(metrics, "pitlink_claims_oldest_age_seconds", "tcp-main") == 0


def test_what_strangers_send_makes_no_labels() -> None:
    metrics = made()
    for number in range(500):
        metrics.count_event(f"link-{number}", f"type-{number}", f"status-{number}")
        metrics.count_refusal(f"link-{number}", f"code-{number}")
        metrics.count_win("tcp-main", f"meter-{number}", "odds")
        metrics.show_claims(f"link-{number}", 1, 0.0)
    seen = samples(metrics)
    assert read(metrics, "pitlink_events_total", "unknown") == 500
    assert sum(name == "pitlink_refusals_total" for name, _ in seen) == CODES_MAX + 1
    assert not any("link-7" in labels for _, labels in seen)
