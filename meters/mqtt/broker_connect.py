"""Connecting to the broker over MQTT 5, or over MQTT 3.1.1 if the broker lacks MQTT 5.

The embedded broker amqtt supports only 3.1.1.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Self

import aiomqtt
import structlog

from meters.embedded.broker import embedded_address, embedded_broker
from meters.floor.facility import Service
from meters.floor.key_bundle import Identity
from meters.floor.own_credentials import broker_address
from meters.floor.server_addresses import BrokerAddress
from meters.mqtt.connection import (
    ANSWER_WITHIN_S,
    KEEPALIVE_S,
    UNSENT_BYTES_MAX,
    BrokerConnection,
    BrokerError,
    Message,
    MessageQueue,
    Receive,
    UnsupportedVersionError,
)
from meters.mqtt.mqtt5_connection import Mqtt5Connection
from meters.process.logs import ThrottledLog
from meters.wire.broker_client import BrokerClient

log = structlog.get_logger()


class _Outgoing(NamedTuple):
    topic: str
    payload: bytes
    retain: bool


class Mqtt311Connection:
    """`BrokerConnection` over MQTT 3.1.1, with the MQTT client of the agents.

    Two tasks send replies and posts, so that no reply waits for the acknowledgement of a post.
    """

    mqtt: Final = "3.1.1"

    def __init__(
        self,
        address: BrokerAddress,
        identifier: str,
        queue: MessageQueue,
        receive: Receive,
        *,
        keepalive_s: int = KEEPALIVE_S,
    ) -> None:
        self._queue, self._received = queue, receive
        self._client = BrokerClient(
            address.host,
            address.port,
            username=address.username,
            password=address.password,
            tls_context=address.tls_context(),
            identifier=identifier,
            keepalive=keepalive_s,
            timeout=ANSWER_WITHIN_S,
            # Tables wait for replies, so small packets must not wait for acknowledgements.
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
        )
        self._replies: asyncio.Queue[_Outgoing] = asyncio.Queue()
        self._posts: asyncio.Queue[_Outgoing] = asyncio.Queue()
        self._unsent_bytes = 0
        self._ended: BrokerError | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._unpublished = ThrottledLog()

    async def __aenter__(self) -> Self:
        await _translated(self._client.__aenter__())
        work = (
            self._receive,
            partial(self._send, self._replies, 0),
            partial(self._send, self._posts, 1),
        )
        self._tasks = [asyncio.create_task(self._until_lost(each)) for each in work]
        return self

    async def __aexit__(self, *raised: object) -> None:
        self._end(BrokerError("the connection was closed"))
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await _translated(self._client.__aexit__(None, None, None))

    @property
    def unsent_bytes(self) -> int:
        return 0 if self._ended is not None else self._unsent_bytes

    async def batch(self, size_max: int) -> list[Message]:
        return await self._queue.batch(size_max)

    def post(
        self, topic: str, payload: bytes, *, retain: bool = False, expires_s: int | None = None
    ) -> None:
        self._put(self._posts, _Outgoing(topic, payload, retain))

    def reply(self, topic: str, payload: bytes, correlation: bytes | None = None) -> None:
        self._put(self._replies, _Outgoing(topic, payload, retain=False))

    async def publish(self, topic: str, payload: bytes) -> None:
        await _translated(self._client.publish(topic, payload, qos=1))

    async def subscribe(self, *patterns: str) -> None:
        await _translated(self._client.subscribe([(pattern, 1) for pattern in patterns]))

    async def unsubscribe(self, pattern: str) -> None:
        await _translated(self._client.unsubscribe(pattern))

    def _put(self, queue: asyncio.Queue[_Outgoing], message: _Outgoing) -> None:
        if self._unsent_bytes > UNSENT_BYTES_MAX:
            self._end(BrokerError("the broker accepts no more data"))
        if self._ended is None:
            self._unsent_bytes += len(message.payload)
            queue.put_nowait(message)
        elif (more := self._unpublished.due("")) is not None:
            log.warning(
                "not published", topic=message.topic, reason=str(self._ended), kept_back=more
            )

    async def _receive(self) -> None:
        async for message in self._client.messages:
            self._received(Message(message.topic.value, message.payload, message.retain))

    async def _send(self, queue: asyncio.Queue[_Outgoing], qos: int) -> None:
        while True:
            message = await queue.get()
            await self._client.publish(
                message.topic, message.payload, qos=qos, retain=message.retain
            )
            self._unsent_bytes -= len(message.payload)

    async def _until_lost(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except (aiomqtt.MqttError, OSError, ValueError) as error:
            self._end(BrokerError(str(error)))

    def _end(self, error: BrokerError) -> None:
        if self._ended is None:
            self._ended = error
            self._queue.end(error)


async def _translated(call: Awaitable[object]) -> None:
    try:
        await call
    except aiomqtt.MqttError as error:
        raise BrokerError(str(error)) from None


@asynccontextmanager
async def floor_broker(
    service: Service, identity: AbstractContextManager[Identity]
) -> AsyncIterator[Callable[[], BrokerAddress]]:
    """Yield a function that returns the broker's address.

    If the floor file asks for the embedded broker, start this broker first.

    Raises:
        UserError: the broker cannot be started, or the credentials of `identity` cannot be read.
    """
    if service.broker == "embedded":
        async with embedded_broker(Path(service.data)) as url:
            yield lambda: embedded_address(url)
        return
    with identity as party:
        broker_address(service, party)
        yield lambda: broker_address(service, party)


@asynccontextmanager
async def connect_broker(
    address: BrokerAddress,
    identifier: str,
    queue: MessageQueue | None = None,
    receive: Receive | None = None,
    *,
    keepalive_s: int = KEEPALIVE_S,
) -> AsyncIterator[BrokerConnection]:
    """Connect to a broker, over MQTT 3.1.1 only if the broker does not support MQTT 5.

    `identifier` is the client's name at the broker, unless the credentials determine the name. By
    default, each message goes into the lane of its topic in the `queue`.

    Raises:
        BrokerError: the broker cannot be reached, refuses the connection, or does not answer.
        UserError: a file of the key bundle cannot be used.
    """
    queue = MessageQueue() if queue is None else queue
    receive = queue.put if receive is None else receive
    async with AsyncExitStack() as stack:
        connection: BrokerConnection | None = None
        if address.mqtt5:
            with contextlib.suppress(UnsupportedVersionError):
                connection = await stack.enter_async_context(
                    Mqtt5Connection(address, identifier, queue, receive, keepalive_s=keepalive_s)
                )
        if connection is None:
            connection = await stack.enter_async_context(
                Mqtt311Connection(address, identifier, queue, receive, keepalive_s=keepalive_s)
            )
        yield connection
