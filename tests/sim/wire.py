"""Broker in memory and its clients: messages get lost, doubled, delayed and reordered."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache
from random import Random
from typing import Any, Final, Self, cast

import aiomqtt

from meters.floor.server_addresses import BrokerAddress
from meters.mqtt.connection import BrokerConnection, BrokerError, Message, MessageQueue, Receive
from meters.service.meter_service import Connect
from tests.sim.loop import Process, current_process
from tests.sim.world import World

_SHARED: Final = "$share/"
_OUT: Final = re.compile(r".*/table/[^/]+/out")
_QUICK_S: Final = (0.001, 0.02)
_LATE_S: Final = (0.2, 6.0)
_ACKNOWLEDGED_S: Final = (0.001, 0.01)
_TAKEN_S: Final = (0.0, 0.02)
"""Delay of the other messages of a batch after its first, in seconds."""
_NOTICED_S: Final = (0.05, 12.0)
"""Delay after which the broker notices that a client is dead, in seconds."""


class LostError(BrokerError, aiomqtt.MqttError):
    """The broker's error, for the service and for the agents' MQTT library."""


_Listener = Callable[[str, str, bytes], None]


@cache
def _matches(topic: str, pattern: str) -> bool:
    return aiomqtt.Topic(topic).matches(pattern)


class Session:
    def __init__(self, identifier: str, will: aiomqtt.Will | None) -> None:
        self.identifier = identifier
        self.will = will
        self.filters: list[tuple[str, str]] = []
        self.open = True
        self.silent = False
        self.process: Process | None = current_process()
        self.arrived: asyncio.Queue[Message | None] = asyncio.Queue()

    def wants(self, topic: str) -> list[str]:
        """Return the groups through which it receives a topic; a plain subscription is ""."""
        return [group for group, pattern in self.filters if _matches(topic, pattern)]


class Broker:
    """The broker; each listener gets publisher, topic and payload before anything is lost.

    `altered` has the tables whose events also arrive with other bytes, by the topics they send on.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._chance = world.chance("network")
        self._sessions: list[Session] = []
        self._retained: dict[str, bytes] = {}
        self.up = True
        self.listeners: list[_Listener] = []
        self.altered: frozenset[str] = frozenset()

    def retained(self, topic: str) -> bytes | None:
        return self._retained.get(topic)

    @property
    def sessions(self) -> Sequence[Session]:
        return tuple(self._sessions)

    async def connect(self, session: Session) -> None:
        """Accept a connection; an older one with the same name is closed."""
        await asyncio.sleep(self._chance.uniform(*_ACKNOWLEDGED_S))
        if not self.up:
            raise LostError("connection refused")
        for older in self.sessions:
            if older.identifier == session.identifier:
                self.cut(older)
        self._sessions.append(session)
        if session.process is not None:
            session.process.died.add_done_callback(
                lambda _: self._world.loop.outside(
                    self._chance.uniform(*_NOTICED_S), self.cut, session
                )
            )

    def cut(self, session: Session, *, will: bool = True) -> None:
        if session.open:
            session.open = False
            session.arrived.put_nowait(None)
            self._sessions.remove(session)
            if will and session.will is not None:
                payload = session.will.payload
                assert isinstance(payload, bytes)
                self._arrive(session.will.topic, payload, retain=True)

    def go_down(self) -> None:
        """Lose every connection, all retained messages, and all messages in flight."""
        self.up = False
        for session in self.sessions:
            self.cut(session, will=False)
        self._retained.clear()

    def subscribe(self, session: Session, filters: Sequence[str]) -> None:
        for each in filters:
            group, pattern = "", each
            if each.startswith(_SHARED):
                _, group, pattern = each.split("/", 2)
            session.filters.append((group, pattern))
            for topic, payload in self._retained.items():
                if not group and _matches(topic, pattern):
                    self._send(session, topic, payload, retain=True)

    def unsubscribe(self, session: Session, pattern: str) -> None:
        group = ""
        if pattern.startswith(_SHARED):
            _, group, pattern = pattern.split("/", 2)
        session.filters.remove((group, pattern))

    def publish(self, session: Session, topic: str, payload: bytes, *, retain: bool) -> None:
        process = current_process()
        for listener in self.listeners:
            listener(process.name if process else "", topic, payload)
        if session.open and not session.silent:
            delays = self._delays(topic)
            for delay_s in delays:
                self._world.loop.outside(delay_s, self._take, topic, payload, retain)
            if retain and not delays:
                # A retained message is lost only with its connection: nobody would send it again.
                self._world.loop.outside(0.0, self.cut, session)

    def copied(self, batch: Sequence[Message], chance: Random) -> list[Message]:
        weather, copies = self._world.weather, []
        for message in batch:
            if _OUT.fullmatch(message.topic) is None:
                continue
            if weather.strikes("copies in a batch"):
                copies += [message] * chance.randint(1, 2)
            if message.topic in self.altered and weather.strikes("altered in a batch"):
                copies.append(self._altered(message))
        chance.shuffle(copies)
        return [*batch, *copies]

    def _altered(self, message: Message) -> Message:
        topic, payload = message.topic, message.payload + b" "
        for listener in self.listeners:
            listener("", topic, payload)
        return Message(topic, payload, retain=False)

    def _take(self, topic: str, payload: bytes, retain: bool) -> None:  # noqa: FBT001
        if self.up:
            self._arrive(topic, payload, retain=retain)

    def _arrive(self, topic: str, payload: bytes, *, retain: bool) -> None:
        if retain:
            self._retained[topic] = payload
        groups: dict[str, list[Session]] = {}
        for session in self._sessions:
            for group in session.wants(topic):
                if group:
                    groups.setdefault(group, []).append(session)
                else:
                    self._send(session, topic, payload, retain=False)
        for members in groups.values():
            self._send(self._chance.choice(members), topic, payload, retain=False)

    def _send(self, session: Session, topic: str, payload: bytes, *, retain: bool) -> None:
        message = Message(topic, payload, retain)
        for delay_s in self._delays(topic):
            self._world.loop.outside(delay_s, self._hand_over, session, message)

    def _hand_over(self, session: Session, message: Message) -> None:
        if session.open and not session.silent:
            session.arrived.put_nowait(message)

    def _delays(self, topic: str) -> list[float]:
        """Return the delay of each copy of a message; no delays if it is lost."""
        weather = self._world.weather
        if weather.strikes("message lost"):
            self._world.note(f"lost: {topic}")
            return []
        delays = [self._chance.uniform(*_QUICK_S)]
        if weather.strikes("message late"):
            delays = [self._chance.uniform(*_LATE_S)]
        if weather.strikes("message doubled"):
            delays.append(self._chance.uniform(*_QUICK_S))
        return delays


class _Carried:
    def __init__(
        self, world: World, broker: Broker, identifier: str, will: aiomqtt.Will | None = None
    ) -> None:
        self._world = world
        self._broker = broker
        self._chance = world.chance(f"client/{identifier}/{world.events}")
        self._session = Session(identifier, will)

    async def __aenter__(self) -> Self:
        await self._broker.connect(self._session)
        return self

    async def __aexit__(self, *raised: object) -> None:
        self._broker.cut(self._session, will=False)

    async def _subscribe(self, patterns: Sequence[str]) -> None:
        await self._acknowledged()
        self._broker.subscribe(self._session, patterns)

    async def unsubscribe(self, pattern: Any, *_: object, **__: object) -> None:  # noqa: ANN401
        await self._acknowledged()
        self._broker.unsubscribe(self._session, pattern)

    async def _acknowledged(self) -> None:
        await asyncio.sleep(self._chance.uniform(*_ACKNOWLEDGED_S))
        if not self._session.open:
            raise LostError("disconnected")

    async def _publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        if not self._session.open:
            raise LostError("not connected")
        self._broker.publish(self._session, topic, payload, retain=retain)
        await asyncio.sleep(self._chance.uniform(*_ACKNOWLEDGED_S))
        if self._world.weather.strikes("publish fails"):
            raise LostError("no acknowledgement")

    async def _next(self) -> Message:
        message = await self._session.arrived.get()
        if message is None:
            raise LostError("disconnected")
        return message


class TableClient(_Carried):
    """The methods of the agents' MQTT client that a table's event delivery uses."""

    async def subscribe(self, topic: Any, qos: int = 0, **_: object) -> tuple[int, ...]:  # noqa: ANN401
        await self._subscribe([topic] if isinstance(topic, str) else [each for each, _ in topic])
        return (qos,)

    async def publish(
        self, topic: str, payload: bytes, qos: int = 0, *, retain: bool = False, **_: object
    ) -> None:
        assert qos == 1, topic
        await self._publish(topic, payload, retain=retain)

    @property
    async def messages(self) -> AsyncIterator[aiomqtt.Message]:
        while True:
            one = await self._next()
            yield aiomqtt.Message(one.topic, one.payload, 1, one.retain, 1, None)


class ServiceConnection(_Carried):
    """The service's connection; arriving messages are queued as with a real broker."""

    mqtt: Final = "5"
    unsent_bytes: Final = 0

    def __init__(
        self, world: World, broker: Broker, identifier: str, queue: MessageQueue, receive: Receive
    ) -> None:
        super().__init__(world, broker, identifier)
        self._queue, self._receive = queue, receive

    async def batch(self, size_max: int) -> list[Message]:
        """Wait for a message; return one of each lane that has any, and copies of some.

        More messages arrive between the first and the others.
        """
        while self._queue.empty() or not self._session.arrived.empty():
            self._receive(await self._next())
        await asyncio.sleep(self._chance.uniform(*_TAKEN_S))
        while not self._session.arrived.empty():
            self._receive(await self._next())
        return self._broker.copied(self._queue.turn(size_max), self._chance)

    def post(
        self, topic: str, payload: bytes, *, retain: bool = False, expires_s: int | None = None
    ) -> None:
        self._broker.publish(self._session, topic, payload, retain=retain)

    def reply(self, topic: str, payload: bytes, correlation: bytes | None = None) -> None:
        """Publish without waiting; the broker can lose the message, as with QoS 0."""
        self.post(topic, payload)

    async def publish(self, topic: str, payload: bytes) -> None:
        await self._publish(topic, payload, retain=False)

    async def subscribe(self, *patterns: str) -> None:
        await self._subscribe(patterns)


def table_clients(world: World, broker: Broker) -> Callable[..., aiomqtt.Client]:

    def connect(
        _host: str, _port: int, *, identifier: str, will: aiomqtt.Will, **_: object
    ) -> aiomqtt.Client:
        return cast("aiomqtt.Client", TableClient(world, broker, identifier, will))

    return connect


def service_connections(world: World, broker: Broker) -> Connect:

    def connect(
        _address: BrokerAddress, _identifier: str, queue: MessageQueue, receive: Receive
    ) -> AbstractAsyncContextManager[BrokerConnection]:
        process = current_process()
        return ServiceConnection(world, broker, process.name if process else "", queue, receive)

    return connect
