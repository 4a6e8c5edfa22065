"""A Redis that answers slowly is not gone: a link starts on it and stays operable."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis

from meters.service.pace import Pace
from tests.floor_text import link_text, meter_text
from tests.model.pit import FLOOR, PROGRESSIVE, Pit
from tests.model.running import running
from tests.model.tampering import play_a_while
from tests.mqtt.relay import Relay
from tests.servers import RedisServer, eventually_async

ANSWERED_AFTER_S: Final = 0.3
"""Delay of one answer. It is far below the wait of a link for an answer. All answers of a check
together exceed that wait."""

LINKS: Final = FLOOR + "".join(
    link_text(name, meter_text(PROGRESSIVE), name=f"Jackpot {name}") for name in "ab"
)
"""Each link looks whether one of the others has its tables."""


@pytest.fixture
def tcp_redis() -> Iterator[RedisServer]:
    with RedisServer(tcp=True) as server:
        yield server


@pytest.mark.slow
@pytest.mark.duty("D10")
async def test_a_link_comes_up_and_stays_up_on_a_redis_that_is_slow(
    tcp_redis: RedisServer, tmp_path: Path
) -> None:
    """One check takes longer in total than Redis may be silent. That does not count as silence."""
    async with Redis.from_url(tcp_redis.url) as client:
        pit = await Pit.opened(client, LINKS)
        await play_a_while(pit)
    async with (
        Relay(tcp_redis.port, late_s=ANSWERED_AFTER_S).running() as relay,
        Redis(port=relay.port) as slow,
        running(Pit(slow, LINKS), tmp_path, pace=Pace()) as link,
    ):
        await link.comes_up()
        began = len(link.beats())
        await eventually_async(lambda: link.service.seen.sealed == link.service.seen.entries)
        due = len(link.beats()) + 5
        await eventually_async(lambda: len(link.beats()) >= due)
        assert {beat.state for beat in link.beats()[began:]} == {"operable"}
        tcp_redis.freeze()
        await link.goes_down("Redis has not answered for 2 seconds")
        tcp_redis.thaw()
        await link.comes_up()
