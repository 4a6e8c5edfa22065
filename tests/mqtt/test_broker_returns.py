"""The broker killed and restarted behind a proxy: after any break, service and table continue."""

import asyncio
from pathlib import Path

import pytest

from controllers.agent.agent import Agent
from meters.floor.floor_file import read_floor
from tests.controllers.scripted import say, say_all
from tests.mqtt.relay import BREAKS, Relay
from tests.mqtt.stand import service_on
from tests.servers import Mosquitto, RedisServer, eventually_async

pytestmark = pytest.mark.slow


async def restart(mosquitto: Mosquitto, relay: Relay, how: str) -> None:
    """Kill the broker, let the proxy fail in one way for some attempts, and start it again."""
    began = relay.accepted
    if how == "swallow":
        relay.swallow()
    elif how != "carry":
        relay.behavior = how  # type: ignore[assignment]
    mosquitto.kill()
    await eventually_async(lambda: relay.accepted >= began + 4)
    relay.behavior = "carry"
    await asyncio.to_thread(mosquitto.start)


async def test_service_and_table_go_on_however_the_broker_was_away(
    mosquitto: Mosquitto, redis_server: RedisServer, tmp_path: Path
) -> None:
    """Each time the table has an unanswered event, which is answered. The next round is played."""
    async with Relay(mosquitto.port).running() as relay:
        url = f"mqtt://127.0.0.1:{relay.port}"
        service = service_on(tmp_path, broker=url, redis=redis_server.url)
        link = read_floor(service.config).link[0]
        try:
            await asyncio.to_thread(service.start)
            async with Agent(link, link.table[0], url, tmp_path / "T-1.sqlite") as agent:
                for how in ("carry", *BREAKS, "swallow"):
                    assert await agent.wait_live(60)
                    await say_all(agent, "wager 3 progressive")
                    restarting = asyncio.create_task(restart(mosquitto, relay, how))
                    await eventually_async(lambda: not mosquitto.running)
                    locking = asyncio.create_task(say(agent, "lockout"))
                    await restarting
                    assert (await locking).ok
                    await say_all(agent, "void")
                    await eventually_async(lambda: agent.fault() is None)
        finally:
            service.close()
