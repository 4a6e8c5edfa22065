"""Memory and disk use of a Redis, by kind of data."""

import asyncio
import time
from collections.abc import Sequence
from typing import Final, cast

import msgspec
from redis.asyncio import Redis

from bonus.errors import UserError
from meters.books.store import LinkStore

_LOOK_EVERY_S: Final = 0.05
_REWRITTEN_WITHIN_S: Final = 300.0
_US_PER_MS: Final = 1000


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of Redis's memory that some books use.

    The ledgers are what remains of the total, because Redis's own figure for a stream is an
    estimate that is too high.

    Attributes:
        all: everything except buffers of connections and of the append-only file, and except the
            cards of the last results, whose number is limited.
        claims: the hashes of the wins.
        wins: the indexes of the wins.
        slips: the numbers of the payout slips.
        acts: the indexes of the acts.
        tables: the hashes of the tables.
    """

    all: int
    claims: int
    wins: int
    slips: int
    acts: int
    tables: int


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Redis's memory in bytes: in use, taken from the machine, and their ratio."""

    used_bytes: int
    rss_bytes: int
    rss_to_used_ratio: float


async def all_of(redis: Redis) -> int:
    """Return the bytes of memory of the data and of the structures that hold it."""
    info = cast("dict[str, int]", await redis.info("memory"))
    return info["used_memory"] - info["mem_clients_normal"] - info["mem_aof_buffer"]


async def memory_of(redis: Redis) -> Memory:
    info = cast("dict[str, int]", await redis.info("memory"))
    used, rss = info["used_memory"], info["used_memory_rss"]
    return Memory(used_bytes=used, rss_bytes=rss, rss_to_used_ratio=round(rss / used, 2))


async def held_by(redis: Redis, stores: Sequence[LinkStore]) -> Held:
    keys = [store.keys for store in stores]
    return Held(
        all=await all_of(redis) - await bytes_of(redis, [key.dealt for key in keys]),
        claims=await _bytes_matching(redis, [key.claim("*") for key in keys]),
        wins=await bytes_of(redis, [key.wins for key in keys]),
        slips=await bytes_of(redis, [key.slips for key in keys]),
        acts=await bytes_of(redis, [key.acts for key in keys]),
        tables=await bytes_of(
            redis,
            [
                one
                for key in keys
                for one in (key.tables, key.rounds, key.replies, key.repeated_claims)
            ],
        ),
    )


async def bytes_of(redis: Redis, keys: Sequence[str]) -> int:
    """Return the bytes of memory of some keys, each measured completely."""
    async with redis.pipeline(transaction=False) as pipe:
        for key in keys:
            pipe.memory_usage(key, samples=0)
        return sum(size or 0 for size in await pipe.execute())


async def _bytes_matching(redis: Redis, patterns: Sequence[str]) -> int:
    total, some = 0, list[str]()
    for pattern in patterns:
        async for key in redis.scan_iter(match=pattern, count=1_000):
            some.append(key.decode())
            if len(some) == 1_000:
                total += await bytes_of(redis, some)
                some.clear()
    return total + await bytes_of(redis, some)


async def rewrite(redis: Redis) -> float:
    """Rewrite the append-only file; return for how many milliseconds Redis paused for it."""
    await redis.bgrewriteaof()
    end = time.monotonic() + _REWRITTEN_WITHIN_S
    while True:
        info = await redis.info("persistence")
        if not (info["aof_rewrite_in_progress"] or info["aof_rewrite_scheduled"]):
            break
        if time.monotonic() > end:
            raise UserError("Redis does not end the rewrite of its append-only file")
        await asyncio.sleep(_LOOK_EVERY_S)
    if info["aof_last_bgrewrite_status"] != "ok":
        raise UserError("Redis could not rewrite its append-only file")
    stats = cast("dict[str, int]", await redis.info("stats"))
    return round(stats["latest_fork_usec"] / _US_PER_MS, 1)
