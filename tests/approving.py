"""Approvals of floor files in the tests, by the product's own function, as people give them."""

import asyncio
import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from redis.exceptions import RedisError

from bonus.errors import UserError
from meters.floor.floor_file import Floor, read_floor
from meters.store.floor_file_approval import Configuration
from meters.store.link_store import LinkStore
from meters.store.redis_clients import AnyRedis
from meters.store.redis_connect import open_redis

PEOPLE: Final = ("Ada Lane", "Bea Moss")
"""Two people: the first one suffices for the first floor file of an empty floor."""

_OPENING: Final = ("--auto-floor", "--demo-people")
"""Options with which the service itself approves the first floor file."""


async def approve(configuration: Configuration) -> None:
    for person in PEOPLE:
        found = await configuration.unapproved()
        if found is None:
            return
        await configuration.approve(person, found.digest)


async def approve_first(floor: Floor, redis: AnyRedis) -> None:
    """Approve the first floor file of an empty floor. Do nothing on a floor that is not empty."""
    for link in floor.link:
        configuration = Configuration(floor, LinkStore(redis, link))
        found = await configuration.unapproved()
        if found is not None and found.first:
            await configuration.approve(PEOPLE[0], found.digest)


async def approve_never_approved(configuration: Configuration, store: LinkStore) -> None:
    """Approve a link's settings unless any were approved, also if the meters are seeded."""
    found = await configuration.unapproved()
    approvals = (await store.snapshot()).tallies.get("approvals", 0)
    if found is not None and found.approved is None and not approvals:
        await approve(configuration)


def _has_played(floor: Floor) -> bool:
    return any(Path(floor.service.data, "marks").glob("*.ledger-mark.json"))


def approve_before_serve(
    arguments: Sequence[str], cwd: Path | None, *, filled: bool = False
) -> None:
    """Approve the first floor file for a `pitlink serve` that a test is about to start.

    Nothing is approved without a usable floor file or its Redis, or if the floor has played: nobody
    approves a Redis that lost its data. If the test has `filled` Redis itself, the floor is not
    empty, and two people approve it.
    """
    if arguments[:1] != ("serve",) or "--config" not in arguments:
        return
    if any(option in arguments for option in _OPENING):
        return
    config = Path(cwd or ".") / arguments[arguments.index("--config") + 1]

    async def open_and_approve() -> None:
        floor = read_floor(config)
        if floor.facility.demonstration or _has_played(floor):
            return
        async with open_redis(floor) as redis:
            await approve_first(floor, redis)
            for store in (LinkStore(redis, link) for link in floor.link if filled):
                await approve_never_approved(Configuration(floor, store), store)

    def run() -> None:
        with contextlib.suppress(UserError, RedisError, OSError):
            asyncio.run(open_and_approve())

    # The test can have a running event loop of its own.
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
