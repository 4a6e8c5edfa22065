from typing import Final

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError, ResponseError

from meters.redis_client.shards import AnyRedis, redis_of
from meters.redis_client.user_keys import USERS_TAG, UserKeys
from meters.selfcheck.check_result import Check

_WHAT: Final = "users at redis"
_OTHER_LIST: Final = (
    "Redis refuses its user for users and the operators' log, so nobody can sign in: its list of"
    " users was not written together with services/: copy redis/ from where `pitlink keys` was"
    " run, and restart Redis"
)
_BUNDLE_LACKS: Final = (
    "Redis denies the service's user access to users and the operators' log, and services/ has no"
    " redis-people-password, so nobody can sign in: copy services/ from where `pitlink keys` was"
    " run, and restart the services"
)
_LIST_ALLOWS: Final = (
    "the Redis user of the links' data may read users and the operators' log, because Redis's"
    " list of users allows it: run `pitlink keys`, copy redis/, and restart Redis"
)


async def check_redis_users(redis: AnyRedis, link: str) -> Check | None:
    """Check that one Redis user, and no other, can use the data of pitlink's users (D20).

    Return None if there is no such Redis user, or if Redis does not answer, which other checks
    report.
    """
    try:
        return await _look(redis_of(redis, link), redis_of(redis, USERS_TAG))
    except (RedisError, OSError):
        return None


async def _look(books: Redis, users: Redis) -> Check | None:
    """Check the clients for links and for users; None if both have the same Redis user."""
    try:
        await users.exists(UserKeys().log_head)
    except AuthenticationError:
        if users is books:
            raise
        return Check(_WHAT, holds=False, seen=_OTHER_LIST)
    except NoPermissionError:
        return Check(_WHAT, holds=False, seen=_OTHER_LIST if users is not books else _BUNDLE_LACKS)
    if users is books or _user_of(users) == _user_of(books):
        return None
    try:
        await books.exists(UserKeys().log_head)
    except NoPermissionError:
        return Check(
            _WHAT, holds=True, seen="the links' data and the users each have their own Redis user"
        )
    except ResponseError:
        """A cluster node without these keys answers so to a user with access to them."""
    return Check(_WHAT, holds=False, seen=_LIST_ALLOWS, warns=True)


def _user_of(redis: Redis) -> object:
    return redis.connection_pool.connection_kwargs.get("username")
