"""Signing in, the lock-out, and sessions, in a real Redis; times are those of its keys."""

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Final, cast

import pytest
from redis.asyncio import Redis

from meters.floor.facility import PUBLIC_PIN
from meters.floor.roles import Role
from meters.ledger.two_people import NO_SETTERS, PinSetters
from meters.users.pins import PinHashing
from meters.users.sessions import OpenedSession
from meters.users.sign_in_attempts import (
    EVERYBODY,
    NEW_DEVICES,
    PAIR,
    UNDECIDED_MS,
    Caller,
    new_device,
    site,
)
from meters.users.user_store import UsersError
from meters.users.users import Actor, UserDirectory, let_in
from tests.users.staff import (
    BY_COMMAND,
    HERE,
    PIN,
    WRONG,
    Register,
    code_of,
    fast_pins,
    register_with,
    watch_pins,
)

IDLE_MS = 5 * 60_000
_LONGEST_MS = 12 * 3_600_000


@pytest.fixture
async def staffed(register: Register) -> Register:
    await register.add("Flo")
    await register.add("Sue", Role.SUPERVISOR)
    await register.add("Ada", Role.ADMINISTRATOR)
    return register


async def earlier(register: Register, token: str, field: str, by_ms: int) -> None:
    await register.redis.hincrby(register.keys.session_of(token), field, -by_ms)


@pytest.mark.duty("D4")
async def test_the_public_pin_opens_no_session_once_the_floor_is_no_demonstration(
    register: Register,
) -> None:
    """Its users are still there: one person could be any two of them."""
    shown = UserDirectory(register.redis, 5, fast_pins(), demonstration=True)
    await let_in(shown.users)
    assert (
        await shown.sessions.sign_in("Sue", PUBLIC_PIN, Caller(HERE), None)
    ).person.name == "Sue"
    assert await register.refused("Sue", PUBLIC_PIN) == "wrong_name_or_pin"
    await shown.users.set_pin("Sue", PIN, BY_COMMAND)
    assert (await register.sign_in("Sue", PIN)).person.name == "Sue"


async def test_a_session_is_known_by_the_digest_of_its_token_alone(staffed: Register) -> None:
    opened = await staffed.sign_in(" FLO ")
    person = opened.person
    assert (person.name, person.role) == ("Flo", Role.FLOORPERSON)
    assert await staffed.whose(opened.token) == person
    assert len(opened.token) >= 43
    assert person.csrf != opened.token
    key = staffed.keys.session_of(opened.token)
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
    assert await staffed.redis.pttl(staffed.keys.session_of(token)) > _LONGEST_MS - 5_000
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
    assert await staffed.redis.exists(staffed.keys.session_of(token)) == 0


async def test_a_wrong_name_and_a_wrong_pin_get_the_same_answer(
    staffed: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a name that nobody has, a PIN is looked at all the same."""
    looked_at, refusals = watch_pins(monkeypatch), []
    for name, pin in (("Flo", WRONG), ("Ghost", PIN), ("Flo", ""), ("no name/at all", PIN)):
        with pytest.raises(UsersError) as refused:
            await staffed.sign_in(name, pin)
        refusals.append((refused.value.code, refused.value.message, refused.value.wait_ms))
    assert set(refusals) == {("wrong_name_or_pin", "the name or the PIN is wrong", None)}
    assert [kept is None for kept in looked_at[:2]] == [False, True]


_TRY: Final = re.compile(r"(?:(\d+) )?(Nobody|\w+)( wrong)?(?: at (\w+))?(?: with (\w+))?: (\w+)")
_CODES: Final = {"refused": "wrong_name_or_pin", "locks": "locked_out", "locked": "locked_out"}
_UNSEEN: Final = {"locked", "slowed"}


class Tries:
    """Sign-ins of a story: `[NUMBER] NAME [wrong] [at ADDRESS] [with DEVICE]: OUTCOME; ...`.

    Each Nobody has another name, and each try at `any` another address. A try that locks had its
    PIN looked at; one that is locked or slowed had not, and nothing is logged.
    """

    def __init__(self, register: Register, monkeypatch: pytest.MonkeyPatch) -> None:
        self.register = register
        self.looked_at = watch_pins(monkeypatch)
        self.devices: defaultdict[str | None, str] = defaultdict(new_device, {None: ""})
        self.numbers = count(1)

    async def __call__(self, story: str) -> None:
        users = self.register.users
        acts = {"unlocked": users.unlock, "disabled": users.disable, "enabled": users.enable}
        for step in story.split("; "):
            if found := _TRY.fullmatch(step):
                for _ in range(int(found[1] or 1)):
                    await self._sign_in(*found.groups()[1:])
            elif step.startswith("Flo is "):
                await acts[step.removeprefix("Flo is ")]("Flo", BY_COMMAND)
            else:
                seconds, _, _ = step.partition(" s pass")
                await pass_time(self.register, int(seconds) * 1_000)

    async def _sign_in(self, name: str, wrong: str, at: str, device: str, outcome: str) -> None:
        number, looked_at, log = next(self.numbers), len(self.looked_at), await self.register.log()
        client = f"198.51.100.{number}" if at == "any" else f"192.0.2.{at}" if at else HERE
        who = f"Nobody {number}" if name == "Nobody" else name
        pin, wait_ms, code = WRONG if wrong or who != name else PIN, None, "in"
        try:
            await self.register.sign_in(who, pin, client=client, device=self.devices[device])
        except UsersError as error:
            code, wait_ms = error.code, error.wait_ms
        assert code == _CODES.get(outcome, outcome), (number, who)
        assert (wait_ms is not None) == (outcome in {"locks", *_UNSEEN})
        if outcome in _UNSEEN:
            assert (len(self.looked_at), await self.register.log()) == (looked_at, log)


@pytest.fixture
def tries(staffed: Register, monkeypatch: pytest.MonkeyPatch) -> Tries:
    return Tries(staffed, monkeypatch)


async def pass_time(register: Register, ms: int) -> None:
    redis, keys = register.redis, register.keys
    limits = {"everybody": EVERYBODY, f"pair:{HERE}:flo": PAIR}
    longest_ms = {keys.attempts(of).encode(): limit.within_ms for of, limit in limits.items()}
    for key in cast("list[bytes]", await redis.keys("*:tries:*")):
        assert 0 < await redis.pttl(key) <= longest_ms.get(key, NEW_DEVICES.within_ms)
        for member in cast("list[bytes]", await redis.zrange(key, 0, -1)):
            await redis.zincrby(key, -ms, member)


_SPRAY: Final = f"{EVERYBODY.most} Nobody at any: refused"
_FROM_MANY: Final = f"{NEW_DEVICES.most - 1} Flo wrong at any: refused; Flo wrong at any: locks"
_LOCKED: Final = "4 Flo wrong: refused; Flo wrong: locks; Flo: locked"


@pytest.mark.parametrize(
    "story",
    {
        "being right forgets the failures of the name":
            "4 Flo wrong: refused; Flo: in; 4 Flo wrong: refused",
        "the twentieth failure locks an address, and being right does not help":
            "Sue: in; 4 Nobody: refused; " * 4 + "Sue: in; 3 Nobody: refused; Flo wrong: locks;"
            " Sue: locked; Sue at 8: in",
        "from many addresses a name is locked for new devices alone":
            f"Flo at 200 with hers: in; {_FROM_MANY}; Flo at 201 with new: locked;"
            " Sue at 201 with new: in; Flo at 1 with hers: in",
        "a PIN tried for many names slows strangers and stops nobody":
            f"Flo with hers: in; {_SPRAY}; Sue at 9: slowed; Flo with hers: in; 10 s pass;"
            " Sue at 9: in; Flo at 10: in; Flo wrong at 11: refused; Flo at 12: slowed",
        "where somebody failed one waits for a minute":
            f"{_SPRAY}; Flo wrong: slowed; 10 s pass; Flo wrong: refused; 10 s pass; Sue: slowed;"
            " 50 s pass; Sue: in",
        "a clock that was set back slows nobody for longer":
            f"{_SPRAY}; -3600 s pass; Sue at 9: in; Flo wrong at 10: refused; Flo at 11: slowed",
        "nobody is slowed an hour after the failures":
            f"Nobody at any: refused; 3595 s pass; {EVERYBODY.most - 1} Nobody at any: refused;"
            " Sue at 9: slowed; 5 s pass; Sue at 9: in",
        "failures older than a quarter of an hour do not count":
            "2 Flo wrong: refused; 890 s pass; 2 Flo wrong: refused; 10 s pass;"
            " 2 Flo wrong: refused; Flo wrong: locks",
        "who unlocks a name forgets nothing of the others":
            f"{EVERYBODY.most - 1} Nobody at any: refused; Flo wrong: refused; Flo is unlocked;"
            " Flo at 9: slowed",
        "a device that has signed in may try while others are locked, and not as another name":
            f"Flo with hers: in; {_LOCKED}; 14 Nobody: refused; Nobody: locks; Sue: locked;"
            " 4 Flo wrong with hers: refused; Flo with hers: in; Sue with hers: locked",
        "a stolen device serves for five guesses":
            "Flo with hers: in; 5 Flo wrong at any with hers: refused; 4 Flo wrong with hers:"
            " refused; Flo wrong with hers: locks; Flo with hers: locked; Flo at 9: in",
        "a disabled user has no device":
            f"Flo with hers: in; Flo is disabled; Flo is enabled; {_LOCKED}; Flo with hers: locked",
        "an administrator unlocks": f"{_LOCKED}; Flo is unlocked; 4 Flo wrong: refused; Flo: in",
        "an administrator enables": f"{_LOCKED}; Flo is disabled; Flo: locked; Flo is enabled;"
            " 4 Flo wrong: refused; Flo: in",
    }.items(),
    ids=lambda story: story[0],
)  # fmt: skip
async def test_failures(tries: Tries, story: tuple[str, str]) -> None:
    await tries(story[1])
    for name, device in tries.devices.items():
        kept = [
            key for key in await tries.register.redis.keys() if device and device.encode() in key
        ]
        assert kept == [], f"only the digest of {name} is kept"


@pytest.mark.parametrize("name", ["Flo", "Ghost"])
async def test_the_fifth_failure_locks_a_name_out_there_also_for_the_right_pin(
    staffed: Register, tries: Tries, name: str
) -> None:
    """A stranger locks nobody elsewhere. The lock-out ends by itself, or with another PIN."""
    await tries(_LOCKED.replace("Flo", name))
    with pytest.raises(UsersError, match="15 minutes") as refused:
        await staffed.sign_in(name.upper(), PIN)
    lock = staffed.keys.lock(f"pair:{HERE}:{name.lower()}")
    for left_ms in (refused.value.wait_ms, await staffed.redis.pttl(lock)):
        assert PAIR.lock_ms - 10_000 < (left_ms or 0) <= PAIR.lock_ms
    await tries("Sue: in; Flo at 99: in")
    await staffed.redis.pexpire(lock, 0)
    await tries(f"4 {name} wrong: refused; Flo: in; 4 Flo wrong: refused; {name} wrong: locks")
    if name == "Flo":
        await staffed.users.set_pin("FLO", PIN, BY_COMMAND)
        await tries("4 Flo wrong: refused; Flo: in")


async def test_many_guesses_together_do_not_evade_the_count(
    staffed: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = watch_pins(monkeypatch)
    guesses = [staffed.refused() for _ in range(30)]
    codes = await asyncio.gather(*guesses)
    assert len(looked_at) == 5
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


async def test_while_strangers_are_slowed_many_guesses_together_are_one(
    staffed: Register, tries: Tries
) -> None:
    await tries(f"{_SPRAY}; 10 s pass")
    codes = await asyncio.gather(*(staffed.refused(client=f"203.0.113.{at}") for at in range(20)))
    assert sorted(codes) == ["slowed"] * 19 + ["wrong_name_or_pin"]


async def test_a_guess_that_is_not_checked_yet_counts_for_everybody(
    staffed: Register, tries: Tries, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tries(f"{EVERYBODY.most - 1} Nobody at any: refused")
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
    assert await code_of(users.unlock("Ghost", BY_COMMAND)) == "unknown_user"


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
    redis, keys = staffed.redis, staffed.keys
    acts: dict[str, Callable[[], Awaitable[object]]] = {
        "disabled": lambda: redis.hset(keys.user("flo"), "enabled", "0"),
        "another PIN": lambda: staffed.users.set_pin("Flo", WRONG, BY_COMMAND),
        "locked out": lambda: redis.set(keys.lock(f"pair:{HERE}:flo"), "1", px=60_000),
    }
    watch_pins(monkeypatch, acts[what])
    assert await staffed.refused("Flo", PIN) == "wrong_name_or_pin"
    assert await staffed.redis.keys("*session*") == []


async def test_refusals_and_lock_outs_are_logged_and_no_unknown_name(staffed: Register) -> None:
    for name, times in (
        (WRONG, 1),
        ("Flo", 5),
        ("Ghost", 4),
        ("Spirit", 4),
        ("Ghoul", 4),
        ("Elf", 2),
    ):
        for _ in range(times):
            await staffed.refused(name, WRONG if name == "Flo" else PIN)
    acts = (await staffed.acts())[3:]
    assert acts == [
        ("sign_in_refused", "", ""), *[("sign_in_refused", "", "Flo")] * 5,
        ("locked_out", "", "Flo"), *[("sign_in_refused", "", "")] * 14, ("locked_out", "", ""),
    ]  # fmt: skip
    assert {row.client for row in (await staffed.log())[3:]} == {HERE}


SECRET = b"known to services alone"
TOKEN = "chosen-by-a-forger"  # noqa: S105


@pytest.fixture
async def sealed(redis: Redis) -> Register:
    register = register_with(redis, sessions=SECRET)
    await register.add("Flo")
    await register.add("Ada", Role.ADMINISTRATOR)
    return register


async def put(register: Register, token: str, fields: Mapping[str, str], **other: str) -> None:
    """Write a session with a chosen token: a copy of another with some fields changed."""
    for name, value in {**fields, **other}.items():
        await register.redis.hset(register.keys.session_of(token), name, value)


async def kept(register: Register, token: str) -> dict[str, str]:
    found = cast(
        "dict[bytes, bytes]", await register.redis.hgetall(register.keys.session_of(token))
    )
    return {name.decode(): value.decode() for name, value in found.items()}


@pytest.mark.duty("D20")
async def test_a_session_is_of_who_signed_in_and_of_the_role_that_they_had(
    sealed: Register,
) -> None:
    """One that no service made holds for nobody."""
    ada, flo = await sealed.sign_in("Ada"), await sealed.sign_in("Flo")
    theirs, own = await kept(sealed, ada.token), await kept(sealed, flo.token)
    for fields in (theirs, own, theirs | {"seal": ""}, theirs | {"seal": own["seal"]}):
        await put(sealed, TOKEN, fields, user="ada", name="Ada")
        assert await sealed.whose(TOKEN) is None
    await put(sealed, TOKEN, {name: own[name] for name in own.keys() - {"seal"}})
    assert await sealed.whose(TOKEN) is None
    assert await sealed.whose(ada.token) == ada.person
    await sealed.add("Finn")
    for name in ("Ada", "Finn"):
        await put(sealed, flo.token, own, user=name.lower(), name=name)
        assert await sealed.whose(flo.token) is None
    await put(sealed, flo.token, own)
    assert await sealed.whose(flo.token) == flo.person
    await sealed.redis.hset(sealed.keys.user("flo"), "role", "administrator")
    assert await sealed.whose(flo.token) is None


@pytest.mark.duty("D20")
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


@pytest.mark.duty("D20")
async def test_all_services_of_one_secret_know_a_session_and_its_end(sealed: Register) -> None:
    token = (await sealed.sign_in("Flo")).token
    worker = register_with(sealed.redis, sessions=SECRET)
    assert await worker.whose(token, keep_alive=True) == await sealed.whose(token) is not None
    assert await register_with(sealed.redis, sessions=b"another").whose(token) is None
    await worker.sessions.sign_out(token, HERE)
    assert await sealed.whose(token) is None
    unsealed = (await register_with(sealed.redis, sessions=b"").sign_in("Flo")).token
    assert await sealed.whose(unsealed) is None
    assert await register_with(sealed.redis, sessions=b"").whose(unsealed) is not None


OWN = "905183"
ADA = Actor("Ada", HERE)


async def choose(register: Register, opened: OpenedSession, old: str = PIN, new: str = OWN) -> str:
    sessions, caller = register.sessions, Caller(HERE)
    return await code_of(sessions.choose_pin(opened.token, opened.person, old, new, caller))


async def pin_by(register: Register, name: str) -> str:
    return next(row.pin_by for row in await register.users.rows() if row.name == name)


async def test_a_pin_of_ones_own_ends_ones_other_sessions_alone(staffed: Register) -> None:
    here, elsewhere, sue = (
        await staffed.sign_in(), await staffed.sign_in(), await staffed.sign_in("Ada")
    )  # fmt: skip
    assert await choose(staffed, here) == ""
    assert await staffed.whose(here.token) == here.person
    assert await staffed.whose(elsewhere.token) is None
    assert await staffed.whose(sue.token) == sue.person
    assert await staffed.refused("Flo", PIN) == "wrong_name_or_pin"
    assert (await staffed.sign_in("Flo", OWN)).person.name == "Flo"
    entry = next(row for row in await staffed.log() if row.what == "pin_chosen")
    assert (entry.by, entry.about, entry.client) == ("Flo", "Flo", HERE)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (WRONG, OWN, "wrong_pin"), ("", OWN, "wrong_pin"), (PIN, PIN, "bad_pin"),
        (PIN, "111111", "bad_pin"), (PIN, "12345", "bad_pin"), (WRONG, "1", "bad_pin"),
    ],
)  # fmt: skip
async def test_what_is_refused_changes_nothing(
    staffed: Register, old: str, new: str, code: str
) -> None:
    here, elsewhere = await staffed.sign_in(), await staffed.sign_in()
    assert await choose(staffed, here, old, new) == code
    assert await staffed.whose(here.token) == here.person
    assert await staffed.whose(elsewhere.token) == elsewhere.person
    assert await pin_by(staffed, "Flo") == "Flo"
    assert await staffed.sign_in()


async def test_a_wrong_old_pin_is_a_failed_try_and_is_logged(staffed: Register) -> None:
    """The PIN that one has, chosen again, is none."""
    here = await staffed.sign_in()
    assert [await choose(staffed, here, PIN, PIN) for _ in range(6)] == ["bad_pin"] * 6
    assert await staffed.refused() == "wrong_name_or_pin"
    codes = [await choose(staffed, here, WRONG) for _ in range(4)]
    assert codes == ["wrong_pin"] * 3 + ["locked_out"]
    assert await choose(staffed, here) == "locked_out"
    assert await staffed.refused("Flo", PIN) == "locked_out"
    assert await staffed.whose(here.token) == here.person
    assert (await staffed.acts())[-5:] == [
        *[("pin_refused", "Flo", "Flo")] * 4, ("locked_out", "Flo", "Flo"),
    ]  # fmt: skip


@pytest.mark.parametrize("what", ["disabled", "another PIN", "signed out"])
async def test_what_happens_while_the_old_pin_is_looked_at_counts(
    staffed: Register, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    here, users = await staffed.sign_in(), staffed.users
    acts: dict[str, Callable[[], Awaitable[object]]] = {
        "disabled": lambda: users.disable("Flo", ADA),
        "another PIN": lambda: users.set_pin("Flo", WRONG, ADA),
        "signed out": lambda: staffed.sessions.sign_out(here.token, HERE),
    }
    with monkeypatch.context() as patched:
        watch_pins(patched, acts[what])
        assert await choose(staffed, here) == "session_ended"
    assert await staffed.whose(here.token) is None
    assert await staffed.refused("Flo", OWN) == "wrong_name_or_pin"
    assert "pin_chosen" not in [what for what, _, _ in await staffed.acts()]


async def test_the_store_keeps_who_set_a_pin(staffed: Register) -> None:
    users = staffed.users
    await users.add("Finn", Role.FLOORPERSON, PIN, BY_COMMAND)
    assert await pin_by(staffed, "Finn") == BY_COMMAND.name
    assert (await users.set_pin("flo", WRONG, ADA)).pin_by == "Ada"
    assert await choose(staffed, await staffed.sign_in("flo", WRONG), WRONG) == ""
    assert await pin_by(staffed, "Flo") == "Flo"
    assert (await users.add("Sam", Role.SUPERVISOR, PIN, ADA)).pin_by == "Ada"
    await users.disable("Sam", BY_COMMAND)
    assert (await users.enable("Sam", BY_COMMAND)).pin_by == "Ada"


async def setters(register: Register, name: str, pin: str = PIN) -> PinSetters:
    """Return who set whose PIN, as it concerns a person who signs in and acts."""
    opened = await register.sign_in(name, pin)
    person = await register.sessions.find(opened.token, keep_alive=False, acts=True)
    assert person is not None
    return person.setters


async def age_pins(register: Register, by_ms: int) -> None:
    pins_set = register.keys.pins_set
    for member in cast("list[bytes]", await register.redis.zrange(pins_set, 0, -1)):
        await register.redis.zincrby(pins_set, -by_ms, member)


@pytest.mark.duty("D4")
async def test_who_set_a_pin_in_the_last_day_goes_along_with_every_act(staffed: Register) -> None:
    await staffed.add("Finn")
    users = staffed.users
    assert await setters(staffed, "Flo") == NO_SETTERS, "who adds users by command is none of them"
    await users.set_pin("Flo", WRONG, ADA)
    assert await setters(staffed, "Flo", WRONG) == PinSetters(("Ada",), {"Ada": "Ada"})
    assert await setters(staffed, "Ada") == PinSetters((), {"Flo": "Ada"})
    assert await setters(staffed, "Finn") == NO_SETTERS
    await users.set_pin("Finn", WRONG, ADA)
    both = PinSetters(("Ada",), {"Ada": "Ada", "Flo": "Ada"})
    assert await setters(staffed, "Finn", WRONG) == both
    opened = await staffed.sign_in("Finn", WRONG)
    assert opened.person.setters == NO_SETTERS, "who only looks needs none"
    assert await choose(staffed, opened, WRONG) == ""
    assert await setters(staffed, "Finn", OWN) == both, "a PIN of one's own does not change it"
    await age_pins(staffed, 24 * 3_600_000 - 60_000)
    assert await setters(staffed, "Finn", OWN) == both
    await age_pins(staffed, 60_000)
    assert await setters(staffed, "Finn", OWN) == NO_SETTERS
    assert await setters(staffed, "Ada") == NO_SETTERS
    ada = await staffed.sign_in("Ada")
    await staffed.users.add("Sam", Role.SUPERVISOR, WRONG, Actor("Ada", HERE, ada.token))
    assert (await setters(staffed, "Sam", WRONG)).own == ("Ada",)


@pytest.mark.duty("D4")
async def test_a_bar_ends_24_hours_after_the_last_pin_that_keeps_it(staffed: Register) -> None:
    await staffed.add("Finn")
    now_ms = time.time() * 1_000 // 1
    hour_ms = 3_600_000
    pins = {"Flo\nAda": now_ms - 2 * hour_ms, "Finn\nAda": now_ms - hour_ms, "Sue\nAl": now_ms}
    await staffed.redis.zadd(staffed.keys.pins_set, pins)
    opened = await staffed.sign_in("Flo")
    flo = await staffed.sessions.find(opened.token, keep_alive=False, acts=True)
    assert flo is not None

    def ends(setter: str, after_ms: float) -> tuple[str, str]:
        end = datetime.fromtimestamp((now_ms - after_ms) / 1_000 + 86_400, UTC)
        return setter, f"{end:%Y-%m-%dT%H:%M:%SZ}"

    assert flo.bar("Finn", []) == ends("Ada", 2 * hour_ms), "Flo's PIN was set first"
    assert flo.bar("Ada", []) == ends("Ada", 2 * hour_ms)
    assert flo.bar("Sam", ["Ada"]) == ends("Ada", 2 * hour_ms)
    assert flo.bar("Sam", ["Flo"]) == ("Flo", None), "she set it before the act, which stays so"
    assert flo.bar("Sue", []) is None
    assert flo.bar("Sam", ["Al"]) is None


async def test_what_an_ended_session_asked_for_is_not_done(staffed: Register) -> None:
    users = staffed.users
    ada = Actor("Ada", HERE, (await staffed.sign_in("Ada")).token)
    flo = Actor("Flo", HERE, (await staffed.sign_in("Flo")).token)
    await staffed.sessions.sign_out(ada.token, HERE)
    before = await staffed.acts()
    for doer in (ada, flo):
        for act in (
            users.add("Sam", Role.SUPERVISOR, PIN, doer), users.set_pin("Flo", WRONG, doer),
            users.enable("Flo", doer), users.disable("Finn", doer),
        ):  # fmt: skip
            assert await code_of(act) == "session_ended"
    assert await staffed.acts() == before
