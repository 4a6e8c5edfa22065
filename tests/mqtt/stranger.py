"""Clients that are not ours: plain paho, which records messages and publishes any bytes."""

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Self

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.subscribeoptions import SubscribeOptions

from tests.servers import eventually
from tests.waiting import LONG_S

PUBLISH_WITHIN_S: Final = 3 * LONG_S


@dataclass(frozen=True, slots=True)
class Heard:
    """A message as it came. A property of MQTT 5 that it lacks is None."""

    topic: str
    qos: int
    retained: bool
    payload: bytes
    correlation: bytes | None
    content_type: str | None
    expires_s: int | None

    @property
    def json(self) -> Any:  # noqa: ANN401  (a test looks into it as it likes)
        return json.loads(self.payload)


class Ear:
    """A client that records all messages on some topics; its connection ends on exit.

    After entry it is subscribed: it receives everything that is published from then on. It connects
    again after a loss. With `mqtt5` it leaves out its own messages.
    """

    def __init__(self, port: int, *topics: str, mqtt5: bool = False) -> None:
        self._port = port
        self._probe = f"probe/{uuid.uuid4().hex}"
        self._topics = (*topics, self._probe)
        self._options: Any = SubscribeOptions(qos=1, noLocal=True) if mqtt5 else 1
        self._messages: list[Heard] = []
        protocol = MQTTProtocolVersion.MQTTv5 if mqtt5 else MQTTProtocolVersion.MQTTv311
        self._client = paho.Client(CallbackAPIVersion.VERSION2, protocol=protocol)
        self._client.on_connect = self._subscribe
        self._client.on_message = self._note
        self._client.reconnect_delay_set(1, 1)

    def _subscribe(self, *_: object) -> None:
        for topic in self._topics:
            self._client.subscribe((topic, self._options))

    def _note(self, _client: paho.Client, _data: object, message: paho.MQTTMessage) -> None:
        names = ("CorrelationData", "ContentType", "MessageExpiryInterval")
        found = (getattr(message.properties, name, None) for name in names)
        self._messages.append(
            Heard(message.topic, message.qos, message.retain, bytes(message.payload), *found)
        )

    @property
    def messages(self) -> list[Heard]:
        return self._messages.copy()

    def on(self, topic: str) -> list[Heard]:
        return [heard for heard in self.messages if heard.topic == topic]

    def next_on(self, topic: str, after: int = 0, *, within_s: float = LONG_S) -> Heard:
        what = f"message {after + 1} on {topic}"
        return eventually(lambda: self.on(topic)[after:], within_s=within_s, what=what)[0]

    def __enter__(self) -> Self:
        self._client.connect("127.0.0.1", self._port)
        self._client.loop_start()
        try:
            eventually(self._hears, what="a subscription")
        except AssertionError:
            self.__exit__(None, None, None)
            raise
        return self

    def _hears(self) -> bool:
        """Return whether our own probe has arrived. Nothing else shows that it is subscribed."""
        publish(self._port, self._probe, b"?")
        return bool(self.on(self._probe))

    def __exit__(self, *raised: object) -> None:
        self._client.disconnect()
        self._client.loop_stop()


def publish(port: int, topic: str, payload: bytes, *, retain: bool = False) -> None:
    """Publish any bytes with QoS 1; return when the broker has them."""
    publish_all(port, [(topic, payload)], retain=retain)


def publish_all(port: int, messages: Iterable[tuple[str, bytes]], *, retain: bool = False) -> None:
    client = paho.Client(CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", port)
    client.loop_start()
    try:
        for one in [client.publish(*message, qos=1, retain=retain) for message in messages]:
            one.wait_for_publish(PUBLISH_WITHIN_S)
            assert one.is_published()
        client.disconnect()
    finally:
        client.loop_stop()
