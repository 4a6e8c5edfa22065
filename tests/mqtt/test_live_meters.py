"""Live meters of two services, as displays that are not ours read them.

One display follows the contract and ignores lower versions. The other is naive: it shows the
retained value when it connects after the broker's restart.
"""

import json
import os
import signal
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import paho.mqtt.client as paho
import pytest
from paho.mqtt.subscribe import simple

from meters.ledger.redis_layout import LinkKeys
from tests.mqtt.players import Players
from tests.mqtt.stand import Service, Stand
from tests.mqtt.stranger import Heard, publish
from tests.servers import Mosquitto, eventually

pytestmark = [pytest.mark.slow, pytest.mark.duty("D8")]

TABLES: Final = 8
EVENTS: Final = 150
METER: Final = "pitlink/v1/main/meter/progressive"
BEATS: Final = "pitlink/v1/main/controller"
LATE_VALUES: Final = 5
REPEAT_EVERY_BEATS: Final = 10
"""Number of its own heartbeats after which a service publishes all meters again."""


def players(stand: Stand) -> Players:
    names = [stand.table().table for _ in range(TABLES)]
    return Players(stand.mosquitto.port, names, voids=True)


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
    begun, at_play = len(stand.ear.on(METER)), players(stand)
    with at_play.playing():
        at_play.go_on(EVENTS)
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
def test_a_display_that_connects_after_the_brokers_restart_gets_the_newest(stand: Stand) -> None:
    """A killed broker restores its last saved values, and soon receives the newest.

    Both services publish when the broker is back, and one may have read the books later than the
    other. The higher version then replaces a lower one. Once each service has received the other's
    value, neither publishes a lower one. An old value that arrives late, for example from a frozen
    service, is corrected as soon as it is received, not only when all meters are published again.
    """
    at_play = players(stand)
    with at_play.playing():
        for _ in range(3):
            at_play.go_on(1)
            save(stand.mosquitto)
            late = kept(stand)
            old = int(json.loads(late)["version"])
            at_play.go_on(10)
            stand.mosquitto.kill()
            newest = version_of(stand)
            assert newest > old + TABLES
            stand.mosquitto.start()
            eventually(lambda: retained(stand) >= newest, what="the newest value")  # noqa: B023
            at_play.go_on(1)
            newest = version_of(stand)
            eventually(lambda: retained(stand) >= newest, what="the value of now")  # noqa: B023
            begun = len(stand.ear.on(METER))
            at_play.go_on(1)
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
