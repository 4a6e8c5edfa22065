"""Users altered for a moment in which a service acts on them: its entries of then are named.

The entries are a service's own, with their MACs, and afterwards the store is as the log says.
Everything is done with the Redis password for users.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import cast

import pytest
from redis.asyncio import Redis

from meters.users.expected_users import ExpectedUsers
from meters.users.log_audit import check_log
from meters.users.roles import Role
from meters.users.sessions import OpenedSession
from meters.users.sign_in_attempts import Caller
from meters.users.users import Actor
from tests.users.staff import BY_COMMAND, HERE, PIN, WRONG, Register, fast_pins, register_with
from tests.users.tampering import insert_administrator
from tests.users.test_log_macs import FIRST, THE_SAME

pytestmark = pytest.mark.duty("D17")

NEW = "905183"


@pytest.fixture
async def staffed(redis: Redis) -> Register:
    """Return an administrator, a floorperson, and two users who cannot sign in."""
    register = register_with(redis, FIRST)
    await register.add("Ada", Role.ADMINISTRATOR)
    await register.add("Dan", Role.ADMINISTRATOR)
    for name in ("Flo", "Ben"):
        await register.add(name)
    for name in ("Dan", "Ben"):
        await register.users.disable(name, BY_COMMAND)
    return register


async def problems(register: Register) -> tuple[str, ...]:
    return (await check_log(register.redis, None, THE_SAME)).problems


async def put(register: Register, folded: str, **fields: str) -> Mapping[str, str]:
    """Change a user in the store; return the fields from before."""
    key = register.keys.user(folded)
    had = cast("list[bytes | None]", await register.redis.hmget(key, list(fields)))
    await register.redis.hset(key, mapping=fields)  # type: ignore[arg-type]
    return {name: of.decode() for name, of in zip(fields, had, strict=True) if of is not None}


async def add_by(register: Register, opened: OpenedSession) -> None:
    """Add an administrator, as a signed-in user."""
    actor = Actor(opened.person.name, HERE, opened.token)
    await register.users.add("Zed", Role.ADMINISTRATOR, PIN, actor)


async def choose(register: Register, opened: OpenedSession, old: str) -> None:
    caller = Caller(HERE)
    await register.sessions.choose_pin(opened.token, opened.person, old, NEW, caller)


async def move(register: Register, number: int, folded: str, to: str) -> None:
    """Move an entry to another account, and its end of sessions too."""
    redis, keys = register.redis, register.keys
    await redis.zrem(keys.account(folded), str(number))
    await redis.zadd(keys.account(to), {str(number): number})
    await redis.hincrby(keys.user(folded), "generation", -1)
    await redis.hincrby(keys.user(to), "generation", 1)


async def administrator_who_adds_another(register: Register) -> None:
    await insert_administrator(register)
    await add_by(register, await register.sign_in("Eve"))
    keys = register.keys
    await register.redis.delete(keys.user("eve"), keys.account("eve"))
    await register.redis.zrem(keys.users, "eve")
    await register.redis.srem(keys.administrators, "eve")


async def role_that_adds_another(register: Register) -> None:
    had = await put(register, "flo", role="administrator")
    await add_by(register, await register.sign_in("Flo"))
    await put(register, "flo", **had)


async def role_to_sign_in_with(register: Register) -> None:
    had = await put(register, "flo", role="supervisor")
    await register.sign_in("Flo")
    await put(register, "flo", **had)


async def pin_to_sign_in_with(register: Register) -> None:
    had = await put(register, "ada", pin=await fast_pins().hash(WRONG))
    await register.sign_in("Ada", WRONG)
    await put(register, "ada", **had)


async def pin_to_choose_another_with(register: Register) -> None:
    opened = await register.sign_in("Ada")
    await put(register, "ada", pin=await fast_pins().hash(WRONG))
    await choose(register, opened, WRONG)


async def user_enabled_to_sign_in(register: Register) -> None:
    await put(register, "dan", enabled="1")
    await register.sign_in("Dan")
    await put(register, "dan", enabled="0")


async def name_that_has_another_enabled(register: Register) -> None:
    await put(register, "ben", name="Dan")
    await register.users.enable("Ben", BY_COMMAND)
    await move(register, len(await register.log()), "ben", "dan")
    await put(register, "ben", name="Ben", enabled="0")
    await put(register, "dan", enabled="1")
    await register.redis.sadd(register.keys.administrators, "dan")


async def name_that_has_the_pin_be_anothers(register: Register) -> None:
    had = await put(register, "flo", name="Ada")
    was = cast("bytes", await register.redis.hget(register.keys.user("flo"), "pin"))
    await register.users.set_pin("Flo", WRONG, BY_COMMAND, own=True)
    await move(register, len(await register.log()), "flo", "ada")
    now = await put(register, "flo", **had, pin=was.decode(), pin_by="Flo")
    await put(register, "ada", pin=now["pin"], pin_by="Ada")


@pytest.mark.parametrize(
    ("altered", "said"),
    [
        (administrator_who_adds_another, (
            "entry 7 says that 'Eve' signs in, who was never added",
            "entry 8 is by 'Eve', who was never added",
        )),
        (role_that_adds_another, (
            "entry 7 says that 'Flo' signs in as 'administrator', who was 'floorperson'",
            "entry 8 is by 'Flo', who was no administrator that could sign in",
        )),
        (role_to_sign_in_with, (
            "entry 7 says that 'Flo' signs in as 'supervisor', who was 'floorperson'",
        )),
        (pin_to_sign_in_with, (
            "entry 7 says that 'Ada' signs in, with a PIN that the log does not have",
        )),
        (pin_to_choose_another_with, (
            "entry 8 says that 'Ada' chooses a PIN, with a PIN that the log does not have",
        )),
        (user_enabled_to_sign_in, ("entry 7 says that 'Dan' signs in, who was disabled",)),
        (name_that_has_another_enabled, ("entry 7 is about 'Dan', and was done to 'ben'",)),
        (name_that_has_the_pin_be_anothers, ("entry 7 is about 'Ada', and was done to 'flo'",)),
    ],
)  # fmt: skip
async def test_what_was_done_meanwhile_is_named(
    staffed: Register, altered: Callable[[Register], Awaitable[None]], said: tuple[str, ...]
) -> None:
    assert await problems(staffed) == ()
    await altered(staffed)
    assert await problems(staffed) == tuple(f"the operators' log: {one}" for one in said)


async def test_session_is_sealed_for_the_role_that_it_had(staffed: Register) -> None:
    """This holds even if its user chooses a PIN while Redis has another role."""
    opened = await staffed.sign_in("Flo")
    had = await put(staffed, "flo", role="administrator")
    await choose(staffed, opened, PIN)
    assert await staffed.whose(opened.token) is None
    await put(staffed, "flo", **had)
    found = await staffed.whose(opened.token)
    assert found is not None
    assert found.role is Role.FLOORPERSON


async def test_administrators_and_commands_are_taken_for_what_they_are(staffed: Register) -> None:
    """Acts on each other's accounts in turn are valid."""
    users = staffed.users
    opened = await staffed.sign_in("Ada")
    ada = Actor("Ada", HERE, opened.token)
    await users.enable("Dan", ada)
    await users.set_pin("Dan", WRONG, ada)
    given = await staffed.sign_in("Dan", WRONG)
    await choose(staffed, given, WRONG)
    dan = Actor("Dan", HERE, (await staffed.sign_in("dan", NEW)).token)
    await users.disable("Ada", dan)
    await users.add("Zoë", Role.AUDITOR, PIN, dan)
    await users.unlock("zoë", dan)
    await users.set_pin("ZOË", PIN, BY_COMMAND, own=True)
    await staffed.sign_in("zoë")
    await users.enable("ada", BY_COMMAND)
    await staffed.sign_in("ADA")
    assert await problems(staffed) == ()


def test_what_an_earlier_release_wrote_is_accepted_unchanged() -> None:
    """Entries of that release do not name the PIN of a sign-in, or the account."""
    due = ExpectedUsers()
    for number, entry in enumerate([
        {"what": "user_added", "by": "Ann", "about": "Flo", "client": HERE},
        {"what": "sign_in", "by": "Flo", "about": "Flo", "client": HERE},
        {"what": "sign_in", "by": "Eve", "about": "Eve", "client": HERE},
        {"what": "pin_chosen", "by": "Flo", "about": "Flo", "client": HERE, "pin": "x"},
    ], start=1):  # fmt: skip
        assert due.apply_entry(number, {"at": "2026-01-01T00:00:00.000Z"} | entry) is None
