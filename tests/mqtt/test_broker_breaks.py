"""However a connection to the broker breaks, every waiting call ends, and the client reconnects."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import aiomqtt
import pytest

from controllers.agent.agent import Agent
from meters.wire.broker_client import BrokerClient
from tests.controllers.floors import link_and_table
from tests.controllers.scripted import SWIFT, ScriptedService, running, say, say_all
from tests.mqtt.relay import BREAKS, Behavior, Relay
from tests.servers import Mosquitto, eventually_async
from tests.waiting import LONG_S

NEVER_S = 100_000
"""Timeout so long that no wait in these tests can end because of it."""


@pytest.fixture
async def relay(mosquitto: Mosquitto) -> AsyncIterator[Relay]:
    async with Relay(mosquitto.port).running() as relay:
        yield relay


def patient(relay: Relay) -> BrokerClient:
    return BrokerClient("127.0.0.1", relay.port, timeout=math.inf, keepalive=60_000)


@pytest.mark.parametrize("how", BREAKS)
async def test_connecting_ends_with_the_connection_however_that_breaks(
    relay: Relay, how: Behavior
) -> None:
    """It does not wait for the timeout of an answer: 10 seconds in a service, 5 in an agent."""
    relay.behavior = how
    async with asyncio.timeout(LONG_S):
        with pytest.raises(aiomqtt.MqttError):
            await patient(relay).__aenter__()


Call = Callable[[BrokerClient], Awaitable[object]]


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.subscribe("news", qos=1),
        lambda client: client.unsubscribe("news"),
        lambda client: client.publish("news", b"1", qos=1),
    ],
    ids=["subscribe", "unsubscribe", "publish"],
)
async def test_what_waits_for_the_broker_ends_with_the_connection(relay: Relay, call: Call) -> None:
    client = patient(relay)
    await client.__aenter__()
    relay.stall()
    waiting = asyncio.ensure_future(call(client))
    await asyncio.sleep(0)  # it has begun to wait
    relay.cut()
    async with asyncio.timeout(LONG_S):
        with pytest.raises(aiomqtt.MqttError):
            await waiting


@pytest.mark.slow
async def test_a_connection_that_carries_nothing_is_left(relay: Relay) -> None:
    """The connection is half open: nobody has closed it, and nothing arrives any more."""
    client = patient(relay)
    await client.__aenter__()
    relay.swallow()
    async with asyncio.timeout(LONG_S):
        with pytest.raises(aiomqtt.MqttError):
            await anext(client.messages)


@pytest.mark.slow
async def test_a_quiet_connection_is_kept(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker without messages answers a ping."""
    client = patient(relay)
    monkeypatch.setattr("meters.wire.broker_client.ASKED_AFTER_S", 0.2)
    monkeypatch.setattr("meters.wire.broker_client.SILENT_S", 1.5)
    async with client:
        await client.subscribe("news", qos=1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(4):
                await anext(client.messages)


async def test_an_event_is_repeated_as_soon_as_the_service_is_heard_again(
    mosquitto: Mosquitto, tmp_path: Path
) -> None:
    """The agent does not wait for the end of its current pause."""
    timing = replace(SWIFT, silence_s=1.0, retry_first_s=NEVER_S, retry_cap_s=NEVER_S)
    service = ScriptedService(mosquitto.url)
    async with (
        running(service),
        Agent(*link_and_table(), mosquitto.url, tmp_path / "T-1.sqlite", timing=timing) as agent,
    ):
        assert await agent.wait_live(LONG_S)
        await say_all(agent, "wager 3 progressive")
        service.answering = service.beating = False
        locking = asyncio.create_task(say(agent, "lockout"))
        await eventually_async(lambda: len(service.heard) == 1)
        await eventually_async(lambda: agent.fault() is not None)
        service.answering = service.beating = True
        async with asyncio.timeout(LONG_S):
            assert (await locking).ok
