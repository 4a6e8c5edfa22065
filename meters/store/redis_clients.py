"""The Redis clients of pitlink: their connections, and what they add to the client library.

The client of a Redis with replicas returns an answer only after replicas have all data in the
answer. So this data survives a failure of the primary. Each script call and each pipeline of reads
is sent together with a small write and ``WAIT``. ``WAIT`` alone waits only for writes of its own
connection, but an answer can contain a write of another connection that no replica has yet. A
replica that has the small write has all earlier writes, from any connection.

Each client is for one hash tag. Each link has a tag, and all users together have another tag. In a
Redis Cluster, all keys with one tag are on the same primary. The keys of users and of the
operators' log can have a separate Redis user.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, cast, final

import hiredis
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.client import Pipeline
from redis.asyncio.connection import AbstractConnection, Connection, SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ReadOnlyError, RedisError
from redis.typing import EncodableT

from meters.floor.server_addresses import HostPort
from meters.store.primary_discovery import PrimaryDiscovery

ON_REPLICAS_WITHIN_S: Final = 1.0

_Command = Sequence[str | bytes | int | float]


class NotOnReplicasError(RedisError):
    """Too few replicas have the primary's data, so the service must not reply to events now."""


class _KeptConnection(AbstractConnection):
    """Connection whose loss is always a connection error.

    If uvloop notices a lost connection first, a write raises a RuntimeError. The client library
    would not catch this error, and a crash of Redis could end the service.
    """

    async def send_packed_command(
        self,
        command: bytes | str | Iterable[bytes],
        check_health: bool = True,  # noqa: FBT001, FBT002  (the client's own)
    ) -> None:
        try:
            await super().send_packed_command(command, check_health)
        except RuntimeError as error:
            raise RedisConnectionError("the connection was lost") from error

    def pack_command(self, *args: EncodableT) -> list[bytes]:
        """Pack a command in C. The library's Python would take three times as long for a batch."""
        name, *rest = args
        command = (*cast("str", name).split(), *rest)
        return [hiredis.pack_command(cast("tuple[bytes]", command))]


class PrimaryConnection(Connection):
    """Connection to the server that is the primary when the connection is made."""

    def __init__(self, *, discovery: PrimaryDiscovery, **settings: object) -> None:
        super().__init__(**settings, redis_connect_func=_reach_primary)  # type: ignore[arg-type]
        self._discovery = discovery

    async def _connect(self) -> None:
        address = await self._discovery.primary()
        self.host, self.port = address.host, address.port
        await super()._connect()  # type: ignore[no-untyped-call]


class PrimarySSLConnection(PrimaryConnection, SSLConnection):
    pass


async def _reach_primary(connection: Connection) -> None:
    """Prepare a new connection; raise an error if its server is not the primary.

    Raises:
        ReadOnlyError: the server is a replica. It was demoted, or it is not yet promoted.
    """
    await connection.on_connect()
    await connection.send_command("ROLE", check_health=False)
    role, *_ = cast("Sequence[bytes]", await connection.read_response())
    if role != b"master":
        address = f"{connection.host}:{connection.port}"
        raise ReadOnlyError(f"{address} is a replica, but should be the primary")


class Limits(NamedTuple):
    """The largest number of connections, and the longest waits for an answer and a connection."""

    connections: int
    answer_s: float
    connect_s: float


@final
class KeptConnections(BlockingConnectionPool):
    """A pool that checks a connection before each use, in case Redis has closed it.

    Since version 8, the client library does not make this check over TCP, because unrequested data
    can be a maintenance notice. Without the check, a restart of Redis would cause one failed
    command for each closed connection, and each failed command would stop the link.

    After a failure, a command is never sent again; only a table repeats an event, with the same
    number (`seq`). The connections do not tell Redis the name of the client library: at each new
    connection, the library would search for its version, and all links would wait meanwhile.
    """

    def __init__(
        self,
        *,
        limits: Limits,
        connection_class: type[AbstractConnection] = Connection,
        **settings: object,
    ) -> None:
        kind = type(connection_class.__name__, (_KeptConnection, connection_class), {})
        super().__init__(
            max_connections=limits.connections,
            timeout=limits.answer_s,
            connection_class=kind,
            socket_timeout=limits.answer_s,
            socket_connect_timeout=limits.connect_s,
            retry=Retry(NoBackoff(), 0),
            driver_info=None,
            **settings,  # type: ignore[arg-type]
        )

    async def close_all(self) -> None:
        """Close idle connections now, and each connection in use as soon as it is released.

        While the library's own `disconnect` closes a connection, the connection stays in the pool,
        and a command that begins on it fails.
        """
        await self.update_active_connections_for_reconnect()  # type: ignore[no-untyped-call]
        idle = list(self._available_connections)
        self._available_connections.clear()
        for connection in idle:
            await connection.disconnect(nowait=True)

    def maint_notifications_enabled(self) -> bool:
        """Return False, because pitlink's Redis never sends maintenance notices."""
        return False


class ReplicatedRedis(Redis):
    """Client of a Redis with replicas. It uses only the primary.

    After any failure except a missing script, the client closes all connections, searches for the
    primary and connects to it. `replicas` is the number of replicas that must have the data in an
    answer; 0 if the caller only reads. `noted` is the key for the client's small writes, with the
    hash tag of the client's other keys.
    """

    def __init__(
        self, pool: KeptConnections, discovery: PrimaryDiscovery, replicas: int, noted: str
    ) -> None:
        super().__init__(connection_pool=pool)
        self._pool = pool
        self.replicas = replicas
        self.discovery = discovery
        self._noted = noted
        self._place: HostPort | None = None

    async def has_moved(self) -> bool:
        """Check if another Redis has become the primary since the last call.

        Raises:
            NoPrimaryError: the primary cannot be determined.
        """
        before, self._place = self._place, await self.discovery.primary()
        moved = before not in {None, self._place}
        if moved:
            await self._leave()
        return moved

    async def execute_command(self, *args: object, **options: object) -> object:
        """Execute a command. If it runs a script, wait until replicas have the script's writes.

        Raises:
            NotOnReplicasError: replicas do not have the writes in time. The script has possibly
                run.
        """
        command = cast("_Command", args)
        async with self._left_if_failed():
            if self.replicas and command[0] == "EVALSHA":
                (answer,) = await self._once_on_replicas([command])
                return answer
            answer = await super().execute_command(*command, **options)  # type: ignore[no-untyped-call]
            return cast("object", answer)

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:  # noqa: FBT001, FBT002  (the client's own)
        return _ReplicatedPipeline(self, transaction=transaction, shard_hint=shard_hint)

    async def executed(self, stack: Sequence[_Command], *, whole: bool) -> Sequence[object]:
        """Execute commands and return their raw answers. With `whole`, use one transaction.

        Raises:
            NotOnReplicasError: replicas do not have the data in time.
        """
        if not stack:
            return []
        commands = [("MULTI",), *stack, ("EXEC",)] if whole else stack
        async with self._left_if_failed():
            answers = await self._once_on_replicas(commands)
        return cast("Sequence[object]", answers[-1]) if whole else answers

    async def _once_on_replicas(self, commands: Sequence[_Command]) -> Sequence[object]:
        pipe = Pipeline(self.connection_pool, {}, transaction=False, shard_hint=None)
        for command in commands:
            pipe.execute_command(*command)
        if self.replicas:
            pipe.set(self._noted, 1)
            pipe.execute_command("WAIT", self.replicas, round(ON_REPLICAS_WITHIN_S * 1_000))
        answers = cast("list[object]", await pipe.execute(raise_on_error=False))
        for answer in answers:
            _raise_if_failed(answer)
        if not self.replicas:
            return answers
        have = cast("int", answers[-1])
        if have < self.replicas:
            raise NotOnReplicasError(
                f"{have} of {self.replicas} replicas confirmed the write"
                f" within {ON_REPLICAS_WITHIN_S:.0f} s"
            )
        return answers[:-2]

    @contextlib.asynccontextmanager
    async def _left_if_failed(self) -> AsyncIterator[None]:
        try:
            yield
        except NoScriptError:
            raise
        except (RedisError, OSError, asyncio.CancelledError):
            await self._leave()
            raise

    async def _leave(self) -> None:
        with contextlib.suppress(RedisError, OSError):
            await self._pool.close_all()


class _ReplicatedPipeline(Pipeline):
    def __init__(
        self, redis: ReplicatedRedis, *, transaction: bool, shard_hint: str | None
    ) -> None:
        super().__init__(redis.connection_pool, redis.response_callbacks, transaction, shard_hint)
        self._redis = redis

    async def execute(self, raise_on_error: bool = True) -> list[object]:  # noqa: FBT001, FBT002  (the client's own)
        """Execute all commands and return their answers. Always raise the first error."""
        stack = cast("list[tuple[_Command, dict[str, object]]]", self.command_stack)
        self.command_stack = []
        answers = await self._redis.executed(
            [command for command, _ in stack], whole=bool(self.is_transaction)
        )
        return [
            self._read(command[0], answer, options)
            for (command, options), answer in zip(stack, answers, strict=True)
        ]

    def _read(self, name: object, answer: object, options: dict[str, object]) -> object:
        _raise_if_failed(answer)
        read = self.response_callbacks.get(cast("str", name))
        options = {key: value for key, value in options.items() if key != "keys"}
        return read(answer, **options) if read else answer


def _raise_if_failed(answer: object) -> None:
    if isinstance(answer, Exception):
        raise answer


class ShardedRedis:
    def __init__(self, client_of: Callable[[str], Redis]) -> None:
        self._client_of = client_of
        self._clients: dict[str, Redis] = {}

    def of(self, tag: str) -> Redis:
        if tag not in self._clients:
            self._clients[tag] = self._client_of(tag)
        return self._clients[tag]

    @property
    def asked_for(self) -> frozenset[str]:
        return frozenset(self._clients)


AnyRedis = Redis | ShardedRedis
"""Access to Redis: one client for all keys, or one client for each hash tag."""


def redis_of(redis: AnyRedis, tag: str) -> Redis:
    """Return the client for the keys with a hash tag: a link's id or the users' tag."""
    return redis.of(tag) if isinstance(redis, ShardedRedis) else redis


def every_redis(redis: AnyRedis, tags: Iterable[str]) -> Mapping[Redis, str]:
    """Return each client for the given hash tags, with the last of its tags."""
    return {redis_of(redis, tag): tag for tag in tags}


def probe_key(tag: str) -> str:
    """Return the key with a hash tag for small writes: tests of Redis, or waits for replicas."""
    return f"pitlink:{{{tag}}}:probe"
