"""Connection to the MQTT broker. It receives messages in batches and sends without waiting.

MQTT only transports the messages. The table's outbox and the service's reply guarantee that no
event is lost. If a message is lost with a connection, the table sends its event again, or the next
heartbeat replaces the message.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import Final, Self, cast

import aiomqtt
import structlog

from meters.floor.broker_address import BrokerAddress
from meters.logs.throttled import ThrottledLog
from meters.mqtt.buffered_socket import BufferedSocket
from meters.mqtt.incoming import Arrivals
from meters.mqtt.packets import PACKET_IDS, publish_packet, text, unacknowledged_packet
from meters.wire.broker_client import BrokerClient

log = structlog.get_logger()

_OWN_IDS_FROM: Final = 1_024
"""First id of the packets that pitlink builds itself. paho gives ids from 1 to the few packets that
it sends."""
KEEPALIVE_S: Final = 15
"""Seconds without data from the broker after which the client sends a ping. If no data arrives for
the same time after that, the client disconnects."""
_ANSWER_WITHIN_S: Final = 10.0

Queue = asyncio.Queue[aiomqtt.Message]


class BrokerConnection(BrokerClient):
    """An aiomqtt client that returns received messages in batches.

    Received messages wait in the queue `arrived`; by default it is a new queue. `keepalive_s` is
    the time in seconds for which the broker can be silent.
    """

    def __init__(
        self,
        address: BrokerAddress,
        identifier: str,
        arrived: Arrivals | None = None,
        *,
        keepalive_s: int = KEEPALIVE_S,
    ) -> None:
        self._arrived = Arrivals() if arrived is None else arrived
        self._unpublished = ThrottledLog()
        self._socket: BufferedSocket | None = None
        self._packet_id = _OWN_IDS_FROM
        super().__init__(
            address.host,
            address.port,
            username=address.username,
            password=address.password,
            tls_context=address.tls_context(),
            identifier=identifier,
            keepalive=keepalive_s,
            timeout=_ANSWER_WITHIN_S,
            # Replies are small and tables wait for them, so they must not wait for
            # acknowledgements.
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
            queue_type=cast("type[Queue]", _giving(self._arrived)),
        )

    async def __aenter__(self) -> Self:
        """Connect to the broker.

        Raises:
            aiomqtt.MqttError: the broker cannot be reached, or refuses the connection.
        """
        await super().__aenter__()
        inner = self._client.socket()
        if not isinstance(inner, socket.socket):
            raise aiomqtt.MqttError("the connection broke as soon as it was made")
        self._socket = BufferedSocket(inner)
        # paho has no option for its socket. The replacement has everything that paho uses of a
        # socket.
        self._client._sock = self._socket  # type: ignore[assignment] # noqa: SLF001
        return self

    async def batch(self, size_max: int) -> list[aiomqtt.Message]:
        """Wait for a message. Return it, with one waiting message from each other topic.

        The batch has up to `size_max` messages.

        Raises:
            aiomqtt.MqttError: the connection is lost.
        """
        return self._arrived.turn(await anext(self.messages), size_max)

    @property
    def unsent_bytes(self) -> int:
        """The number of bytes that the broker has not accepted yet."""
        return 0 if self._socket is None else self._socket.unsent_bytes

    def post(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish a message with QoS 1, without waiting.

        pitlink builds the packet itself. paho would store each packet for a later session, which
        pitlink does not use. To store the packet took more time than all other work of the service
        for a wager.
        """
        self._packet_id = self._packet_id + 1 if self._packet_id < PACKET_IDS else _OWN_IDS_FROM
        self._push(topic, publish_packet(text(topic), self._packet_id, payload, retain=retain))

    def reply(self, topic: str, payload: bytes) -> None:
        """Publish the reply to an event with QoS 0, without waiting.

        A table repeats its event until it has the reply, so acknowledgements of the broker would
        only take time.
        """
        self._push(topic, unacknowledged_packet(text(topic), payload))

    def _push(self, topic: str, packet: bytes) -> None:
        if self._socket is None or self._socket.push(packet):
            return
        if (more := self._unpublished.due("")) is not None:
            log.warning(
                "not published", topic=topic, reason="the broker takes nothing", kept_back=more
            )


def _giving(queue: Queue) -> Callable[[int], Queue]:
    """Return a function that aiomqtt calls for a new queue, and that returns `queue`.

    The connection also reads from `queue` itself, to get several messages in one turn.
    """

    def give(maxsize: int = 0) -> Queue:
        return queue

    return give
