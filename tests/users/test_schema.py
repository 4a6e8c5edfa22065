"""The users' keys have a version, and a release changes nothing of another one's (duty D10)."""

import pytest

from meters.ledger.redis_layout import SCHEMA
from meters.users.user_store import UsersError, UserStore
from meters.users.users import UserDirectory
from tests.lua.books import keyspace
from tests.users.staff import Register, fast_pins

pytestmark = pytest.mark.duty("D10")


async def note(register: Register, schema: int | None) -> None:
    """Write a version into the keys; None to remove it."""
    if schema is None:
        await register.redis.hdel(register.keys.log_head, "schema")
    else:
        await register.redis.hset(register.keys.log_head, "schema", str(schema))


def reopened(register: Register) -> UserDirectory:
    """Return the users as seen by a newly started process."""
    return UserDirectory(register.redis, 5, fast_pins())


async def test_the_first_entry_notes_the_present_version(register: Register) -> None:
    store = UserStore(register.redis)
    assert await store.schema() is None
    await register.user_directory.log.note("service_started", by="service")
    assert await store.schema() == SCHEMA


@pytest.mark.parametrize(
    ("schema", "said"), [(None, "missing or damaged"), (SCHEMA - 1, "another release wrote it")]
)
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
