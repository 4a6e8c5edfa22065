"""The connection to the MQTT broker: arrivals are taken in batches, what goes out is not awaited.

The table's outbox and the reply are the guarantee, MQTT only carries: a publish that is lost with
a connection is made good by the table's repeat, or by the next beat.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final, Self, cast

import aiomqtt

from meters.buffered_socket import BufferedSocket
from meters.wire.address import BrokerAddress

_INFLIGHT_MAX: Final = 0
"""No bound on unanswered publishes but MQTT's own of 65,535: a bound makes paho look through all
of them at each answer."""

_KEEPALIVE_S: Final = 15
_ANSWER_WITHIN_S: Final = 10.0

Queue = asyncio.Queue[aiomqtt.Message]


class BrokerConnection(aiomqtt.Client):
    """An aiomqtt client that hands over all that has arrived at once."""

    def __init__(self, address: BrokerAddress, identifier: str) -> None:
        self._arrived: Queue = asyncio.Queue()
        super().__init__(
            address.host,
            address.port,
            username=address.username,
            password=address.password,
            tls_context=address.tls_context(),
            identifier=identifier,
            keepalive=_KEEPALIVE_S,
            timeout=_ANSWER_WITHIN_S,
            max_inflight_messages=_INFLIGHT_MAX,
            max_queued_outgoing_messages=0,
            # Replies are small and awaited: they must not wait for each other's acknowledgement.
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
            queue_type=cast("type[Queue]", _giving(self._arrived)),
        )
        # paho would put together two log lines for each message, only to drop them.
        self._client.disable_logger()

    async def __aenter__(self) -> Self:
        """Connect.

        Raises:
            aiomqtt.MqttError: the broker is not reached, or refuses.
        """
        await super().__aenter__()
        inner = self._client.socket()
        if isinstance(inner, socket.socket) and not isinstance(inner, ssl.SSLSocket):
            # paho has no option for its socket; it needs nothing of it but what ours has too.
            self._client._sock = BufferedSocket(inner)  # type: ignore[assignment] # noqa: SLF001
        return self

    async def batch(self, size_max: int) -> list[aiomqtt.Message]:
        """Wait for a message, then take all that have arrived, up to `size_max`.

        Raises:
            aiomqtt.MqttError: the connection is lost.
        """
        batch = [await anext(self.messages)]
        while len(batch) < size_max and not self._arrived.empty():
            batch.append(self._arrived.get_nowait())
        return batch

    def post(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish with QoS 1 and go on: paho keeps it until the broker has it."""
        self._client.publish(topic, payload, 1, retain)


def _giving(queue: Queue) -> Callable[[int], Queue]:
    """What makes the client's queue: one that we hold too, so that it can be emptied at once."""

    def give(maxsize: int = 0) -> Queue:
        return queue

    return give
