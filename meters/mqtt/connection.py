"""The connection to the MQTT broker: arrivals are taken in batches, what goes out is not awaited.

The table's outbox and the reply are the guarantee, MQTT only carries: a publish that is lost with
a connection is made good by the table's repeat, or by the next beat.
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
from meters.mqtt.packets import PACKET_IDS, publish_packet, text
from meters.wire.broker_client import BrokerClient

log = structlog.get_logger()

_OWN_IDS_FROM: Final = 1_024
"""paho numbers the few packets that it sends for us from 1 on."""
KEEPALIVE_S: Final = 15
"""A broker that is silent is asked after so long, and given up after as long again."""
_ANSWER_WITHIN_S: Final = 10.0

Queue = asyncio.Queue[aiomqtt.Message]


class BrokerConnection(BrokerClient):
    """An aiomqtt client that hands over what has arrived in batches.

    What arrives waits in `arrived`, a queue of its own unless given. The broker may be silent for
    `keepalive_s` seconds.
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
            # Replies are small and awaited: they must not wait for each other's acknowledgement.
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
            queue_type=cast("type[Queue]", _giving(self._arrived)),
        )

    async def __aenter__(self) -> Self:
        """Connect.

        Raises:
            aiomqtt.MqttError: the broker is not reached, or refuses.
        """
        await super().__aenter__()
        inner = self._client.socket()
        if not isinstance(inner, socket.socket):
            raise aiomqtt.MqttError("the connection broke as soon as it was made")
        self._socket = BufferedSocket(inner)
        # paho has no option for its socket; it needs nothing of it but what ours has too.
        self._client._sock = self._socket  # type: ignore[assignment] # noqa: SLF001
        return self

    async def batch(self, size_max: int) -> list[aiomqtt.Message]:
        """Wait for a message, then take as many more as lanes have any, up to `size_max`.

        Raises:
            aiomqtt.MqttError: the connection is lost.
        """
        return self._arrived.turn(await anext(self.messages), size_max)

    @property
    def unsent_bytes(self) -> int:
        """How much the broker has not taken yet."""
        return 0 if self._socket is None else self._socket.unsent_bytes

    def post(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish with QoS 1 and go on.

        The packet is put together here: what paho keeps of each, to send it again in a session
        that we do not have, cost more than all that the service does with a wager.
        """
        if self._socket is None:
            return
        self._packet_id = self._packet_id + 1 if self._packet_id < PACKET_IDS else _OWN_IDS_FROM
        packet = publish_packet(text(topic), self._packet_id, payload, retain=retain)
        if not self._socket.push(packet) and (more := self._unpublished.due("")) is not None:
            log.warning(
                "not published", topic=topic, reason="the broker takes nothing", kept_back=more
            )


def _giving(queue: Queue) -> Callable[[int], Queue]:
    """What makes the client's queue: one that we hold too, so that it can be emptied at once."""

    def give(maxsize: int = 0) -> Queue:
        return queue

    return give
