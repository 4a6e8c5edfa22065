"""Live meters of two services, as displays that are not ours read them.

One display follows the contract and ignores lower versions. The other is naive: it shows the
retained value when it connects after the broker's restart.
"""

import itertools
import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, Self

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.subscribe import simple

from meters.redis_client.link_keys import LinkKeys
from tests.mqtt.events import Event, encode, void, wagers
from tests.mqtt.stand import REPEAT_AFTER_S, Asker, Service, Stand
from tests.mqtt.stranger import Heard, publish
from tests.servers import Mosquitto, eventually
from tests.waiting import LONG_S

pytestmark = [pytest.mark.slow, pytest.mark.duty("D8")]

TABLES: Final = 8
EVENTS: Final = 150
METER: Final = "pitlink/v1/main/meter/progressive"
BEATS: Final = "pitlink/v1/main/controller"
LATE_VALUES: Final = 5
REPEAT_EVERY_BEATS: Final = 10
"""Number of its own heartbeats after which a service publishes all meters again."""


class Play:
    """Tables that play as fast as they are answered, through one client, from entry to exit."""

    def __init__(self, stand: Stand, tables: Sequence[Asker]) -> None:
        self._port = stand.mosquitto.port
        self._tables = {table.into: table for table in tables}
        self._events = {table.into: _events() for table in tables}
        self._under_way = {into: next(events) for into, events in self._events.items()}
        self.answered = 0
        self._client = paho.Client(CallbackAPIVersion.VERSION2)
        self._client.on_message = self._hear
        self._client.on_connect = self._connected
        self._client.reconnect_delay_set(1, 1)

    def _connected(self, *_: object) -> None:
        self._client.subscribe([(topic, 1) for topic in self._tables])
        self.repeat()

    def repeat(self) -> None:
        """Publish unanswered events again, as tables do."""
        for into in self._tables:
            self._publish(into)

    def _publish(self, into: str) -> None:
        self._client.publish(self._tables[into].out, encode(self._under_way[into]), qos=1)

    def _hear(self, _client: object, _data: object, message: paho.MQTTMessage) -> None:
        reply = json.loads(message.payload)
        if reply.get("seq") == self._under_way[message.topic]["seq"]:
            assert reply["status"] == "accepted", reply
            self.answered += 1
            self._under_way[message.topic] = next(self._events[message.topic])
            self._publish(message.topic)

    def go_on(self, events: int) -> None:
        wanted, deadline_s = self.answered + events, time.monotonic() + LONG_S
        while self.answered < wanted:
            assert time.monotonic() < deadline_s, f"{self.answered} of {wanted} were answered"
            try:
                eventually(lambda: self.answered >= wanted, within_s=REPEAT_AFTER_S)
            except AssertionError:
                self.repeat()

    def __enter__(self) -> Self:
        self._client.connect("127.0.0.1", self._port)
        self._client.loop_start()
        return self

    def __exit__(self, *_: object) -> None:
        self._client.disconnect()
        self._client.loop_stop()


def _events() -> Iterator[Event]:
    for number in itertools.count():
        yield wagers(2 * number + 1, f"R{number}")
        yield void(2 * number + 2, f"R{number}")


@pytest.fixture
def other(stand: Stand, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with stand.another(tmp_path_factory.mktemp("other")) as service:
        yield service


def version_of(stand: Stand) -> int:
    with stand.redis.client() as store:
        return int(store.hget(LinkKeys("main").meters, "version:progressive") or 0)


def versions(heard: Sequence[Heard]) -> list[int]:
    return [one.json["version"] for one in heard]


def kept(stand: Stand) -> bytes:
    first = simple(METER, hostname="127.0.0.1", port=stand.mosquitto.port)  # type: ignore[no-untyped-call]
    assert isinstance(first, paho.MQTTMessage)
    return bytes(first.payload)


def retained(stand: Stand) -> int:
    return int(json.loads(kept(stand))["version"])


def save(mosquitto: Mosquitto) -> None:
    """Have the broker save its retained messages, as it regularly does."""
    path = mosquitto.home / "mosquitto.db"
    before = path.stat().st_mtime_ns if path.exists() else 0
    os.kill(mosquitto.pid, signal.SIGUSR1)
    eventually(lambda: path.exists() and path.stat().st_mtime_ns > before, what="a saved state")


@pytest.mark.usefixtures("other")
def test_versions_of_two_services_under_load_hardly_go_back(stand: Stand) -> None:
    """The last version is that of the books, and the retained one.

    A service publishes no version below one that it has received. Two services that publish at the
    same moment can still cross: displays ignore the lower version.
    """
    tables = [stand.table() for _ in range(TABLES)]
    begun = len(stand.ear.on(METER))
    with Play(stand, tables) as play:
        play.go_on(EVENTS * TABLES)
    eventually(
        lambda: versions(stand.ear.on(METER))[-1] == version_of(stand),
        what="the newest value on the topic",
    )
    assert retained(stand) == version_of(stand)
    heard = versions(stand.ear.on(METER)[begun:])
    back = [(one, two) for one, two in pairwise(heard) if two < one]
    assert len(heard) > 10
    assert len(back) <= len(heard) // 10, f"{len(back)} of {len(heard)} go back: {back[:10]}"


@pytest.mark.usefixtures("other")
def test_a_display_that_connects_after_the_brokers_restart_gets_the_newest(
    stand: Stand,
) -> None:
    """A killed broker restores its last saved values, and soon receives the newest.

    Both services publish when the broker is back, and one may have read the books later than the
    other. The higher version then replaces a lower one. Once each service has received the other's
    value, neither publishes a lower one. An old value that arrives late, for example from a frozen
    service, is corrected as soon as it is received, not only when all meters are published again.
    """
    with Play(stand, [stand.table() for _ in range(TABLES)]) as play:
        for _ in range(3):
            play.go_on(TABLES)
            save(stand.mosquitto)
            late = kept(stand)
            old = int(json.loads(late)["version"])
            play.go_on(10 * TABLES)
            stand.mosquitto.kill()
            newest = version_of(stand)
            assert newest > old + TABLES
            stand.mosquitto.start()
            eventually(lambda: retained(stand) >= newest, what="the newest value")  # noqa: B023
            play.go_on(TABLES)
            newest = version_of(stand)
            eventually(lambda: retained(stand) >= newest, what="the value of now")  # noqa: B023
            begun = len(stand.ear.on(METER))
            play.go_on(TABLES)
            live = versions([one for one in stand.ear.on(METER)[begun:] if not one.retained])
            assert live == sorted(live)
    # A display that was connected before and follows the contract has shown only the highest
    # version.
    eventually(
        lambda: max(versions(stand.ear.on(METER))) == version_of(stand) == retained(stand),
        what="the newest value everywhere",
    )
    begun = len(stand.ear.on(BEATS))
    for _ in range(LATE_VALUES):
        publish(stand.mosquitto.port, METER, late, retain=True)
        eventually(lambda: retained(stand) == version_of(stand), what="the newest value again")
    assert len(stand.ear.on(BEATS)) - begun < (LATE_VALUES - 1) * REPEAT_EVERY_BEATS
