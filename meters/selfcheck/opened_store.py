"""Access to a store that was used before: no command uses an empty one as the floor's."""

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
    """Open the store of a floor for a command that is useless without its books.

    `users_suffice`: whether a store that has only users is enough; the other options are those of
    `open_redis`.

    Raises:
        UserError: no link of the floor, and no user if users suffice, was ever added there.
    """
    if not may_be_opened(floor):
        raise never_opened(floor)
    async with open_redis(floor, only_reads=only_reads, archives=archives) as redis:
        if not await is_opened(floor, redis, users_suffice=users_suffice):
            raise never_opened(floor)
        yield redis


async def is_opened(floor: Floor, redis: AnyRedis, *, users_suffice: bool) -> bool:
    """Check if a store has books of the floor, or had some and lost them."""
    if _was_opened_here(floor):
        return True
    for link in floor.link:
        if await _has_books(LinkStore(redis, link)):
            return True
    return users_suffice and await has_users(redis)


async def has_users(redis: AnyRedis) -> bool:
    """Check if a user was ever added to a store.

    Raises:
        UsersError: ``store_failed``.
    """
    try:
        return await UserStore(redis).schema() is not None
    except UsersError as error:
        if error.code == "store_failed":
            raise
        return True


def may_be_opened(floor: Floor) -> bool:
    """Check if the floor's store may have data, before an embedded one is started for it."""
    if floor.service.redis != _EMBEDDED or _was_opened_here(floor):
        return True
    return (Path(floor.service.data) / "redis").is_dir()


def never_opened(floor: Floor) -> UserError:
    """Return a command's error if the floor file names a store that was never opened."""
    return UserError(
        f"{store_address(floor)} was never opened: `pitlink serve` opens it. If there should be"
        " one, the floor file names another place than the service's"
    )


def store_address(floor: Floor) -> str:
    """Return the place of the floor's store in words, without a password."""
    if floor.service.redis == _EMBEDDED:
        return f"the store in {floor.service.data}"
    return "the store in the Redis that the floor file names"


def _was_opened_here(floor: Floor) -> bool:
    """Check if a mark exists: an empty store has then lost its data, and the audit reports it."""
    data = Path(floor.service.data)
    return any(LedgerMark(data, link.id).seen.entries for link in floor.link)


async def _has_books(store: LinkStore) -> bool:
    try:
        return await store.schema() is not None
    except ValueError:
        # The store has data; the code that reads it reports the error.
        return True
