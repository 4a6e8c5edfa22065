"""Clients whose packets are strange: whatever the broker passes on, the service can read."""

import asyncio
import socket
from typing import Final

import mqtt5
import pytest

from meters.floor.server_addresses import BrokerAddress
from meters.mqtt.broker_connect import connect_broker
from tests.mqtt_packets import packet, remaining_length, text
from tests.servers import Mosquitto
from tests.waiting import LONG_S


def binary(value: bytes) -> bytes:
    return len(value).to_bytes(2, "big") + value


def content_type(value: bytes) -> bytes:
    return b"\x03" + binary(value)


_PAIR: Final = b"\x26" + text("k") + text("v")

PROPERTIES: Final = {
    "text that is none": b"\x01\x01",
    "another payload format": b"\x01\x02",
    "expired at once": b"\x02\x00\x00\x00\x00",
    "an empty content type": content_type(b""),
    "a content type that is not UTF-8": content_type(b"\xff\xfe"),
    "a content type with NUL": content_type(b"a\x00b"),
    "a content type with a surrogate": content_type(b"\xed\xa0\x80"),
    "a content type with a noncharacter": content_type("\uffff".encode()),
    "a content type with a byte order mark": content_type("\ufeff".encode()),
    "a long content type": content_type(b"a" * 60_000),
    "two content types": content_type(b"a") * 2,
    "a response topic with a wildcard": b"\x08" + binary(b"a/#"),
    "an empty response topic": b"\x08" + binary(b""),
    "correlation data": b"\x09\x00\x02\xff\x00",
    "many user properties": _PAIR * 50,
    "an empty user property": b"\x26" + text("") + text(""),
    "a user property that is not UTF-8": b"\x26\x00\x01\xff" + text("v"),
    "a subscription id": b"\x0b\x01",
    "a topic alias": b"\x23\x00\x01",
    "a topic alias of 0": b"\x23\x00\x00",
    "a property of another packet": b"\x11\x00\x00\x00\x01",
    "no known property": b"\x7e\x01",
}
TOPICS: Final = {
    "a control character": b"strange/\x01",
    "a noncharacter": "strange/\ufdd0".encode(),
    "a byte order mark": "strange/\ufeff".encode(),
    "beyond the first plane": "strange/\U0001f600".encode(),
    "NUL": b"strange/\x00",
    "not UTF-8": b"strange/\xff",
    "a surrogate": b"strange/\xed\xa0\x80",
    "a long topic": b"strange/".ljust(60_000, b"a"),
    "empty levels": b"strange/////",
}


async def pass_on(port: int, connect: bytes, packet: bytes) -> None:
    """Publish a packet as a stranger, and check that the service hears what comes after it."""
    address = BrokerAddress("127.0.0.1", port, None, None, tls=False)
    async with asyncio.timeout(LONG_S), connect_broker(address, "service") as service:
        # Other tests can have left retained messages on other topics.
        await service.subscribe("strange/#")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(connect + packet)
        await reader.read(1)
        # The broker answers a packet that it passes on. It disconnects the sender of any other.
        writer.get_extra_info("socket").shutdown(socket.SHUT_WR)
        while await reader.read(1_000):
            pass
        writer.close()
        service.reply("strange/end", b"end")
        heard: list[bytes] = []
        while b"end" not in heard:
            heard += [message.payload for message in await service.batch(9)]
        assert heard in ([b"\xff", b"end"], [b"end"])


def publication(topic: bytes, properties: bytes | None) -> bytes:
    """Return a PUBLISH packet with QoS 1; without properties, one of MQTT 3.1.1."""
    extra = b"" if properties is None else remaining_length(len(properties)) + properties
    return packet(b"\x32", binary(topic), b"\x00\x07", extra, b"\xff")


CONNECT_5: Final = mqtt5.ConnectPacket("stranger", clean_start=True).write()
CONNECT_3: Final = b"\x10\x14" + text("MQTT") + b"\x04\x02\x00\x00" + text("stranger")


@pytest.mark.parametrize("properties", PROPERTIES.values(), ids=PROPERTIES.keys())
async def test_properties(shared_mosquitto: Mosquitto, properties: bytes) -> None:
    packet = publication(b"strange", properties)
    await pass_on(shared_mosquitto.port, CONNECT_5, packet)


@pytest.mark.parametrize("connect", [CONNECT_3, CONNECT_5], ids=["3.1.1", "5"])
@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS.keys())
async def test_topics(shared_mosquitto: Mosquitto, topic: bytes, connect: bytes) -> None:
    packet = publication(topic, b"" if connect == CONNECT_5 else None)
    await pass_on(shared_mosquitto.port, connect, packet)
