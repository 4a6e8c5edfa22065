"""Where the primary is just now, as sentinels or the nodes of a cluster have it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, cast

from redis.asyncio import Redis
from redis.asyncio.connection import Connection, SSLConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ReadOnlyError, RedisError

from meters.floor.redis_address import HostPort

_ANSWER_WITHIN_S: Final = 1.0
_LATER_BY_S: Final = 0.05
"""So long is waited for the others once most agree: who is cut off each time has to come anew."""


class NoPrimaryError(RedisConnectionError):
    """Where the primary is cannot be known now."""


class PrimaryDiscovery(Protocol):
    """Tells where the primary is."""

    async def primary(self) -> HostPort:
        """Where it is now.

        Raises:
            NoPrimaryError: that cannot be known.
        """
        ...


class SentinelDiscovery:
    """The primary as most of the sentinels have it.

    Most, since one that was cut off with an old primary goes on naming that one. And where most
    cannot be reached, others may have promoted a replica meanwhile.
    """

    def __init__(self, sentinels: Sequence[Redis], service: str) -> None:
        self._sentinels = sentinels
        self._service = service

    async def primary(self) -> HostPort:
        """Where most of them say that it is.

        Raises:
            NoPrimaryError: too few answer, or they do not agree.
        """
        found, needed = await _ask(self._sentinels, self._named), _most_of(self._sentinels)
        address, agreeing = found.most_common(1)[0] if found else (None, 0)
        if address is not None and agreeing >= needed:
            return address
        if agreeing >= needed:
            raise NoPrimaryError(f"the sentinels watch no Redis called {self._service}")
        raise NoPrimaryError(
            f"{found.total()} of {len(self._sentinels)} sentinels answer and {agreeing} agree which"
            f" Redis is the primary; it takes {needed}"
        )

    async def _named(self, sentinel: Redis) -> HostPort | None:
        row = cast(
            "Sequence[bytes] | None",
            await sentinel.execute_command(  # type: ignore[no-untyped-call]
                "SENTINEL", "get-master-addr-by-name", self._service
            ),
        )
        return HostPort(row[0].decode(), int(row[1])) if row else None


class ClusterDiscovery:
    """The primary of one slot, as most of the nodes that answer have it.

    A node that was cut off takes no writes after a while, by itself, so that one answer will do.
    """

    def __init__(self, nodes: Sequence[tuple[Redis, HostPort]], slot: int) -> None:
        self._nodes = [node for node, _ in nodes]
        self._places = {id(node): place for node, place in nodes}
        self._slot = slot

    async def primary(self) -> HostPort:
        """Where the node is that serves the slot.

        Raises:
            NoPrimaryError: no node answers, or none serves it.
        """
        found = await _ask(self._nodes, self._serving)
        served = Counter({place: count for place, count in found.items() if place is not None})
        if served:
            return served.most_common(1)[0][0]
        if found:
            raise NoPrimaryError(f"no node of the cluster serves slot {self._slot}")
        raise NoPrimaryError("no node of the cluster answers")

    async def _serving(self, node: Redis) -> HostPort | None:
        rows = cast(
            "Sequence[tuple[int, int, Sequence[bytes | int | None]]]",
            await node.execute_command("CLUSTER", "SLOTS"),  # type: ignore[no-untyped-call]
        )
        for first, last, (host, port, *_), *_ in rows:
            if first <= self._slot <= last and isinstance(port, int):
                # A node that knows no address of its own says nothing: it is the one asked.
                named = host.decode() if isinstance(host, bytes) and host else None
                return HostPort(named or self._places[id(node)].host, port)
        return None


async def _ask(
    servers: Sequence[Redis], ask: Callable[[Redis], Awaitable[HostPort | None]]
) -> Counter[HostPort | None]:
    """What servers answer, all asked at once, and how many say so; not for long once most agree."""
    found: Counter[HostPort | None] = Counter()
    waiting = {asyncio.create_task(_answer(server, ask), name="where") for server in servers}
    left_s, needed = _ANSWER_WITHIN_S, _most_of(servers)
    loop = asyncio.get_running_loop()
    until = loop.time() + left_s
    try:
        while waiting and left_s > 0:
            done, waiting = await asyncio.wait(
                waiting, timeout=left_s, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                found.update(task.result())
            if max(found.values(), default=0) >= needed:
                until = min(until, loop.time() + _LATER_BY_S)
            left_s = until - loop.time()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    return found


async def _answer(
    server: Redis, ask: Callable[[Redis], Awaitable[HostPort | None]]
) -> Sequence[HostPort | None]:
    """One server's answer, none where it gives none."""
    try:
        return [await ask(server)]
    except (RedisError, OSError, TimeoutError, ValueError):
        return []


def _most_of(servers: Sequence[Redis]) -> int:
    return len(servers) // 2 + 1


class PrimaryConnection(Connection):
    """A connection to wherever the primary is when it is made."""

    def __init__(self, *, discovery: PrimaryDiscovery, **settings: object) -> None:
        super().__init__(**settings, redis_connect_func=_reach_primary)  # type: ignore[arg-type]
        self._discovery = discovery

    async def _connect(self) -> None:
        address = await self._discovery.primary()
        self.host, self.port = address.host, address.port
        await super()._connect()  # type: ignore[no-untyped-call]


class PrimarySSLConnection(PrimaryConnection, SSLConnection):
    """The same over TLS."""


async def _reach_primary(connection: Connection) -> None:
    """Make a new connection ready, unless the server is no primary after all.

    Raises:
        ReadOnlyError: it is a replica: one that was demoted, or is not promoted yet.
    """
    await connection.on_connect()
    await connection.send_command("ROLE", check_health=False)
    role, *_ = cast("Sequence[bytes]", await connection.read_response())
    if role != b"master":
        address = f"{connection.host}:{connection.port}"
        raise ReadOnlyError(f"{address} is a replica, and is to be the primary")
