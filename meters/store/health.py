"""Checks that Redis accepts writes and cannot lose them. If a check fails, no link operates.

This module also reads which replicas a primary has, and how far each is behind the primary.
"""

import asyncio
import hashlib
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.commands.core import AsyncScript
from redis.exceptions import (
    BusyLoadingError,
    NoScriptError,
    OutOfMemoryError,
    RedisError,
    ResponseError,
)

from meters.store.redis_clients import ReplicatedRedis, probe_key

_SYNCED: Final = {"appendonly": "yes", "appendfsync": "always", "no-appendfsync-on-rewrite": "no"}
_NEEDED: Final = {**_SYNCED, "maxmemory-policy": "noeviction"}
_SECTIONS: Final = ("server", "persistence", "replication")
_OF_REPLICAS: Final = ("min-replicas-to-write", "min-replicas-max-lag")
_LEAST_VERSION: Final = (6, 2)

_WRITES: Final = """
local key = KEYS[1]
redis.call('SET', key, 1)
redis.call('DEL', key)
redis.call('HSET', key, 'a', 1)
redis.call('HINCRBY', key, 'a', 1)
redis.call('HDEL', key, 'a')
redis.call('ZADD', key, 1, 'a')
redis.call('ZREMRANGEBYSCORE', key, 0, 0)
redis.call('ZREM', key, 'a')
redis.call('XADD', key, '*', 'a', 1)
redis.call('DEL', key)
return string.match(redis.call('INFO', 'commandstats'), 'cmdstat_config|set:calls=(%d+)')
"""
"""Makes each kind of write that the scripts make, and leaves no key: an empty Redis stays empty.

The first write needs memory, because a Redis with full memory refuses only the first write of a
script. Redis 7.0 or later returns how often its settings were changed.
"""
_WRITES_DIGEST: Final = hashlib.sha1(_WRITES.encode(), usedforsecurity=False).hexdigest()

_SNAPSHOT_FAILED: Final = (
    'its last snapshot failed. Look at its disk; pitlink needs no snapshots (save "")'
)
_FILE_INCOMPLETE: Final = (
    "Redis writes its whole append-only file again. If Redis had no such file before, a crash now"
    " would lose new writes, so the link waits. If this lasts for minutes, look at the disk of"
    " Redis"
)
_FILE_FAILED: Final = "it cannot write its append-only file. Look at its disk"
_FEW_REPLICAS: Final = "it has fewer replicas than its min-replicas-to-write"
_CONFIG_REFUSED: Final = (
    "Redis refuses CONFIG GET, with which pitlink sees that every write is kept. Use a Redis that"
    " allows this command"
)
_NOT_ALLOWED: Final = (
    "pitlink's Redis user has no permission. Compare users.acl with the file from `pitlink keys`"
)
_DENIED: Final = ("can't run this command", "no permission", "NOPERM", "ACL failure")
_FULL: Final = "its memory is full (maxmemory)"
_NEARLY_FULL_PERCENT: Final = 80
"""At this use of Redis's memory, `pitlink check` warns, as the alert PitlinkRedisMemory does."""


_CONFIRMED_WITHIN_S: Final = 3.0
"""Longest wait until a replica confirms the data that the primary had at the beginning. A replica
confirms data once a second."""
_ASK_EVERY_S: Final = 0.1
_SILENT_S: Final = 10
"""After this time without a message from a replica, Redis by default no longer counts the
replica."""


class NotSyncedError(RedisError):
    """Redis has data that is possibly not on disk, so the service must not reply to events now."""


async def run_synced(script: AsyncScript, keys: Sequence[str], args: Sequence[Any]) -> Any:  # noqa: ANN401  (as the script answers)
    """Run a Lua script; return its answer only if Redis syncs each write before it answers.

    A person can change this setting of Redis at any time. So the setting is read directly after the
    script, in the same round trip: this value was in force for the writes of the script.

    Raises:
        NotSyncedError: Redis does not sync its writes. The script has possibly run nevertheless.
    """
    redis = cast("Redis", script.registered_client)
    try:
        return await _run_synced(redis, script.sha, keys, args)
    except NoScriptError:
        # Redis was restarted without the script, or another server is the primary now.
        await redis.script_load(script.script)
        return await _run_synced(redis, script.sha, keys, args)


async def _run_synced(redis: Redis, sha: str, keys: Sequence[str], args: Sequence[Any]) -> Any:  # noqa: ANN401
    async with redis.pipeline(transaction=False) as pipe:
        pipe.evalsha(sha, len(keys), *keys, *args)
        for name in _SYNCED:
            pipe.config_get(name)
        answers: list[Any] = await pipe.execute(raise_on_error=False)
    _raise_first(answers)
    _raise_unless_synced(answers[1:])
    return answers[0]


def _raise_first(answers: Sequence[object]) -> None:
    """Raise the first error among answers. The client library would first retry the commands."""
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer


async def must_keep(redis: Redis) -> None:
    """Check that Redis has synced to disk all data that was written before this call.

    Raises:
        NotSyncedError: this data is possibly not on disk.
    """
    async with redis.pipeline(transaction=False) as pipe:
        for name in _SYNCED:
            pipe.config_get(name)
        _raise_unless_synced(await pipe.execute())


def _raise_unless_synced(settings: Sequence[Mapping[str, str]]) -> None:
    for name, setting in zip(_SYNCED, settings, strict=True):
        if setting.get(name) != _NEEDED[name]:
            raise NotSyncedError(_not_as_needed(name, setting.get(name)))


def _not_as_needed(name: str, value: str | None) -> str:
    return f"Redis has {name} {value}; it must be {_NEEDED[name]}"


def refused_write(error: RedisError) -> str | None:
    """Return in words why Redis refused a write; None if the error is not such a refusal."""
    text = str(error)
    if "MISCONF" in text:
        why = _FILE_FAILED if "AOF" in text else _SNAPSHOT_FAILED
    elif "NOREPLICAS" in text:
        why = _FEW_REPLICAS
    elif isinstance(error, OutOfMemoryError) or "maxmemory" in text:
        why = _FULL
    elif any(sign in text for sign in _DENIED):
        why = _NOT_ALLOWED
    else:
        return None
    return f"Redis refuses writes: {why}"


class FileWatch:
    """Whether Redis may lack a whole append-only file, and would load an old file after a crash.

    Redis may lack the file in three cases: it had none; it was started, or replaced by another
    server, since the last check; or somebody changed any setting, for example `appendonly` to no
    and back to yes. If a check finds `appendonly` at yes, and finds that no rewrite of the file
    runs or waits, Redis has the whole file.
    """

    def __init__(self) -> None:
        self._may_lack = True
        self._seen: object = None

    def note_unsynced(self) -> None:
        """Note that Redis did not sync a write, and possibly had no file."""
        self._may_lack = True

    def is_incomplete(
        self, settings: Mapping[str, str], info: Mapping[str, object], changes: object
    ) -> bool:
        """Return whether Redis is still writing an append-only file, and may have no whole one.

        `changes` is how often the settings were changed, if Redis counts this.
        """
        seen = (info.get("run_id"), changes)
        self._may_lack = self._may_lack or seen != self._seen
        self._seen = seen
        if settings.get("appendonly") != _NEEDED["appendonly"]:
            self._may_lack = True
            return False
        writes = info.get("aof_rewrite_in_progress") or info.get("aof_rewrite_scheduled")
        self._may_lack = self._may_lack and bool(writes)
        return self._may_lack


async def redis_problem(redis: Redis, tag: str, watch: FileWatch | None = None) -> str | None:
    """Return the reason why a link must not operate on this Redis now, or None (duty D10).

    Redis must accept writes, which this function tries on the probe key with the hash tag `tag`.
    Redis must sync every write to its file immediately, write without errors, and never evict a
    key. It must be a primary, of version 6.2 or later. If replicas are required, enough of them
    must be connected, and Redis must be set to refuse writes while fewer are connected.

    With a watch, Redis must also have finished its whole append-only file, if it possibly had none
    before (`FileWatch`): Redis reports `appendonly yes` as soon as it begins to write this file.
    """
    try:
        if isinstance(redis, ReplicatedRedis) and await redis.has_moved():
            return "another Redis has become the primary"
        settings, info, written = await _settings_and_info(
            redis, (*_NEEDED, *_OF_REPLICAS), _SECTIONS, probe_key(tag)
        )
    except (RedisError, OSError) as error:
        return _no_answer(error)
    version = tuple(int(part) for part in str(info.get("redis_version", "0")).split(".")[:2])
    problems = [
        _not_as_needed(name, settings.get(name))
        for name, needed in _NEEDED.items()
        if settings.get(name) != needed
    ]
    if info.get("aof_last_write_status") != "ok":
        problems.append("Redis cannot write its append-only file")
    refused = written if isinstance(written, ResponseError) else None
    if watch and watch.is_incomplete(settings, info, written) and refused is None:
        problems.append(_FILE_INCOMPLETE)
    if info.get("role") != "master":
        problems.append(f"Redis is a {info.get('role')}, not the primary")
    elif refused is not None:
        problems.append(refused_write(refused) or f"Redis refuses writes: {refused}")
    if version < _LEAST_VERSION:
        problems.append(f"Redis is version {info.get('redis_version')}; it must be at least 6.2")
    if isinstance(redis, ReplicatedRedis) and redis.replicas:
        problems += _replicas_problems(redis.replicas, settings, info)
    return "; ".join(problems) or None


async def redis_warnings(redis: Redis) -> Sequence[str]:
    """Return the problems that Redis reports now and that will stop its writes later."""
    names = ("save", "stop-writes-on-bgsave-error")
    settings, info, _ = await _settings_and_info(redis, names, ("persistence", "memory"))
    found = []
    if settings["save"]:
        if info.get("rdb_last_bgsave_status") != "ok":
            found.append("its last snapshot failed: look at its disk")
        if settings["stop-writes-on-bgsave-error"] == "yes":
            found.append('it makes snapshots, and refuses writes when one fails: set save ""')
    if info.get("aof_last_bgrewrite_status") != "ok":
        found.append("it cannot shorten its append-only file, so the file fills its disk")
    used, limit = (int(str(info.get(name, 0))) for name in ("used_memory", "maxmemory"))
    if limit and (percent := used * 100 // limit) >= _NEARLY_FULL_PERCENT:
        found.append(
            f"{percent} % of its maxmemory is used; when all of it is used, Redis refuses writes"
        )
    return found


async def _settings_and_info(
    redis: Redis, names: Iterable[str], sections: Iterable[str], probe: str = ""
) -> tuple[Mapping[str, str], Mapping[str, object], object]:
    """Read settings (CONFIG) and the state (INFO) of Redis, and write to a probe key, if any.

    The service does this every second, so it takes one round trip and one sync of Redis's file.

    Returns:
        The settings; the state; and the answer to the write, or the error with which Redis
            refused it.
    """
    # This pipeline does not wait for replicas, because the answer has no data of the floor.
    callbacks, answers = redis.response_callbacks, list[Any]()
    async with Pipeline(
        redis.connection_pool, callbacks, transaction=False, shard_hint=None
    ) as pipe:
        # The script is first, so the next check notices a change of the settings after the script.
        if probe:
            pipe.evalsha(_WRITES_DIGEST, 1, probe)
        # Each call has one name or one section, because Redis before 7.0 accepts no more.
        for name in names:
            pipe.config_get(name)
        for section in sections:
            pipe.info(section)
        answers = await pipe.execute(raise_on_error=False)
        written = answers.pop(0) if probe else None
        _raise_first(answers)
        if isinstance(written, NoScriptError):
            pipe.script_load(_WRITES)
            await pipe.execute()
            return await _settings_and_info(redis, names, sections, probe)
    count = len([*names])
    return dict(ChainMap(*answers[:count])), dict(ChainMap(*answers[count:])), written


def _no_answer(error: RedisError | OSError) -> str:
    if isinstance(error, BusyLoadingError):
        return "Redis is loading its data"
    if isinstance(error, ResponseError) and "config" in str(error).lower():
        return f"{_CONFIG_REFUSED} (it said: {str(error).strip()})"
    fails = "refuses a command" if isinstance(error, ResponseError) else "does not answer"
    return f"Redis {fails}: {error}"


def _replicas_problems(
    needed: int, settings: Mapping[str, str], info: Mapping[str, object]
) -> Sequence[str]:
    least, lag_s = (int(settings[name]) for name in _OF_REPLICAS)
    problems = []
    if least < needed:
        problems.append(f"Redis has {_OF_REPLICAS[0]} {least}; it must be at least {needed}")
    if not lag_s:
        problems.append(f"Redis has {_OF_REPLICAS[1]} 0; it must be at least 1")
    # Only a Redis that requires replicas reports how many of them are up to date.
    connected = int(str(info.get("min_slaves_good_slaves", info.get("connected_slaves", 0))))
    if connected < needed:
        problems.append(f"{connected} of {needed} replicas are connected and in step")
    return problems


@dataclass(frozen=True, slots=True)
class Replica:
    """A connected replica, with its address as the primary knows it.

    `problem` says why the replica's data differs from the primary's data, or is empty.
    """

    address: str
    problem: str


@dataclass(frozen=True, slots=True)
class Replication:
    """A primary and its connected replicas, and texts about missing sentinels, replicas or nodes.

    If the address in the floor file has no sentinels and is no cluster, `primary` is empty.
    """

    primary: str
    replicas: tuple[Replica, ...]
    missing: tuple[str, ...] = ()


async def read_replication(redis: Iterable[Redis]) -> Sequence[Replication]:
    """Return the primary of each client, with its replicas. Write nothing.

    If several clients use a primary, it is returned once. A replica has the same data if it soon
    confirms everything that the primary had at the beginning.

    Raises:
        RedisError: Redis failed, or the primary cannot be determined.
    """
    by_run = {str((await client.info("server"))["run_id"]): client for client in redis}
    return await asyncio.gather(*map(_replication_of, by_run.values()))


async def _replication_of(redis: Redis) -> Replication:
    loop = asyncio.get_running_loop()
    until_s = loop.time() + _CONFIRMED_WITHIN_S
    info = await _replication_info(redis)
    wanted = _number(info, "master_repl_offset")
    while True:
        names = [f"slave{number}" for number in range(_number(info, "connected_slaves"))]
        rows = [cast("Mapping[str, object]", info[name]) for name in names]
        replicas = tuple(
            Replica(f"{row['ip']}:{row['port']}", _replica_problem(row, wanted)) for row in rows
        )
        if loop.time() > until_s or not any(replica.problem for replica in replicas):
            break
        await asyncio.sleep(_ASK_EVERY_S)
        info = await _replication_info(redis)
    if isinstance(redis, ReplicatedRedis):
        primary, missing = await redis.discovery.primary(), await redis.discovery.missing()
        return Replication(str(primary), replicas, tuple(missing))
    return Replication("", replicas)


async def _replication_info(redis: Redis) -> Mapping[str, object]:
    return cast("Mapping[str, object]", await redis.info("replication"))


def _replica_problem(row: Mapping[str, object], wanted: int) -> str:
    if row["state"] != "online":
        return "still copies the data"
    if (behind := wanted - _number(row, "offset")) > 0:
        return f"{behind:,} bytes behind"
    silent_s = _number(row, "lag")
    return f"silent for {silent_s} s" if silent_s > _SILENT_S else ""


def _number(fields: Mapping[str, object], name: str) -> int:
    return int(str(fields[name]))
