"""Properties of MQTT 5: response topic, correlation data, content type and message expiry.

The device is a client that does not use our code.
"""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.mqtt.events import Event, encode, result, wagers
from tests.mqtt.stand import Asker, Stand
from tests.mqtt.stranger import Ear, Heard
from tests.servers import eventually
from tests.waiting import LONG_S

LONGEST: Final = bytes(range(64))
DATA: Final = b"\x00request \xff"


class Device(Ear):
    """A client of MQTT 5 that receives every message at the broker except its own."""

    def __init__(self, port: int) -> None:
        super().__init__(port, "#", mqtt5=True)

    def send(
        self,
        table: Asker,
        event: Event | bytes,
        correlation: bytes | None = None,
        response_topic: str | None = None,
        **others: object,
    ) -> None:
        properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        if correlation is not None:
            properties.CorrelationData = correlation
        if response_topic is not None:
            properties.ResponseTopic = response_topic
        for name, value in others.items():
            setattr(properties, name, value)
        payload = event if isinstance(event, bytes) else encode(event)
        sent = self._client.publish(table.out, payload, qos=1, properties=properties)
        sent.wait_for_publish(LONG_S)

    def replies(self, table: Asker, count: int) -> list[Heard]:
        self.next_on(table.into, count - 1)
        return self.on(table.into)


@pytest.fixture
def stand(drawing: Stand) -> Stand:
    return drawing


@pytest.fixture
def device(stand: Stand) -> Iterator[Device]:
    with Device(stand.mosquitto.port) as device:
        yield device


def warnings(table: Asker) -> list[str]:
    process = table.stand.service.process
    lines = f"{process.errors}\n{process.output}".splitlines()
    return [line for line in lines if "property ignored" in line and f'"{table.table}"' in line]


@pytest.mark.slow
def test_every_kind_of_reply_returns_the_correlation_data(
    stand: Stand, table: Asker, device: Device
) -> None:
    """The data is that of the event which the reply answers, also if nothing was accepted."""
    events: list[tuple[Event | bytes, bytes]] = [
        ({"type": "hello"}, b'"last_seq":0'),
        (wagers(1), b'"accepted"'),
        (wagers(9), b'"out_of_order"'),
        (result(2, dealer=["As"]), b'"refused"'),
        (result(3), b'"lines"'),
        (b"junk", b'"refused"'),
    ]
    for count, (event, content) in enumerate(events, 1):
        device.send(table, event, b"%d" % count)
        reply = device.replies(table, count)[-1]
        assert content in reply.payload
        assert (reply.correlation, reply.qos, reply.content_type) == (b"%d" % count, 0, None)
    stranger = stand.at("main", "nowhere")
    device.send(stranger, wagers(1), DATA)
    (reply,) = device.replies(stranger, 1)
    assert b"unknown_table" in reply.payload
    assert reply.correlation == DATA


def test_a_repeat_gets_the_kept_reply_with_its_own_data(table: Asker, device: Device) -> None:
    """The data belongs to one message: the kept reply has none of it.

    Other properties of an event change nothing, and devices of MQTT 3.1.1 are served too: `Asker`
    publishes and listens with mosquitto's clients.
    """
    others: dict[str, Any] = {
        "PayloadFormatIndicator": 1, "ContentType": "application/json",
        "MessageExpiryInterval": 60, "UserProperty": [("device", "7"), ("device", "8")],
    }  # fmt: skip
    sent = [b"first", b"second", None, LONGEST, None]
    for count, correlation in enumerate(sent, 1):
        device.send(table, wagers(1), correlation, **(others if count == 1 else {}))
        device.replies(table, count)
    heard = table.hear(wagers(1))
    replies = device.replies(table, len(sent) + 1)
    assert [one.correlation for one in replies] == [*sent, None]
    assert {one.payload for one in replies} == {heard.payload}
    assert {(one.qos, one.content_type, one.expires_s) for one in replies} == {(0, None, None)}
    assert b'"accepted"' in heard.payload


def test_copies_that_arrive_at_once_each_get_their_own_data(stand: Stand, device: Device) -> None:
    """While the service is frozen, the copies of several tables queue up."""
    tables = [stand.table() for _ in range(4)]
    sent = [b"a", None, b"b", b"c"]
    for turn in range(1, 4):
        with stand.service.frozen():
            for correlation in sent:
                for table in tables:
                    own = None if correlation is None else correlation + table.table.encode()
                    device.send(table, wagers(1), own)
        for table in tables:
            replies = device.replies(table, turn * len(sent))[-len(sent) :]
            name = table.table.encode()
            assert {one.correlation for one in replies} == {
                None if each is None else each + name for each in sent
            }
            assert len({one.payload for one in replies}) == 1
    for table in tables:
        entries = [one for one in stand.ledger("main") if one["table"] == table.table]
        assert len(entries) == 1, "the copies count once"


def test_replies_go_only_to_the_topic_of_the_contract(
    stand: Stand, table: Asker, device: Device
) -> None:
    """The device names a topic of its own, the replies of another table, and the table's events.

    The topic of the contract is no mistake.
    """
    chosen = ["elsewhere/there", stand.table().into, table.out]
    for count, response_topic in enumerate([table.into, *chosen], 1):
        assert len(warnings(table)) == max(0, count - 2)
        device.send(table, {"type": "hello"}, DATA, response_topic)
        assert device.replies(table, count)[-1].correlation == DATA
    assert not [one for one in device.messages if one.topic in chosen]
    assert len(warnings(table)) == len(chosen)
    assert all('"response topic"' in line for line in warnings(table))


def test_data_that_is_too_long_is_ignored_and_the_event_counts(
    table: Asker, device: Device
) -> None:
    for count, event in enumerate((wagers(1), result(2)), 1):
        device.send(table, event, LONGEST + b"!")
        reply = device.replies(table, count)[-1]
        assert b'"accepted"' in reply.payload
        assert reply.correlation is None
    assert len(warnings(table)) == 2
    assert all('"correlation data"' in line for line in warnings(table))


def test_values_and_heartbeats_name_their_content_and_heartbeats_expire(device: Device) -> None:
    """A device that has just subscribed gets the values and a heartbeat which the broker kept."""

    def found(topic: str) -> list[Heard]:
        return device.on(f"pitlink/v1/main/{topic}")

    (value, *_) = eventually(lambda: found("meter/progressive"), what="a value")
    beats = eventually(lambda: found("controller")[2:], what="three heartbeats")
    assert (value.content_type, value.expires_s) == ("application/json", None)
    for beat in beats:
        assert b'"operable"' in beat.payload
        assert (beat.content_type, beat.expires_s) in {
            ("application/json", seconds) for seconds in (1, 2, 3)
        }
