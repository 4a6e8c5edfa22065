"""The load's connection to a broker: the service's own, without its queues."""

from collections.abc import Callable

from meters.embedded.broker import LOOPBACK
from meters.floor.server_addresses import parse_broker_url
from meters.mqtt.connection import BrokerError, Message, MessageQueue
from meters.mqtt.mqtt5_connection import Mqtt5Connection

Hear = Callable[[str, bytes], None]
"""Callback that receives the topic and the payload of each message as it arrives."""


class LoadClient(Mqtt5Connection):
    def __init__(self, port: int, identifier: str, hear: Hear = lambda _topic, _data: None) -> None:
        def receive(message: Message) -> None:
            hear(message.topic, message.payload)

        address = parse_broker_url(f"mqtt://{LOOPBACK}:{port}")
        super().__init__(address, identifier, MessageQueue(), receive)

    @property
    def lost(self) -> BrokerError | None:
        return self._ended
