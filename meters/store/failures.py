"""Why Redis, its data or a ledger mark cannot be used, in words."""

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from meters.store.health import NotSyncedError, refused_write
from meters.store.ledger_mark import MarkError
from meters.store.link_store import TermsError
from meters.store.redis_connect import REDIS_TO_START


def failure_text(error: Exception) -> str:
    """Say why a link cannot operate after a failure of Redis, of its data or of the ledger mark."""
    if isinstance(error, TermsError | MarkError | NotSyncedError):
        return str(error)
    if isinstance(error, RedisError) and (refused := refused_write(error)):
        return refused
    damaged = isinstance(error, ValueError | KeyError)
    return f"{'the data in Redis is damaged' if damaged else 'Redis failed'}: {error}"


def command_failure_text(error: Exception) -> str:
    """Say why a command cannot use Redis: Redis cannot be reached, or what `failure_text` says."""
    unreached = isinstance(error, RedisConnectionError | RedisTimeoutError | OSError)
    if not unreached or isinstance(error, MarkError):  # which is an OSError too
        return failure_text(error)
    return f"Redis cannot be reached: {error}{REDIS_TO_START}"
