"""Users in a real Redis: added, disabled, enabled, with every change in the log."""

import asyncio

import pytest
import structlog

from meters.redis_client.user_keys import UserKeys
from meters.users.errors import UsersError
from meters.users.names import fold_name
from meters.users.roles import Role
from meters.users.users import Actor
from tests.users.staff import BY_COMMAND, PIN, WRONG, Register


async def code_of(doing: object) -> str:
    assert asyncio.iscoroutine(doing)
    with pytest.raises(UsersError) as refused:
        await doing
    return refused.value.code


async def test_a_user_is_added_once_in_any_case(register: Register) -> None:
    users = register.users
    row = await users.add(" Zoë ", Role.AUDITOR, PIN, BY_COMMAND)
    assert (row.name, row.role, row.enabled) == ("Zoë", Role.AUDITOR, True)
    assert (row.added_by, row.signed_in_at) == (BY_COMMAND.name, None)
    assert await code_of(users.add("ZOE\u0308", Role.DEALER, WRONG, BY_COMMAND)) == "name_taken"
    assert await users.rows() == [row]
    assert (await register.sign_in("zoë")).person.role is Role.AUDITOR


async def test_of_many_who_add_the_same_name_one_does(register: Register) -> None:
    adding = [
        register.users.add(name, Role.DEALER, PIN, BY_COMMAND)
        for name in ("Bob", "BOB", "bob", "bOb")
    ]
    outcomes = await asyncio.gather(*adding, return_exceptions=True)
    assert sum(isinstance(each, UsersError) for each in outcomes) == 3
    assert len(await register.users.rows()) == 1
    assert len(await register.log()) == 1


async def test_users_are_listed_by_name(register: Register) -> None:
    for name in ("Zoë", "adam", "Bob"):
        await register.add(name)
    assert [row.name for row in await register.users.rows()] == [
        "adam",
        "Bob",
        "Zoë",
    ]


async def test_a_disabled_user_cannot_sign_in_and_their_session_ends(register: Register) -> None:
    await register.add("Flo")
    opened = await register.sign_in()
    users = register.users
    assert not (await users.disable("flo", BY_COMMAND)).enabled
    assert await register.whose(opened.token) is None
    assert await register.refused("Flo", PIN) == "wrong_name_or_pin"
    assert await code_of(users.disable("Flo", BY_COMMAND)) == "wrong_state"
    assert (await users.enable("FLO", BY_COMMAND)).enabled
    assert await code_of(users.enable("Flo", BY_COMMAND)) == "wrong_state"
    assert await register.whose(opened.token) is None
    again = await register.sign_in()
    await register.redis.hset(register.keys.user("flo"), "enabled", "0")
    assert await register.whose(again.token) is None


async def test_another_pin_ends_the_sessions_and_the_old_pin(register: Register) -> None:
    await register.add("Flo")
    opened = await register.sign_in()
    await register.users.set_pin("Flo", WRONG, BY_COMMAND)
    assert await register.whose(opened.token) is None
    assert await register.refused("Flo", PIN) == "wrong_name_or_pin"
    assert (await register.sign_in("Flo", WRONG)).person.name == "Flo"


async def test_nobody_disables_themselves_or_the_last_administrator(register: Register) -> None:
    await register.add("Ada", Role.ADMINISTRATOR)
    await register.add("Bea", Role.ADMINISTRATOR)
    users = register.users
    assert await code_of(users.disable("ADA", Actor("Ada"))) == "yourself"
    await users.disable("Bea", Actor("Ada"))
    assert await code_of(users.disable("Ada", BY_COMMAND)) == "last_administrator"
    await users.enable("Bea", BY_COMMAND)
    await users.disable("Ada", Actor("Bea"))
    assert [row.name for row in await users.rows() if row.enabled] == ["Bea"]


async def test_of_two_who_disable_each_other_one_stays(register: Register) -> None:
    await register.add("Ada", Role.ADMINISTRATOR)
    await register.add("Bea", Role.ADMINISTRATOR)
    users = register.users
    outcomes = await asyncio.gather(
        users.disable("Ada", Actor("Bea")),
        users.disable("Bea", Actor("Ada")),
        return_exceptions=True,
    )
    refused = [each.code for each in outcomes if isinstance(each, UsersError)]
    assert refused == ["last_administrator"]
    assert sum(row.enabled for row in await users.rows()) == 1


async def test_an_unknown_user_is_reported(register: Register) -> None:
    users = register.users
    assert await code_of(users.disable("Ghost", BY_COMMAND)) == "unknown_user"
    assert await code_of(users.enable("Ghost", BY_COMMAND)) == "unknown_user"
    assert await code_of(users.set_pin("Ghost", PIN, BY_COMMAND)) == "unknown_user"
    assert await code_of(users.set_pin("Ghost", "1", BY_COMMAND)) == "bad_pin"
    assert await register.log() == []
    assert await register.redis.keys("*") == []


async def test_every_change_is_in_the_log_with_who_did_it_and_from_where(
    register: Register,
) -> None:
    users = register.users
    ada = Actor("Ada", "192.0.2.9")
    await users.add("Flo", Role.DEALER, PIN, ada)
    await users.set_pin("flo", WRONG, ada)
    await users.disable("flo", ada)
    await users.enable("flo", BY_COMMAND)
    rows = await register.log()
    assert [row.entry for row in rows] == [1, 2, 3, 4]
    assert await register.acts() == [
        ("user_added", "Ada", "Flo"),
        ("pin_set", "Ada", "Flo"),
        ("user_disabled", "Ada", "Flo"),
        ("user_enabled", BY_COMMAND.name, "Flo"),
    ]
    assert [row.client for row in rows] == ["192.0.2.9"] * 3 + [""]
    assert all(row.at.endswith("Z") for row in rows)
    assert [row.entry for row in await register.user_directory.log.page(3, 1)] == [2]


async def test_no_pin_is_anywhere_in_the_store_or_in_what_is_logged(register: Register) -> None:
    with structlog.testing.capture_logs() as logged:
        await register.add("Flo")
        token = (await register.sign_in()).token
        await register.refused("Flo", WRONG)
        await register.refused(PIN, WRONG)
        await register.users.set_pin("Flo", "905183", BY_COMMAND)
    kept = [str(key) for key in await register.redis.keys("*")]
    for key in await register.redis.keys("*"):
        # The dump is decoded byte for byte, because a text form such as ``\x16`` could look like
        # digits of a PIN.
        dump = await register.redis.dump(key)
        assert dump is not None
        kept.append(dump.decode("latin-1"))
        kind = await register.redis.type(key)
        if kind == b"hash":
            kept.append(str(await register.redis.hgetall(key)))
        elif kind == b"stream":
            kept.append(str(await register.redis.xrange(key)))
        elif kind == b"zset":
            kept.append(str(await register.redis.zrange(key, 0, -1)))
    everything = " ".join(kept) + str(logged)
    assert "Flo" in everything
    for secret in (PIN, WRONG, "905183", token):
        assert secret not in everything


async def test_an_unknown_role_in_the_store_is_reported_as_its_failure(register: Register) -> None:
    """Somebody wrote it into Redis. Its user cannot sign in, and nothing else fails."""
    user_directory = register.user_directory
    await register.add("Flo")
    token = (await register.sign_in("Flo")).token
    await register.redis.hset(UserKeys().user(fold_name("Flo")), "role", "king")
    assert await user_directory.users.rows() == []
    for doing in (register.sign_in("Flo"), register.whose(token)):
        assert await code_of(doing) == "store_failed"
