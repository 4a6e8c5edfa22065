"""Counts of what a start or a command reads: archive files, and data from Redis."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from redis.asyncio import Redis
from typer.testing import CliRunner

from meters.cli.main import command_line
from meters.embedded.broker import embedded_address
from meters.redis_client.connect import open_redis
from meters.service.process import end
from meters.service.service import MeterService, ServeOptions
from meters.users.log_mark import LogMark
from meters.users.store import UserStore
from tests.age.opened_files import opened_files
from tests.bench.sizing.place import Place
from tests.servers import eventually_async

_OWN: Final = ("cmdstat_info", "cmdstat_config|resetstat")


@dataclass
class Reads:
    """Counts of what something has read.

    Attributes:
        files: how many times an archive file was opened.
        commands: number of Redis commands.
        bytes: bytes that Redis sent.
    """

    files: int = 0
    commands: int = 0
    bytes: int = 0


@asynccontextmanager
async def counted(place: Place) -> AsyncIterator[Reads]:
    """Count what is read until the end of the block."""
    reads = Reads()
    await place.redis.config_resetstat()
    with opened_files(place.home / "pitlink-archive") as opened:
        yield reads
    sent = cast("dict[str, int]", await place.redis.info("stats"))
    reads.files = len(opened.paths)
    reads.commands = await _commands(place.redis)
    reads.bytes = sent["total_net_output_bytes"]


async def _commands(redis: Redis) -> int:
    stats = cast("dict[str, dict[str, int]]", await redis.info("commandstats"))
    return sum(one["calls"] for name, one in stats.items() if name not in _OWN)


async def run_command(place: Place, *words: str) -> Reads:
    """Run a `pitlink` command in this process, and return what it reads."""
    arguments = [*words, "--config", str(place.config)]
    async with counted(place) as reads:
        done = await asyncio.to_thread(CliRunner().invoke, command_line(arguments), arguments)
    assert done.exit_code == 0, (arguments, done.output, done.exception)
    return reads


async def run_service(place: Place) -> Reads:
    """Run a service until its links operate and the operators' log is sealed.

    Return what it reads until then.
    """
    floor = place.floor
    async with open_redis(floor) as redis, counted(place) as reads:
        service = MeterService(floor, redis, ServeOptions())
        spared = asyncio.all_tasks()
        serving = asyncio.create_task(
            service.run(lambda: embedded_address(place.parts.broker), asyncio.Event())
        )

        async def is_up() -> bool:
            log = await place.redis.hget(UserStore(redis).keys.log_head, "entries")
            return not service.inoperable() and _sealed(place) == int(log or 0)

        try:
            await eventually_async(is_up, what="links that operate, and a sealed log")
        finally:
            with contextlib.suppress(asyncio.CancelledError):
                await end(serving, spared)
    return reads


def _sealed(place: Place) -> int:
    """Return the number of the last sealed entry of the operators' log."""
    return LogMark(Path(place.parts.data)).seen.sealed
