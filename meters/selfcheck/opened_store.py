"""Access to a Redis that already has data of the floor.

Commands use it so that none mistakes an empty Redis for the floor's Redis.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bonus.errors import UserError
from meters.books.ledger_mark import LedgerMark
from meters.books.store import LinkStore
from meters.floor.floor_file import Floor
from meters.redis_client.connect import open_redis
from meters.redis_client.shards import AnyRedis
from meters.users.errors import UsersError
from meters.users.store import UserStore

_EMBEDDED = "embedded"


@asynccontextmanager
async def open_used_store(
    floor: Floor,
    *,
    only_reads: bool = False,
    archives: bool = False,
    users_suffice: bool = False,
) -> AsyncIterator[AnyRedis]:
    """Open the Redis of a floor, for a command that needs the data of links.

    With `users_suffice`, it is enough if Redis has users. The other options are those of
    `open_redis`.

    Raises:
        UserError: Redis never had data of a link of this floor, nor, with `users_suffice`, a user.
            With `only_reads`, another reason is that another release wrote the data.
    """
    if not may_be_opened(floor):
        raise never_opened(floor)
    async with open_redis(floor, only_reads=only_reads, archives=archives) as redis:
        if not await is_opened(floor, redis, users_suffice=users_suffice):
            raise never_opened(floor)
        if only_reads:
            await check_release(floor, redis)
        yield redis


async def check_release(floor: Floor, redis: AnyRedis) -> None:
    """Refuse data of another release: its ledger would look altered to this release.

    Raises:
        UserError: another release wrote the data of a link, or its schema version is damaged.
    """
    for link in floor.link:
        try:
            problem = await LinkStore(redis, link).schema_problem()
        except ValueError as error:
            problem = f"the data of link {link.id} is damaged: {error}"
        if problem:
            raise UserError(problem)


async def is_opened(floor: Floor, redis: AnyRedis, *, users_suffice: bool) -> bool:
    """Check if Redis has, or has lost, data of the floor; with `users_suffice`, or users."""
    if _was_opened_here(floor):
        return True
    for link in floor.link:
        if await _has_books(LinkStore(redis, link)):
            return True
    return users_suffice and await has_users(redis)


async def has_users(redis: AnyRedis) -> bool:
    """Check if a user was ever added to this Redis.

    Raises:
        UsersError: Redis failed (``store_failed``).
    """
    try:
        return await UserStore(redis).schema() is not None
    except UsersError as error:
        if error.code == "store_failed":
            raise
        return True


def may_be_opened(floor: Floor) -> bool:
    """Check if the floor's Redis can have data. Call this before an embedded Redis is started."""
    if floor.service.redis != _EMBEDDED or _was_opened_here(floor):
        return True
    return (Path(floor.service.data) / "redis").is_dir()


def never_opened(floor: Floor) -> UserError:
    return UserError(
        f"{store_address(floor)} was never opened: `pitlink serve` opens it. If there should be"
        " one, the floor file names another place than the service's"
    )


def store_address(floor: Floor) -> str:
    """Return in words where the floor's Redis is, without a password."""
    if floor.service.redis == _EMBEDDED:
        return f"the Redis in {floor.service.data}"
    return "the Redis that the floor file names"


def _was_opened_here(floor: Floor) -> bool:
    """Check if the data directory has a ledger mark of a link (a note of its last entry).

    If it has one, Redis had data. An empty Redis has then lost it, and the audit reports the loss.
    """
    data = Path(floor.service.data)
    return any(LedgerMark(data, link.id).seen.entries for link in floor.link)


async def _has_books(store: LinkStore) -> bool:
    try:
        return await store.schema() is not None
    except ValueError:  # The code that reads this data later reports the error.
        return True
