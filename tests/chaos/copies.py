"""Copies of every event, sent back to back, and a check that all are answered alike."""

import json
from collections import Counter
from typing import Final, Self

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

COPIES: Final = 3
_PUBLISH: Final = 3
_LONGEST: Final = 4
"""Longest encoding of a packet's length, in bytes."""


class Copier:
    """Passes on a client's packets to a broker, each event of a table three times."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Accept what a client has sent, and return what to pass on."""
        self._held += data
        passed = []
        while (size := _packet_size(self._held)) is not None:
            packet, self._held = self._held[:size], self._held[size:]
            passed.append(packet * (COPIES if _is_event(packet) else 1))
        return b"".join(passed)


def _packet_size(data: bytes) -> int | None:
    """Return the length of the first packet, or None if it is incomplete."""
    size = shift = 0
    for place in range(1, 1 + _LONGEST):
        if place >= len(data):
            return None
        size |= (data[place] & 0x7F) << shift
        shift += 7
        if not data[place] & 0x80:
            whole = 1 + place + size
            return whole if whole <= len(data) else None
    raise ValueError("no packet of MQTT begins so")


def _is_event(packet: bytes) -> bool:
    if packet[0] >> 4 != _PUBLISH:
        return False
    start = next(place for place in range(1, len(packet)) if not packet[place] & 0x80) + 1
    length = int.from_bytes(packet[start : start + 2], "big")
    return packet[start + 2 : start + 2 + length].endswith(b"/out")


class Replies:
    """Collects every reply to every table from entry to exit, over its own connection.

    Messages that the broker sends while this connection is lost are missed.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._given: dict[tuple[str, int], Counter[bytes]] = {}
        self._client = paho.Client(CallbackAPIVersion.VERSION2)
        self._client.on_connect = lambda client, *_: client.subscribe("pitlink/v1/+/table/+/in", 1)
        self._client.on_message = self._hear
        self._client.reconnect_delay_set(1, 1)

    def _hear(self, _client: object, _data: object, message: paho.MQTTMessage) -> None:
        reply = json.loads(message.payload)
        if reply.get("status") in {"accepted", "refused"}:
            given = self._given.setdefault((message.topic, reply["seq"]), Counter())
            given[bytes(message.payload)] += 1

    @property
    def repeated(self) -> int:
        return sum(given.total() > 1 for given in self._given.values())

    @property
    def problems(self) -> list[str]:
        return [
            f"{topic} got {[*given]} of {seq}"
            for (topic, seq), given in self._given.items()
            if len(given) > 1
        ]

    def __enter__(self) -> Self:
        self._client.connect("127.0.0.1", self._port)
        self._client.loop_start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._client.disconnect()
        self._client.loop_stop()
