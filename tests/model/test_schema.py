"""A release works on the layout of its own version and writes to no other."""

import pytest
from redis.exceptions import ResponseError

from meters.ledger.redis_layout import SCHEMA
from meters.store.link_store import TermsError
from tests.lua.books import keyspace
from tests.model.running import Running
from tests.mqtt.events import encode, wagers

pytestmark = pytest.mark.duty("D10")

WAGERS = encode(wagers(3, "R2"))


async def note(link: Running, schema: object) -> None:
    """Write a version into the books; None to remove it."""
    store = link.pit.store
    if schema is None:
        await store.redis.hdel(store.keys.meters, "schema")
    else:
        await store.redis.hset(store.keys.meters, "schema", str(schema))


async def untouched(link: Running) -> None:
    """Check that nothing is written while the link checks again, and no event is accepted."""
    redis = link.pit.store.redis
    before = await keyspace(redis)
    assert await link.take("T-1", WAGERS) == []
    with pytest.raises((TermsError, ValueError), match="schema version"):
        await link.pit.store.open("service")
    with pytest.raises(ResponseError, match="the data is of version"):
        await link.pit.store.apply([], [])
    with pytest.raises((TermsError, ValueError), match="schema version"):
        await link.service.reload()
    assert await keyspace(redis) == before


async def test_new_books_are_of_the_present_version(link: Running) -> None:
    """The version is written in the step that opens the link."""
    assert (await link.pit.store.snapshot()).meters["schema"] == str(SCHEMA)
    assert await link.pit.store.schema() == SCHEMA


@pytest.mark.duty("D10", proof=True)
@pytest.mark.parametrize("other", [SCHEMA - 1, SCHEMA + 1])
async def test_another_version_is_left_alone(link: Running, other: int) -> None:
    """The release that wrote the books may continue."""
    await note(link, other)
    await link.goes_down(f"schema version {other}", "another release")
    await untouched(link)
    await note(link, SCHEMA)
    await link.comes_up()
    assert await link.take("T-1", WAGERS) != []


@pytest.mark.parametrize("junk", ["x", "-1", "", None])
async def test_what_is_no_version_is_damage(link: Running, junk: str | None) -> None:
    await note(link, junk)
    await link.goes_down("the data in Redis is damaged: its schema version is missing")
    await untouched(link)
    await note(link, SCHEMA)
    await link.comes_up()
