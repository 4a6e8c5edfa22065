import asyncio
import threading
from contextlib import suppress

import pytest
import structlog

from meters.floor.roles import RIGHTS, Right, Role, in_words, roles_in_words
from meters.store.user_keys import UserKeys
from meters.users.pins import PinHashing, check_pin
from meters.users.user_names import clean_name, fold_name
from meters.users.user_store import UsersError
from meters.users.users import Actor
from tests.users.staff import BY_COMMAND, PIN, WRONG, Register, code_of
from tests.waiting import eventually_async


@pytest.mark.parametrize(
    "name",
    [
        "Al",
        "Services",
        "Ada Lovelace",
        "J. R. O'Neil-Smith",
        "Zoë",
        "D'Arcy",
        "Bob 2",
        "Jr.",
        "x" * 40,
    ],
)
def test_a_name_is_kept_as_it_is_written(name: str) -> None:
    assert clean_name(f" {name} ") == name


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "A", "x" * 41, "7 of 9", "-Bob", ".", "..", "Bob  Two", "Bob\tTwo", "Bob\nTwo",
        "Bob/Two", "Bob<b>", "Bob--Two", "Bob ' Two", "\u0412ob", "Bob\u0000", "Bob\u200bTwo",
        "Bob_2", "Łukasz", "service", "Service", "simulated floorperson", "command line (root)",
        "Pitlink 2", "Service.", "Simulated. X", "Pitlink-Sue", "command line", "Command Line root",
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsersError) as refused:
        clean_name(name)
    assert refused.value.code == "bad_name"


def test_a_name_is_one_in_every_case_and_composition() -> None:
    assert fold_name(" ZOË ") == fold_name("Zoe\u0308") == fold_name("zoë")
    assert clean_name("Zoe\u0308") == "Zoë"


@pytest.mark.parametrize(
    "pin",
    ["730482", "264907", "905183", "482913", "49405177", "7304821", "730482016395", "123450679284"],
)
def test_a_pin_that_is_not_guessed_first_is_taken(pin: str) -> None:
    check_pin(pin)
    assert pin.isdigit()


@pytest.mark.parametrize(
    "pin", ["", "12345", "31415", "3" * 13, "73042x", " 730482", "730482\n", "٧٣٠٤٨٢", "73042.8"]
)
def test_a_pin_has_six_to_twelve_digits(pin: str) -> None:
    with pytest.raises(UsersError, match=r"^a PIN has 6 to 12 digits$") as refused:
        check_pin(pin)
    assert refused.value.code == "bad_pin"


@pytest.mark.parametrize(
    ("pins", "why"),
    [
        ("111111 000001 121212 123123 007007 112233 111222 22222222223 696969 135531", "repeated"),
        ("123456 654321 567890 210987 456789012 123457 001234 987655 369258", "counts"),
        ("147258 159753 159357 789456 123987 741852 753951 147852369 12349876", "counts"),
        ("102030 506070 213141 142536 134679 235689 124578", "counts"),
        ("896521 14789632 125896", "keys next to each other"),
        (
            "199001 072590 250790 900725 196745 451967 31121999 12311999 20260704 84712011",
            "begins or ends with a year",
        ),
        ("314159 135790 135791 246810 31415926 1314520 15975364 7758521 7894561", "this PIN"),
    ],
)
def test_a_pin_that_is_tried_first_is_refused_with_the_reason_and_not_repeated(
    pins: str, why: str
) -> None:
    for pin in pins.split():
        with pytest.raises(UsersError, match=why) as refused:
            check_pin(pin)
        assert refused.value.code == "bad_pin"
        assert refused.value.message.endswith(
            "choose digits without a pattern, for example with dice"
        )
        assert pin not in refused.value.message


def test_most_pins_are_left_to_choose_from() -> None:
    def is_taken(pin: str) -> bool:
        with suppress(UsersError):
            check_pin(pin)
            return True
        return False

    sample = range(0, 10**6, 311)
    taken = sum(is_taken(f"{number:06}") for number in sample)
    assert 0.8 < taken / len(sample) < 0.9


async def test_a_pin_is_kept_as_argon2id_with_a_salt_of_its_own() -> None:
    pins = PinHashing()
    kept = [await pins.hash("314159"), await pins.hash("314159")]
    assert kept[0] != kept[1]
    assert all(each.startswith("$argon2id$v=19$m=65536,t=3,p=1$") for each in kept)
    assert await pins.matches("314159", kept[0])
    for pin, other in (("314158", kept[0]), ("314159", "314159")):
        assert not await pins.matches(pin, other)


async def test_without_a_stored_pin_as_much_is_calculated_and_nothing_matches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pins = PinHashing(time_cost=1, memory_kib=8)
    verified: list[str] = []
    real = pins._verify

    def watched(kept: str, pin: str) -> bool:
        verified.append(kept.rpartition("$")[0].rpartition("$")[0])
        return real(kept, pin)

    monkeypatch.setattr(pins, "_verify", watched)
    kept = await pins.hash("314159")
    assert await pins.matches("314159", kept)
    assert not await pins.matches("314159", None)
    assert verified[0] == verified[1] == "$argon2id$v=19$m=8,t=1,p=1"
    nobodys = pins._nobodys.split("$")[-2:]
    assert [len(part) for part in nobodys] == [len(part) for part in kept.split("$")[-2:]]


async def test_hashes_are_calculated_outside_the_loop_two_at_a_time_with_a_limited_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pins = PinHashing(time_cost=1, memory_kib=8)
    go_on = threading.Event()
    counting = threading.Lock()
    running = most = 0

    def slow(_kept: str, _pin: str) -> bool:
        nonlocal running, most
        with counting:
            running += 1
            most = max(most, running)
        go_on.wait(60)
        with counting:
            running -= 1
        return True

    monkeypatch.setattr(pins, "_verify", slow)
    tries = [asyncio.create_task(pins.matches("314159", None)) for _ in range(40)]
    done, _ = await asyncio.wait(tries, timeout=30, return_when="FIRST_COMPLETED")
    assert {type(task.exception()) for task in done} == {UsersError}
    await eventually_async(lambda: running == 2, what="two at once")
    go_on.set()
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    refused = [each for each in outcomes if isinstance(each, UsersError)]
    assert {each.code for each in refused} == {"busy"}
    assert len(outcomes) - len(refused) >= 32
    assert most == 2
    assert await pins.matches("314159", None)


def test_each_role_is_named_with_its_article() -> None:
    assert in_words(Role.AUDITOR) == "an auditor"
    assert roles_in_words(Right.CHANGE_USERS) == "an administrator"
    assert roles_in_words(Right.LINKS) == "a supervisor or an administrator"
    assert roles_in_words(Right.WINS) == (
        "a floorperson, a supervisor, an auditor or an administrator"
    )


@pytest.mark.duty("D4", proof=True)
def test_nobody_both_adds_users_and_pays_wins() -> None:
    both = {role for role, rights in RIGHTS.items() if {Right.CHANGE_USERS, Right.DECIDE} <= rights}
    assert both == set()
    assert set(RIGHTS) == set(Role)


async def test_a_user_is_added_once_in_any_case(register: Register) -> None:
    users = register.users
    row = await users.add(" Zoë ", Role.AUDITOR, PIN, BY_COMMAND)
    assert (row.name, row.role, row.enabled) == ("Zoë", Role.AUDITOR, True)
    assert (row.added_by, row.signed_in_at) == (BY_COMMAND.name, None)
    assert await code_of(users.add("ZOE\u0308", Role.DEALER, WRONG, BY_COMMAND)) == "name_taken"
    assert await users.rows() == [row]
    assert (await register.sign_in("zoë")).person.role is Role.AUDITOR
    for name in ("adam", "Bob"):
        await register.add(name)
    assert [row.name for row in await users.rows()] == ["adam", "Bob", "Zoë"]


async def test_of_many_who_add_the_same_name_one_does(register: Register) -> None:
    adding = [
        register.users.add(name, Role.DEALER, PIN, BY_COMMAND)
        for name in ("Bob", "BOB", "bob", "bOb")
    ]
    outcomes = await asyncio.gather(*adding, return_exceptions=True)
    assert sum(isinstance(each, UsersError) for each in outcomes) == 3
    assert len(await register.users.rows()) == 1
    assert len(await register.log()) == 1


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
    """Of two who disable each other at the same time, one stays."""
    await register.add("Ada", Role.ADMINISTRATOR)
    await register.add("Bea", Role.ADMINISTRATOR)
    users = register.users
    assert await code_of(users.disable("ADA", Actor("Ada"))) == "yourself"
    await users.disable("Bea", Actor("Ada"))
    assert await code_of(users.disable("Ada", BY_COMMAND)) == "last_administrator"
    await users.enable("Bea", BY_COMMAND)
    await users.disable("Ada", Actor("Bea"))
    assert [row.name for row in await users.rows() if row.enabled] == ["Bea"]
    await users.enable("Ada", BY_COMMAND)
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
