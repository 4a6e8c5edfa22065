"""Making of a house in a directory: its floor file, its Redis and its archive."""

import asyncio
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from meters.books.open_day import day_open
from meters.books.store import LinkStore
from meters.embedded.broker import LOOPBACK
from meters.floor.floor_file import read_floor
from meters.logs.options import LogLevel
from meters.logs.setup import log_to
from meters.redis_client.connect import open_redis
from meters.redis_client.shards import redis_of
from meters.redis_client.user_keys import USERS_TAG
from meters.terminal.progress import progress_bar
from tests.age.house import Age, house_text, last_year, play_link, sign_in_daily
from tests.bench.floor import LINKS, FloorParts
from tests.bench.parts import free_port
from tests.bench.sizing.memory import rewrite
from tests.bench.sizing.parts import timed
from tests.bench.sizing.place import Place
from tests.bench.stand import start_broker, start_redis

_LOOK_EVERY_S: Final = 1.0


@asynccontextmanager
async def opened_house(home: Path, age: Age) -> AsyncIterator[Place]:
    """Start the Redis and the broker of a house in its directory, and write its floor file.

    Raises:
        UserError: a part is missing or did not start; the message has the end of its log.
    """
    await asyncio.to_thread(partial(home.mkdir, parents=True, exist_ok=True))
    async with AsyncExitStack() as stack:
        _, redis_url = await start_redis(home / "redis", stack)
        _, port = await start_broker(home / "broker", stack)
        parts = FloorParts(
            broker=f"mqtt://{LOOPBACK}:{port}",
            redis=redis_url,
            http=f"{LOOPBACK}:{free_port()}",
            data=str(home / "data"),
        )
        text = partial(house_text, age, last_year(age))
        (home / "floor.toml").write_text(text(parts), encoding="utf-8")
        redis = await stack.enter_async_context(open_redis(read_floor(home / "floor.toml")))
        yield Place(home, redis_of(redis, USERS_TAG), parts, text)


async def make_house(place: Place, age: Age) -> None:
    """Play all days of a house: each link, and the sign-ins, in a process of its own.

    Raises:
        UserError: an event or a sign-in was refused, or a file cannot be written.
    """
    links = LINKS[: age.tables]
    # A sync of each write would take most of the time. The files are synced at the end.
    await place.redis.config_set("appendfsync", "no")
    spawn = get_context("spawn")
    with ProcessPoolExecutor(len(links) + 1, mp_context=spawn) as processes:
        loop = asyncio.get_running_loop()
        work = [
            loop.run_in_executor(processes, _play, age, place.parts, place.home, link)
            for link in links
        ]
        work.append(loop.run_in_executor(processes, _sign_in, age, place.parts))
        await _show_days(place, age, work)
        await asyncio.gather(*work)


async def finish_house(place: Place) -> None:
    """Check the whole archive, as the house has done until now, and rewrite the append-only file.

    Raises:
        UserError: a file is missing or damaged, or the rewrite failed.
    """
    await timed(place.home / "archive", "archive", "--config", str(place.config))
    await place.redis.config_set("appendfsync", "always")
    await rewrite(place.redis)


async def _show_days(place: Place, age: Age, work: "list[asyncio.Future[None]]") -> None:
    """Show how many days of the first link are played, until all work is done."""
    store = LinkStore(place.redis, place.floor.link[0])
    with progress_bar() as progress:
        task = progress.add_task("gaming days", total=age.days)
        while not all(one.done() for one in work):
            if day := await day_open(store):
                progress.update(task, completed=(day - age.first_day).days)
            await asyncio.wait(work, timeout=_LOOK_EVERY_S, return_when=asyncio.FIRST_EXCEPTION)
            if any(one.done() and one.exception() for one in work):
                return


def _play(age: Age, parts: FloorParts, home: Path, link: str) -> None:
    log_to(sys.stderr, level=LogLevel.WARNING)
    asyncio.run(play_link(age, parts, home, link))


def _sign_in(age: Age, parts: FloorParts) -> None:
    asyncio.run(sign_in_daily(age, parts))
