"""The connection to the Redis that a floor file names."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from meters.embedded.parts import embedded_redis
from meters.failover.opening import Access, open_replicated
from meters.failover.shards import AnyRedis
from meters.keys.redis_access import redis_access, sentinel_access
from meters.wire.floor import Floor
from meters.wire.redis_address import is_replicated, parse_replicated

_ANSWER_WITHIN_S: Final = 30
_CONNECT_WITHIN_S: Final = 5
_CONNECTIONS: Final = 16


@asynccontextmanager
async def open_redis(
    floor: Floor, *, only_reads: bool = False, archives: bool = False
) -> AsyncIterator[AnyRedis]:
    """The Redis that the floor file names, or the embedded one.

    Args:
        floor: what the floor file says.
        only_reads: whether nothing is written: then it can be read though its replicas are gone.
        archives: whether it is opened to archive, for which Redis has a user of its own.

    Raises:
        UserError: the keys or the password for it cannot be used.
    """
    async with AsyncExitStack() as stack:
        url = floor.service.redis
        if is_replicated(url):
            ways = Access(
                redis_access(floor.service, archives=archives),
                sentinel_access(floor.service, archives=archives),
            )
            yield await stack.enter_async_context(
                open_replicated(parse_replicated(url), ways, only_reads=only_reads)
            )
            return
        if url == "embedded":
            url = await stack.enter_async_context(embedded_redis(Path(floor.service.data)))
            access: dict[str, object] = {}
        else:
            access = redis_access(floor.service, archives=archives)
        # No retries of the client's own: whether to repeat is the table's to say, by its seq.
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=_ANSWER_WITHIN_S,
            socket_timeout=_ANSWER_WITHIN_S,
            socket_connect_timeout=_CONNECT_WITHIN_S,
            retry=Retry(NoBackoff(), 0),
            **access,
        )
        redis = Redis(connection_pool=pool)
        stack.push_async_callback(pool.disconnect)
        yield redis
