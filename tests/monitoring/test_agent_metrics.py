"""Metrics of a table's agent, while it plays with a service that the test controls."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from controllers.agent.agent import Agent
from controllers.agent.agent_metrics import STATES, AgentMetrics
from controllers.agent.link_reception import Heartbeat
from meters.wire.messages import ControllerBeat
from tests.controllers.floors import FLOOR, line_of
from tests.controllers.scripted import SWIFT, ScriptedService, live_agent, running, say_all
from tests.controllers.test_agent import HAND_PAY, ROUND
from tests.floor_text import section_text
from tests.processes import Pitlink, run_pitlink
from tests.servers import Mosquitto, eventually_async, free_port

CALM: Final = dataclasses.replace(SWIFT, silence_s=60.0, call_s=60.0)
"""This table keeps its heartbeat and its connection on a busy machine."""


@pytest.fixture
async def service(mosquitto: Mosquitto) -> AsyncIterator[ScriptedService]:
    async with running(ScriptedService(mosquitto.url)) as service:
        yield service


@pytest.fixture
async def agent(
    mosquitto: Mosquitto, service: ScriptedService, tmp_path: Path
) -> AsyncIterator[Agent]:
    async with live_agent(mosquitto.url, tmp_path / "T-1.sqlite", CALM) as agent:
        yield agent


def read(text: str, name: str, **labels: str) -> float:
    wanted = {"link": "one", "table": "T-1", **labels}
    found = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == f"pitlink_agent_{name}" and sample.labels == wanted
    ]
    assert len(found) == 1, (name, labels, found)
    return found[0]


def exposition(agent: Agent) -> str:
    metrics = AgentMetrics()
    metrics.add(agent)
    return metrics.exposition("text/plain")[0].decode()


async def test_a_table_that_plays(agent: Agent, service: ScriptedService) -> None:
    await say_all(agent, f"{ROUND}; wager 1 progressive")
    service.refuse = "bad_wager"
    await agent.handle(line_of("lockout"))
    text = exposition(agent)
    for name, value in {
        "broker_connected": 1, "connections_total": 1, "playable": 1, "last_seq": 3,
        "wagers_total": 1, "wagered_cents_total": 100, "unanswered_events": 0,
        "unanswered_age_seconds": 0, "reply_seconds_count": 3, "waiting_device_events": 0,
    }.items():  # fmt: skip
        assert read(text, name) == value, name
    assert read(text, "replies_total", status="accepted") == 2
    assert read(text, "replies_total", status="refused") == 1
    assert read(text, "outbox_bytes") > 0
    assert 0 <= read(text, "beat_age_seconds") < CALM.silence_s
    waits = [
        (float(sample.labels["le"]), sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "pitlink_agent_reply_seconds_bucket"
    ]
    assert waits == sorted(waits)
    assert [count for _, count in waits] == sorted(count for _, count in waits)
    assert waits[-1] == (float("inf"), 3.0)
    assert 0 < read(text, "reply_seconds_sum") < 60


async def test_an_event_that_is_not_answered_waits_and_ages(
    agent: Agent, service: ScriptedService
) -> None:
    await say_all(agent, "wager 3 progressive")
    service.answering = False
    asking = asyncio.create_task(agent.handle(line_of("lockout")))
    await eventually_async(lambda: read(exposition(agent), "repeats_total") >= 2)
    text = exposition(agent)
    assert read(text, "unanswered_events") == 1.0
    assert 0 < read(text, "unanswered_age_seconds") < 60
    assert read(text, "wagers_total") == 0
    assert read(text, "state", state="locked") + read(text, "state", state="open") == 1
    service.answering = True
    assert (await asking).ok
    assert read(exposition(agent), "unanswered_events") == 0
    assert read(exposition(agent), "wagers_total") == 1


async def test_each_state_of_a_table_is_exported(agent: Agent, service: ScriptedService) -> None:
    service.settlement = HAND_PAY
    await say_all(agent, ROUND)
    text = exposition(agent)
    assert {each: read(text, "state", state=each) for each in STATES} == {
        each: float(each == "held") for each in STATES
    }


@pytest.mark.slow
async def test_a_table_without_its_controller_is_not_playable(
    mosquitto: Mosquitto, service: ScriptedService, tmp_path: Path
) -> None:
    async with live_agent(mosquitto.url, tmp_path / "T-1.sqlite", SWIFT) as agent:
        service.beating = False

        def silent() -> bool:
            text = exposition(agent)
            beat_age_s = read(text, "beat_age_seconds")
            assert (read(text, "playable") == 0) == (beat_age_s >= SWIFT.silence_s)
            return beat_age_s >= SWIFT.silence_s and read(text, "state", state="locked_out") == 1

        await eventually_async(silent)


def test_beats_that_did_not_come_are_counted() -> None:
    pulse = Heartbeat()
    assert pulse.age_s(5.0) == float("inf")
    for number, at_s in enumerate((0.0, 1.1, 2.0, 2.5, 6.4), start=1):
        beat = ControllerBeat(state="operable", reason="", beat=number, at="")
        pulse.hear(beat, retained=False, now_s=at_s)
    assert pulse.missed == 3
    assert pulse.age_s(7.0) == pytest.approx(0.6)


@pytest.mark.slow
@pytest.mark.parametrize("panel", [True, False])
async def test_the_command_serves_them(tmp_path: Path, *, panel: bool) -> None:
    """This holds without a connection to the broker too, because then they are needed."""
    config = tmp_path / "floor.toml"
    broker = f"mqtt://127.0.0.1:{free_port()}"
    config.write_text(FLOOR + section_text("[service]", broker=broker, data=tmp_path))
    at = f"127.0.0.1:{free_port()}"
    where = ("--panel", "--at", at) if panel else ("--events", "--metrics", at)
    with Pitlink("table", "T-1", "--config", str(config), *where, stdin=True) as table:

        async def answered() -> str:
            try:
                async with httpx.AsyncClient() as client:
                    return (await client.get(f"http://{at}/metrics")).raise_for_status().text
            except httpx.HTTPError:
                assert table.running, table.errors
                return ""

        text = await eventually_async(answered, within_s=30)
        assert read(text, "broker_connected") == 0
        assert read(text, "playable") == 0
        assert read(text, "beat_age_seconds") == float("inf")
        assert not [line for line in text.splitlines() if "T-2" in line]


@pytest.mark.slow
def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    done = run_pitlink(
        "table", "T-1", "--config", str(tmp_path / "f"), "--events", "--metrics", "9100"
    )
    assert done.returncode == 2
    assert "--metrics 9100: write an address and a port" in " ".join(done.stderr.split())
