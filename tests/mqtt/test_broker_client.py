"""The client that both sides use, when its connection breaks between two turns of the loop."""

import asyncio
import socket
import threading
from collections.abc import Iterator

import aiomqtt
import pytest

from meters.wire.broker_client import BrokerClient
from tests.servers import Mosquitto
from tests.waiting import LONG_S, eventually_async

Trouble = list[dict[str, object]]


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def trouble() -> Trouble:
    found: Trouble = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: found.append(context))
    return found


async def test_a_socket_that_was_closed_meanwhile_is_not_watched(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    found, client = trouble(), BrokerClient("127.0.0.1")
    client._on_socket_register_write(client._client, None, ends[0])
    ends[0].close()
    await asyncio.sleep(0.01)
    assert found == []
    assert not client._disconnected.done()


async def test_no_socket_is_watched_that_another_thread_has_closed() -> None:
    found, client = trouble(), BrokerClient("127.0.0.1")
    client._on_socket_register_write(client._client, None, None)
    await asyncio.sleep(0.01)
    assert found == []
    assert not client._disconnected.done()


async def test_a_socket_that_the_loop_has_let_go_of_is_a_broken_connection(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("the handler is closed")

    found, client = trouble(), BrokerClient("127.0.0.1")
    monkeypatch.setattr(asyncio.get_running_loop(), "add_writer", refuse)
    client._on_socket_register_write(client._client, None, ends[0])
    await asyncio.sleep(0.01)
    assert found == []
    assert isinstance(client._disconnected.exception(), aiomqtt.MqttError)


async def test_the_answer_to_a_subscription_that_was_given_up_is_no_error(
    shared_mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    async with BrokerClient("127.0.0.1", shared_mosquitto.port) as client:
        given_up = asyncio.create_task(client.subscribe("given/up"))
        # In one turn of the loop it is sent, and no answer is read yet.
        await asyncio.sleep(0)
        assert client._pending_subscribes
        given_up.cancel()
        await asyncio.wait([given_up])
        # The broker answers in order.
        await client.subscribe("kept")
    assert given_up.cancelled()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def nothing_is_left(server: socket.socket) -> None:
    """Check that the connection is closed at the broker, and the client has no task left."""
    end, _ = await asyncio.to_thread(server.accept)
    with end:
        end.settimeout(LONG_S)
        while await asyncio.to_thread(end.recv, 1024):
            pass
    await eventually_async(lambda: asyncio.all_tasks() == {asyncio.current_task()})


@pytest.mark.parametrize("in_thread", [True, False])
async def test_a_canceled_connection_leaves_nothing(
    silent: socket.socket, monkeypatch: pytest.MonkeyPatch, *, in_thread: bool
) -> None:
    """It is canceled while its thread still connects, or while it waits for the broker's answer."""
    found = trouble()
    client = BrokerClient("127.0.0.1", silent.getsockname()[1])
    begun, go_on = threading.Event(), threading.Event()
    connect = client._client.connect

    def held(*arguments: object) -> object:
        begun.set()
        assert go_on.wait(LONG_S)
        return connect(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(client._client, "connect", held)
    connecting = asyncio.create_task(client.__aenter__())
    await asyncio.to_thread(begun.wait, LONG_S)
    if not in_thread:
        go_on.set()
        await eventually_async(lambda: client._misc_task is not None)
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
