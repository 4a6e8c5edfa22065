"""Signing in, the lock-out, and sessions, in a real Redis; times are those of its keys."""

import asyncio
import hashlib
from typing import cast

import pytest
from redis.asyncio import Redis

from meters.floor.demonstration import PIN as PUBLIC_PIN
from meters.users.demonstration import let_in
from meters.users.directory import UserDirectory
from meters.users.errors import UsersError
from meters.users.pins import PinHashing
from meters.users.roles import Role
from meters.users.sign_in_attempts import (
    CLEAN_GAP_MS,
    EVERYBODY,
    FAILED_GAP_MS,
    NEW_DEVICES,
    PAIR,
    UNDECIDED_MS,
    Caller,
    new_device,
    site,
)
from tests.servers import RedisServer
from tests.users.staff import BY_COMMAND, HERE, PIN, WRONG, Register, fast_pins

IDLE_MS = 5 * 60_000
_LONGEST_MS = 12 * 3_600_000


@pytest.fixture
async def staffed(register: Register) -> Register:
    await register.add("Flo")
    await register.add("Sue", Role.SUPERVISOR)
    return register


def session_key(register: Register, token: str) -> str:
    return register.keys.session(hashlib.sha256(token.encode()).hexdigest())


async def earlier(register: Register, token: str, field: str, by_ms: int) -> None:
    """Move a time in a session into the past."""
    await register.redis.hincrby(session_key(register, token), field, -by_ms)


async def never(*_: object) -> bool:
    raise AssertionError("a PIN was looked at")


@pytest.mark.duty("D4")
async def test_the_public_pin_opens_no_session_once_the_floor_is_no_demonstration(
    register: Register,
) -> None:
    """Its users are still there: one person could be any two of them."""
    shown = UserDirectory.of(register.redis, 5, fast_pins(), demonstration=True)
    await let_in(shown.users)
    assert (
        await shown.sessions.sign_in("Sue", PUBLIC_PIN, Caller(HERE), None)
    ).person.name == "Sue"
    with pytest.raises(UsersError) as error:
        await register.sign_in("Sue", PUBLIC_PIN)
    assert error.value.code == "wrong_name_or_pin"
    await shown.users.set_pin("Sue", PIN, BY_COMMAND)
    assert (await register.sign_in("Sue", PIN)).person.name == "Sue"


async def test_a_session_is_known_by_the_digest_of_its_token_alone(staffed: Register) -> None:
    opened = await staffed.sign_in(" FLO ")
    person = opened.person
    assert (person.name, person.role) == ("Flo", Role.FLOORPERSON)
    assert await staffed.whose(opened.token) == person
    assert len(opened.token) >= 43
    assert person.csrf != opened.token
    key = session_key(staffed, opened.token)
    assert await staffed.redis.keys("*session*") == [key.encode()]
    for wrong in ("", opened.token[:-1], key.rpartition(":")[2], "x" * 9_000):
        assert await staffed.whose(wrong) is None


async def test_every_sign_in_has_a_new_token_and_ends_the_browsers_old_one(
    staffed: Register,
) -> None:
    first = await staffed.sign_in()
    elsewhere = await staffed.sign_in()
    second = await staffed.sign_in("Sue", old=first.token)
    assert len({first.token, second.token, elsewhere.token}) == 3
    assert len({first.person.csrf, second.person.csrf, elsewhere.person.csrf}) == 3
    assert await staffed.whose(first.token) is None
    assert await staffed.whose(elsewhere.token) is not None
    assert (await staffed.acts())[-2:] == [("sign_out", "Flo", "Flo"), ("sign_in", "Sue", "Sue")]
    brought = "chosen-by-somebody-else"
    assert (await staffed.sign_in(old=brought)).token != brought
    assert await staffed.whose(brought) is None


async def test_signing_out_ends_the_session_and_is_logged_once(staffed: Register) -> None:
    opened = await staffed.sign_in()
    for _ in range(2):
        await staffed.sessions.sign_out(opened.token, HERE)
    assert await staffed.whose(opened.token) is None
    assert [what for what, _, _ in await staffed.acts()].count("sign_out") == 1


async def test_a_session_ends_if_the_clock_was_set_back(staffed: Register) -> None:
    """Redis would let it idle for as long as the clock went back. A small change is tolerated."""
    opened = await staffed.sign_in()
    await earlier(staffed, opened.token, "touched", -50_000)
    assert await staffed.whose(opened.token) == opened.person
    await earlier(staffed, opened.token, "touched", -20_000)
    assert await staffed.whose(opened.token) is None


async def has_lapsed(register: Register, token: str, *, keep_alive: bool = False) -> bool:
    person = await register.whose(token, keep_alive=keep_alive)
    assert person is not None
    return person.lapsed


async def test_an_idle_session_lapses_for_good_and_one_in_use_continues(staffed: Register) -> None:
    token = (await staffed.sign_in()).token
    assert await staffed.redis.pttl(session_key(staffed, token)) > _LONGEST_MS - 5_000
    await earlier(staffed, token, "touched", IDLE_MS - 5_000)
    assert not await has_lapsed(staffed, token)
    assert not await has_lapsed(staffed, token, keep_alive=True)
    await earlier(staffed, token, "touched", IDLE_MS - 5_000)
    assert not await has_lapsed(staffed, token)
    await earlier(staffed, token, "touched", 5_000)
    for keep_alive in (False, True, False):
        assert await has_lapsed(staffed, token, keep_alive=keep_alive)
    assert not (await staffed.sign_in(old=token)).person.lapsed
    assert await staffed.whose(token) is None


async def test_no_session_outlives_its_longest_life_however_busy(staffed: Register) -> None:
    token = (await staffed.sign_in()).token
    await earlier(staffed, token, "created", _LONGEST_MS - 30_000)
    await earlier(staffed, token, "touched", 15_000)
    assert await staffed.whose(token, keep_alive=True)
    await earlier(staffed, token, "created", 30_000)
    assert await staffed.whose(token, keep_alive=True) is None
    assert await staffed.redis.exists(session_key(staffed, token)) == 0


async def test_a_wrong_name_and_a_wrong_pin_get_the_same_answer(staffed: Register) -> None:
    refusals = []
    for name, pin in (("Flo", WRONG), ("Ghost", PIN), ("Flo", ""), ("no name/at all", PIN)):
        with pytest.raises(UsersError) as refused:
            await staffed.sign_in(name, pin)
        refusals.append((refused.value.code, refused.value.message, refused.value.wait_ms))
    assert set(refusals) == {("wrong_name_or_pin", "the name or the PIN is wrong", None)}


@pytest.mark.parametrize("name", ["Flo", "Ghost"])
async def test_the_fifth_failure_locks_a_name_out_there_also_for_the_right_pin(
    staffed: Register, name: str
) -> None:
    codes = [await staffed.refused(name) for _ in range(5)]
    assert codes == ["wrong_name_or_pin"] * 4 + ["locked_out"]
    with pytest.raises(UsersError) as refused:
        await staffed.sign_in(name.upper(), PIN)
    assert refused.value.code == "locked_out"
    assert refused.value.wait_ms is not None
    assert PAIR.lock_ms - 10_000 < refused.value.wait_ms <= PAIR.lock_ms
    assert "15 minutes" in refused.value.message
    assert await staffed.sign_in("Sue")
    assert await staffed.sign_in("Flo", client="192.0.2.99"), "a stranger locks nobody elsewhere"


async def test_a_lock_out_ends_by_itself(staffed: Register) -> None:
    for _ in range(5):
        await staffed.refused()
    lock = staffed.keys.lock(f"pair:{HERE}:flo")
    assert PAIR.lock_ms - 10_000 < await staffed.redis.pttl(lock) <= PAIR.lock_ms
    await staffed.redis.pexpire(lock, 0)
    assert await staffed.refused() == "wrong_name_or_pin"
    assert await staffed.sign_in()


async def test_while_locked_out_no_pin_is_looked_at_and_nothing_more_is_logged(
    staffed: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        await staffed.refused()
    before = await staffed.log()

    monkeypatch.setattr(PinHashing, "matches", never)
    assert await staffed.refused("Flo", PIN) == "locked_out"
    assert await staffed.log() == before


async def test_being_right_forgets_the_failures_of_the_name(staffed: Register) -> None:
    for _ in range(4):
        await staffed.refused()
    await staffed.sign_in()
    assert [await staffed.refused() for _ in range(4)] == ["wrong_name_or_pin"] * 4


async def test_failures_older_than_a_quarter_of_an_hour_do_not_count(staffed: Register) -> None:
    tries = staffed.keys.attempts(f"pair:{HERE}:flo")
    for _ in range(4):
        await staffed.refused()
    assert 0 < await staffed.redis.pttl(tries) <= PAIR.within_ms
    for member in cast("list[bytes]", await staffed.redis.zrange(tries, 0, 1)):
        await staffed.redis.zincrby(tries, -PAIR.within_ms, member)
    assert [await staffed.refused() for _ in range(2)] == ["wrong_name_or_pin"] * 2
    assert await staffed.refused() == "locked_out"


async def test_the_twentieth_failure_locks_an_address_out_and_being_right_does_not_help(
    staffed: Register,
) -> None:
    codes = []
    for at in range(20):
        if at % 4 == 0:
            await staffed.sign_in("Sue")
        codes.append(await staffed.refused(f"Nobody {at}" if at < 19 else "Flo"))
    assert codes == ["wrong_name_or_pin"] * 19 + ["locked_out"]
    assert await staffed.refused("Sue", PIN) == "locked_out"
    assert await staffed.sign_in("Sue", client="192.0.2.8")
    assert (await staffed.acts())[-2] == ("locked_out", "", "")


async def test_many_guesses_together_do_not_evade_the_count(
    staffed: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = 0
    real = PinHashing.matches

    async def counted(self: PinHashing, pin: str, kept: str | None) -> bool:
        nonlocal looked_at
        looked_at += 1
        return await real(self, pin, kept)

    monkeypatch.setattr(PinHashing, "matches", counted)
    guesses = [staffed.refused() for _ in range(30)]
    codes = await asyncio.gather(*guesses)
    assert looked_at == 5
    assert codes.count("wrong_name_or_pin") == 4
    assert codes.count("locked_out") >= 1
    assert set(codes) <= {"wrong_name_or_pin", "locked_out", "busy"}


async def test_many_correct_sign_ins_together_are_never_locked_out(register: Register) -> None:
    names = [f"Flo {at}" for at in range(30)]
    for name in names:
        await register.add(name)

    async def code(name: str) -> str:
        try:
            return (await register.sign_in(name)).person.name
        except UsersError as error:
            return error.code if error.wait_ms else "no time"

    outcomes = await asyncio.gather(*(code(name) for name in names))
    assert set(outcomes) <= {*names, "busy"}
    assert len(set(outcomes) - {"busy"}) >= 20
    later = [await code(name) for name in names]
    assert later == names
    assert "sign_in_refused" not in [what for what, _, _ in await register.acts()]


async def test_a_refusal_before_the_pin_was_checked_does_not_count_as_a_failure(
    staffed: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*_: object) -> bool:
        raise UsersError("busy", "too many", wait_ms=2_000)

    with monkeypatch.context() as patched:
        patched.setattr(PinHashing, "matches", busy)
        for _ in range(6):
            assert await staffed.refused("Flo", PIN) == "busy"
    assert await staffed.sign_in()


async def test_a_try_that_is_never_decided_is_in_nobodys_way_for_long(
    staffed: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dies(*_: object) -> bool:
        raise RuntimeError("the worker died")

    with monkeypatch.context() as patched:
        patched.setattr(PinHashing, "matches", dies)
        for _ in range(5):
            with pytest.raises(RuntimeError):
                await staffed.sign_in()
    assert await staffed.refused("Flo", PIN) == "busy"
    undecided = staffed.keys.undecided(f"pair:{HERE}:flo")
    for member in cast("list[bytes]", await staffed.redis.zrange(undecided, 0, -1)):
        await staffed.redis.zincrby(undecided, -UNDECIDED_MS, member)
    assert await staffed.sign_in()


async def test_from_many_addresses_a_name_is_locked_for_new_devices_alone(
    staffed: Register,
) -> None:
    hers, new = new_device(), new_device()
    await staffed.sign_in(device=hers, client="192.0.2.200")
    codes = [await staffed.refused(client=f"192.0.2.{at}") for at in range(NEW_DEVICES.most)]
    assert codes == ["wrong_name_or_pin"] * (NEW_DEVICES.most - 1) + ["locked_out"]
    assert await staffed.refused("Flo", PIN, client="192.0.2.201", device=new) == "locked_out"
    assert await staffed.sign_in("Sue", client="192.0.2.201", device=new)
    assert await staffed.sign_in(device=hers, client="192.0.2.1")


async def spray(staffed: Register, wanted: int) -> str:
    """Fail to sign in from many addresses, each time as another name, and return the last code."""
    code = ""
    for at in range(wanted):
        code = await staffed.refused(f"Nobody {at}", client=f"198.51.100.{at}")
    return code


async def pass_time(staffed: Register, ms: int) -> None:
    """Let everybody's failures be older by this time."""
    tries = staffed.keys.attempts("everybody")
    for member in cast("list[bytes]", await staffed.redis.zrange(tries, 0, -1)):
        await staffed.redis.zincrby(tries, -ms, member)


async def test_trying_a_pin_for_many_names_slows_strangers_and_stops_nobody(
    staffed: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without locking anybody out: the next person gets in when a few seconds have passed."""
    hers = new_device()
    await staffed.sign_in(device=hers)
    assert await spray(staffed, EVERYBODY.most) == "wrong_name_or_pin"

    with monkeypatch.context() as patched:
        patched.setattr(PinHashing, "matches", never)
        with pytest.raises(UsersError) as slowed:
            await staffed.sign_in("Sue", client="192.0.2.9")
    assert slowed.value.code == "slowed"
    assert slowed.value.wait_ms is not None
    assert 0 < slowed.value.wait_ms <= CLEAN_GAP_MS
    assert await staffed.sign_in(device=hers), "a known device is not slowed"
    await pass_time(staffed, CLEAN_GAP_MS)
    assert await staffed.refused("Sue", PIN, client="198.51.100.1") == "slowed"
    assert await staffed.sign_in("Sue", client="192.0.2.9")
    assert await staffed.sign_in("Flo", client="192.0.2.10"), "being right slows nobody"
    assert await staffed.refused("Flo", client="192.0.2.11") == "wrong_name_or_pin"
    assert await staffed.refused("Flo", PIN, client="192.0.2.12") == "slowed"
    await pass_time(staffed, FAILED_GAP_MS)
    assert await staffed.sign_in("Sue", client="198.51.100.1")


async def test_while_strangers_are_slowed_many_guesses_together_are_one(staffed: Register) -> None:
    await spray(staffed, EVERYBODY.most)
    await pass_time(staffed, CLEAN_GAP_MS)
    codes = await asyncio.gather(*(staffed.refused(client=f"203.0.113.{at}") for at in range(20)))
    assert sorted(codes) == ["slowed"] * 19 + ["wrong_name_or_pin"]


async def test_a_guess_that_is_not_checked_yet_counts_for_everybody(
    staffed: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    await spray(staffed, EVERYBODY.most - 1)
    begun, checked = asyncio.Event(), asyncio.Event()

    async def matches(*_: object) -> bool:
        begun.set()
        await checked.wait()
        return False

    monkeypatch.setattr(PinHashing, "matches", matches)
    guess = asyncio.create_task(staffed.refused(client="203.0.113.1"))
    async with asyncio.timeout(10):
        await begun.wait()
        assert await staffed.refused("Sue", client="203.0.113.2") == "slowed"
        checked.set()
        assert await guess == "wrong_name_or_pin"


async def test_a_clock_that_was_set_back_slows_nobody_for_longer(staffed: Register) -> None:
    await spray(staffed, EVERYBODY.most)
    await pass_time(staffed, -EVERYBODY.within_ms)
    assert await staffed.sign_in("Sue", client="192.0.2.9")
    assert await staffed.refused("Flo", client="192.0.2.10") == "wrong_name_or_pin"
    assert await staffed.refused("Flo", PIN, client="192.0.2.11") == "slowed"


async def test_nobody_is_slowed_an_hour_after_the_failures(staffed: Register) -> None:
    await spray(staffed, EVERYBODY.most)
    tries = staffed.keys.attempts("everybody")
    assert 0 < await staffed.redis.pttl(tries) <= EVERYBODY.within_ms
    first = cast("list[bytes]", await staffed.redis.zrange(tries, 0, 0))[0]
    await staffed.redis.zincrby(tries, -EVERYBODY.within_ms, first)
    assert await staffed.sign_in("Sue", client="192.0.2.9")


async def test_an_administrator_who_unlocks_a_name_forgets_nothing_of_the_others(
    staffed: Register,
) -> None:
    await spray(staffed, EVERYBODY.most - 1)
    await staffed.refused("Flo")
    await staffed.users.unlock("Flo", BY_COMMAND)
    assert await staffed.refused("Flo", PIN, client="192.0.2.9") == "slowed"


async def test_a_device_that_has_signed_in_before_may_try_while_others_are_locked_out(
    staffed: Register,
) -> None:
    hers = new_device()
    await staffed.sign_in(device=hers)
    for _ in range(5):
        await staffed.refused()
    for at in range(15):
        await staffed.refused(f"Nobody {at}")
    assert await staffed.refused("Sue", PIN) == "locked_out", "the whole address"
    assert [await staffed.refused(device=hers) for _ in range(4)] == ["wrong_name_or_pin"] * 4
    assert await staffed.sign_in(device=hers)
    assert await staffed.refused("Sue", PIN, device=hers) == "locked_out", "not as another name"


async def test_a_stolen_device_serves_for_five_guesses(staffed: Register) -> None:
    stolen = new_device()
    await staffed.sign_in(device=stolen)
    guesses = [
        await staffed.refused(client=f"198.51.100.{at // 4}", device=stolen) for at in range(5)
    ]
    assert guesses == ["wrong_name_or_pin"] * 5
    for _ in range(5):
        await staffed.refused(client="198.51.100.9", device=stolen)
    assert await staffed.refused("Flo", PIN, client="198.51.100.9", device=stolen) == "locked_out"
    assert await staffed.sign_in()
    kept = [key for key in await staffed.redis.keys("*") if stolen.encode() in key]
    assert kept == [], "only its digest is kept"


async def test_a_disabled_user_has_no_device(staffed: Register) -> None:
    hers = new_device()
    await staffed.sign_in(device=hers)
    await staffed.users.disable("Flo", BY_COMMAND)
    await staffed.users.enable("Flo", BY_COMMAND)
    for _ in range(5):
        await staffed.refused()
    assert await staffed.refused("Flo", PIN, device=hers) == "locked_out"


async def test_administrators_see_what_is_locked_and_unlock_it(staffed: Register) -> None:
    users = staffed.users

    async def locked() -> list[tuple[str, str]]:
        (row,) = [row for row in await users.rows() if row.name == "Flo"]
        return [(lock.where, lock.address) for lock in row.locked]

    assert await locked() == []
    for _ in range(5):
        await staffed.refused()
    assert await locked() == [("name", HERE)]
    for at in range(15):
        await staffed.refused(f"Nobody {at}")
    assert await staffed.refused("Flo", PIN) == "locked_out"
    assert sorted(await locked()) == [("address", HERE), ("name", HERE)]
    assert (await users.unlock("FLO", BY_COMMAND)).locked == ()
    assert await staffed.sign_in()
    assert (await staffed.acts())[-2] == ("user_unlocked", BY_COMMAND.name, "Flo")
    with pytest.raises(UsersError) as refused:
        await users.unlock("Ghost", BY_COMMAND)
    assert refused.value.code == "unknown_user"


@pytest.mark.parametrize("act", ["pin", "enable", "unlock"])
async def test_a_lock_out_of_a_name_ends_when_an_administrator_unlocks_it(
    staffed: Register, act: str
) -> None:
    users = staffed.users
    for _ in range(5):
        await staffed.refused()
    assert await staffed.refused("Flo", PIN) == "locked_out"
    if act == "pin":
        await users.set_pin("FLO", PIN, BY_COMMAND)
    elif act == "unlock":
        await users.unlock("flo", BY_COMMAND)
    else:
        await users.disable("flo", BY_COMMAND)
        assert await staffed.refused("Flo", PIN) == "locked_out"
        await users.enable("flo", BY_COMMAND)
    for _ in range(4):
        assert await staffed.refused() == "wrong_name_or_pin"
    assert await staffed.sign_in()


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("2001:db8::1", "2001:db8::ffff:1:2:3", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fd00:1:2:3::7", "fd00:1:2:3::8", False),
        ("fc00::7", "fc00::8", False),
        ("fe80::7", "fe80::8", False),
        ("fe80::7%eth0", "fe80::8%eth0", False),
        ("::1", "::2", False),
        ("::ffff:192.0.2.7", "192.0.2.7", True),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.8", False),
        ("192.0.2.7", "192.0.2.8", False),
        ("", "192.0.2.8", False),
    ],
)
def test_of_global_ipv6_a_whole_site_is_one_address(one: str, other: str, *, alike: bool) -> None:
    assert (site(one) == site(other)) == alike


@pytest.mark.parametrize("what", ["disabled", "another PIN", "locked out"])
async def test_what_happens_while_a_pin_is_looked_at_counts(
    staffed: Register, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    real = PinHashing.matches

    async def slow(self: PinHashing, pin: str, kept: str | None) -> bool:
        right = await real(self, pin, kept)
        if what == "disabled":
            await staffed.redis.hset(staffed.keys.user("flo"), "enabled", "0")
        elif what == "another PIN":
            await staffed.users.set_pin("Flo", WRONG, BY_COMMAND)
        else:
            await staffed.redis.set(staffed.keys.lock(f"pair:{HERE}:flo"), "1", px=60_000)
        return right

    monkeypatch.setattr(PinHashing, "matches", slow)
    assert await staffed.refused("Flo", PIN) == "wrong_name_or_pin"
    assert await staffed.redis.keys("*session*") == []


async def test_for_a_name_that_nobody_has_a_pin_is_looked_at_all_the_same(
    staffed: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str | None] = []
    real = PinHashing.matches

    async def watched(self: PinHashing, pin: str, kept: str | None) -> bool:
        looked_at.append(kept)
        return await real(self, pin, kept)

    monkeypatch.setattr(PinHashing, "matches", watched)
    assert await staffed.refused("Ghost") == "wrong_name_or_pin"
    assert looked_at == [None]


async def test_refusals_and_lock_outs_are_logged_and_no_unknown_name(staffed: Register) -> None:
    await staffed.refused(WRONG, PIN)
    for _ in range(5):
        await staffed.refused()
    acts = (await staffed.acts())[2:]
    assert acts == [
        ("sign_in_refused", "", ""),
        *[("sign_in_refused", "", "Flo")] * 5,
        ("locked_out", "", "Flo"),
    ]
    assert {row.client for row in (await staffed.log())[2:]} == {HERE}


async def test_workers_share_sessions_and_what_ended_them(
    staffed: Register, memory_server: RedisServer
) -> None:
    other = Redis.from_url(memory_server.url)
    worker = UserDirectory.of(other, 5, fast_pins())
    opened = await staffed.sign_in()
    assert await worker.sessions.find(opened.token, keep_alive=True) == opened.person
    await worker.sessions.sign_out(opened.token, HERE)
    assert await staffed.whose(opened.token) is None
    await other.aclose()


async def test_a_store_that_fails_signs_nobody_in(
    staffed: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = Redis.from_url("unix:///nowhere/redis.sock")
    user_directory = UserDirectory.of(nowhere, 5, fast_pins())
    token = (await staffed.sign_in()).token
    for asked in (
        user_directory.sessions.sign_in("Flo", PIN, Caller(HERE), None),
        user_directory.sessions.find(token, keep_alive=True),
        user_directory.users.rows(),
        user_directory.log.page(None, 1),
    ):
        with pytest.raises(UsersError) as refused:
            await asked
        assert refused.value.code == "store_failed"
    await nowhere.aclose()
