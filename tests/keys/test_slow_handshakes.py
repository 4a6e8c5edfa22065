"""A broker that is slow because a whole floor connects together: no client retries forever."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final

import aiomqtt
import pytest

import meters.wire.broker_client
from meters.floor.facility import Service
from meters.floor.key_bundle import DISPLAY
from meters.floor.own_credentials import broker_address
from meters.mqtt import mqtt5_connection
from meters.mqtt.broker_connect import connect_broker
from meters.mqtt.connection import BrokerError
from meters.wire.broker_client import FIRST_ANSWER_WITHIN_S, BrokerClient
from tests.keys.clients import believing
from tests.keys.floor import write_floor
from tests.keys.servers import SecuredMosquitto, SecuredRedis
from tests.mqtt.relay import Relay
from tests.servers import Pitlink, eventually_async, free_port
from tests.waiting import LONG_S

BEGUN_BYTES: Final = 100
"""Bytes sent at the beginning: less than the broker's first part of a handshake."""
STEP_S: Final = 1.25 * FIRST_ANSWER_WITHIN_S
NEVER_S: Final = 100_000
Connect = Callable[[Path, int], AbstractAsyncContextManager[object]]
COMMANDS: Final = ("serve", "table A-1 --events", "table A-2 --events", "table B-1 --events")


@pytest.mark.slow
async def test_all_connect_though_each_handshake_takes_longer_than_a_silent_proxy_may(
    broker: SecuredMosquitto, store: SecuredRedis, keys: Path, tmp_path: Path
) -> None:
    """The broker begins each at once, and takes long for the rest."""
    late = Relay(broker.port, late_s=STEP_S, soon_bytes=BEGUN_BYTES).running()
    async with late as relay:
        url, path = f"mqtts://localhost:{relay.port}", tmp_path / "floor.toml"
        config = write_floor(path, broker=url, redis=store.url, http=free_port(), keys=keys)
        with contextlib.ExitStack() as stack:
            for words in COMMANDS:
                program = Pitlink(*words.split(), "--config", str(config), stdin=True)
                stack.enter_context(program)
                await eventually_async(
                    lambda running=program: "broker connected" in running.errors, what=words
                )


def of_agent(keys: Path, port: int) -> AbstractAsyncContextManager[object]:
    context = believing(keys, party=DISPLAY)
    return BrokerClient("localhost", port, tls_context=context, timeout=NEVER_S)


def of_service(keys: Path, port: int) -> AbstractAsyncContextManager[object]:
    service = Service(broker=f"mqtts://localhost:{port}", keys=str(keys))
    return connect_broker(broker_address(service, DISPLAY), "service")


@pytest.mark.parametrize(
    ("connect", "error", "said"),
    [(of_agent, aiomqtt.MqttError, "."), (of_service, BrokerError, r"not answered within 1\.2 s")],
    ids=["agent", "service"],
)
async def test_a_connection_without_one_byte_is_left_as_soon_over_tls(
    keys: Path, monkeypatch: pytest.MonkeyPatch, connect: Connect, error: type[Exception], said: str
) -> None:
    """Only a handshake that the broker has begun has a longer timeout."""
    for side in (meters.wire.broker_client, mqtt5_connection):
        monkeypatch.setattr(side, "CONNECTED_WITHIN_S", NEVER_S)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with asyncio.timeout(LONG_S):
            with pytest.raises(error, match=said):
                await connect(keys, silent.getsockname()[1]).__aenter__()
