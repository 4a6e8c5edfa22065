"""A real Prometheus reads a playing demonstration: panels have data, rules their metrics."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import aiomqtt
import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from controllers.demo.demo_floor import FLOOR_FILE
from meters.floor.floor_file import read_floor
from meters.floor.server_addresses import embedded_broker_url, parse_broker_url
from tests.monitoring.artefacts import described, metrics_in, queries, rules
from tests.monitoring.prometheus import Prometheus
from tests.processes import Pitlink
from tests.waiting import eventually, free_port

STRANGERS: Final = 80
HOLDS: Final = (
    "min(pitlink_meter_amount_cents) > 0",
    "sum(pitlink_meter_reserve_cents) > 0",
    "min(pitlink_ledger_entries) > 0",
    "min(pitlink_ledger_live_entries) > 0",
    "min(pitlink_audit_balanced) == 1",
    "time() - min(pitlink_audit_timestamp_seconds) < 600",
    "min(pitlink_link_operable) == 1",
    "time() - min(pitlink_beat_timestamp_seconds) < 600",
    "min(pitlink_tables_online - pitlink_tables_expected) == 0",
    "min(pitlink_table_online) == 1",
    "min(pitlink_redis_ready) == 1",
    "min(pitlink_redis_memory_used_bytes) > 0",
    "pitlink_broker_connected == 1",
    "pitlink_self_check_passed == 1",
    'sum(pitlink_won_cents_total{kind="percent"}) > 0',
    'sum(pitlink_won_cents_total{kind="odds"}) > 0',
    "sum(pitlink_table_wagers_total) > 0",
    "sum(pitlink_table_wagered_cents_total) >= 100 * sum(pitlink_table_wagers_total)",
    "sum(pitlink_contributions_cents_total) > 0",
    "pitlink_reply_seconds_count > 0",
    "pitlink_intake_lag_seconds_count > pitlink_reply_seconds_count",
    "pitlink_script_seconds_sum > 0",
    "min(pitlink_agent_broker_connected) == 1",
    "max(pitlink_agent_outbox_bytes) > 0",
    "sum(pitlink_agent_state) == count(pitlink_agent_playable)",
    'sum(pitlink_agent_replies_total{status="accepted"}) > 0',
)


class Played:
    def __init__(self, prometheus: Prometheus, service: str, agents: str, data: Path) -> None:
        self.prometheus = prometheus
        self.service = service
        self.agents = agents
        self.data = data

    def has_jackpots(self) -> bool:
        """Return whether the scraped data shows a percentage win and a refused stranger."""
        won = self.prometheus.query('sum(pitlink_wins_total{kind="percent"}) > 0')
        refused = self.prometheus.query('pitlink_refusals_total{link="unknown"} > 0')
        return bool(won and refused)

    def scraped(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for at in (self.service, self.agents):
            text = httpx.get(f"http://{at}/metrics", timeout=60).raise_for_status().text
            for family in text_string_to_metric_families(text):
                name = f"{family.name}_total" if family.type == "counter" else family.name
                labels = {label for sample in family.samples for label in sample.labels}
                found[name] = frozenset(labels - {"le"})
        return found


async def send_as_strangers(data: Path) -> None:
    address = parse_broker_url(embedded_broker_url(data))
    async with aiomqtt.Client(address.host, address.port) as client:
        for number in range(STRANGERS):
            for link in ("tcp-one", f"strange-{number}"):
                topic = f"pitlink/v1/{link}/table/strange-{number}/"
                await client.publish(f"{topic}out", b'{"type": "strange", "seq": 1}', qos=1)
                await client.publish(f"{topic}status", b'{"online": true}', qos=1)


def check_every_panel_has_data(floor: Played) -> None:
    asked = [(query, query.resolved(link=".*", meter=".*", table=".*")) for query in queries()]

    def all_drawn() -> bool:
        empty = [
            f"{query.dashboard}: {query.panel}: {expr}"
            for query, expr in asked
            if not floor.prometheus.query(expr)
        ]
        assert not empty
        return True

    assert all("$" not in expr for _, expr in asked)
    eventually(all_drawn, within_s=60, what="data in every panel")


def check_one_link_alone_can_be_looked_at(floor: Played) -> None:
    for query in queries():
        if "$link" in query.expr and "$table" not in query.expr:
            expr = query.resolved(link="tcp-five", meter=".*")
            for labels, _ in floor.prometheus.query(expr):
                assert labels.get("link") != "tcp-one", expr


def check_every_rule_has_its_metrics(floor: Played) -> None:
    there = floor.prometheus.values("__name__")
    missing = {
        name: metrics_in(expr) - there for name, expr in rules().items() if metrics_in(expr) - there
    }
    assert not missing
    eventually(
        lambda: {health for health, _ in floor.prometheus.rules().values()} == {"ok"},
        what="every rule evaluated",
    )
    assert set(floor.prometheus.rules()) == set(rules())
    firing = {name for name, (_, state) in floor.prometheus.rules().items() if state == "firing"}
    assert not firing & {"PitlinkAuditFailed", "PitlinkEventNotTaken", "PitlinkEventsLost"}


def check_strangers_make_no_labels(floor: Played) -> None:
    listed = read_floor(floor.data / FLOOR_FILE)
    links = {link.id for link in listed.link}
    assert floor.prometheus.values("link") == links | {"unknown"}
    tables = {table.id for link in listed.link for table in link.table}
    assert floor.prometheus.values("table") == tables
    for label in ("code", "type", "status", "meter", "kind", "state"):
        assert not {value for value in floor.prometheus.values(label) if "strange" in value}


def check_agents_and_service_agree(floor: Played) -> None:
    """Check that agents and service agree, except for open rounds: the service books first."""
    behind = "sum by (link, table) (pitlink_table_{0} - on (link, table) pitlink_agent_{0})"

    def near() -> bool:
        for figure, most in (("wagers_total", 60), ("wagered_cents_total", 60 * 500)):
            found = floor.prometheus.query(behind.format(figure))
            assert found
            assert all(-most <= value <= most for _, value in found), (figure, found)
        return True

    eventually(near, within_s=30, what="the same wagers on both sides")


def check_figures_are_those_of_a_floor_that_is_well(floor: Played) -> None:
    def all_hold() -> bool:
        wrong = [expr for expr in HOLDS if not floor.prometheus.query(expr)]
        assert not wrong
        return True

    eventually(all_hold, within_s=60, what="the figures of a floor that is well")


@pytest.mark.slow
def test_a_real_prometheus_reads_a_floor_that_plays(tmp_path: Path) -> None:
    """One run serves all checks, because a floor needs long to start."""
    data, port, panel = tmp_path / "data", free_port(), free_port()
    at = f"127.0.0.1:{port}", f"127.0.0.1:{panel}"
    with (
        Prometheus(at[:1], at[1:]) as prometheus,
        Pitlink(
            "demo", "--stack-deck", "--speed", "80", "--tables", "4", "--data", str(data),
            "--port", str(port), "--panel-port", str(panel),
        ) as demo,
    ):  # fmt: skip
        demo.until(lambda: "/signage" in demo.output, within_s=90, what="the demonstration")
        asyncio.run(send_as_strangers(data))
        floor = Played(prometheus, *at, data)
        demo.until(floor.has_jackpots, within_s=90, what="a jackpot in Prometheus")
        check_every_panel_has_data(floor)
        check_one_link_alone_can_be_looked_at(floor)
        check_every_rule_has_its_metrics(floor)
        eventually(lambda: floor.scraped() == described(), within_s=60, what="metrics as described")
        check_strangers_make_no_labels(floor)
        check_agents_and_service_agree(floor)
        check_figures_are_those_of_a_floor_that_is_well(floor)
        assert demo.stop(within_s=60) == 0, demo.output + demo.errors
