"""A broker that is connected and silent: both sides notice it, report it, and reconnect."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from controllers.agent.agent import Agent
from meters.floor.broker_address import BrokerAddress
from meters.mqtt.connect import connect_broker
from meters.mqtt.connection import BrokerConnection, BrokerError
from tests.controllers.floors import link_and_table
from tests.controllers.scripted import SWIFT, ScriptedService, running, until_code
from tests.mqtt.relay import Relay
from tests.servers import Mosquitto, eventually_async
from tests.waiting import LONG_S

WITHIN_S = LONG_S
NOTICING = replace(SWIFT, keepalive_s=1, call_s=1.0)


def connection(port: int) -> AbstractAsyncContextManager[BrokerConnection]:
    address = BrokerAddress("127.0.0.1", port, None, None, tls=False)
    return connect_broker(address, "worker", keepalive_s=1)


async def listen_on(relay: Relay) -> None:
    """Receive one message, and then wait for another that the network never carries."""
    async with asyncio.timeout(WITHIN_S), connection(relay.port) as worker:
        await worker.subscribe("news")
        worker.post("news", b"1")
        assert [one.payload for one in await worker.batch(9)] == [b"1"]
        relay.stall()
        worker.post("news", b"2")
        await worker.batch(9)


@pytest.mark.slow
async def test_the_service_notices_a_network_that_carries_nothing(mosquitto: Mosquitto) -> None:
    async with Relay(mosquitto.port).running() as relay:
        with pytest.raises(BrokerError):
            await listen_on(relay)


@pytest.mark.slow
async def test_an_agent_notices_it_locks_out_and_comes_back(
    mosquitto: Mosquitto, tmp_path: Path
) -> None:
    async with (
        Relay(mosquitto.port).running() as relay,
        running(ScriptedService(mosquitto.url)),
        Agent(
            *link_and_table(),
            f"mqtt://127.0.0.1:{relay.port}",
            tmp_path / "T-1.sqlite",
            timing=NOTICING,
        ) as agent,
    ):
        assert await agent.wait_live(WITHIN_S)
        relay.stall()
        await eventually_async(lambda: not agent._delivery.connected, within_s=WITHIN_S)
        await until_code(agent, "wager 3 progressive", "link_down")
        relay.flow()
        assert await agent.wait_live(WITHIN_S)
