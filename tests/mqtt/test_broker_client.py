"""The client that both sides use, where its connection breaks between two turns of the loop."""

import asyncio
import socket
from collections.abc import Iterator

import aiomqtt
import pytest

from meters.wire.broker_client import BrokerClient

Trouble = list[dict[str, object]]


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def trouble() -> Trouble:
    """What goes wrong in callbacks of the running loop from now on."""
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
