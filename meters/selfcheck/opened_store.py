"""Access to a Redis that already has data of the floor.

A command that uses these functions refuses a Redis that never had such data.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bonus.errors import UserError
from meters.floor.floor_file import Floor
from meters.store.ledger_mark import LedgerMark
from meters.store.link_store import LinkStore
from meters.store.redis_clients import AnyRedis
from meters.store.redis_connect import open_redis
from meters.users.user_store import UsersError, UserStore

_EMBEDDED = "embedded"


@asynccontextmanager
async def open_used_store(
    floor: Floor, *, only_reads: bool = False, archives: bool = False, users_suffice: bool = False
) -> AsyncIterator[AnyRedis]:
    """Open the Redis of a floor, for a command that needs the data of links.

    Raises:
        UserError: Redis never had data of a link of this floor; or, with `only_reads`, another
            release wrote the data. With `users_suffice`, a Redis that has only users is opened too.
    """
    check_place(floor)
    async with open_redis(floor, only_reads=only_reads, archives=archives) as redis:
        await check_opened(floor, redis, users_suffice=users_suffice)
        if only_reads:
            await check_release(floor, redis)
        yield redis


async def check_release(floor: Floor, redis: AnyRedis) -> None:
    """Raise `UserError` for data of another release, because its ledger would look altered."""
    for link in floor.link:
        try:
            problem = await LinkStore(redis, link).schema_problem()
        except ValueError as error:
            problem = f"the data of link {link.id} is damaged: {error}"
        if problem:
            raise UserError(problem)


async def check_opened(floor: Floor, redis: AnyRedis, *, users_suffice: bool = False) -> None:
    """Raise `UserError` if Redis never had data of the floor."""
    if not await is_opened(floor, redis, users_suffice=users_suffice):
        raise _never_opened(floor)


async def is_opened(floor: Floor, redis: AnyRedis, *, users_suffice: bool) -> bool:
    """Return whether Redis has data of the floor, or had it once.

    With `users_suffice`, a Redis that has only users counts too.

    Raises:
        UsersError: ``store_failed``.
    """
    if _was_opened_here(floor):
        return True
    try:
        for link in floor.link:
            if await LinkStore(redis, link).schema() is not None:
                return True
        return users_suffice and await UserStore(redis).schema() is not None
    except UsersError as error:
        if error.code == "store_failed":
            raise
    except ValueError:
        pass
    return True  # damaged: the code that reads this data later reports the error


def check_place(floor: Floor) -> None:
    """Raise `UserError` if an embedded Redis never had data. Call this before Redis is started."""
    used = floor.service.redis != _EMBEDDED or _was_opened_here(floor)
    if not used and not (Path(floor.service.data) / "redis").is_dir():
        raise _never_opened(floor)


def _never_opened(floor: Floor) -> UserError:
    return UserError(
        f"{store_address(floor)} was never opened: `pitlink serve` opens it. If a service runs"
        " already, its floor file names another Redis"
    )


def store_address(floor: Floor) -> str:
    """Return where the floor's Redis is, in words without a password."""
    if floor.service.redis == _EMBEDDED:
        return f"the Redis in {floor.service.data}"
    return "the Redis that the floor file names"


def _was_opened_here(floor: Floor) -> bool:
    """Return whether the data directory has a ledger mark of a link.

    If there is a mark but Redis is empty, Redis has lost data, and the audit reports this loss.
    """
    data = Path(floor.service.data)
    return any(LedgerMark(data, link.id).seen.entries for link in floor.link)
