"""Redis killed under load and restarted: each fault interrupts each link only once."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis

from tests.approving import approve_first
from tests.model.pit import Pit
from tests.mqtt.events import encode, result, wagers
from tests.mqtt.floors import TABLES
from tests.mqtt.players import Players
from tests.mqtt.stand import Service, service_on
from tests.mqtt.stranger import Ear
from tests.servers import Mosquitto, RedisServer, eventually

pytestmark = pytest.mark.slow

LINKS: Final = ("main", "other")
EVENTS_BEFORE: Final = 100
"""Rounds of each table of the link; 20,000 ledger entries in total."""
NAMES: Final = [f"T-{number}" for number in range(1, TABLES + 1)]
BEATS: Final = "pitlink/v1/main/controller"
PLAYING: Final = NAMES[:40]
FAULTS: Final = 2
BEATS_AFTER: Final = 8
"""Interval long enough for another failed check during the comparison of the ledger."""


async def fill(url: str, floor_text: str) -> None:
    async with Redis.from_url(url) as client:
        await client.config_set("appendfsync", "no")
        pit = Pit(client, floor_text)
        await approve_first(pit.floor, client)
        await pit.open()
        for seq in range(1, EVENTS_BEFORE + 1):
            round_id = f"R{(seq + 1) // 2}"
            event = encode(wagers(seq, round_id) if seq % 2 else result(seq, round_id))
            taken = await pit.take([(name, event) for name in NAMES])
            assert all(b'"accepted"' in reply for _, reply in taken.replies)
        await client.config_set("appendfsync", "always")


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    """Yield a redis-server over TCP, where a client notices a closed connection differently."""
    with RedisServer(tcp=True) as server:
        yield server


def interruptions(service: Service) -> dict[str, list[str]]:
    """Return the reason for each stop of a link that operated before, from the log."""
    operable, stops = dict.fromkeys(LINKS, False), {link: list[str]() for link in LINKS}
    for line in service.process.errors.splitlines():
        said = json.loads(line)
        if said["event"] == "link operable":
            operable[said["link"]] = True
        elif said["event"] in {"link inoperable", "link waits"}:
            if operable[said["link"]]:
                stops[said["link"]].append(said["reason"])
            operable[said["link"]] = False
    return stops


@pytest.mark.duty("D10")
def test_each_kill_of_redis_under_load_interrupts_each_link_once(
    mosquitto: Mosquitto, redis_server: RedisServer, tmp_path: Path
) -> None:
    """The comparison of the ledger afterwards must not delay the checks that it serves."""
    service = service_on(tmp_path, broker=mosquitto.url, redis=redis_server.url)
    asyncio.run(fill(redis_server.url, service.config.read_text()))
    players = Players(mosquitto.port, PLAYING)
    for table in PLAYING:
        players.answered[table] = dict.fromkeys(range(1, EVENTS_BEFORE + 1), b"")
    with service, Ear(mosquitto.port, BEATS) as beats:
        with players.playing():
            players.go_on(2)
            for fault in range(1, FAULTS + 1):
                redis_server.kill()
                eventually(
                    lambda: all(len(why) == fault for why in interruptions(service).values()),  # noqa: B023
                    what="every link inoperable",
                )
                redis_server.start()
                eventually(service.ready, what="every link operable")
                began = len(beats.on(BEATS))
                beats.next_on(BEATS, began + BEATS_AFTER - 1)
                players.go_on(10)
        stops = interruptions(service)
        assert all(len(why) == FAULTS for why in stops.values()), stops
        for link in LINKS:
            assert service.counted("pitlink_link_outages_total", link=link) == FAULTS
        assert service.ready()
        assert service.audit()["balanced"]
