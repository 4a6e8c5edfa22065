from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Connection, Redis, SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.crc import key_slot

from meters.floor.server_addresses import HostPort, ReplicatedAddress
from meters.store.pool import UNNAMED, KeptConnections
from meters.store.primary_discovery import (
    ClusterDiscovery,
    PrimaryConnection,
    PrimaryDiscovery,
    PrimarySSLConnection,
    SentinelDiscovery,
)
from meters.store.replicated import ReplicatedRedis
from meters.store.shards import AnyRedis, ShardedRedis, probe_key
from meters.store.user_keys import USERS_TAG

_ANSWER_WITHIN_S: Final = 3.0
"""Longest time in seconds to wait for an answer of the primary, which can be frozen or
disconnected."""
_CONNECT_WITHIN_S: Final = 2.0
_ASKED_WITHIN_S: Final = 1.0
_CONNECTIONS: Final = 16
_CONNECTIONS_TO_ASK: Final = 4


@dataclass(frozen=True, slots=True)
class RedisCredentials:
    """Users, passwords and certificates for Redis and its sentinels.

    `redis` are the client's settings that the address does not contain. `users` are those for
    pitlink's users and the operators' log; None if they equal `redis`.
    """

    redis: Mapping[str, object]
    sentinel: Mapping[str, object]
    users: Mapping[str, object] | None = None


@asynccontextmanager
async def open_replicated(
    address: ReplicatedAddress, access: RedisCredentials, *, only_reads: bool
) -> AsyncIterator[AnyRedis]:
    """Open the Redis at an address. With `only_reads`, no command waits for replicas."""
    async with AsyncExitStack() as stack:
        replicas = 0 if only_reads else address.replicas
        if address.service:
            sentinels = [
                (_asked(place, address, access.sentinel, stack), place) for place in address.places
            ]
            discovery = SentinelDiscovery(sentinels, address.service)
            books = _replicated(address, access.redis, discovery, replicas, "pitlink:probe")
            stack.push_async_callback(books.connection_pool.disconnect)
            if access.users is None:
                yield books
                return
            noted = probe_key(USERS_TAG)
            users = _replicated(address, access.users, discovery, replicas, noted)
            stack.push_async_callback(users.connection_pool.disconnect)
            yield ShardedRedis(lambda tag: users if tag == USERS_TAG else books)
            return
        nodes = [(_asked(place, address, access.redis, stack), place) for place in address.places]

        def client_of(tag: str) -> Redis:
            noted = probe_key(tag)
            discovery = ClusterDiscovery(nodes, key_slot(noted.encode()))
            way = access.users if tag == USERS_TAG and access.users else access.redis
            return _replicated(address, way, discovery, replicas, noted)

        shards = ShardedRedis(client_of)
        stack.push_async_callback(shards.aclose)
        yield shards


def _replicated(
    address: ReplicatedAddress,
    access: Mapping[str, object],
    discovery: PrimaryDiscovery,
    replicas: int,
    noted: str,
) -> ReplicatedRedis:
    pool = _pool(
        PrimarySSLConnection if address.tls else PrimaryConnection,
        (_CONNECTIONS, _ANSWER_WITHIN_S, _CONNECT_WITHIN_S),
        address,
        {"discovery": discovery, "db": address.database, **access},
    )
    return ReplicatedRedis(pool, discovery, replicas, noted)


def _asked(
    address_of_node: HostPort,
    address: ReplicatedAddress,
    access: Mapping[str, object],
    stack: AsyncExitStack,
) -> Redis:
    """Return a client for a sentinel or a cluster node, which knows the address of the primary."""
    pool = _pool(
        SSLConnection if address.tls else Connection,
        (_CONNECTIONS_TO_ASK, _ASKED_WITHIN_S, _ASKED_WITHIN_S),
        address,
        {"host": address_of_node.host, "port": address_of_node.port, **access},
    )
    stack.push_async_callback(pool.disconnect)
    return Redis(connection_pool=pool)


def _pool(
    kind: type[Connection],
    bounds: tuple[int, float, float],
    address: ReplicatedAddress,
    settings: Mapping[str, object],
) -> KeptConnections:
    """Return a pool of connections of the class `kind`.

    `bounds` are the number of connections, the longest wait for an answer, and the longest time to
    connect (both in seconds).
    """
    connections, answer_within_s, connect_within_s = bounds
    tls = {
        name: value == "true" if name == "ssl_check_hostname" else value
        for name, value in address.options
    }
    return KeptConnections(
        max_connections=connections,
        timeout=answer_within_s,
        connection_class=kind,
        socket_timeout=answer_within_s,
        socket_connect_timeout=connect_within_s,
        retry=Retry(NoBackoff(), 0),
        **{**UNNAMED, **settings, **tls},
    )
