"""Why Redis, its data or a ledger mark cannot be used, in words."""

from redis.exceptions import RedisError

from meters.store.health import NotSyncedError, refused_write
from meters.store.ledger_mark import MarkError
from meters.store.link_store import TermsError


def failure_text(error: Exception) -> str:
    """Say why a link cannot operate after a failure of Redis, of its data or of the ledger mark."""
    if isinstance(error, TermsError | MarkError | NotSyncedError):
        return str(error)
    if isinstance(error, RedisError) and (refused := refused_write(error)):
        return refused
    damaged = isinstance(error, ValueError | KeyError)
    return f"{'the data in Redis is damaged' if damaged else 'Redis failed'}: {error}"
