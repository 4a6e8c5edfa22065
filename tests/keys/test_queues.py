"""The broker's queues for slow clients: limited, and no event of a table is lost."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from pathlib import Path
from typing import Final

import pytest

from meters.floor.facility import Service
from meters.floor.key_bundle import DISPLAY, Identity, service_identity, table_identity
from meters.floor.own_credentials import broker_address
from meters.mqtt import connection
from meters.mqtt.broker_connect import connect_broker
from meters.mqtt.connection import BrokerConnection
from meters.mqtt.mqtt5_connection import Mqtt5Connection
from meters.service.meter_service import stays_true
from tests.keys.clients import WITHIN_S, Ears, believing, observing, with_session
from tests.keys.raw import HUGE, connect_packet, connected, takes_huge_packet
from tests.keys.servers import SecuredMosquitto
from tests.mqtt_packets import packet, text

pytestmark = pytest.mark.duty("D20")

ROOT: Final = "pitlink/v1"
A1: Final = table_identity("main", "A-1")
SERVICE: Final = service_identity(1)
MESSAGES: Final = 60_000
BYTES: Final = 1_000
GROWS_BY_MAX_KB: Final = 25_000
"""Less than half of what is published, including mosquitto's own memory."""
TOO_LONG_GROWS_BY_MAX_KB: Final = HUGE // 1_000
"""What one of four packets that are too long would take."""
PACKETS: Final = 50
"""Number of SUBSCRIBE packets that take 2 GB without a limit."""
MEMORY_MAX_KB: Final = 600_000
SLOW_BYTES: Final = 4_096
FLOOD: Final = 40_000
"""More than the broker's limit and the socket buffers between it and a client."""


@pytest.fixture
def own_broker(keys: Path) -> Iterator[SecuredMosquitto]:
    with SecuredMosquitto(keys) as server:
        yield server


def memory_kb(broker: SecuredMosquitto) -> int:
    status = Path(f"/proc/{broker.pid}/status").read_text()
    found = (int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
    return next(found, 0)


def as_table(broker: SecuredMosquitto, keys: Path) -> AbstractContextManager[socket.socket]:
    return connected(broker.port, believing(keys, party=A1), connect_packet("any"))


def speaking(
    broker: SecuredMosquitto, keys: Path, party: Identity
) -> AbstractAsyncContextManager[BrokerConnection]:
    service = Service(broker=broker.url, keys=str(keys))
    return connect_broker(broker_address(service, party), party.username)


async def publish_much(broker: SecuredMosquitto, keys: Path) -> None:
    async with observing(broker, keys) as observer, speaking(broker, keys, SERVICE) as service:
        await observer.client.unsubscribe("#")
        await observer.client.subscribe("observer/#", qos=1)
        for number in range(MESSAGES):
            service.post(f"{ROOT}/main/jackpot", f"{number:06}".encode().ljust(BYTES))
            if number % 100 == 0:
                await stays_true(lambda: not service.unsent_bytes, within_s=WITHIN_S)
        await service.publish(f"{ROOT}/main/jackpot", b"the last")
        await observer.since()


@pytest.mark.slow
@pytest.mark.parametrize(
    "qos", [None, 0, 1], ids=["a session without connection", "at most once", "at least once"]
)
async def test_what_waits_for_a_client_that_reads_nothing_is_bounded(
    own_broker: SecuredMosquitto, keys: Path, qos: int | None
) -> None:
    with contextlib.ExitStack() as stack:
        if qos is None:
            async with with_session(own_broker, keys, DISPLAY) as display:
                await display.subscribe(f"{ROOT}/#", qos=1)
        else:
            stack.enter_context(stalled(own_broker, keys, qos))
        before = memory_kb(own_broker)
        await publish_much(own_broker, keys)
        assert memory_kb(own_broker) - before < GROWS_BY_MAX_KB


@pytest.mark.parametrize("known", [True, False])
def test_a_packet_that_is_too_long_takes_no_memory(
    own_broker: SecuredMosquitto, keys: Path, *, known: bool
) -> None:
    """Its header is enough to refuse it: before a client signs in, and also after that."""
    before = memory_kb(own_broker)
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            if known:
                connection = stack.enter_context(as_table(own_broker, keys))
            else:
                plain = socket.create_connection(("127.0.0.1", own_broker.password_port), WITHIN_S)
                connection = stack.enter_context(
                    believing(keys).wrap_socket(plain, server_hostname="localhost")
                )
            assert not takes_huge_packet(connection, b"\x32" if known else b"\x10")
        assert memory_kb(own_broker) - before < TOO_LONG_GROWS_BY_MAX_KB


def test_subscriptions_of_a_table_do_not_take_the_memory_of_the_machine(
    own_broker: SecuredMosquitto, keys: Path
) -> None:
    """The broker stores them unread, and needs several hundred times the bytes of the packets."""
    with as_table(own_broker, keys) as connection:
        highest = 0
        with contextlib.suppress(OSError):
            for number in range(1, PACKETS + 1):
                deep = (f"{number}/{each}" + "/a" * 150 for each in range(400))
                wanted = [text(topic) + b"\x00" for topic in deep]
                connection.sendall(packet(b"\x82", number.to_bytes(2), *wanted))
                connection.recv(1_000)
                highest = max(highest, memory_kb(own_broker))
    assert highest < MEMORY_MAX_KB


@contextlib.contextmanager
def stalled(broker: SecuredMosquitto, keys: Path, qos: int) -> Iterator[None]:
    """Connect a display that subscribes to everything, and then reads nothing."""
    context = believing(keys, party=DISPLAY)
    with socket.socket() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_BYTES)
        plain.settimeout(WITHIN_S)
        plain.connect(("127.0.0.1", broker.port))
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            connection.sendall(packet(b"\x10", text("MQTT"), bytes([4, 2, 0, 0]), text("slow")))
            assert connection.recv(4) == b"\x20\x02\x00\x00"
            connection.sendall(packet(b"\x82", b"\x00\x01", text(f"{ROOT}/#"), bytes([qos])))
            assert connection.recv(5) == b"\x90\x03\x00\x01" + bytes([qos])
            yield


async def test_a_table_that_comes_back_is_given_every_reply(
    own_broker: SecuredMosquitto, keys: Path
) -> None:
    """The table has another maker's agent, whose session survives its connection."""
    replies = [f"{number:06}".encode().ljust(500) for number in range(500)]
    into = f"{ROOT}/main/table/A-1/in"
    async with with_session(own_broker, keys, A1) as table:
        await table.subscribe(into, qos=1)
    async with speaking(own_broker, keys, SERVICE) as service:
        for reply in replies:
            service.post(into, reply)
        await service.publish(into, b"the last")
    async with with_session(own_broker, keys, A1) as table:
        heard = await Ears(table).until(into, b"the last")
    assert heard == [(into, reply) for reply in replies]


async def test_a_burst_for_a_service_that_is_busy_arrives_whole(
    own_broker: SecuredMosquitto, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two thousand tables send while it reads nothing. Then it receives every event, in order."""
    monkeypatch.setattr(connection, "WAITING_MAX", 20_000)
    events = [f"{number:06}".encode().ljust(2_000) for number in range(2_000)]
    async with (
        speaking(own_broker, keys, SERVICE) as service,
        speaking(own_broker, keys, A1) as table,
    ):
        await service.subscribe(f"$share/group/{ROOT}/+/table/+/out")
        assert isinstance(service, Mqtt5Connection)
        transport = service._stream._transports[-1]
        transport.pause_reading()
        for event in events:
            table.post(f"{ROOT}/main/table/A-1/out", event)
        await table.publish(f"{ROOT}/main/table/A-1/out", b"the last")
        transport.resume_reading()
        heard: list[object] = []
        async with asyncio.timeout(WITHIN_S):
            while b"the last" not in heard:
                heard += [message.payload for message in await service.batch(200)]
        assert heard == [*events, b"the last"]


@pytest.mark.slow
@pytest.mark.parametrize("qos", [0, 1])
async def test_what_a_flood_had_dropped_is_not_under_way_for_ever(
    own_broker: SecuredMosquitto, keys: Path, qos: int
) -> None:
    """A service reads nothing while a table floods it, and then reads everything.

    mosquitto drops packets for a client that has `max_queued_messages` of them unsent, including
    messages that it counts as in flight. In that state it would search through those at each
    acknowledgement, and send them in the session's next connection. The test shows that neither
    happens.
    """
    out = f"{ROOT}/main/table/A-1/out"
    async with speaking(own_broker, keys, A1) as table:
        async with with_session(own_broker, keys, SERVICE) as service:
            await service.subscribe(f"$share/group/{ROOT}/+/table/+/out", qos=1)
            inner = service._client.socket()
            assert inner is not None
            asyncio.get_running_loop().remove_reader(inner.fileno())
            for number in range(FLOOD):
                (table.post if qos == 1 else table.reply)(out, b"flood".ljust(100))
                if number % 1_000 == 0:
                    await stays_true(lambda: not table.unsent_bytes, within_s=WITHIN_S)
            for _ in range(10):
                await table.publish(out, b"an event")
            asyncio.get_running_loop().add_reader(inner.fileno(), service._client.loop_read)

            async def speak_on() -> None:
                while True:
                    await table.publish(out, b"again")

            speaking_on = asyncio.create_task(speak_on())
            await Ears(service).until(out, b"again")
            speaking_on.cancel()
            await asyncio.wait({speaking_on})
            await table.publish(out, b"the last")
            await Ears(service).until(out, b"the last")
        async with with_session(own_broker, keys, SERVICE) as service:
            await table.publish(out, b"the next")
            assert await Ears(service).until(out, b"the next") == []
