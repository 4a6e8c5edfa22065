from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from meters.embedded.redis_server import embedded_redis, embedded_redis_url
from meters.floor.floor_file import Floor
from meters.floor.server_addresses import is_replicated, parse_replicated, without_user
from meters.store.credentials import redis_access, sentinel_access, users_access
from meters.store.open_replicated import RedisCredentials, open_replicated
from meters.store.pool import UNNAMED, KeptConnections
from meters.store.shards import AnyRedis, ShardedRedis
from meters.store.user_keys import USERS_TAG

_ANSWER_WITHIN_S: Final = 30
_CONNECT_WITHIN_S: Final = 5
_CONNECTIONS: Final = 16


@asynccontextmanager
async def open_redis(
    floor: Floor, *, only_reads: bool = False, archives: bool = False, starts: bool = True
) -> AsyncIterator[AnyRedis]:
    """Open the Redis that the floor file names, or the embedded Redis.

    If there is a separate Redis user for pitlink's users and the operators' log, a second client
    signs in as this user on its first use. `pitlink archive` never uses it.

    With `only_reads`, the client answers even if replicas are missing. With `archives`, it signs in
    as the Redis user of `pitlink archive`. Without `starts`, an embedded Redis that does not run is
    not started.

    Raises:
        UserError: the key bundle or the password for Redis cannot be used.
    """
    async with AsyncExitStack() as stack:
        url = floor.service.redis
        embedded = url == "embedded"
        access = {} if embedded else redis_access(floor.service, archives=archives)
        for_users = None if embedded or archives else users_access(floor.service)
        if is_replicated(url):
            sentinels = sentinel_access(floor.service, archives=archives)
            ways = RedisCredentials(access, sentinels, for_users)
            yield await stack.enter_async_context(
                open_replicated(parse_replicated(url), ways, only_reads=only_reads)
            )
            return
        data = Path(floor.service.data)
        if embedded and starts:
            url = await stack.enter_async_context(embedded_redis(data))
        elif embedded:
            url = embedded_redis_url(data)
        books = _client(url, access, stack)
        if for_users is None:
            yield books
            return
        # The client library would prefer credentials in the address to those in its settings, so
        # they are removed from the address.
        users = _client(without_user(url), for_users, stack)
        yield ShardedRedis(lambda tag: users if tag == USERS_TAG else books)


def _client(url: str, access: Mapping[str, object], stack: AsyncExitStack) -> Redis:
    # The client must not send a command again after a failure. Only a table sends an event again,
    # with the same sequence number (`seq`).
    pool = KeptConnections.from_url(
        url,
        max_connections=_CONNECTIONS,
        timeout=_ANSWER_WITHIN_S,
        socket_timeout=_ANSWER_WITHIN_S,
        socket_connect_timeout=_CONNECT_WITHIN_S,
        retry=Retry(NoBackoff(), 0),
        **UNNAMED,
        **access,
    )
    stack.push_async_callback(pool.disconnect)
    return Redis(connection_pool=pool)
