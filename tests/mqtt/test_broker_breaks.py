"""However a connection to the broker breaks, every waiting call ends, and nothing of it is left."""

import asyncio
import contextlib
import math
import select
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import aiomqtt
import pytest

from controllers.agent.agent import Agent
from meters.floor.server_addresses import BrokerAddress
from meters.mqtt.broker_connect import connect_broker
from meters.mqtt.connection import BrokerConnection, BrokerError
from meters.wire.broker_client import BrokerClient
from tests.controllers.floors import link_and_table
from tests.controllers.scripted import SWIFT, ScriptedService, running, say, say_all
from tests.mqtt.relay import BREAKS, Behavior, Relay
from tests.servers import Mosquitto, eventually_async
from tests.waiting import LONG_S

NEVER_S = 100_000
"""Timeout so long that no wait in these tests can end because of it."""

Client = BrokerClient | BrokerConnection
Connect = Callable[[int], AbstractAsyncContextManager[Client]]


def of_agent(port: int) -> BrokerClient:
    return BrokerClient("127.0.0.1", port, timeout=math.inf, keepalive=60_000)


def of_service(port: int) -> AbstractAsyncContextManager[BrokerConnection]:
    return connect_broker(BrokerAddress("127.0.0.1", port, None, None, tls=False), "service")


SIDES: Final[dict[str, tuple[Connect, type[Exception]]]] = {
    "the agent": (of_agent, aiomqtt.MqttError),
    "the service": (of_service, BrokerError),
}
BOTH = pytest.mark.parametrize(("connect", "error"), SIDES.values(), ids=SIDES)
CALLS: Final[dict[str, Callable[[Any], Awaitable[object]]]] = {
    "subscribe": lambda client: client.subscribe("news"),
    "unsubscribe": lambda client: client.unsubscribe("news"),
    "publish": lambda client: client.publish(
        "news", b"1", **({"qos": 1} if isinstance(client, BrokerClient) else {})
    ),
}


@pytest.fixture
async def relay(mosquitto: Mosquitto) -> AsyncIterator[Relay]:
    async with Relay(mosquitto.port).running() as relay:
        yield relay


@BOTH
@pytest.mark.parametrize("how", BREAKS)
async def test_connecting_ends_with_the_connection_however_that_breaks(
    relay: Relay, how: Behavior, connect: Connect, error: type[Exception]
) -> None:
    """It does not wait for the timeout of an answer: 10 seconds in a service, 5 in an agent."""
    relay.behavior = how
    async with asyncio.timeout(LONG_S):
        with pytest.raises(error) as failed:
            await connect(relay.port).__aenter__()
    assert str(failed.value) != ""


@BOTH
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_what_waits_for_the_broker_ends_with_the_connection(
    relay: Relay,
    connect: Connect,
    error: type[Exception],
    call: Callable[[Client], Awaitable[object]],
) -> None:
    async with asyncio.timeout(LONG_S), connect(relay.port) as client:
        relay.stall()
        waiting = asyncio.ensure_future(call(client))
        await asyncio.sleep(0)  # it has begun to wait
        relay.cut()
        with pytest.raises(error):
            await waiting
        with pytest.raises(error):
            await call(client)
        if not isinstance(client, BrokerClient):
            client.post("a", b"")
            client.reply("a", b"")
            assert client.unsent_bytes == 0


@pytest.mark.slow
async def test_a_connection_that_carries_nothing_is_left(relay: Relay) -> None:
    """The connection is half open: nobody has closed it, and nothing arrives any more."""
    client = of_agent(relay.port)
    await client.__aenter__()
    relay.swallow()
    async with asyncio.timeout(LONG_S):
        with pytest.raises(aiomqtt.MqttError):
            await anext(client.messages)


@pytest.mark.slow
async def test_a_quiet_connection_is_kept(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker without messages answers a ping."""
    client = of_agent(relay.port)
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


@BOTH
async def test_the_answer_to_a_subscription_that_was_given_up_is_no_error(
    shared_mosquitto: Mosquitto,
    caplog: pytest.LogCaptureFixture,
    connect: Connect,
    error: type[Exception],
) -> None:
    async with connect(shared_mosquitto.port) as client:
        given_up = asyncio.ensure_future(client.subscribe("given/up"))
        # In one turn of the loop it is sent, and no answer is read yet.
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.wait([given_up])
        # The broker answers in order.
        await client.subscribe("kept")
    assert given_up.cancelled(), error
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def trouble() -> list[dict[str, object]]:
    """Return the errors of the loop from now on."""
    found: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: found.append(context))
    return found


async def nothing_is_left(server: socket.socket) -> None:
    """Check that the connection is closed at the broker, and the client has no task left."""
    end, _ = await asyncio.to_thread(server.accept)
    with end:
        end.settimeout(LONG_S)
        with contextlib.suppress(ConnectionError):
            while await asyncio.to_thread(end.recv, 1024):
                pass
    await eventually_async(lambda: asyncio.all_tasks() == {asyncio.current_task()})


@BOTH
async def test_a_canceled_connection_leaves_nothing(
    silent: socket.socket, connect: Connect, error: type[Exception]
) -> None:
    """It is canceled while it waits for the broker's answer."""
    found, port = trouble(), silent.getsockname()[1]
    connecting = asyncio.ensure_future(connect(port).__aenter__())
    await asyncio.to_thread(select.select, [silent], [], [], LONG_S)
    await asyncio.sleep(0.05)
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    await nothing_is_left(silent)
    assert found == [], error


async def test_a_connection_that_is_canceled_while_its_thread_connects_leaves_nothing(
    silent: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, client = trouble(), BrokerClient("127.0.0.1", silent.getsockname()[1])
    begun, go_on = threading.Event(), threading.Event()
    connect = client._client.connect

    def held(*arguments: object) -> object:
        begun.set()
        assert go_on.wait(LONG_S)
        return connect(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(client._client, "connect", held)
    connecting = asyncio.create_task(client.__aenter__())
    await asyncio.to_thread(begun.wait, LONG_S)
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    go_on.set()
    await nothing_is_left(silent)
    assert found == []


async def test_a_broker_that_does_not_answer_leaves_nothing(silent: socket.socket) -> None:
    found = trouble()
    client = BrokerClient("127.0.0.1", silent.getsockname()[1], timeout=0.1)
    with pytest.raises(aiomqtt.MqttError):
        await client.__aenter__()
    await nothing_is_left(silent)
    assert found == []


@pytest.mark.parametrize("what", ["closed meanwhile", "closed by another thread", "let go of"])
async def test_a_socket_that_breaks_between_two_turns_of_the_loop(
    monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """It is not watched. If the loop has let go of it, it is a broken connection."""
    found, client = trouble(), BrokerClient("127.0.0.1")

    def refuse(*_: object) -> None:
        raise RuntimeError("the handler is closed")

    one, other = socket.socketpair()
    with one, other:
        if what == "let go of":
            monkeypatch.setattr(asyncio.get_running_loop(), "add_writer", refuse)
        watched = None if what == "closed by another thread" else one
        client._on_socket_register_write(client._client, None, watched)
        if what == "closed meanwhile":
            one.close()
        await asyncio.sleep(0.01)
    assert found == []
    assert client._disconnected.done() is (what == "let go of")
    if what == "let go of":
        assert isinstance(client._disconnected.exception(), aiomqtt.MqttError)
