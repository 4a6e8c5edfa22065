"""An old house reads no more on a day than a young house.

The test counts, and measures no time: opened archive files, Redis commands, and bytes from Redis.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, cast

import pytest

from meters.embedded.broker import embedded_address
from meters.service.meter_service import MeterService, ServeOptions
from meters.service.pace import Pace
from meters.service.serving import end
from meters.store.redis_connect import open_redis
from meters.users.log_audit import LogMark
from meters.users.user_store import UserStore
from tests.age.house import Age, a_day_later, made_house
from tests.age.opened_files import opened_files
from tests.bench.place import Place
from tests.processes import invoke_pitlink
from tests.servers import eventually_async

YOUNG_DAYS: Final = 30
OLD_DAYS: Final = 120
MORE_MAX: Final = 1.2
"""Largest ratio of what the old house and the young one read from Redis. Some numbers of the old
house have one digit more, and a service asks Redis every second."""
ROUNDS: Final = 8
"""Rounds of a table on each day: tables of both houses have all the wins that Redis keeps."""
_OLD_DAY: Final = timedelta(days=10)
_OWN: Final = ("cmdstat_info", "cmdstat_config|resetstat")


@dataclass
class Reads:
    """Openings of archive files, and the number of Redis commands and of the bytes it sent."""

    files: int = 0
    commands: int = 0
    bytes: int = 0


@asynccontextmanager
async def _counted(place: Place) -> AsyncIterator[Reads]:
    reads = Reads()
    await place.redis.config_resetstat()
    with opened_files(place.archive) as opened:
        yield reads
    sent = cast("dict[str, int]", await place.redis.info("stats"))
    stats = cast("dict[str, dict[str, int]]", await place.redis.info("commandstats"))
    reads.files, reads.bytes = len(opened.paths), sent["total_net_output_bytes"]
    reads.commands = sum(one["calls"] for name, one in stats.items() if name not in _OWN)


async def _command(place: Place, *words: str) -> Reads:
    async with _counted(place) as reads:
        done = await asyncio.to_thread(invoke_pitlink, *words, "--config", str(place.config))
    assert done.returncode == 0, (words, done)
    return reads


async def _service(place: Place) -> Reads:
    """Return what a service reads until its links operate and the operators' log is sealed."""
    # With ledgers and logs of that many entries, it writes checkpoints.
    floor, options = place.floor, ServeOptions(pace=Pace(checkpoint_every=10))
    async with open_redis(floor) as redis, _counted(place) as reads:
        service = MeterService(floor, redis, options)
        spared = asyncio.all_tasks()
        serving = asyncio.create_task(
            service.run(lambda: embedded_address(place.parts.broker), asyncio.Event())
        )

        async def is_up() -> bool:
            log = await place.redis.hget(UserStore(redis).keys.log_head, "entries")
            sealed = LogMark(Path(place.parts.data)).seen.sealed
            return not service.inoperable() and sealed == int(log or 0)

        try:
            await eventually_async(is_up, what="links that operate, and a sealed log")
        finally:
            with contextlib.suppress(asyncio.CancelledError):
                await end(serving, spared)
    return reads


async def _daily_reads(days: int) -> dict[str, Reads]:
    """Make a house, let a day close, and return what each start and command then reads."""
    age = Age(days, tables=2, rounds=ROUNDS, sign_ins=20)
    old_day = (age.first_day + _OLD_DAY).isoformat()
    async with made_house(age) as place:
        # This service closes the last day, and writes the checkpoints of its audits.
        await _service(place)
        start = await _service(place)
        a_day_later(place.archive)
        night, half_hour = await _command(place, "archive"), await _command(place, "archive")
        await _command(place, "audit")
        return {
            "start": start,
            "archive of a new day": night,
            "archive without a new day": half_hour,
            "nightly audit": await _command(place, "audit", "--since-last"),
            "day report": await _command(place, "report", "day", age.last_day.isoformat()),
            "old wins": await _command(
                place, "report", "jackpots", "--from", old_day, "--to", old_day
            ),
        }


@pytest.mark.slow
@pytest.mark.duty("D19")
def test_a_day_of_an_old_house_reads_as_much_as_one_of_a_young_house() -> None:
    young, old = asyncio.run(_daily_reads(YOUNG_DAYS)), asyncio.run(_daily_reads(OLD_DAYS))
    for what, reads in old.items():
        assert reads.files == young[what].files, what
        assert reads.commands <= young[what].commands * MORE_MAX, (what, reads, young[what])
        assert reads.bytes <= young[what].bytes * MORE_MAX, (what, reads, young[what])
