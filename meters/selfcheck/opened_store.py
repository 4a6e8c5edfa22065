"""Access to a store that was used before.

Commands use this module, so that none of them uses an empty store as the floor's store.
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
    """Open the store of a floor, for a command that needs the floor's books.

    With `users_suffice`, a store that has only users is enough. The other options are those of
    `open_redis`.

    Raises:
        UserError: the store never had books of this floor. With `users_suffice`, it never had a
            user either.
    """
    if not may_be_opened(floor):
        raise never_opened(floor)
    async with open_redis(floor, only_reads=only_reads, archives=archives) as redis:
        if not await is_opened(floor, redis, users_suffice=users_suffice):
            raise never_opened(floor)
        yield redis


async def is_opened(floor: Floor, redis: AnyRedis, *, users_suffice: bool) -> bool:
    """Check if a store has books of the floor, or had books and lost them.

    With `users_suffice`, a store that has users is enough.
    """
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
    """Check if the floor's store can have data, before an embedded Redis is started for it."""
    if floor.service.redis != _EMBEDDED or _was_opened_here(floor):
        return True
    return (Path(floor.service.data) / "redis").is_dir()


def never_opened(floor: Floor) -> UserError:
    """Return the error of a command whose floor file names a store that was never opened."""
    return UserError(
        f"{store_address(floor)} was never opened: `pitlink serve` opens it. If there should be"
        " one, the floor file names another place than the service's"
    )


def store_address(floor: Floor) -> str:
    """Return a text that says where the floor's store is, without a password."""
    if floor.service.redis == _EMBEDDED:
        return f"the store in {floor.service.data}"
    return "the store in the Redis that the floor file names"


def _was_opened_here(floor: Floor) -> bool:
    """Check if the data directory has a mark of a link's ledger.

    Then the store had data. If it is empty now, it has lost the data, and the audit reports the
    loss.
    """
    data = Path(floor.service.data)
    return any(LedgerMark(data, link.id).seen.entries for link in floor.link)


async def _has_books(store: LinkStore) -> bool:
    try:
        return await store.schema() is not None
    except ValueError:
        # The store has data that cannot be read. The code that reads the data reports the error.
        return True
