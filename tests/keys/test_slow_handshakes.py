"""A broker that is slow because a whole floor connects together: no client retries forever."""

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Final

import aiomqtt
import pytest

import meters.wire.broker_client
from meters.floor.broker_address import BrokerAddress
from meters.floor.identities import Identity, service_identity, table_identity
from meters.floor.key_bundle import TlsFiles
from meters.mqtt import mqtt5_connection
from meters.mqtt.connect import connect_broker
from meters.mqtt.connection import BrokerError
from meters.wire.broker_client import FIRST_ANSWER_WITHIN_S, BrokerClient, ConnectPace
from tests.keys.clients import believing
from tests.keys.servers import SecuredMosquitto
from tests.mqtt.relay import Relay
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


async def connect_service(port: int, keys: Path, party: Identity) -> None:
    """Connect as services do, again and again until the broker has answered."""
    pace = ConnectPace()
    while True:
        pace.begin()
        with contextlib.suppress(BrokerError):
            async with connect_broker(address_of(port, keys, party), "service"):
                return
        await pace.pause()


def address_of(port: int, keys: Path, party: Identity) -> BrokerAddress:
    home = keys / party.place
    shown = (home / f"{party.stem}.crt", home / f"{party.stem}.key")
    files = TlsFiles(keys / "authority" / "ca.crt", *shown)
    return BrokerAddress("localhost", port, None, None, tls=True, files=files)


async def connect(port: int, keys: Path, party: Identity) -> None:
    """Connect as agents do, again and again until the broker has answered."""
    pace = ConnectPace()
    while True:
        pace.begin()
        with contextlib.suppress(aiomqtt.MqttError):
            context = believing(keys, party=party)
            async with BrokerClient("localhost", port, tls_context=context, timeout=LONG_S):
                return
        await pace.pause()


@pytest.mark.slow
async def test_all_connect_though_each_handshake_takes_longer_than_a_silent_proxy_may(
    broker: SecuredMosquitto, keys: Path
) -> None:
    """The broker begins each at once, and takes long for the rest."""
    late = Relay(broker.port, late_s=STEP_S, soon_bytes=BEGUN_BYTES).running()
    async with late as relay, asyncio.timeout(LONG_S):
        port = relay.port
        agents = [connect(port, keys, party) for party in PARTIES[1:]]
        await asyncio.gather(connect_service(port, keys, PARTIES[0]), *agents)


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


async def test_a_service_leaves_a_broker_without_one_byte_as_soon(
    keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt5_connection, "CONNECTED_WITHIN_S", NEVER_S)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = address_of(silent.getsockname()[1], keys, PARTIES[0])
        async with asyncio.timeout(LONG_S):
            with pytest.raises(BrokerError, match=r"not answered within 1\.2 s"):
                await connect_broker(address, "service").__aenter__()
