"""The people's keys have a version, and a release changes nothing of another one's (duty D10)."""

import pytest

from meters.people.errors import PeopleError
from meters.people.people import People
from meters.people.pins import PinHashing
from meters.people.store import PeopleStore
from meters.schema import SCHEMA
from tests.lua.books import keyspace
from tests.people.staff import Register

pytestmark = pytest.mark.duty("D10")


async def note(register: Register, schema: int | None) -> None:
    """Have the keys say that they are of some version; none for what the first releases wrote."""
    if schema is None:
        await register.redis.hdel(register.keys.log_head, "schema")
    else:
        await register.redis.hset(register.keys.log_head, "schema", str(schema))


def anew(register: Register) -> People:
    """The people as a process has them that starts now."""
    return People.of(register.redis, 5, PinHashing(time_cost=1, memory_kib=8))


async def test_the_first_entry_notes_the_present_version(register: Register) -> None:
    store = PeopleStore(register.redis)
    assert await store.schema() is None
    await register.people.log.note("service_started", by="service")
    assert await store.schema() == SCHEMA


@pytest.mark.parametrize(("schema", "said"), [(None, "pitlink upgrade"), (SCHEMA + 1, "later")])
async def test_another_version_is_left_alone(
    register: Register, schema: int | None, said: str
) -> None:
    await register.people.log.note("service_started", by="service")
    await note(register, schema)
    before = await keyspace(register.redis)
    with pytest.raises(PeopleError, match=said) as refused:
        await anew(register).log.note("service_started", by="service")
    assert refused.value.code == "other_schema"
    assert await keyspace(register.redis) == before


async def test_an_upgrade_is_in_the_log_once(register: Register) -> None:
    await register.people.log.note("service_started", by="service")
    await note(register, None)
    for _ in range(2):
        await PeopleStore(register.redis).upgrade("pitlink", "pitlink 2")
    assert await PeopleStore(register.redis).schema() == SCHEMA
    people = anew(register)
    await people.log.note("service_stopped", by="service")
    rows = await people.log.page(None, 10)
    assert [(row.what, row.by) for row in rows] == [
        ("service_stopped", "service"), ("upgraded", "pitlink"), ("service_started", "service"),
    ]  # fmt: skip
