"""Dealer bots at real agents: whole rounds through the same interface as devices."""

import asyncio
import random
from pathlib import Path

import pytest

from controllers.bots.bots import RoundPlayed, run_bot
from controllers.table.state import Phase
from tests.controllers.scripted import ScriptedService, live_agent, say_all
from tests.servers import Mosquitto, eventually_async


@pytest.mark.slow
async def test_the_events_of_a_bot_reach_the_service_unchanged(
    mosquitto: Mosquitto, service: ScriptedService, tmp_path: Path
) -> None:
    rounds: list[RoundPlayed] = []
    async with live_agent(mosquitto.url, tmp_path / "outbox") as agent:
        await run_bot(agent, random.Random(7), round_s=0, rounds=15, on_round=rounds.append)
    assert len(rounds) == 15
    wagers = [event for event in service.applied if event["type"] == "wagers"]
    wagered_cents = [
        cents
        for event in wagers
        for at in event["positions"]  # type: ignore[attr-defined]
        for cents in at["wagers"].values()
    ]
    assert sum(played.wagers for played in rounds) == len(wagered_cents)
    assert sum(played.wagered_cents for played in rounds) == sum(wagered_cents)
    assert service.open_round is None


async def test_wagered_cents_to_stop_a_bot_ends_its_round_without_pauses(
    mosquitto: Mosquitto, service: ScriptedService, tmp_path: Path
) -> None:
    stopping = asyncio.Event()
    async with live_agent(mosquitto.url, tmp_path / "outbox") as agent:
        bot = asyncio.create_task(run_bot(agent, random.Random(7), round_s=3600, stopping=stopping))
        await asyncio.sleep(0)
        assert not bot.done()
        stopping.set()
        async with asyncio.timeout(60):
            await bot
        assert agent.table_state.phase is Phase.OPEN
        assert not agent.table_state.wagers
    assert service.last_seq > 0


async def test_a_bot_clears_what_an_earlier_run_left_on_the_table(
    mosquitto: Mosquitto, service: ScriptedService, tmp_path: Path
) -> None:
    async with live_agent(mosquitto.url, tmp_path / "outbox") as agent:
        await say_all(agent, "wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs")
        await run_bot(agent, random.Random(7), round_s=0, rounds=1)
        await say_all(agent, "wager 3 progressive; wager 4 progressive")
        await run_bot(agent, random.Random(8), round_s=0, rounds=1)
    assert [event["type"] for event in service.applied[:3]] == ["wagers", "void", "wagers"]


@pytest.mark.slow
async def test_a_bot_waits_for_a_lost_link_and_goes_on(
    mosquitto: Mosquitto, service: ScriptedService, tmp_path: Path
) -> None:
    rounds: list[RoundPlayed] = []
    async with live_agent(mosquitto.url, tmp_path / "outbox") as agent:
        bot = asyncio.create_task(
            run_bot(agent, random.Random(7), round_s=0.05, rounds=60, on_round=rounds.append)
        )
        await eventually_async(lambda: len(rounds) > 3)
        mosquitto.kill()
        await eventually_async(lambda: agent.fault() is not None)
        mosquitto.start()
        async with asyncio.timeout(120):
            await bot
    assert len(rounds) == 60
    numbers = [event["seq"] for event in service.applied]
    assert numbers == list(range(1, service.last_seq + 1))
