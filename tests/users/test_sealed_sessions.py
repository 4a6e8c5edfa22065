"""Sessions that somebody without the services' secret wrote into Redis."""

import hashlib
from collections.abc import Mapping
from typing import cast

import pytest
from redis.asyncio import Redis

from meters.users.roles import Role
from meters.users.sign_in_attempts import Caller
from tests.users.staff import HERE, PIN, WRONG, Register, register_with

SECRET = b"known to services alone"
TOKEN = "chosen-by-a-forger"  # noqa: S105

pytestmark = [pytest.mark.duty("D20")]


@pytest.fixture
async def sealed(redis: Redis) -> Register:
    """Return a service's users with sealed sessions: a floorperson and an administrator."""
    register = register_with(redis, sessions=SECRET)
    await register.add("Flo")
    await register.add("Ada", Role.ADMINISTRATOR)
    return register


def key_of(register: Register, token: str) -> str:
    return register.keys.session(hashlib.sha256(token.encode()).hexdigest())


async def put(register: Register, token: str, fields: Mapping[str, str], **other: str) -> None:
    """Write a session with a chosen token: a copy of another with some fields changed."""
    for name, value in {**fields, **other}.items():
        await register.redis.hset(key_of(register, token), name, value)


async def kept(register: Register, token: str) -> dict[str, str]:
    found = cast("dict[bytes, bytes]", await register.redis.hgetall(key_of(register, token)))
    return {name.decode(): value.decode() for name, value in found.items()}


async def test_a_session_that_no_service_made_holds_for_nobody(sealed: Register) -> None:
    ada, flo = await sealed.sign_in("Ada"), await sealed.sign_in("Flo")
    theirs, own = await kept(sealed, ada.token), await kept(sealed, flo.token)
    for fields in (theirs, own, theirs | {"seal": ""}, theirs | {"seal": own["seal"]}):
        await put(sealed, TOKEN, fields, user="ada", name="Ada")
        assert await sealed.whose(TOKEN) is None
    await put(sealed, TOKEN, {name: own[name] for name in own.keys() - {"seal"}})
    assert await sealed.whose(TOKEN) is None
    assert await sealed.whose(ada.token) == ada.person


async def test_a_session_does_not_become_another_s(sealed: Register) -> None:
    flo = await sealed.sign_in("Flo")
    await put(sealed, flo.token, {}, user="ada", name="Ada")
    assert await sealed.whose(flo.token) is None


async def test_a_session_is_of_the_role_that_was_signed_in_with(sealed: Register) -> None:
    flo = await sealed.sign_in("Flo")
    await sealed.redis.hset(sealed.keys.user("flo"), "role", "administrator")
    assert await sealed.whose(flo.token) is None


async def test_a_session_that_ended_does_not_come_back(sealed: Register) -> None:
    """It is written back unchanged, and with the generation of the PIN that was set meanwhile."""
    flo = await sealed.sign_in("Flo")
    before = await kept(sealed, flo.token)
    elsewhere = await sealed.sign_in("Flo")
    choose = sealed.sessions.choose_pin
    await choose(elsewhere.token, elsewhere.person, PIN, WRONG, Caller(HERE))
    await put(sealed, flo.token, before, generation="2")
    assert await sealed.whose(flo.token) is None
    assert await sealed.whose(elsewhere.token) == elsewhere.person


async def test_all_services_of_one_secret_know_a_session(sealed: Register) -> None:
    token = (await sealed.sign_in("Flo")).token
    assert await register_with(sealed.redis, sessions=SECRET).whose(token) is not None
    assert await register_with(sealed.redis, sessions=b"another").whose(token) is None
    unsealed = (await register_with(sealed.redis, sessions=b"").sign_in("Flo")).token
    assert await sealed.whose(unsealed) is None
    assert await register_with(sealed.redis, sessions=b"").whose(unsealed) is not None
