"""The service's connection over MQTT 5: with a real broker, and with brokers that are unusual."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import mqtt5
import pytest

from meters.floor.server_addresses import BrokerAddress
from meters.mqtt import mqtt5_connection
from meters.mqtt.broker_connect import connect_broker
from meters.mqtt.connection import BrokerConnection, BrokerError, Message
from meters.mqtt.mqtt5_connection import CORRELATION_BYTES_MAX
from meters.wire.topics import table_out
from tests.mqtt.scripted_broker import ACCEPTED, ScriptedBroker, answer_all
from tests.waiting import LONG_S

Code = mqtt5.ConnAckReasonCode


def address(port: int) -> BrokerAddress:
    return BrokerAddress("127.0.0.1", port, None, None, tls=False)


@contextlib.asynccontextmanager
async def connected(
    answer: Callable[[mqtt5.Packet], bytes] = answer_all, keepalive_s: int = 60
) -> AsyncIterator[tuple[ScriptedBroker, BrokerConnection]]:
    async with (
        asyncio.timeout(LONG_S),
        ScriptedBroker(answer).running() as broker,
        connect_broker(broker.address, "one", keepalive_s=keepalive_s) as one,
    ):
        yield broker, one


async def test_connecting_asks_for_no_session_and_names_its_limits() -> None:
    async with ScriptedBroker().running() as broker:
        at = BrokerAddress("127.0.0.1", broker.port, "ann", "secret", tls=False)
        async with connect_broker(at, "one", keepalive_s=7):
            pass
        (asked,) = await broker.until(mqtt5.ConnectPacket)
        assert (asked.client_id, asked.username, asked.password) == ("one", "ann", b"secret")
        assert (asked.clean_start, asked.session_expiry_interval, asked.keep_alive) == (True, 0, 7)
        assert asked.max_packet_size == 16_777_216
        (last,) = await broker.until(mqtt5.DisconnectPacket)
        assert last.reason_code.value == 0


@pytest.mark.parametrize(
    ("code", "said", "words"),
    [
        (Code.BAD_USER_NAME_OR_PASSWORD, None, "wrong user name or password"),
        (Code.NOT_AUTHORIZED, None, "not authorized"),
        (Code.SERVER_BUSY, "come back later", "server busy (come back later)"),
    ],
)
async def test_a_refused_connection_has_a_reason(code: Code, said: str | None, words: str) -> None:
    refusal = mqtt5.ConnAckPacket(reason_code=code, reason_str=said).write()
    async with ScriptedBroker(lambda _: refusal).running() as broker:
        with pytest.raises(BrokerError) as failed:
            await connect_broker(broker.address, "one").__aenter__()
    assert str(failed.value) == f"the broker refused the connection: {words}"


@pytest.mark.parametrize(
    "refusal",
    [
        b"\x20\x02\x00\x01",
        mqtt5.ConnAckPacket(reason_code=Code.UNSUPPORTED_PROTOCOL_VERSION).write(),
    ],
    ids=["by a broker of 3.1.1", "by a broker of 5"],
)
async def test_a_broker_without_mqtt_5_gets_3_1_1(refusal: bytes) -> None:
    levels: list[int] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        start = await reader.readexactly(9)
        levels.append(start[8])
        writer.write(refusal if start[8] == 5 else b"\x20\x02\x00\x00")
        if start[8] != 5:
            await reader.read(1_000)
            await reader.read(1_000)
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        async with connect_broker(address(port), "one") as one:
            assert one.mqtt == "3.1.1"
    assert levels == [5, 4]


async def test_the_reason_for_which_the_broker_ends_a_connection_is_given() -> None:
    code = mqtt5.DisconnectReasonCode.SESSION_TAKEN_OVER
    async with connected() as (broker, one):
        broker.send(mqtt5.DisconnectPacket(reason_code=code).write())
        with pytest.raises(BrokerError, match="another program has connected with the same name"):
            await one.batch(1)


def refuse(packet: mqtt5.Packet) -> bytes:
    """Accept a connection, and refuse subscriptions and messages."""
    match packet:
        case mqtt5.SubscribePacket():
            codes = [mqtt5.SubAckReasonCode.NOT_AUTHORIZED]
            return mqtt5.SubAckPacket(packet.packet_id, codes).write()
        case mqtt5.PublishPacket(packet_id=int(number)):
            code = mqtt5.PubAckReasonCode.NOT_AUTHORIZED
            return mqtt5.PubAckPacket(number, reason_code=code).write()
    return answer_all(packet)


async def test_what_is_refused_is_an_error_or_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """A refused subscription is named without its group's name."""
    async with connected(refuse) as (broker, one):
        with pytest.raises(BrokerError) as failed:
            await one.subscribe("$share/secret/a/+/out")
        assert str(failed.value) == "the broker refused the subscription to a/+/out: not authorized"
        (asked,) = broker.all_of(mqtt5.SubscribePacket)
        (wanted,) = asked.topic_filters
        assert (wanted.max_qos.value, wanted.retain_as_published) == (1, False)
        one.post("a", b"{}")
        with pytest.raises(BrokerError, match="not authorized"):
            await one.publish("b", b"{}")
    said = capsys.readouterr().out
    assert "not published" in said
    assert "not authorized" in said


async def test_values_say_what_they_are_and_replies_are_short() -> None:
    async with connected() as (broker, one):
        one.post("beat", b"{}", retain=True, expires_s=3)
        one.reply("in", b"{}")
        beat, reply = await broker.until(mqtt5.PublishPacket, 2)
    assert (beat.qos.value, beat.retain, beat.message_expiry_interval) == (1, True, 3)
    assert beat.content_type == "application/json"
    assert (reply.qos.value, reply.retain, reply.content_type) == (0, False, None)


@pytest.mark.parametrize("data", [b"", b"\x00 request \xff", bytes(CORRELATION_BYTES_MAX)])
async def test_correlation_data_goes_from_an_event_to_its_reply(data: bytes) -> None:
    event = mqtt5.PublishPacket(table_out("main", "T-1"), b"{}", correlation_data=data)
    async with connected() as (broker, one):
        broker.send(event.write())
        (message,) = await one.batch(1)
        one.reply("in", b"{}", message.correlation)
        (reply,) = await broker.until(mqtt5.PublishPacket)
    assert (message.correlation, reply.correlation_data) == (data, data)
    assert (reply.qos.value, reply.response_topic) == (0, None)


async def test_odd_properties_are_ignored_and_fill_no_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Only an event gets a reply. So properties of other messages are not even logged."""
    long, count = bytes(CORRELATION_BYTES_MAX + 1), 20
    names = [*(table_out("main", f"T-{number}") for number in range(count)), "a/beat"]
    async with connected() as (broker, one):
        for topic in names:
            packet = mqtt5.PublishPacket(topic, b"", correlation_data=long, response_topic="b")
            broker.send(packet.write())
        found: list[Message] = []
        while len(found) < len(names):
            found += await one.batch(99)
    assert found == [Message(topic, b"", retain=False) for topic in names]
    said = capsys.readouterr().out
    assert said.count("property ignored") == 2 * 5, "five a minute for each property"


async def test_no_more_messages_are_in_flight_than_the_broker_accepts() -> None:
    def answer(packet: mqtt5.Packet) -> bytes:
        if isinstance(packet, mqtt5.ConnectPacket):
            return mqtt5.ConnAckPacket(receive_max=2).write()
        return b"" if isinstance(packet, mqtt5.PublishPacket) else answer_all(packet)

    async with connected(answer) as (broker, one):
        for number in range(5):
            one.post("a", b"%d" % number)
        one.reply("a", b"not counted")
        assert one.unsent_bytes > 0
        await broker.until(mqtt5.PublishPacket, 3)
        await one.subscribe("b")  # the broker has read everything before this
        for place, count in enumerate((3, 4, 5, 6)):
            sent = await broker.until(mqtt5.PublishPacket, count)
            assert len(sent) == count
            ids = [packet.packet_id for packet in sent if packet.packet_id is not None]
            broker.send(mqtt5.PubAckPacket(ids[place]).write())
        payloads = [one.payload for one in broker.all_of(mqtt5.PublishPacket) if one.packet_id]
        assert payloads == [b"0", b"1", b"2", b"3", b"4"]


async def test_a_message_too_long_for_the_broker_is_not_sent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def answer(packet: mqtt5.Packet) -> bytes:
        if isinstance(packet, mqtt5.ConnectPacket):
            return mqtt5.ConnAckPacket(max_packet_size=100).write()
        return answer_all(packet)

    async with connected(answer) as (broker, one):
        one.reply("a", bytes(100))
        with pytest.raises(BrokerError, match="no packet of"):
            await one.publish("a", bytes(100))
        await one.publish("a", bytes(10))
        assert [packet.payload for packet in broker.all_of(mqtt5.PublishPacket)] == [bytes(10)]
    assert "no packet of" in capsys.readouterr().out


@pytest.mark.parametrize(
    "data",
    [
        ACCEPTED,
        mqtt5.PublishPacket("a", b"", qos=mqtt5.QoS.EXACTLY_ONCE, packet_id=1).write(),
        mqtt5.PubAckPacket(7).write(),
        mqtt5.PingReqPacket().write(),
        mqtt5.AuthPacket().write(),
        b"\x00\x00",
    ],
    ids=["CONNACK", "QoS 2", "PUBACK", "PINGREQ", "AUTH", "junk"],
)
async def test_a_broker_that_breaks_the_protocol_is_left_and_hears_why(data: bytes) -> None:
    async with ScriptedBroker().running() as broker:
        async with connect_broker(broker.address, "one") as one:
            broker.send(data)
            with pytest.raises(BrokerError, match="the broker sent"):
                await one.batch(1)
        (last,) = await broker.until(mqtt5.DisconnectPacket)
        assert last.reason_code.value in {0x81, 0x82}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (mqtt5.PublishPacket("a", b"").write() + ACCEPTED, "unexpected PUBLISH"),
        (ACCEPTED + mqtt5.DisconnectPacket().write(), "normal disconnection"),
    ],
    ids=["a message before it", "a farewell with it"],
)
async def test_a_broker_whose_answer_comes_with_something_else_is_left(
    answer: bytes, words: str
) -> None:
    async with ScriptedBroker(lambda _: answer).running() as broker:
        with pytest.raises(BrokerError, match=words):
            await connect_broker(broker.address, "one").__aenter__()


async def test_the_acknowledgements_of_a_piece_follow_it() -> None:
    async with connected() as (broker, one):
        once = mqtt5.QoS.AT_LEAST_ONCE
        for number in range(1, 4):
            broker.send(mqtt5.PublishPacket("a", b"", qos=once, packet_id=number).write())
        assert len(await one.batch(9)) == 1
        heard = await broker.until(mqtt5.PubAckPacket, 3)
        assert [packet.packet_id for packet in heard] == [1, 2, 3]


async def test_a_broker_that_hears_nothing_for_long_is_pinged_although_it_speaks() -> None:
    """A client that only listens must show the broker that it is still there."""
    async with connected(keepalive_s=1) as (broker, one):

        async def speak() -> None:
            while True:
                broker.send(mqtt5.PublishPacket("a", b"").write())
                await one.batch(1)

        speaking = asyncio.create_task(speak())
        await broker.until(mqtt5.PingReqPacket)
        speaking.cancel()
        await asyncio.wait({speaking})


@pytest.mark.slow
async def test_a_quiet_broker_is_asked_and_a_silent_one_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mqtt5_connection, "ASKED_AFTER_S", 0.2)
    monkeypatch.setattr(mqtt5_connection, "SILENT_S", 2.5)
    deaf = False

    def answer(packet: mqtt5.Packet) -> bytes:
        return b"" if deaf else answer_all(packet)

    async with connected(answer) as (broker, one):
        await broker.until(mqtt5.PingReqPacket, 8)  # longer than the time after which it is left
        deaf = True
        with pytest.raises(BrokerError, match="nothing has arrived"):
            await one.batch(1)
