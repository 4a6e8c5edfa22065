"""Answers of the client of a Redis with replicas: only what the replicas have too."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.exceptions import RedisError

from meters.floor.floor_file import Floor, read_floor
from meters.store.health import redis_problem
from meters.store.link_store import LinkStore
from meters.store.redis_clients import NotOnReplicasError, ReplicatedRedis, redis_of
from meters.store.redis_connect import open_redis
from tests.failover.servers import Watched
from tests.mqtt.floors import many_tables_text
from tests.servers import eventually_async

pytestmark = pytest.mark.slow

KEY: Final = "pitlink:{main}:of-this-test"
ONCE: Final = """
local kept = redis.call('HGET', KEYS[1], ARGV[1])
if not kept then redis.call('HSET', KEYS[1], ARGV[1], 'done') end
return kept or 'done'
"""
"""A script that writes once, and then returns the same answer without a write."""


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    with Watched() as watched:
        yield watched


@pytest.fixture
def floor(watched: Watched, tmp_path: Path) -> Floor:
    path = tmp_path / "floor.toml"
    data = str(tmp_path / "data")
    path.write_text(many_tables_text(broker="embedded", redis=watched.url, port=8080, data=data))
    return read_floor(path)


@pytest.fixture
async def redis(floor: Floor) -> AsyncIterator[Redis]:
    async with open_redis(floor) as opened:
        yield redis_of(opened, "main")


@contextmanager
def held(watched: Watched) -> Iterator[None]:
    for wire in watched.wires:
        wire.hold()
    try:
        yield
    finally:
        for wire in watched.wires:
            wire.mend()


async def answered(ask: Callable[[], Awaitable[object]]) -> object:
    """Return the answer once there is one: on a busy machine replicas may be late for a second."""

    async def found() -> Sequence[object]:
        try:
            return [await ask()]
        except NotOnReplicasError:
            return []

    return (await eventually_async(found, what="an answer that replicas have"))[0]


async def comes_to_say(redis: Redis, problem: str | None) -> None:
    """Wait for this error: on a busy machine another one may come first."""

    async def said() -> bool:
        assert await redis_problem(redis, "main") == problem
        return True

    await eventually_async(said, what=f"{problem}")


async def is_well(redis: Redis) -> bool:
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
    """The repeat itself writes nothing, so there seems to be nothing to wait for."""
    once = redis.register_script(ONCE)
    assert await answered(lambda: once(keys=[KEY], args=["before"])) == b"done"
    with held(watched):
        for _ in range(2):
            with pytest.raises(
                NotOnReplicasError, match="0 of 1 replicas confirmed the write within 1 s"
            ):
                await once(keys=[KEY], args=["after"])
    assert await answered(lambda: once(keys=[KEY], args=["after"])) == b"done"


async def test_what_is_read_of_the_books_replicas_have(
    redis: Redis, floor: Floor, watched: Watched
) -> None:
    """Mark and meters depend on it. A client that only reads, such as an audit, does not wait."""
    store = LinkStore(redis, floor.link[0])
    await eventually_async(lambda: is_well(redis), what="replicas that have all")
    await answered(lambda: store.open("test"))
    with held(watched):
        reads = (store.state(), store.snapshot(), store.table_states(["T-1"]))
        found = await asyncio.gather(*reads, return_exceptions=True)
        assert [type(each) for each in found] == [NotOnReplicasError] * len(reads)
        async with open_redis(floor, only_reads=True) as reading:
            snapshot = await LinkStore(reading, floor.link[0]).snapshot()
            assert snapshot.last_entry == len(floor.link[0].meter)
    assert await answered(store.snapshot) == snapshot


async def test_a_pipeline_answers_as_the_clients_own(redis: Redis, watched: Watched) -> None:
    """Hashes, streams and errors have the same form, in a transaction and without."""
    assert isinstance(redis, ReplicatedRedis)
    watched.primary.ask("HSET", KEY, "a", "1", "b", "2")
    watched.primary.ask("XADD", f"{KEY}:stream", "1-0", "kind", "x")
    for transaction in (True, False):

        async def ask(make: Callable[[bool], Pipeline], whole: bool = transaction) -> object:  # noqa: FBT001
            pipe = make(whole)
            pipe.hgetall(KEY)
            pipe.hmget(KEY, ["a", "none"])
            pipe.xrevrange(f"{KEY}:stream", count=1)
            return await pipe.execute()

        theirs = await ask(partial(Redis.pipeline, redis))
        assert await answered(partial(ask, redis.pipeline)) == theirs

        async def ask_wrongly(whole: bool = transaction) -> object:  # noqa: FBT001
            pipe = redis.pipeline(whole)
            pipe.hgetall(KEY)
            pipe.zcard(KEY)
            return await pipe.execute()

        with pytest.raises(RedisError, match="WRONGTYPE"):
            await answered(ask_wrongly)
    assert await redis.pipeline().execute() == []


async def test_a_promoted_server_is_given_the_scripts(redis: Redis, watched: Watched) -> None:
    watched.primary.ask("SCRIPT", "FLUSH")
    once = redis.register_script(ONCE)
    assert await answered(lambda: once(keys=[KEY], args=["script"])) == b"done"


@pytest.mark.duty("D10")
async def test_what_a_primary_must_be_set_to(redis: Redis, watched: Watched) -> None:
    """Cut off from its replicas, the primary must accept no writes by its own settings."""
    await comes_to_say(redis, None)
    primary = watched.primary
    for name, usual, problem in (
        ("min-replicas-to-write", "1", "Redis has min-replicas-to-write 0; it must be at least 1"),
        ("min-replicas-max-lag", "10", "Redis has min-replicas-max-lag 0; it must be at least 1"),
    ):
        primary.ask("CONFIG", "SET", name, "0")
        try:
            await comes_to_say(redis, problem)
        finally:
            primary.ask("CONFIG", "SET", name, usual)
    await comes_to_say(redis, None)


@pytest.mark.duty("D10")
async def test_without_most_of_the_sentinels_nobody_knows_which_is_the_primary(
    redis: Redis, watched: Watched
) -> None:
    """A replica that this side cannot reach may have been promoted."""
    for sentinel in watched.sentinels[:2]:
        sentinel.freeze()
    try:
        await comes_to_say(
            redis,
            "Redis does not answer: 1 of 3 sentinels answer, and 1 agree on the primary;"
            " 2 must agree",
        )
    finally:
        for sentinel in watched.sentinels[:2]:
            sentinel.thaw()
    await comes_to_say(redis, None)
