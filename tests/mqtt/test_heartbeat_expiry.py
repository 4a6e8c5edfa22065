"""Heartbeats that the broker keeps: none of a killed service, the last one of a stopped service."""

import asyncio
import json
from typing import Any

import pytest

from meters.floor.server_addresses import BrokerAddress
from meters.mqtt.broker_connect import connect_broker
from tests.mqtt.stand import Stand
from tests.mqtt.stranger import Ear
from tests.servers import eventually

MARK = "mark"
CONTROLLER = "pitlink/v1/main/controller"

pytestmark = [pytest.mark.duty("D13"), pytest.mark.slow]


def first_kept(stand: Stand, topic: str) -> list[dict[str, Any]]:
    with Ear(stand.mosquitto.port, topic) as ear:
        return [json.loads(heard.payload) for heard in ear.messages if heard.retained]


def kept_beats(stand: Stand) -> list[dict[str, Any]]:
    return first_kept(stand, CONTROLLER)


async def keep_for_longer_than_a_beat(stand: Stand) -> None:
    """Publish a message that the broker keeps for longer than it would keep a heartbeat."""
    address = BrokerAddress("127.0.0.1", stand.mosquitto.port, None, None, tls=False)
    async with connect_broker(address, "mark") as broker:
        broker.post(MARK, b"{}", retain=True, expires_s=4)
        await broker.publish("sent", b"{}")


def test_the_heartbeat_of_a_killed_service_expires(stand: Stand) -> None:
    eventually(lambda: [beat["state"] for beat in kept_beats(stand)] == ["operable"])
    stand.service.process.kill()
    eventually(lambda: kept_beats(stand) == [], what="no heartbeat kept")
    stand.service.start()


def test_the_last_heartbeat_of_a_stopped_service_stays(stand: Stand) -> None:
    stand.service.process.stop()

    def reasons() -> list[str]:
        return [beat["reason"] for beat in kept_beats(stand)]

    assert reasons() == ["the service was stopped"]
    asyncio.run(keep_for_longer_than_a_beat(stand))
    eventually(lambda: first_kept(stand, MARK) == [])
    assert reasons() == ["the service was stopped"]
    stand.service.start()
    eventually(lambda: reasons() == [""])
