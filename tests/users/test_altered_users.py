"""Users, roles, PINs and log that were altered without the service are named.

Everything is done with the service's own credential at Redis.
"""

from pathlib import Path
from typing import cast

import pytest

from meters.users.log_audit import LogAudit, check_log
from meters.users.log_mark import LogMark
from meters.users.roles import Role
from meters.users.sign_in_attempts import Caller
from meters.users.store import UserStore
from tests.users.staff import BY_COMMAND, PIN, WRONG, Register
from tests.users.tampering import Fields, insert_administrator, rewrite

pytestmark = pytest.mark.duty("D17")


@pytest.fixture
async def staffed(register: Register) -> Register:
    """Return three users, for whom the log has changes of each kind."""
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
    """Return what a new audit finds."""
    return (await check_log(register.redis)).problems


async def test_inserted_administrator_is_named(staffed: Register) -> None:
    await insert_administrator(staffed)
    assert await problems(staffed) == (
        "user 'Eve' (administrator) is in Redis, but nobody added them",
        "Redis counts 2 administrators, the log 1: they differ in eve",
    )


async def test_inserted_user_who_is_not_in_the_list_can_not_sign_in(staffed: Register) -> None:
    """Only the list can be audited without a scan of all keys."""
    await insert_administrator(staffed, listed=False)
    assert await staffed.refused("Eve", PIN) == "wrong_name_or_pin"


async def test_session_of_a_user_who_is_not_in_the_list_is_invalid(staffed: Register) -> None:
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
        ("ann", "pin", "$argon2id$", "the PIN is not the one that the log says was set last"),
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


async def test_log_rewritten_with_new_digests_differs_from_its_mark(
    staffed: Register, tmp_path: Path
) -> None:
    """The inserted administrator has a log entry there, which replaces another."""
    mark = LogMark(tmp_path)
    found = await check_log(staffed.redis)
    mark.note(found.entries, found.chain)
    mark.note_seal(found.entries, found.seal)

    def add_eve(rows: list[Fields]) -> list[Fields]:
        added = rows[0] | {b"about": b"Eve"}
        return [*rows[:2], added, *rows[2:-1]]

    await rewrite(staffed, add_eve)
    await insert_administrator(staffed)
    found_problems = (await check_log(staffed.redis, LogMark(tmp_path).seen)).problems
    assert (
        f"the operators' log: entry {found.entries} is not the one that was seen: {found.chain}"
        in found_problems
    )
    assert (
        f"the operators' log: the entries up to {found.entries} are not those that were sealed"
        in found_problems
    )


async def test_log_that_was_shortened_with_its_head_is_behind_its_mark(
    staffed: Register, tmp_path: Path
) -> None:
    mark = LogMark(tmp_path)
    found = await check_log(staffed.redis)
    mark.note(found.entries, found.chain)
    await rewrite(staffed, lambda rows: rows[:-1])
    short = await check_log(staffed.redis, mark.seen)
    problem = mark.problem(short.entries, mark.seen.entries)
    assert problem is not None
    assert problem.startswith(f"the operators' log holds {found.entries - 1} entries and has held ")


async def test_running_audit_finds_what_was_altered_since(staffed: Register) -> None:
    audit = LogAudit(staffed.redis)
    before = await audit.run(again=100)
    assert before.problems == ()
    await staffed.sign_in("Flo", WRONG)
    after = await audit.run(again=100)
    assert (after.problems, after.entries) == ((), before.entries + 1)
    await rewrite(staffed, lambda rows: [rows[0] | {b"by": b"Eve"}, *rows[1:]])
    assert (await audit.run(again=100)).problems


async def test_users_of_an_earlier_release_are_taken_as_they_are_until_they_are_noted(
    staffed: Register,
) -> None:
    """The old log has no role and no PIN. The service records both once."""
    drop = {b"role", b"pin"}
    await rewrite(
        staffed,
        lambda rows: [{n: v for n, v in fields.items() if n not in drop} for fields in rows],
    )
    found = await check_log(staffed.redis)
    assert (found.problems, found.unnoted) == ((), ("ann", "flo", "tim"))
    keys, store = staffed.keys, UserStore(staffed.redis)
    for folded in found.unnoted:
        arguments: list[str | int] = ["2026-11-20T12:00:00Z", "service"]
        await store.record("note_user", [keys.user(folded), *keys.log_and_head], arguments)
    found = await check_log(staffed.redis)
    assert (found.problems, found.unnoted) == ((), ())
    await staffed.redis.hset(keys.user("flo"), "role", "administrator")
    assert len(await problems(staffed)) == 1
    assert {row.what for row in (await staffed.log())[-3:]} == {"user_noted"}


async def test_administrators_that_were_exchanged_are_named(staffed: Register) -> None:
    await staffed.redis.srem(staffed.keys.administrators, "ann")
    await staffed.redis.sadd(staffed.keys.administrators, "flo")
    (problem,) = await problems(staffed)
    assert problem.endswith("they differ in ann, flo")


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
        "Redis does not have that the PIN of 'Flo' was set by 'command line (amy)'",
    )
