"""Opening of the Redis in the floor file: one server, a primary with sentinels, or a cluster."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from redis.asyncio import Connection, Redis, SSLConnection
from redis.crc import key_slot

from meters.embedded.redis_server import embedded_redis, embedded_redis_url
from meters.floor.floor_file import Floor
from meters.floor.server_addresses import (
    HostPort,
    ReplicatedAddress,
    is_replicated,
    parse_replicated,
    without_user,
)
from meters.store.credentials import (
    AUDIT_USER,
    audit_access,
    redis_access,
    sentinel_access,
    users_access,
)
from meters.store.primary_discovery import ClusterDiscovery, PrimaryDiscovery, SentinelDiscovery
from meters.store.redis_clients import (
    AnyRedis,
    KeptConnections,
    Limits,
    PrimaryConnection,
    PrimarySSLConnection,
    ReplicatedRedis,
    ShardedRedis,
    probe_key,
)
from meters.store.user_keys import USERS_TAG

REDIS_TO_START: Final = "; start it, or correct `redis` in the floor file"
"""The end of a message that Redis cannot be reached."""

_OF_ONE: Final = Limits(connections=16, answer_s=30, connect_s=5)
_OF_PRIMARY: Final = Limits(connections=16, answer_s=3, connect_s=2)
"""Short times, because the primary can be frozen or disconnected."""
_TO_ASK: Final = Limits(connections=4, answer_s=1, connect_s=1)

_Access = Mapping[str, object]
"""Settings of a client that its address does not contain: the user, password and certificates."""


@asynccontextmanager
async def open_redis(
    floor: Floor,
    *,
    only_reads: bool = False,
    audits: bool = False,
    archives: bool = False,
    starts: bool = True,
) -> AsyncIterator[AnyRedis]:
    """Open the Redis in the floor file, or the embedded Redis.

    If pitlink's users and the operators' log have a separate Redis user, a second client signs in
    as this user at its first use. With `archives` or `audits`, there is no second client.

    With `only_reads`, the client answers even if replicas are missing. With `archives`, it signs in
    as the Redis user of `pitlink archive`; with `audits`, as the user of a service's auditor.
    Without `starts`, an embedded Redis that does not run is not started.

    Raises:
        UserError: the key bundle or the password for Redis cannot be used.
    """
    async with AsyncExitStack() as stack:
        url = floor.service.redis
        embedded = url == "embedded"
        access: _Access = {}
        if not embedded:
            of_service = partial(redis_access, archives=archives)
            access = (audit_access if audits else of_service)(floor.service)
        for_users = None if embedded or archives or audits else users_access(floor.service)
        if is_replicated(url):
            sentinels = sentinel_access(floor.service, archives=archives)
            opening = _ReplicatedOpening(parse_replicated(url), stack, only_reads=only_reads)
            yield opening.open(access, sentinels, for_users)
            return
        data = Path(floor.service.data)
        if embedded and starts:
            url = await stack.enter_async_context(embedded_redis(data))
        elif embedded:
            url = embedded_redis_url(data)
        if access.get("username") == AUDIT_USER:
            # The client library would prefer credentials in the address.
            url = without_user(url)
        books = _client(url, access, stack)
        if for_users is None:
            yield books
            return
        # Here too, the client library would prefer credentials in the address.
        yield _by_user(books, _client(without_user(url), for_users, stack))


def _client(url: str, access: _Access, stack: AsyncExitStack) -> Redis:
    pool = KeptConnections.from_url(url, limits=_OF_ONE, **access)
    stack.push_async_callback(pool.disconnect)
    return Redis(connection_pool=pool)


def _by_user(books: Redis, users: Redis) -> ShardedRedis:
    return ShardedRedis(lambda tag: users if tag == USERS_TAG else books)


class _ReplicatedOpening:
    """Makes the clients of a Redis with replicas. A stack closes the clients.

    With `only_reads`, no command waits for replicas.
    """

    def __init__(
        self, address: ReplicatedAddress, stack: AsyncExitStack, *, only_reads: bool
    ) -> None:
        self._address = address
        self._stack = stack
        self._replicas = 0 if only_reads else address.replicas

    def open(self, access: _Access, sentinels: _Access, users: _Access | None) -> AnyRedis:
        if self._address.service:
            discovery = SentinelDiscovery(self._asked(sentinels), self._address.service)
            books = self._client(access, discovery, "pitlink:probe")
            if users is None:
                return books
            return _by_user(books, self._client(users, discovery, probe_key(USERS_TAG)))
        nodes = self._asked(access)

        def client_of(tag: str) -> Redis:
            probe = probe_key(tag)
            discovery = ClusterDiscovery(nodes, key_slot(probe.encode()))
            return self._client((tag == USERS_TAG and users) or access, discovery, probe)

        return ShardedRedis(client_of)

    def _client(self, access: _Access, discovery: PrimaryDiscovery, probe: str) -> ReplicatedRedis:
        kind = PrimarySSLConnection if self._address.tls else PrimaryConnection
        settings = {"discovery": discovery, "db": self._address.database, **access}
        return ReplicatedRedis(
            self._pool(kind, _OF_PRIMARY, settings), discovery, self._replicas, probe
        )

    def _asked(self, access: _Access) -> Mapping[Redis, HostPort]:
        kind = SSLConnection if self._address.tls else Connection
        found: dict[Redis, HostPort] = {}
        for place in self._address.places:
            where = {"host": place.host, "port": place.port, **access}
            found[Redis(connection_pool=self._pool(kind, _TO_ASK, where))] = place
        return found

    def _pool(self, kind: type[Connection], limits: Limits, settings: _Access) -> KeptConnections:
        tls = {
            name: value == "true" if name == "ssl_check_hostname" else value
            for name, value in self._address.options
        }
        pool = KeptConnections(limits=limits, connection_class=kind, **{**settings, **tls})
        self._stack.push_async_callback(pool.disconnect)
        return pool
