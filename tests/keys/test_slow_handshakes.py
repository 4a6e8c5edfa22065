"""A broker that is slow because a whole floor connects together: no client retries forever."""

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Final

import aiomqtt
import pytest

import meters.wire.broker_client
from meters.floor.identities import Identity, service_identity, table_identity
from meters.wire.broker_client import FIRST_ANSWER_WITHIN_S, BrokerClient, ConnectPace
from tests.keys.clients import believing
from tests.keys.servers import SecuredMosquitto
from tests.slow_wire import slow_wire
from tests.waiting import LONG_S

PARTIES: Final = (
    service_identity(1),
    table_identity("main", "A-1"),
    table_identity("main", "A-2"),
    table_identity("other", "B-1"),
)
BEGUN_BYTES: Final = 100
"""Bytes sent at the beginning: less than the broker's first part of a handshake."""
STEP_S: Final = 1.25 * FIRST_ANSWER_WITHIN_S
NEVER_S: Final = 100_000


async def connect(port: int, keys: Path, party: Identity) -> None:
    """Connect as agents and services do, again and again until the broker has answered."""
    pace = ConnectPace()
    while True:
        pace.begin()
        with contextlib.suppress(aiomqtt.MqttError):
            context = believing(keys, party=party)
            async with BrokerClient("localhost", port, tls_context=context, timeout=LONG_S):
                return
        await pace.pause()


async def test_all_connect_though_each_handshake_takes_longer_than_a_silent_proxy_may(
    broker: SecuredMosquitto, keys: Path
) -> None:
    """The broker begins each at once, and takes long for the rest."""
    late = slow_wire(broker.port, STEP_S, soon_bytes=BEGUN_BYTES)
    async with late as port, asyncio.timeout(LONG_S):
        await asyncio.gather(*(connect(port, keys, party) for party in PARTIES))


async def test_a_connection_without_one_byte_is_left_as_soon_over_tls(
    keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a handshake that the broker has begun has a longer timeout."""
    monkeypatch.setattr(meters.wire.broker_client, "CONNECTED_WITHIN_S", NEVER_S)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        context = believing(keys, party=PARTIES[0])
        client = BrokerClient(
            "localhost", silent.getsockname()[1], tls_context=context, timeout=NEVER_S
        )
        async with asyncio.timeout(LONG_S):
            with pytest.raises(aiomqtt.MqttError):
                await client.__aenter__()
