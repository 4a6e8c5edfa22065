"""The users' keys have a version, and a release changes nothing of another one's (duty D10)."""

from datetime import UTC, datetime, timedelta

import pytest

from meters.books.schema import SCHEMA
from meters.users.directory import UserDirectory
from meters.users.errors import UsersError
from meters.users.roles import Role
from meters.users.store import UserStore
from tests.lua.books import keyspace
from tests.users.staff import BY_COMMAND, PIN, Register, fast_pins

pytestmark = pytest.mark.duty("D10")


async def note(register: Register, schema: int | None) -> None:
    """Write a version into the keys; none, as the first releases did."""
    if schema is None:
        await register.redis.hdel(register.keys.log_head, "schema")
    else:
        await register.redis.hset(register.keys.log_head, "schema", str(schema))


def reopened(register: Register) -> UserDirectory:
    """Return the users as seen by a newly started process."""
    return UserDirectory.of(register.redis, 5, fast_pins())


async def test_the_first_entry_notes_the_present_version(register: Register) -> None:
    store = UserStore(register.redis)
    assert await store.schema() is None
    await register.user_directory.log.note("service_started", by="service")
    assert await store.schema() == SCHEMA


@pytest.mark.parametrize(("schema", "said"), [(None, "pitlink upgrade"), (SCHEMA + 1, "later")])
async def test_another_version_is_left_alone(
    register: Register, schema: int | None, said: str
) -> None:
    await register.user_directory.log.note("service_started", by="service")
    await note(register, schema)
    before = await keyspace(register.redis)
    with pytest.raises(UsersError, match=said) as refused:
        await reopened(register).log.note("service_started", by="service")
    assert refused.value.code == "other_schema"
    assert await keyspace(register.redis) == before


async def test_an_upgrade_is_in_the_log_once(register: Register) -> None:
    await register.user_directory.log.note("service_started", by="service")
    await note(register, None)
    for _ in range(2):
        await UserStore(register.redis).upgrade("pitlink", "pitlink 2")
    assert await UserStore(register.redis).schema() == SCHEMA
    user_directory = reopened(register)
    await user_directory.log.note("service_stopped", by="service")
    rows = await user_directory.log.page(None, 10)
    assert [(row.what, row.by) for row in rows] == [
        ("service_stopped", "service"),
        *[("upgraded", "pitlink")] * (SCHEMA - 1),
        ("service_started", "service"),
    ]


async def test_a_pin_that_another_set_before_serves_for_a_day_from_the_upgrade(
    register: Register,
) -> None:
    """Such a PIN had no end before. Users with their own PIN are unchanged."""
    users = register.users
    await register.add("Flo")
    await users.add("Finn", Role.FLOORPERSON, PIN, BY_COMMAND)
    await register.redis.hdel(register.keys.user("finn"), "choose_by")
    await note(register, 2)
    await UserStore(register.redis).upgrade("pitlink", "pitlink 3")
    rows = {row.name: row for row in await reopened(register).users.rows()}
    assert rows["Flo"].choose_by is None
    left = datetime.fromisoformat(rows["Finn"].choose_by or "") - datetime.now(UTC)
    assert timedelta(hours=23, minutes=59) < left <= timedelta(hours=24)
