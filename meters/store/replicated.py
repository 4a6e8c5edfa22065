"""Redis client that returns an answer only after replicas have all data in the answer.

So this data survives a failure of the primary. Each script call and each pipeline of reads is sent
together with a small write and ``WAIT``. ``WAIT`` alone waits only for writes of the same
connection, but an answer can contain a write of another connection that no replica has yet. The
small write comes after all such writes: a replica that has it has all writes before it, from any
connection.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Final, cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.exceptions import NoScriptError, RedisError

from meters.floor.server_addresses import HostPort
from meters.store.pool import KeptConnections
from meters.store.primary_discovery import PrimaryDiscovery

ON_REPLICAS_WITHIN_S: Final = 1.0

_Command = Sequence[str | bytes | int | float]


class NotOnReplicasError(RedisError):
    """Too few replicas have the primary's data, so the service must not reply to events now."""


class ReplicatedRedis(Redis):
    """Client of a Redis with replicas. It uses only the primary.

    After any failure, the client closes all connections, searches for the primary and connects to
    it. `replicas` is the number of replicas that must have the data in an answer; 0 if the caller
    only reads. `noted` is the key for this client's small writes, with the hash tag of its other
    keys.
    """

    def __init__(
        self, pool: KeptConnections, discovery: PrimaryDiscovery, replicas: int, noted: str
    ) -> None:
        super().__init__(connection_pool=pool)
        self._pool = pool
        self.replicas = replicas
        self._discovery = discovery
        self._noted = noted
        self._place: HostPort | None = None

    async def primary(self) -> HostPort:
        return await self._discovery.primary()

    async def missing(self) -> Sequence[str]:
        return await self._discovery.missing()

    async def has_moved(self) -> bool:
        """Check if another Redis has become the primary since the last call.

        Raises:
            NoPrimaryError: the primary cannot be determined.
        """
        before, self._place = self._place, await self._discovery.primary()
        moved = before not in {None, self._place}
        if moved:
            await self._leave()
        return moved

    async def execute_command(self, *args: object, **options: object) -> object:
        """Execute a command. If it runs a script, wait until replicas have the script's writes.

        Raises:
            NotOnReplicasError: replicas do not have the writes in time. The script has possibly run
                in spite of the error.
        """
        command = cast("_Command", args)
        try:
            if self.replicas and command[0] == "EVALSHA":
                (answer,) = await self._once_on_replicas([command])
                return answer
            answer = await super().execute_command(*command, **options)  # type: ignore[no-untyped-call]
            return cast("object", answer)
        except NoScriptError:
            raise
        except (RedisError, OSError, asyncio.CancelledError):
            await self._leave()
            raise

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
        try:
            answers = await self._once_on_replicas(commands)
        except NoScriptError:
            raise
        except (RedisError, OSError, asyncio.CancelledError):
            await self._leave()
            raise
        return cast("Sequence[object]", answers[-1]) if whole else answers

    async def _once_on_replicas(self, commands: Sequence[_Command]) -> Sequence[object]:
        """Execute commands on one connection. Return the answers when replicas have the data."""
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

    async def _leave(self) -> None:
        """Make every connection search for the primary again."""
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
