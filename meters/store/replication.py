"""Replicas of a primary Redis: which are connected, and how far each is behind the primary."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from redis.asyncio import Redis

from meters.store.replicated import ReplicatedRedis

_CONFIRMED_WITHIN_S: Final = 3.0
"""Longest time in seconds to wait until a replica confirms what the primary had at the beginning. A
replica confirms its data once a second."""
_ASK_EVERY_S: Final = 0.1
_SILENT_S: Final = 10
"""Seconds without a word of a replica after which Redis itself no longer counts it by default."""


@dataclass(frozen=True, slots=True)
class Replica:
    """A connected replica, with its address as the primary knows it.

    `problem` says why it does not have the same data as the primary; empty if it has.
    """

    address: str
    problem: str


@dataclass(frozen=True, slots=True)
class Replication:
    """A primary and its connected replicas, and texts about missing sentinels, replicas or nodes.

    `primary` is empty if the floor file's address has no sentinels and no cluster.
    """

    primary: str
    replicas: tuple[Replica, ...]
    missing: tuple[str, ...] = ()


async def read_replication(redis: Iterable[Redis]) -> Sequence[Replication]:
    """Return each primary behind some clients, with its replicas. Write nothing.

    A primary that several clients use is returned once. A replica has the same data if it soon
    confirms everything that the primary had at the beginning.

    Raises:
        RedisError: Redis failed, or the primary cannot be determined.
    """
    by_run = {str((await client.info("server"))["run_id"]): client for client in redis}
    return await asyncio.gather(*map(_read, by_run.values()))


async def _read(redis: Redis) -> Replication:
    loop = asyncio.get_running_loop()
    until_s = loop.time() + _CONFIRMED_WITHIN_S
    info = await _info(redis)
    wanted = _number(info, "master_repl_offset")
    while True:
        rows = [cast("Mapping[str, object]", info[name]) for name in _names(info)]
        replicas = tuple(
            Replica(f"{row['ip']}:{row['port']}", _problem(row, wanted)) for row in rows
        )
        if loop.time() > until_s or not any(replica.problem for replica in replicas):
            break
        await asyncio.sleep(_ASK_EVERY_S)
        info = await _info(redis)
    if isinstance(redis, ReplicatedRedis):
        return Replication(str(await redis.primary()), replicas, tuple(await redis.missing()))
    return Replication("", replicas)


async def _info(redis: Redis) -> Mapping[str, object]:
    return cast("Mapping[str, object]", await redis.info("replication"))


def _names(info: Mapping[str, object]) -> Sequence[str]:
    return [f"slave{number}" for number in range(_number(info, "connected_slaves"))]


def _problem(row: Mapping[str, object], wanted: int) -> str:
    if row["state"] != "online":
        return "still copies the data"
    if (behind := wanted - _number(row, "offset")) > 0:
        return f"{behind:,} bytes behind"
    silent_s = _number(row, "lag")
    return f"silent for {silent_s} s" if silent_s > _SILENT_S else ""


def _number(fields: Mapping[str, object], name: str) -> int:
    return int(str(fields[name]))
