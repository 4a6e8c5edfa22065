"""What a client of a Redis with replicas answers, and what it keeps to itself."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from meters.books.redis_health import redis_problem
from meters.books.store import LinkStore
from meters.failover.replicated import NotOnReplicasError, ReplicatedRedis
from meters.failover.shards import redis_of
from meters.redis_connection import open_redis
from meters.wire.floor import Floor, read_floor
from tests.failover.servers import Watched
from tests.mqtt.floors import floor_text
from tests.servers import eventually_async

pytestmark = pytest.mark.slow

KEY: Final = "pitlink:{main}:of-this-test"
ONCE: Final = """
local kept = redis.call('HGET', KEYS[1], ARGV[1])
if not kept then redis.call('HSET', KEYS[1], ARGV[1], 'done') end
return kept or 'done'
"""
"""A script that does something once, and then answers the same without a write."""


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    with Watched() as watched:
        yield watched


@pytest.fixture
def floor(watched: Watched, tmp_path: Path) -> Floor:
    path = tmp_path / "floor.toml"
    data = str(tmp_path / "data")
    path.write_text(floor_text(broker="embedded", redis=watched.url, port=8080, data=data))
    return read_floor(path)


@pytest.fixture
async def redis(floor: Floor) -> AsyncIterator[Redis]:
    async with open_redis(floor) as opened:
        yield redis_of(opened, "main")


@contextmanager
def held(watched: Watched) -> Iterator[None]:
    """Nothing reaches the replicas."""
    for wire in watched.wires:
        wire.hold()
    try:
        yield
    finally:
        for wire in watched.wires:
            wire.mend()


async def is_well(redis: Redis) -> bool:
    """Whether the replicas have all again."""
    try:
        async with redis.pipeline(transaction=True) as pipe:
            pipe.hgetall(KEY)
            await pipe.execute()
    except RedisError:
        return False
    return True


async def test_a_repeat_too_is_answered_once_replicas_have_the_first(
    redis: Redis, watched: Watched
) -> None:
    """The repeat writes nothing of its own, so that there seems to be nothing to wait for."""
    once = redis.register_script(ONCE)
    assert await once(keys=[KEY], args=["before"]) == b"done"
    with held(watched):
        for _ in range(2):
            with pytest.raises(NotOnReplicasError, match="0 of 1 replicas had it within 1 s"):
                await once(keys=[KEY], args=["after"])
    await eventually_async(lambda: is_well(redis), what="replicas that have all")
    assert await once(keys=[KEY], args=["after"]) == b"done"


async def test_what_is_read_of_the_books_replicas_have(
    redis: Redis, floor: Floor, watched: Watched
) -> None:
    """Mark and meters follow from it; who only reads, as an audit does, is not held up."""
    store = LinkStore(redis, floor.link[0])
    await store.open("test")
    with held(watched):
        reads = (store.state(), store.snapshot(), store.table_states(["T-1"]))
        found = await asyncio.gather(*reads, return_exceptions=True)
        assert [type(each) for each in found] == [NotOnReplicasError] * len(reads)
        async with open_redis(floor, only_reads=True) as reading:
            snapshot = await LinkStore(reading, floor.link[0]).snapshot()
            assert snapshot.last_entry == len(floor.link[0].meter)
    await eventually_async(lambda: is_well(redis), what="replicas that have all")
    assert (await store.snapshot()) == snapshot


async def test_a_pipeline_answers_as_the_clients_own(redis: Redis, watched: Watched) -> None:
    """Hashes, streams and errors read alike, in a transaction and without."""
    assert isinstance(redis, ReplicatedRedis)
    watched.primary.ask("HSET", KEY, "a", "1", "b", "2")
    watched.primary.ask("XADD", f"{KEY}:stream", "1-0", "kind", "x")
    for transaction in (True, False):
        found = []
        for pipe in (redis.pipeline(transaction), Redis.pipeline(redis, transaction)):
            pipe.hgetall(KEY)
            pipe.hmget(KEY, ["a", "none"])
            pipe.xrevrange(f"{KEY}:stream", count=1)
            found.append(await pipe.execute())
        assert found[0] == found[1]
        pipe = redis.pipeline(transaction)
        pipe.hgetall(KEY)
        pipe.zcard(KEY)
        with pytest.raises(RedisError, match="WRONGTYPE"):
            await pipe.execute()
    assert await redis.pipeline().execute() == []


async def test_a_promoted_server_is_given_the_scripts(redis: Redis, watched: Watched) -> None:
    watched.primary.ask("SCRIPT", "FLUSH")
    assert await redis.register_script(ONCE)(keys=[KEY], args=["script"]) == b"done"


@pytest.mark.duty("D10")
async def test_what_a_primary_must_be_set_to(redis: Redis, watched: Watched) -> None:
    """Cut off from its replicas it must take nothing, by itself."""
    assert await redis_problem(redis) is None
    primary = watched.primary
    for name, usual, problem in (
        ("min-replicas-to-write", "1", "Redis has min-replicas-to-write 0; it must be 1 at least"),
        ("min-replicas-max-lag", "10", "Redis has min-replicas-max-lag 0; it must be 1 at least"),
    ):
        primary.ask("CONFIG", "SET", name, "0")
        try:
            assert await redis_problem(redis) == problem
        finally:
            primary.ask("CONFIG", "SET", name, usual)
    assert await redis_problem(redis) is None


@pytest.mark.duty("D10")
async def test_without_most_of_the_sentinels_nobody_knows_which_is_the_primary(
    redis: Redis, watched: Watched
) -> None:
    """A replica may have been promoted where we do not see it."""
    for sentinel in watched.sentinels[:2]:
        sentinel.freeze()
    try:
        told = await redis_problem(redis)
        assert told == (
            "Redis does not answer: 1 of 3 sentinels answer and 1 agree which Redis is the primary;"
            " it takes 2"
        )
    finally:
        for sentinel in watched.sentinels[:2]:
            sentinel.thaw()

    async def answers() -> bool:
        return await redis_problem(redis) is None

    await eventually_async(answers, what="the sentinels again")
