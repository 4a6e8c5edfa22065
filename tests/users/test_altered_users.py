"""Users, roles, PINs and log that were altered without the service are named.

The entries of a service that acted on altered users are named too, though they have its MACs and
the store is as the log says afterwards. Everything is done with the Redis password for users.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import cast

import pytest
from redis.asyncio import Redis

from meters.floor.roles import Role
from meters.users.log_audit import LogAudit, LogMark
from meters.users.sessions import OpenedSession
from meters.users.sign_in_attempts import Caller
from meters.users.users import Actor
from tests.users.staff import BY_COMMAND, HERE, PIN, WRONG, Register, fast_pins, register_with
from tests.users.tampering import Fields, insert_administrator, rewrite
from tests.users.test_log_macs import FIRST, THE_SAME

pytestmark = pytest.mark.duty("D17")


@pytest.fixture
async def staffed(register: Register) -> Register:
    users = register.users
    await register.add("Ann", Role.ADMINISTRATOR)
    await register.add("Flo")
    await register.add("Tim", Role.AUDITOR)
    await users.set_pin("Flo", WRONG, BY_COMMAND)
    await users.disable("Tim", BY_COMMAND)
    opened = await register.sign_in("Ann")
    await register.sessions.choose_pin(opened.token, opened.person, PIN, WRONG, Caller("::1"))
    assert await problems(register) == ()
    return register


async def problems(register: Register) -> tuple[str, ...]:
    return (await LogAudit(register.redis, THE_SAME).run()).problems


@pytest.mark.duty("D17", proof=True)
async def test_inserted_administrator_is_named(staffed: Register) -> None:
    await insert_administrator(staffed)
    assert await problems(staffed) == (
        "user 'Eve' (administrator) is in Redis, but nobody added them",
        "Redis counts 2 administrators, but the log counts 1: they differ in eve",
    )


async def test_who_is_not_in_the_list_of_users_is_let_in_nowhere(staffed: Register) -> None:
    """Only the list can be audited without a scan of all keys."""
    await insert_administrator(staffed, listed=False)
    assert await staffed.refused("Eve", PIN) == "wrong_name_or_pin"
    opened = await staffed.sign_in("Ann", WRONG)
    assert await staffed.whose(opened.token) is not None
    await staffed.redis.zrem(staffed.keys.users, "ann")
    assert await staffed.whose(opened.token) is None


@pytest.mark.parametrize(
    ("user", "field", "value", "expected"),
    [
        ("flo", "role", "administrator", "role is 'administrator', the log says 'floorperson'"),
        ("tim", "enabled", "1", "enabled is '1', the log says '0'"),
        ("flo", "pin_by", "Flo", "pin_by is 'Flo', the log says 'command line (amy)'"),
        ("flo", "added_by", "Eve", "added_by is 'Eve', the log says 'command line (amy)'"),
        ("flo", "name", "Floh", "name is 'Floh', the log says 'Flo'"),
        ("flo", "added_at", "x", "added_at is 'x', the log says "),
        ("ann", "pin", "$argon2id$", "the PIN is not the PIN that was last set in the log"),
    ],
)
async def test_altered_user_is_named_with_the_field(
    staffed: Register, user: str, field: str, value: str, expected: str
) -> None:
    await staffed.redis.hset(staffed.keys.user(user), field, value)
    (problem,) = await problems(staffed)
    assert problem.startswith(f"user '{user.title()}': {expected}")


async def test_user_that_is_gone_is_named(staffed: Register) -> None:
    await staffed.redis.delete(staffed.keys.user("flo"))
    await staffed.redis.zrem(staffed.keys.users, "tim")
    assert await problems(staffed) == (
        "user 'Flo' is gone from Redis",
        "user 'Tim' is gone from Redis",
    )


@pytest.mark.duty("D17", proof=True)
async def test_log_rewritten_with_new_digests_differs_from_its_mark(
    staffed: Register, tmp_path: Path
) -> None:
    """The inserted administrator has a log entry there, which replaces another."""
    mark = LogMark(tmp_path)
    found = await LogAudit(staffed.redis).run()
    mark.note(found.entries, found.chain)
    whole = await staffed.redis.dump(staffed.keys.log)
    assert whole is not None
    await rewrite(staffed, lambda rows: rows[:-1])
    short = await LogAudit(staffed.redis).run(mark.seen)
    problem = mark.problem(short.entries, mark.seen.entries)
    assert problem is not None
    assert problem.startswith(f"the operators' log holds {found.entries - 1} entries and has held ")
    await staffed.redis.restore(staffed.keys.log, 0, whole, replace=True)
    mark.note_seal(found.entries, found.seal)

    def add_eve(rows: list[Fields]) -> list[Fields]:
        added = rows[0] | {b"about": b"Eve"}
        return [*rows[:2], added, *rows[2:-1]]

    await rewrite(staffed, add_eve)
    await insert_administrator(staffed)
    found_problems = (await LogAudit(staffed.redis).run(LogMark(tmp_path).seen)).problems
    other = f"entry {found.entries} is not the one that was seen: its digest was {found.chain}"
    assert f"the operators' log: {other}" in found_problems
    assert (
        f"the operators' log: the entries up to {found.entries} are not those that were sealed"
        in found_problems
    )


async def test_running_audit_finds_what_was_altered_since(staffed: Register) -> None:
    audit = LogAudit(staffed.redis)
    before = await audit.run(again=100)
    assert before.problems == ()
    await staffed.sign_in("Flo", WRONG)
    after = await audit.run(again=100)
    assert (after.problems, after.entries) == ((), before.entries + 1)
    await rewrite(staffed, lambda rows: [rows[0] | {b"by": b"Eve"}, *rows[1:]])
    assert (await audit.run(again=100)).problems


@pytest.mark.duty("D4")
@pytest.mark.parametrize("gone", [True, False], ids=["removed", "set back"])
async def test_pin_setter_that_was_taken_out_is_named(staffed: Register, *, gone: bool) -> None:
    """Without it, the person who set a PIN would count as a second person to its user."""
    (member,) = cast("list[bytes]", await staffed.redis.zrange(staffed.keys.pins_set, 0, -1))
    if gone:
        await staffed.redis.delete(staffed.keys.pins_set)
    else:
        await staffed.redis.zincrby(staffed.keys.pins_set, -86_400_000, member)
    assert await problems(staffed) == (
        "Redis lacks the record that the PIN of 'Flo' was set by 'command line (amy)'",
    )


NEW = "905183"
Alter = Callable[[Register], Awaitable[None]]


@pytest.fixture
async def acting(redis: Redis) -> Register:
    register = register_with(redis, FIRST)
    await register.add("Ada", Role.ADMINISTRATOR)
    await register.add("Dan", Role.ADMINISTRATOR)
    for name in ("Flo", "Ben"):
        await register.add(name)
    for name in ("Dan", "Ben"):
        await register.users.disable(name, BY_COMMAND)
    return register


async def put(register: Register, folded: str, **fields: str) -> Mapping[str, str]:
    key = register.keys.user(folded)
    had = cast("list[bytes | None]", await register.redis.hmget(key, list(fields)))
    await register.redis.hset(key, mapping=fields)  # type: ignore[arg-type]
    return {name: of.decode() for name, of in zip(fields, had, strict=True) if of is not None}


async def add_by(register: Register, opened: OpenedSession) -> None:
    actor = Actor(opened.person.name, HERE, opened.token)
    await register.users.add("Zed", Role.ADMINISTRATOR, PIN, actor)


async def choose(register: Register, opened: OpenedSession, old: str) -> None:
    caller = Caller(HERE)
    await register.sessions.choose_pin(opened.token, opened.person, old, NEW, caller)


async def move(register: Register, number: int, folded: str, to: str) -> None:
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


def to_sign_in_with(name: str, pin: str = PIN, **fields: str) -> Alter:
    """Return an act that signs a user in while Redis has other fields of theirs."""

    async def sign_in(register: Register) -> None:
        stored = {"pin": await fast_pins().hash(pin)} if pin != PIN else {}
        had = await put(register, name.lower(), **fields, **stored)
        await register.sign_in(name, pin)
        await put(register, name.lower(), **had)

    return sign_in


async def pin_to_choose_another_with(register: Register) -> None:
    opened = await register.sign_in("Ada")
    await put(register, "ada", pin=await fast_pins().hash(WRONG))
    await choose(register, opened, WRONG)


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


ALTERED: Mapping[str, tuple[Alter, tuple[str, ...]]] = {
    "an administrator who adds another": (administrator_who_adds_another, (
        "entry 7 says that 'Eve' signs in, but nobody added this user",
        "entry 8 is by 'Eve', who was never added",
    )),
    "a role that adds another": (role_that_adds_another, (
        "entry 7 says that 'Flo' signs in as 'administrator', but the role was 'floorperson'",
        "entry 8 is by 'Flo', who was disabled or was no administrator",
    )),
    "a role to sign in with": (to_sign_in_with("Flo", role="supervisor"), (
        "entry 7 says that 'Flo' signs in as 'supervisor', but the role was 'floorperson'",
    )),
    "a PIN to sign in with": (to_sign_in_with("Ada", WRONG), (
        "entry 7 says that 'Ada' signs in, with a PIN that the log does not have",
    )),
    "a PIN to choose another with": (pin_to_choose_another_with, (
        "entry 8 says that 'Ada' chooses a PIN, with a PIN that the log does not have",
    )),
    "a user enabled to sign in": (to_sign_in_with("Dan", enabled="1"), (
        "entry 7 says that 'Dan' signs in, but this user was disabled",
    )),
    "a name that has another enabled": (name_that_has_another_enabled, (
        "entry 7 is about 'Dan', and was done to 'ben'",
    )),
    "a name that has the PIN be another's": (name_that_has_the_pin_be_anothers, (
        "entry 7 is about 'Ada', and was done to 'flo'",
    )),
}  # fmt: skip


@pytest.mark.duty("D17", proof=True)
@pytest.mark.parametrize(("altered", "said"), ALTERED.values(), ids=ALTERED)
async def test_what_was_done_meanwhile_is_named(
    acting: Register, altered: Alter, said: tuple[str, ...]
) -> None:
    assert await problems(acting) == ()
    await altered(acting)
    assert await problems(acting) == tuple(f"the operators' log: {one}" for one in said)


async def test_session_is_sealed_for_the_role_that_it_had(acting: Register) -> None:
    """This holds even if its user chooses a PIN while Redis has another role."""
    opened = await acting.sign_in("Flo")
    had = await put(acting, "flo", role="administrator")
    await choose(acting, opened, PIN)
    assert await acting.whose(opened.token) is None
    await put(acting, "flo", **had)
    found = await acting.whose(opened.token)
    assert found is not None
    assert found.role is Role.FLOORPERSON


async def test_administrators_and_commands_are_taken_for_what_they_are(acting: Register) -> None:
    """Acts on each other's accounts in turn are valid."""
    users = acting.users
    opened = await acting.sign_in("Ada")
    ada = Actor("Ada", HERE, opened.token)
    await users.enable("Dan", ada)
    await users.set_pin("Dan", WRONG, ada)
    given = await acting.sign_in("Dan", WRONG)
    await choose(acting, given, WRONG)
    dan = Actor("Dan", HERE, (await acting.sign_in("dan", NEW)).token)
    await users.disable("Ada", dan)
    await users.add("Zoë", Role.AUDITOR, PIN, dan)
    await users.unlock("zoë", dan)
    await users.set_pin("ZOË", PIN, BY_COMMAND, own=True)
    await acting.sign_in("zoë")
    await users.enable("ada", BY_COMMAND)
    await acting.sign_in("ADA")
    assert await problems(acting) == ()
