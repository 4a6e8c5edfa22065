"""Delivery of a table's events to the service over MQTT.

A connection can break at any moment, and a message can arrive twice or never. So each event has a
sequence number, and is repeated until the reply with this number arrives.
"""

import asyncio
import contextlib
import socket
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol

import aiomqtt
import msgspec
import structlog

from bonus.errors import UserError
from bonus.json_input import UNREADABLE
from controllers.agent.link_reception import SILENCE_S, Heartbeat, MeterValues
from controllers.table.device_events import NOT_PASSED_ON, DeviceRefusal
from meters.floor.server_addresses import BrokerAddress, parse_broker_url
from meters.process.clock import now_text
from meters.wire import topics
from meters.wire.broker_client import BrokerClient, ConnectPace, jittered
from meters.wire.messages import (
    CONTROLLER_BEAT,
    HELLO_REPLY,
    JACKPOT,
    METER_VALUE,
    REPLY,
    ControllerBeat,
    ErrorDetail,
    HelloReply,
    Jackpot,
    MoneyEvent,
    Reply,
    TableStatus,
)

_log: Final = structlog.get_logger(__name__)
_encoder: Final = msgspec.json.Encoder()
_GOODBYE_WITHIN_S: Final = 1.0
_BREAKS_WITHIN_S: Final = 1.0
_LOSSES_WITHIN_S: Final = 60.0
_LOSSES_MAX: Final = 5
_TOO_LONG_AFTER: Final = 3
"""Number of signs after which an event counts as too long for the broker.

A sign is a connection that broke soon after the event was published on it, or a hello to which the
service replied while the event has no reply. The two kinds of signs are counted separately.
"""


REPLY_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper limits (inclusive) of the buckets of reply times."""

BrokerPlace = str | Callable[[], BrokerAddress]
Connect = Callable[..., aiomqtt.Client]


@dataclass(frozen=True, slots=True)
class Timing:
    """Time limits and intervals of an agent, all in seconds.

    Attributes:
        silence_s: if no heartbeat of the service comes for this time, the table accepts no new
            progressive wager (duty D13).
        retry_first_s: first wait for a reply before an event is repeated. Each later wait is twice
            as long, up to `retry_cap_s`.
        reconnect_first_s: first pause between attempts to connect. Each later pause is twice as
            long, up to `reconnect_cap_s`.
        doubt_after_s: if an event has no reply for this time, the agent also sends hellos, to find
            out if the service replies to shorter messages.
        hello_every_s: interval of hellos, while they are needed.
        watch_every_s: interval of heartbeat checks.
        ask_every_s: interval at which a correction request to a floorperson is repeated.
        call_s: longest wait for the broker to accept a connection or a message.
    """

    silence_s: float = SILENCE_S
    retry_first_s: float = 0.25
    retry_cap_s: float = 5.0
    reconnect_first_s: float = 0.1
    reconnect_cap_s: float = 1.0
    doubt_after_s: float = 2.0
    hello_every_s: float = 2.0
    watch_every_s: float = 0.1
    ask_every_s: float = 3.0
    call_s: float = 5.0
    keepalive_s: int = 10


class Listener(Protocol):
    """Receives replies to hellos, messages about wins, and signs that the service lost events.

    Its methods must not block.
    """

    def on_hello(self, hello: HelloReply) -> None: ...

    def on_jackpot(self, jackpot: Jackpot) -> None: ...

    def on_behind(self, expected: int) -> None:
        """Handle a reply that expects an event to which the service has already replied."""


@dataclass(frozen=True, slots=True)
class Delivered:
    reply: Reply
    payload: bytes


@dataclass(slots=True)
class _UnderWay:
    """Event without a reply.

    The event was last published on connection number `connection`, at `published_s` by the clock of
    the event loop. `breaks` counts the connections that broke soon after such a publication. If
    `asked`, hellos are sent to find out if the service replies to shorter messages; `hellos` counts
    the replies to these hellos.
    """

    seq: int
    payload: bytes
    answered: asyncio.Future[Delivered]
    connection: int = 0
    published_s: float = 0.0
    breaks: int = 0
    asked: bool = False
    hellos: int = 0


class EventDelivery:
    """Connection of a table to the broker, opened again whenever it is lost.

    `too_long` is the fault that the broker does not pass on the table's event; None if there is no
    such fault. `connections` rises by one at each new connection; the caller must then publish the
    status again.

    The counts start from 0 when the agent starts. `replies` counts the replies, by status;
    `repeats` counts how often an event was repeated. `waits` has the number of replies for each
    range of waiting times in `REPLY_SECONDS`; its last number is for all longer times. `waited_s`
    is the sum of all waiting times.
    """

    def __init__(
        self,
        link: str,
        table: str,
        broker: BrokerPlace,
        listener: Listener,
        timing: Timing,
        *,
        meters: Iterable[str] = (),
        connect: Connect = BrokerClient,
    ) -> None:
        self._link = link
        self._table = table
        self._out = topics.table_out(link, table)
        self._broker = broker
        self._connect = connect
        self._listener = listener
        self._timing = timing
        self._client: aiomqtt.Client | None = None
        self._under_way: _UnderWay | None = None
        self.too_long: DeviceRefusal | None = None
        self._repeat: asyncio.Future[None] | None = None
        self._heard_since = False
        self._lost_at_s: list[float] = []
        self._log = _log.bind(link=link, table=table)
        self.heartbeat = Heartbeat(timing.silence_s)
        self.meter_values = MeterValues(meters)
        self.connections = 0
        self.replies = dict.fromkeys(("accepted", "refused", "out_of_order"), 0)
        self.repeats = 0
        self.waits = [0] * (len(REPLY_SECONDS) + 1)
        self.waited_s = 0.0

    @property
    def connected(self) -> bool:
        return self._client is not None

    async def stay_connected(self) -> None:
        pace = ConnectPace(self._timing.reconnect_first_s, self._timing.reconnect_cap_s)
        logged = False
        while True:
            pace.begin()
            try:
                async with self._new_client() as client:
                    await self._greet(client)
                    self._log.info("broker connected")
                    logged = False
                    await self._listen(client)
            except (aiomqtt.MqttError, UserError, OSError, ValueError) as error:
                if self.connected:
                    self._note_loss(str(error))
                if not logged:
                    self._log.warning("broker not reached", reason=str(error))
                logged = True
            finally:
                self._note_break()
                self._client = None
            await pace.pause()

    def _note_loss(self, reason: str) -> None:
        """If connections are lost again and again, warn of a second agent for the same table.

        All agents of a table have one client name. If a second client connects with the name, the
        broker ends the first connection.
        """
        now_s = asyncio.get_running_loop().time()
        recent = (at_s for at_s in self._lost_at_s if now_s - at_s < _LOSSES_WITHIN_S)
        self._lost_at_s = [*recent, now_s]
        if len(self._lost_at_s) >= _LOSSES_MAX:
            self._lost_at_s = []
            self._log.warning(
                "broker lost repeatedly",
                ask="does another agent run for this table, with a copy of its keys?",
                reason=reason,
            )

    def _new_client(self) -> aiomqtt.Client:
        place = self._broker
        address = parse_broker_url(place) if isinstance(place, str) else place()
        # The client name is always the same. So if the broker still has an old connection of this
        # table, the broker first ends it and publishes that the table is offline. Then the new
        # connection publishes that the table is online.
        return self._connect(
            address.host,
            address.port,
            username=address.username,
            password=address.password,
            tls_context=address.tls_context(),
            identifier=f"pitlink/{self._link}/{self._table}",
            will=aiomqtt.Will(*self._status("offline", online=False), qos=1, retain=True),
            timeout=self._timing.call_s,
            keepalive=self._timing.keepalive_s,
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
        )

    async def _greet(self, client: aiomqtt.Client) -> None:
        await client.subscribe(
            [
                (topics.table_in(self._link, self._table), 1),
                (topics.controller(self._link), 1),
                (topics.jackpot(self._link), 1),
                *((topics.meter(self._link, each), 1) for each in self.meter_values.meters),
            ]
        )
        self._client = client
        self.connections += 1
        self._heard_since = False
        self._repeat_now()
        await self.say_hello()

    async def _listen(self, client: aiomqtt.Client) -> None:
        try:
            async for message in client.messages:
                if isinstance(message.payload, bytes):
                    self._hear(str(message.topic), message.payload, retained=message.retain)
        except asyncio.CancelledError:
            with contextlib.suppress(aiomqtt.MqttError):
                topic, payload = self._status("offline", online=False)
                await client.publish(topic, payload, 1, retain=True, timeout=_GOODBYE_WITHIN_S)
            raise

    async def deliver(self, seq: int, payload: bytes) -> Delivered:
        """Publish an event repeatedly until the service's reply to it arrives.

        There is no time limit, and the pauses grow. An event that was published during a failure
        can be lost. So when the connection or the heartbeat returns, the event is
        published immediately, and the pauses restart from the shortest.
        """
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Delivered] = loop.create_future()
        self._under_way = event = _UnderWay(seq, payload, answered)
        delay_s, attempt = self._timing.retry_first_s, 0
        began_s = loop.time()
        try:
            while True:
                attempt += 1
                self._repeat = repeat = loop.create_future()
                event.connection = self.connections if self.connected else 0
                event.published_s = loop.time()
                if await self._publish(self._out, payload):
                    self._log.debug("event published", seq=seq, attempt=attempt)
                await asyncio.wait(
                    {answered, repeat},
                    timeout=jittered(delay_s),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if answered.done():
                    waited_s = loop.time() - began_s
                    self.waits[bisect_left(REPLY_SECONDS, waited_s)] += 1
                    self.waited_s += waited_s
                    return answered.result()
                self.repeats += 1
                if self.connected and loop.time() - began_s >= self._timing.doubt_after_s:
                    event.asked = True
                    await self.say_hello()
                longer_s = min(delay_s * 2, self._timing.retry_cap_s)
                delay_s = self._timing.retry_first_s if repeat.done() else longer_s
        finally:
            self._under_way = self._repeat = self.too_long = None

    def _note_break(self) -> None:
        event = self._under_way
        if event is None or not self.connected or event.connection != self.connections:
            return
        if asyncio.get_running_loop().time() - event.published_s < _BREAKS_WITHIN_S:
            event.breaks += 1
            if event.breaks >= _TOO_LONG_AFTER:
                self._doubt(event, "the broker ends the connection when it gets this event")

    def _doubt(self, event: _UnderWay, sign: str) -> None:
        if self.too_long is None:
            size = len(event.payload)
            self.too_long = DeviceRefusal(
                NOT_PASSED_ON, f"the broker does not pass on this table's event of {size:,} bytes"
            )
            self._log.error(
                "event not passed on",
                seq=event.seq,
                bytes=size,
                sign=sign,
                ask="are the broker's message_size_limit and max_packet_size too low?",
            )

    def _repeat_now(self) -> None:
        if self._repeat is not None and not self._repeat.done():
            self._repeat.set_result(None)

    async def say_hello(self) -> None:
        await self._publish(self._out, _encoder.encode({"at": now_text(), "type": "hello"}))

    async def publish_status(self, state: str) -> bool:
        topic, payload = self._status(state, online=True)
        return await self._publish(topic, payload, retain=True)

    def _status(self, state: str, *, online: bool) -> tuple[str, bytes]:
        status = TableStatus(online=online, state=state, at=now_text())
        return topics.table_status(self._link, self._table), _encoder.encode(status)

    async def _publish(self, topic: str, payload: bytes, *, retain: bool = False) -> bool:
        client = self._client
        if client is None:
            return False
        try:
            await client.publish(topic, payload, qos=1, retain=retain)
        except aiomqtt.MqttError as error:
            self._log.debug("message not published", topic=topic, reason=str(error))
            return False
        return True

    def _hear(self, topic: str, payload: bytes, *, retained: bool) -> None:
        try:
            if topic == topics.controller(self._link):
                self._hear_beat(CONTROLLER_BEAT.decode(payload), retained=retained)
            elif topic == topics.jackpot(self._link):
                jackpot = JACKPOT.decode(payload)
                # A share for the hand of another table is paid by hand, and is not on the panel.
                if jackpot.table == self._table and jackpot.hand_table is None:
                    self._listener.on_jackpot(jackpot)
            elif topic == topics.table_in(self._link, self._table):
                self._hear_reply(payload)
            else:
                value = METER_VALUE.decode(payload)
                if topic == topics.meter(self._link, value.meter):
                    self.meter_values.hear(value)
        except UNREADABLE as error:
            self._log.warning("message unreadable", topic=topic, reason=str(error))

    def _hear_beat(self, beat: ControllerBeat, *, retained: bool) -> None:
        now_s = asyncio.get_running_loop().time()
        was_down = self.heartbeat.fault(now_s) is not None
        if not self.heartbeat.hear(beat, retained=retained, now_s=now_s):
            return
        back = was_down and self.heartbeat.fault(now_s) is None
        if back or not self._heard_since:
            self._repeat_now()
        self._heard_since = True

    def _hear_reply(self, payload: bytes) -> None:
        under_way = self._under_way
        try:
            reply = REPLY.decode(payload)
        except msgspec.ValidationError:
            hello = HELLO_REPLY.decode(payload)
            if under_way is not None and under_way.asked:
                under_way.hellos += 1
                if under_way.hellos >= _TOO_LONG_AFTER:
                    self._doubt(
                        under_way, "the service answers shorter messages, but not this event"
                    )
            self._listener.on_hello(hello)
            return
        if under_way is None or under_way.seq != reply.seq or under_way.answered.done():
            return
        self.too_long, under_way.asked, under_way.hellos, under_way.breaks = None, False, 0, 0
        self.replies[reply.status] += 1
        if reply.error is not None and reply.error.code == "unknown_table":
            # The service has not used the event's number. If the table is added to the floor file,
            # the service can accept the event later.
            self._log.warning("table unknown", seq=reply.seq)
            return
        if reply.status == "out_of_order":
            expected = reply.expected or 0
            if expected <= under_way.seq:
                self._listener.on_behind(expected)
                return
            # The service has used this event's number for another event.
            message = (
                "the service has used this event's number for another event; the next number is"
                f" {expected}"
            )
            error = ErrorDetail(code="seq_reused", message=message)
            reply = Reply(seq=reply.seq, status="refused", error=error)
        under_way.answered.set_result(Delivered(reply, payload))


def encode_money_event(event: MoneyEvent) -> bytes:
    """Return an event as JSON without empty fields, as the contract requires."""
    return _encoder.encode(_without_none(msgspec.to_builtins(event)))


def _without_none(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_none(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_none(each) for each in value]
    return value
