import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple, Self, TypeVar

import mqtt5
import structlog

from meters.floor.server_addresses import BrokerAddress
from meters.mqtt.connection import (
    ANSWER_WITHIN_S,
    GOODBYE_WITHIN_S,
    KEEPALIVE_S,
    UNSENT_BYTES_MAX,
    BrokerError,
    Message,
    MessageQueue,
    Receive,
    TooLongError,
    UnsupportedVersionError,
)
from meters.mqtt.packet_stream import PACKET_BYTES_MAX, TOO_LARGE, PacketError, PacketStream
from meters.process.logs import ThrottledLog
from meters.wire import topics
from meters.wire.broker_client import (
    ASKED_AFTER_S,
    CONNECTED_WITHIN_S,
    FIRST_ANSWER_WITHIN_S,
    SILENT_S,
)

log = structlog.get_logger()

JSON: Final = "application/json"
"""Content type of posts. Replies have no content type, because there are thousands a second."""
CORRELATION_BYTES_MAX: Final = 64
"""Longest correlation data that a reply returns."""
_PACKET_IDS: Final = 65_535
_IN_FLIGHT_MAX: Final = 60_000
"""Limit on unacknowledged messages. The other packet ids are for subscriptions."""
_REFUSED_FROM: Final = 128
_LOOK_EVERY_S: Final = 0.5
_TEXT_LENGTH_MAX: Final = 200
_REFUSED_BY_OLD: Final = {b"\x20\x02\x01", b"\x20\x02\x84"}
"""CONNACK packets, without flags, with which brokers of MQTT 3.1.1 refuse MQTT 5."""
_QOS_1: Final = mqtt5.QoS.AT_LEAST_ONCE

_WORDS: Final = {
    mqtt5.ConnAckReasonCode.BAD_USER_NAME_OR_PASSWORD.value: "wrong user name or password",
    mqtt5.DisconnectReasonCode.SESSION_TAKEN_OVER.value: (
        "another program has connected with the same name"
    ),
    mqtt5.SubAckReasonCode.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED.value: (
        "it does not support shared subscriptions"
    ),
}
"""Texts for reason codes whose names in the specification do not say enough."""


_Codes = Sequence[IntEnum]
_Answer = TypeVar("_Answer")


class _Publication(NamedTuple):
    """Message with QoS 1. A task can wait in `done` for the acknowledgement."""

    topic: str
    payload: bytes
    retain: bool
    expires_s: int | None
    done: asyncio.Future[None] | None


class Mqtt5Connection:
    """`BrokerConnection` over MQTT 5.

    If nothing arrives for `SILENT_S` seconds, the connection is given up. `receive` gets each
    message; `queue` has the messages that wait.
    """

    mqtt: Final = "5"

    def __init__(
        self,
        address: BrokerAddress,
        identifier: str,
        queue: MessageQueue,
        receive: Receive,
        *,
        keepalive_s: int = KEEPALIVE_S,
    ) -> None:
        self._address = address
        self._tls = address.tls_context()
        self._identifier = identifier
        self._queue, self._received = queue, receive
        self._keepalive_s = keepalive_s
        self._loop = asyncio.get_running_loop()
        self._stream = PacketStream(self._hear, self._note_end)
        self._accepted: asyncio.Future[mqtt5.ConnAckPacket] = self._loop.create_future()
        self._ended: BrokerError | None = None
        self._looking: asyncio.TimerHandle | None = None
        self._packet_id = 0
        self._answers: dict[int, asyncio.Future[_Codes]] = {}
        self._in_flight: dict[int, _Publication] = {}
        self._in_flight_max = _IN_FLIGHT_MAX
        self._packet_bytes_max = UNSENT_BYTES_MAX
        self._held: deque[_Publication] = deque()
        self._held_bytes = 0
        self._unpublished, self._ignored = ThrottledLog(), ThrottledLog()

    async def __aenter__(self) -> Self:
        """Connect.

        Raises:
            UnsupportedVersionError: the broker does not support MQTT 5.
            BrokerError: the broker cannot be reached, refuses the connection, or does not answer.
        """
        try:
            self._accept(await self._connect())
        except BaseException as error:
            failed = BrokerError(str(error) or type(error).__name__)
            self._stream.abort(failed)
            if isinstance(error, OSError | ValueError):
                raise failed from None
            raise
        self._looking = self._loop.call_later(_LOOK_EVERY_S, self._look, self._loop.time())
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Disconnect. Bytes that the broker does not accept within a second are lost."""
        try:
            await self._stream.close(mqtt5.DisconnectPacket().write(), GOODBYE_WITHIN_S)
        finally:
            self._note_end(BrokerError("the connection was closed"))

    async def _connect(self) -> mqtt5.ConnAckPacket:
        loop, address = self._loop, self._address
        limit_s = FIRST_ANSWER_WITHIN_S
        try:
            async with asyncio.timeout(FIRST_ANSWER_WITHIN_S):
                # Both event loops send small packets immediately (TCP_NODELAY), so replies, for
                # which tables wait, do not wait for acknowledgements.
                transport, _ = await loop.create_connection(
                    lambda: self._stream, address.host, address.port
                )
            async with asyncio.timeout(FIRST_ANSWER_WITHIN_S) as limit:

                def extend() -> None:
                    nonlocal limit_s
                    if not limit.expired():
                        limit_s = CONNECTED_WITHIN_S
                        limit.reschedule(loop.time() + limit_s)

                if self._tls is not None:
                    self._tls.sslobject_class = _first_answer_reported(extend)
                    secured = await loop.start_tls(
                        transport, self._stream, self._tls, server_hostname=address.host
                    )
                    if secured is None:
                        raise BrokerError("the connection broke as soon as it was made")
                    self._stream.use(secured)
                    extend()
                self._stream.write(self._connect_packet())
                return await self._accepted
        except TimeoutError:
            raise BrokerError(f"the broker has not answered within {limit_s:g} s") from None
        except ConnectionRefusedError:
            raise BrokerError(
                f"nothing listens at {address.host}:{address.port}: start the broker, or correct"
                " `broker` in the floor file"
            ) from None

    def _connect_packet(self) -> bytes:
        address = self._address
        return mqtt5.ConnectPacket(
            self._identifier,
            username=address.username,
            password=None if address.password is None else address.password.encode(),
            # The session ends with the connection: tables repeat events that were lost.
            clean_start=True,
            keep_alive=self._keepalive_s,
            max_packet_size=PACKET_BYTES_MAX,
        ).write()

    def _accept(self, answer: mqtt5.ConnAckPacket) -> None:
        code = answer.reason_code
        if code == mqtt5.ConnAckReasonCode.UNSUPPORTED_PROTOCOL_VERSION:
            raise UnsupportedVersionError("the broker does not support MQTT 5")
        if code != mqtt5.ConnAckReasonCode.SUCCESS:
            raise BrokerError(
                f"the broker refused the connection: {_words(code, answer.reason_str)}"
            )
        if answer.max_qos.value < _QOS_1.value or not answer.retain_available:
            raise BrokerError("the broker does not support QoS 1 or retained messages")
        if self._ended is not None:
            raise self._ended
        self._in_flight_max = min(answer.receive_max, _IN_FLIGHT_MAX)
        self._packet_bytes_max = answer.max_packet_size or self._packet_bytes_max
        if answer.server_keep_alive is not None:
            self._keepalive_s = answer.server_keep_alive

    @property
    def unsent_bytes(self) -> int:
        return self._stream.unsent_bytes + self._held_bytes

    async def batch(self, size_max: int) -> list[Message]:
        return await self._queue.batch(size_max)

    def post(
        self, topic: str, payload: bytes, *, retain: bool = False, expires_s: int | None = None
    ) -> None:
        self._publish(_Publication(topic, payload, retain, expires_s, None))

    def reply(self, topic: str, payload: bytes, correlation: bytes | None = None) -> None:
        if correlation is None:  # without the keyword, making a packet takes a quarter less time
            packet = mqtt5.PublishPacket(topic, payload)
        else:
            packet = mqtt5.PublishPacket(topic, payload, correlation_data=correlation)
        self._write(topic, packet.write())

    async def publish(self, topic: str, payload: bytes) -> None:
        done: asyncio.Future[None] = self._loop.create_future()
        self._publish(_Publication(topic, payload, retain=False, expires_s=None, done=done))
        await _in_time(done)

    async def subscribe(self, *patterns: str) -> None:
        filters = [
            mqtt5.TopicFilter(pattern, max_qos=_QOS_1, retain_as_published=False)
            for pattern in patterns
        ]
        codes = await self._ask(lambda id_: mqtt5.SubscribePacket(id_, filters).write())
        for pattern, code in zip(patterns, codes, strict=False):
            if code.value >= _REFUSED_FROM:
                raise BrokerError(
                    f"the broker refused the subscription to {_public(pattern)}: {_words(code)}"
                )

    async def unsubscribe(self, pattern: str) -> None:
        codes = await self._ask(lambda id_: mqtt5.UnsubscribePacket(id_, [pattern]).write())
        if codes and codes[0].value >= _REFUSED_FROM:
            raise BrokerError(
                f"the broker did not end the subscription to {_public(pattern)}: {_words(codes[0])}"
            )

    async def _ask(self, packet: Callable[[int], bytes]) -> _Codes:
        if self._ended is not None:
            raise self._ended
        packet_id = self._next_id()
        answer = self._answers[packet_id] = self._loop.create_future()
        self._stream.write(packet(packet_id))
        return await _in_time(answer)

    def _next_id(self) -> int:
        while True:
            self._packet_id = self._packet_id % _PACKET_IDS + 1
            if self._packet_id not in self._in_flight and self._packet_id not in self._answers:
                return self._packet_id

    def _publish(self, publication: _Publication) -> None:
        if self._ended is not None:
            self._drop(publication, self._ended)
        elif self._held or len(self._in_flight) >= self._in_flight_max:
            self._held.append(publication)
            self._held_bytes += len(publication.payload)
            if self._held_bytes > UNSENT_BYTES_MAX:
                self._stream.abort(BrokerError("the broker acknowledges nothing"))
        else:
            self._send(publication)

    def _send(self, publication: _Publication) -> None:
        packet_id = self._next_id()
        packet = mqtt5.PublishPacket(
            publication.topic,
            publication.payload,
            qos=_QOS_1,
            packet_id=packet_id,
            retain=publication.retain,
            message_expiry_interval=publication.expires_s,
            content_type=JSON,
        ).write()
        if (error := self._write(publication.topic, packet)) is None:
            self._in_flight[packet_id] = publication
        elif publication.done is not None:
            _fail(publication.done, error)

    def _write(self, topic: str, packet: bytes) -> BrokerError | None:
        error = self._ended
        if len(packet) > self._packet_bytes_max:
            error = TooLongError(f"the broker accepts no packet of {len(packet):,} bytes")
        elif error is None and not self._stream.write(packet):
            error = self._ended
        if error is not None:
            self._log_dropped(topic, error)
        return error

    def _drop(self, publication: _Publication, error: BrokerError) -> None:
        if publication.done is None:
            self._log_dropped(publication.topic, error)
        else:
            _fail(publication.done, error)

    def _log_dropped(self, topic: str, error: BrokerError) -> None:
        if (more := self._unpublished.due("")) is not None:
            log.warning("not published", topic=topic, reason=str(error), kept_back=more)

    def _hear(self, packet: mqtt5.Packet) -> None:
        """Process a packet; raise a `PacketError` if the broker must not send this packet now."""
        if isinstance(packet, mqtt5.PublishPacket):
            self._take(packet)
        elif isinstance(packet, mqtt5.PubAckPacket):
            self._acknowledge(packet)
        elif isinstance(packet, mqtt5.SubAckPacket | mqtt5.UnsubAckPacket):
            answer = self._answers.pop(packet.packet_id, None)
            # If the request was canceled, nobody waits for the answer.
            if answer is not None and not answer.done():
                answer.set_result(packet.reason_codes)
        elif isinstance(packet, mqtt5.ConnAckPacket) and not self._accepted.done():
            self._accepted.set_result(packet)
        elif isinstance(packet, mqtt5.DisconnectPacket):
            words = _words(packet.reason_code, packet.reason_str)
            self._stream.abort(BrokerError(f"the broker ended the connection: {words}"))
        elif not isinstance(packet, mqtt5.PingRespPacket):
            raise _unexpected(packet)

    def _take(self, packet: mqtt5.PublishPacket) -> None:
        """Acknowledge a message before it is processed: tables repeat events that get no reply."""
        packet_id = packet.packet_id
        if not self._accepted.done() or packet.qos == mqtt5.QoS.EXACTLY_ONCE:
            raise _unexpected(packet)
        if packet_id is not None:
            self._stream.write(mqtt5.PubAckPacket(packet_id).write())
        topic, correlation = packet.topic, packet.correlation_data
        response_topic = packet.response_topic
        if correlation is not None or response_topic is not None:
            correlation = self._accepted_correlation(topic, correlation, response_topic)
        self._received(Message(topic, packet.payload, packet.retain, correlation))

    def _accepted_correlation(
        self, topic: str, correlation: bytes | None, response_topic: str | None
    ) -> bytes | None:
        """Return the correlation data for the reply to an event; log ignored properties.

        Replies go only to the table's own topic, so no table makes the service publish elsewhere.
        """
        table = topics.parse_table_out(topic)
        if table is None:
            return None
        if response_topic is not None and response_topic != topics.table_in(*table):
            self._log_ignored("response topic", table)
        if correlation is not None and len(correlation) > CORRELATION_BYTES_MAX:
            self._log_ignored("correlation data", table)
            return None
        return correlation

    def _log_ignored(self, name: str, address: topics.TableAddress) -> None:
        # All tables share one limit on log lines, because strangers can invent any number of names.
        if (more := self._ignored.due(name)) is not None:
            logger = log.bind(link=address.link, table=address.table)
            logger.warning("property ignored", property=name, kept_back=more)

    def _acknowledge(self, packet: mqtt5.PubAckPacket) -> None:
        publication = self._in_flight.pop(packet.packet_id, None)
        if publication is None:
            raise _unexpected(packet)
        if packet.reason_code.value >= _REFUSED_FROM:
            words = _words(packet.reason_code, packet.reason_str)
            kind = TooLongError if packet.reason_str == TOO_LARGE else BrokerError
            self._drop(publication, kind(f"the broker refused the message: {words}"))
        elif publication.done is not None and not publication.done.done():
            publication.done.set_result(None)
        while self._held and len(self._in_flight) < self._in_flight_max:
            held = self._held.popleft()
            self._held_bytes -= len(held.payload)
            self._send(held)

    def _look(self, looked_s: float) -> None:
        now_s = self._loop.time()
        self._looking = self._loop.call_later(_LOOK_EVERY_S, self._look, now_s)
        if now_s - looked_s > 2 * _LOOK_EVERY_S:
            # This process was delayed. There can be data that it has not read yet.
            return
        silent_s = now_s - self._stream.received_s
        idle_s = now_s - self._stream.written_s
        if silent_s >= SILENT_S:
            text = f"nothing has arrived from the broker for {SILENT_S:g} s"
            self._stream.abort(BrokerError(text))
        elif silent_s >= ASKED_AFTER_S or 0 < self._keepalive_s <= 2 * idle_s:
            self._stream.write(mqtt5.PingReqPacket().write())

    def _note_end(self, error: BrokerError) -> None:
        if self._ended is not None:
            return
        if not self._accepted.done() and _is_refusal_by_old(error):
            error = UnsupportedVersionError("the broker does not support MQTT 5")
        self._ended = error
        _fail(self._accepted, error)
        for answer in self._answers.values():
            _fail(answer, error)
        for publication in (*self._in_flight.values(), *self._held):
            if publication.done is not None:
                _fail(publication.done, error)
        self._held.clear()
        self._held_bytes = 0
        if self._looking is not None:
            self._looking.cancel()
            self._queue.end(error)


def _first_answer_reported(report: Callable[[], None]) -> type[ssl.SSLObject]:
    """Return a class of TLS layers that call `report` at the broker's first bytes."""

    class _Handshake(ssl.SSLObject):
        _begun = _reported = False

        def do_handshake(self) -> None:
            if self._begun and not self._reported:
                self._reported = True
                report()
            self._begun = True
            super().do_handshake()

    return _Handshake


async def _in_time(answer: asyncio.Future[_Answer]) -> _Answer:
    try:
        async with asyncio.timeout(ANSWER_WITHIN_S):
            return await answer
    except TimeoutError:
        raise BrokerError(f"the broker has not answered within {ANSWER_WITHIN_S:g} s") from None


def _fail(waiting: asyncio.Future[_Answer], error: BrokerError) -> None:
    """Let a future fail. If nobody waits for it, asyncio must not log the error."""
    if not waiting.done():
        waiting.set_exception(error)
        waiting.exception()


def _is_refusal_by_old(error: BrokerError) -> bool:
    return isinstance(error, PacketError) and error.head[:2] + error.head[3:] in _REFUSED_BY_OLD


def _unexpected(packet: mqtt5.Packet) -> PacketError:
    name = type(packet).__name__.removesuffix("Packet").upper()
    return PacketError(
        f"the broker sent an unexpected {name} packet", mqtt5.DisconnectReasonCode.PROTOCOL_ERROR
    )


def _words(code: IntEnum, said: str | None = None) -> str:
    words = _WORDS.get(code.value, code.name.lower().replace("_", " "))
    return f"{words} ({said[:_TEXT_LENGTH_MAX]})" if said else words


def _public(pattern: str) -> str:
    """Return the topic of a subscription without the name of its group, which is secret."""
    return pattern.split("/", 2)[2] if pattern.startswith("$share/") else pattern
