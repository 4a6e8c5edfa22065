"""Credentials that may connect but are not the service's: none can steal a table's event.

A broker delivers each message to one member of a group with a shared subscription. mosquitto
accepts such a subscription from everybody, and drops the message if the chosen member may not read
it.
"""

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from meters.floor.key_bundle import (
    ARCHIVE,
    CHECK,
    DISPLAY,
    Identity,
    service_identity,
    table_identity,
)
from meters.store.facility_notes import stored_event_group
from tests.keys.clients import believing, by_certificate, with_session
from tests.keys.floor import make_keys, write_floor
from tests.keys.machines import Floor, running
from tests.keys.raw import connect_packet, connected, is_let_in
from tests.keys.servers import SecuredMosquitto, SecuredRedis
from tests.mqtt.events import encode, void, wagers
from tests.mqtt_packets import packet, text
from tests.servers import RedisServer

pytestmark = pytest.mark.duty("D20")

ROOT: Final = "pitlink/v1"
OWN: Final = f"{ROOT}/main/table/A-1"
A1: Final = table_identity("main", "A-1")
THIEVES: Final = (
    table_identity("main", "A-2"), table_identity("other", "B-1"), DISPLAY, CHECK, ARCHIVE,
)  # fmt: skip
GROUPS: Final = ("pitlink", "pitlink-service", "thieves")
WANTED: Final = (f"{ROOT}/+/table/+/out", f"{ROOT}/main/table/+/out", f"{OWN}/out", "#")
ROUNDS: Final = 15
ANSWERED_WITHIN_S: Final = 20.0


@asynccontextmanager
async def thieves(
    floor: Floor, parties: Sequence[Identity], groups: Sequence[str], *, stay: bool
) -> AsyncIterator[None]:
    """Have all of them join every group that they know; they stay, or only their sessions stay."""
    async with AsyncExitStack() as stack:
        for party in parties:
            async with AsyncExitStack() as one:
                client = await one.enter_async_context(
                    with_session(floor.broker, floor.keys, party)
                )
                for group in groups:
                    for wanted in WANTED:
                        await client.subscribe(f"$share/{group}/{wanted}", qos=1)
                if stay:
                    stack.push_async_exit(one.pop_all())
        try:
            yield
        finally:
            await stack.aclose()
            for party in parties:
                async with with_session(floor.broker, floor.keys, party, clean=True):
                    """Connecting with a clean session deletes the old one."""


async def play(floor: Floor, rounds: int = ROUNDS, *, replies: int = 1) -> list[list[bytes]]:
    """Play rounds at a table that sends each event once; return the replies to each."""
    answers: list[list[bytes]] = []
    shown = believing(floor.keys, party=A1)
    async with by_certificate(floor.broker, shown) as table:
        await table.subscribe(f"{OWN}/in", qos=1)

        async def ask(event: dict[str, Any]) -> list[bytes]:
            await table.publish(f"{OWN}/out", encode(event), qos=1)
            found: list[bytes] = []
            async with asyncio.timeout(ANSWERED_WITHIN_S):
                async for message in table.messages:
                    assert isinstance(message.payload, bytes)
                    assert json.loads(message.payload).get("seq") == event.get("seq")
                    found.append(message.payload)
                    if len(found) == replies:
                        return found
            raise AssertionError("the connection ended")

        last_seq = json.loads((await ask({"type": "hello"}))[0])["last_seq"]
        for seq in range(last_seq + 1, last_seq + 2 * rounds, 2):
            answers.append(await ask(wagers(seq, f"R{seq}")))
            answers.append(await ask(void(seq + 1, f"R{seq}")))
    return answers


def accepted(answers: Sequence[Sequence[bytes]]) -> bool:
    return all(
        len(set(replies)) == 1 and json.loads(replies[0])["status"] == "accepted"
        for replies in answers
    )


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("stay", [True, False], ids=["online", "offline"])
async def test_no_event_is_lost_to_who_joins_a_group(
    floor: Floor, when: str, *, stay: bool
) -> None:
    """Every kind of credential joins every group that can be known. Each event is answered.

    Nothing is repeated, so a stolen event would never be answered.
    """
    service = floor.service(1)
    if when == "before":
        async with thieves(floor, THIEVES, GROUPS, stay=stay):
            with running(service):
                answers = await play(floor)
    else:
        with running(service):
            async with thieves(floor, THIEVES, GROUPS, stay=stay):
                answers = await play(floor)
    assert accepted(answers)


def subscribe_by_hand(floor: Floor, pattern: str) -> None:
    """Subscribe with a session that stays, to a pattern that no library would send."""
    first = connect_packet(DISPLAY.username, flags=0)
    with (
        connected(floor.broker.port, believing(floor.keys, party=DISPLAY), first) as connection,
        contextlib.suppress(ConnectionError),
    ):
        connection.sendall(packet(b"\x82", b"\x00\x01", text(pattern), b"\x01"))
        connection.recv(16)


@pytest.mark.slow
@pytest.mark.parametrize("group", ["+", "#", "", "{group}/x", "+{group}", "pitlink-{half}+"])
async def test_a_group_cannot_be_joined_by_a_pattern_of_its_name(floor: Floor, group: str) -> None:
    """The broker ends the connection, refuses it, or treats it as another group."""
    name = (floor.keys / "services" / "1" / "event-group").read_text().strip()
    joined = group.format(group=name, half=name[:32])
    with running(floor.service(1)) as service:
        subscribe_by_hand(floor, f"$share/{joined}/{WANTED[0]}")
        try:
            assert accepted(await play(floor))
        finally:
            async with with_session(floor.broker, floor.keys, DISPLAY, clean=True):
                """Connecting with a clean session deletes the old one."""
        assert name not in service.process.errors + service.process.output


@pytest.mark.slow
async def test_what_a_renewed_service_knew_is_of_no_use(floor: Floor, keys: Path) -> None:
    """A renewal changes the group's name. The old session receives no events of others."""
    config = write_floor(floor.home / "floor.toml", broker=floor.broker.url)
    make = partial(make_keys, config, floor.keys, "--services", "2")
    make()
    with SecuredMosquitto(floor.keys, made_at=keys) as broker:
        floor.broker = broker
        group = (floor.keys / "services" / "2" / "event-group").read_text().strip()
        before = shutil.copytree(floor.keys, floor.home / "before")
        stolen = Floor(floor.home, before, broker, "")
        async with with_session(stolen.broker, stolen.keys, service_identity(2)) as thief:
            for name in ("pitlink", f"pitlink-{group}", group):
                await thief.subscribe(f"$share/{name}/{ROOT}/+/table/+/out", qos=1)
        assert "changed services/1" in make("--renew", "service.2")
        with running(floor.service(1)):
            assert accepted(await play(floor))
        broker.take_lists(floor.keys)
        broker.stop()
        broker.start()
        assert not is_let_in(broker.port, believing(before, party=service_identity(2)))
        with running(floor.service(1)):
            assert accepted(await play(floor))


@pytest.mark.slow
async def test_services_of_two_groups_count_each_event_once(floor: Floor, keys: Path) -> None:
    """While services are given new keys one by one, each group receives every event.

    The table gets the same reply from both, and the books have the event once.
    """
    config = write_floor(floor.home / "floor.toml", broker=floor.broker.url)
    make = partial(make_keys, config, floor.keys, "--services", "2")
    make()
    # This test has its own store, because other tests have written with unknown secrets to the
    # shared one.
    with SecuredMosquitto(floor.keys, made_at=keys) as broker, SecuredRedis(keys) as store:
        floor.broker, floor.redis_url = broker, store.url
        first = floor.service(1)
        make("--renew", "service.2")
        broker.take_lists(floor.keys)
        broker.stop()
        broker.start()
        second = floor.service(2)
        assert len({path.read_text() for path in floor.home.glob("machine-*/**/event-group")}) == 2
        with running(first):
            entries = [first.audit()["entries"]]
            assert accepted(await play(floor, 1))
            entries.append(first.audit()["entries"])
            with running(second):
                entries.append(first.audit()["entries"])
                assert accepted(await play(floor, replies=2))
                # The first one lacks the secret that verifies the second's entries in the log.
                after = second.audit()
        assert after["balanced"], after["problems"]
        assert after["entries"] - entries[2] == ROUNDS * (entries[1] - entries[0])


async def test_services_without_keys_find_one_name_in_redis() -> None:
    """The first one creates it, however many start together."""
    with RedisServer() as server:
        async with Redis(unix_socket_path=str(server.socket_path)) as client:
            names = await asyncio.gather(*(stored_event_group(client, "main") for _ in range(20)))
            assert len(set(names)) == 1
            assert len(names[0]) == 64
            await client.delete("pitlink:{main}:event_group")
            assert await stored_event_group(client, "main") != names[0]
            await client.config_set("maxmemory", "1")
            await client.delete("pitlink:{main}:event_group")
            with pytest.raises(ResponseError):
                await stored_event_group(client, "main")
